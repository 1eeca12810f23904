"""States over time from tracks, by weighted Horn rules: who holds what, what rests on what."""

from wordsight.states.boosting import BoostingSettings, discover_boosted
from wordsight.states.clausal import ClausalSettings, discover_clauses
from wordsight.states.clauses import ClauseSet
from wordsight.states.constraints import Constraints, discover_constraints
from wordsight.states.counting_transition import CountingTransition, WalkSettings, walk_max_sat
from wordsight.states.discrete import StateFeatures, state_columns
from wordsight.states.errors import RuleError, StateError
from wordsight.states.event_language import EventDefinition, EventError, format_events
from wordsight.states.event_text import leonard_events, parse_events
from wordsight.states.events import Event, find_events, outermost
from wordsight.states.explanations import Explanation, RuleUse, explain
from wordsight.states.facts import Fact, FactInterval, StateSequence, parse_fact
from wordsight.states.formats import (
    read_intervals,
    sequence_from_intervals,
    write_events,
    write_states,
)
from wordsight.states.greedy_merge import GreedyMerge, greedy_merge
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
from wordsight.states.timeline import draw_timeline
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
    "CountingTransition",
    "Decoding",
    "Event",
    "EventDefinition",
    "EventError",
    "Explanation",
    "Fact",
    "FactInterval",
    "Feature",
    "GreedyMerge",
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
    "RuleUse",
    "SearchSettings",
    "SegmentDecoder",
    "Smoothing",
    "StateError",
    "StateFeatures",
    "StateModel",
    "StateSequence",
    "Thing",
    "TrainingVideo",
    "Vocabulary",
    "WalkSettings",
    "choose_transition",
    "decode",
    "discover_boosted",
    "discover_clauses",
    "discover_constraints",
    "draw_timeline",
    "edit_share",
    "explain",
    "find_events",
    "format_events",
    "format_rules",
    "greedy_merge",
    "ground",
    "infer",
    "learn_weights",
    "leonard_events",
    "minimise",
    "outermost",
    "parse_events",
    "parse_fact",
    "parse_rules",
    "parse_vocabulary",
    "possible_facts",
    "prepare_videos",
    "read_intervals",
    "sequence_from_intervals",
    "sequence_of",
    "state_columns",
    "walk_max_sat",
    "write_events",
    "write_states",
]
