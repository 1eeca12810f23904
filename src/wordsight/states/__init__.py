"""States over time from tracks, by weighted Horn rules: who holds what, what rests on what."""

from wordsight.states.boosting import BoostingSettings, discover_boosted
from wordsight.states.clausal import ClausalSettings, discover_clauses
from wordsight.states.clauses import ClauseSet
from wordsight.states.constraints import Constraints, discover_constraints
from wordsight.states.errors import RuleError, StateError
from wordsight.states.facts import Fact, FactInterval, StateSequence, parse_fact
from wordsight.states.grounding import Grounding, ground, possible_facts
from wordsight.states.inference import Inference, infer
from wordsight.states.learning import Learning
from wordsight.states.minimise import EXACT, Minimum, minimise
from wordsight.states.model import StateModel, sequence_of
from wordsight.states.observations import Observations, Smoothing, Thing
from wordsight.states.perceptron import Learned, PerceptronSettings, learn_weights
from wordsight.states.rule_text import parse_rules
from wordsight.states.rules import Atom, Comparison, Rule, format_rules
from wordsight.states.sequence import Decoding, SearchSettings, SegmentDecoder, decode
from wordsight.states.training import TrainingVideo, prepare_videos
from wordsight.states.transition import choose_transition, edit_share
from wordsight.states.vocabulary import Feature, Predicate, Vocabulary, parse_vocabulary

__all__ = [
    "EXACT",
    "Atom",
    "BoostingSettings",
    "ClausalSettings",
    "ClauseSet",
    "Comparison",
    "Constraints",
    "Decoding",
    "Fact",
    "FactInterval",
    "Feature",
    "Grounding",
    "Inference",
    "Learned",
    "Learning",
    "Minimum",
    "Observations",
    "PerceptronSettings",
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
    "TrainingVideo",
    "Vocabulary",
    "choose_transition",
    "decode",
    "discover_boosted",
    "discover_clauses",
    "discover_constraints",
    "edit_share",
    "format_rules",
    "ground",
    "infer",
    "learn_weights",
    "minimise",
    "parse_fact",
    "parse_rules",
    "parse_vocabulary",
    "possible_facts",
    "prepare_videos",
    "sequence_of",
]
