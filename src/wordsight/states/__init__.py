"""States over time from tracks, by weighted Horn rules: who holds what, what rests on what."""

from wordsight.states.clauses import ClauseSet
from wordsight.states.errors import RuleError, StateError
from wordsight.states.facts import Fact, FactInterval, StateSequence, parse_fact
from wordsight.states.grounding import Grounding, ground, possible_facts
from wordsight.states.inference import Inference, infer
from wordsight.states.minimise import EXACT, Minimum, minimise
from wordsight.states.model import StateModel
from wordsight.states.observations import Observations, Smoothing, Thing
from wordsight.states.rule_text import parse_rules
from wordsight.states.rules import Atom, Comparison, Rule, format_rules
from wordsight.states.sequence import Decoding, SearchSettings, SegmentDecoder, decode
from wordsight.states.vocabulary import Feature, Predicate, Vocabulary, parse_vocabulary

__all__ = [
    "EXACT",
    "Atom",
    "ClauseSet",
    "Comparison",
    "Decoding",
    "Fact",
    "FactInterval",
    "Feature",
    "Grounding",
    "Inference",
    "Minimum",
    "Observations",
    "Predicate",
    "Rule",
    "RuleError",
    "SearchSettings",
    "SegmentDecoder",
    "Smoothing",
    "StateError",
    "StateModel",
    "StateSequence",
    "Thing",
    "Vocabulary",
    "decode",
    "format_rules",
    "ground",
    "infer",
    "minimise",
    "parse_fact",
    "parse_rules",
    "parse_vocabulary",
    "possible_facts",
]
