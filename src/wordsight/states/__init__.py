"""States over time from tracks, by weighted Horn rules: who holds what, what rests on what."""

from wordsight.states.errors import RuleError, StateError
from wordsight.states.facts import Fact, FactInterval, StateSequence, parse_fact
from wordsight.states.observations import Observations, Smoothing, Thing
from wordsight.states.rule_text import parse_rules
from wordsight.states.rules import Atom, Comparison, Rule, format_rules
from wordsight.states.vocabulary import Feature, Predicate, Vocabulary, parse_vocabulary

__all__ = [
    "Atom",
    "Comparison",
    "Fact",
    "FactInterval",
    "Feature",
    "Observations",
    "Predicate",
    "Rule",
    "RuleError",
    "Smoothing",
    "StateError",
    "StateSequence",
    "Thing",
    "Vocabulary",
    "format_rules",
    "parse_fact",
    "parse_rules",
    "parse_vocabulary",
]
