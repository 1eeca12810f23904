"""States over time from tracks by weighted Horn rules: what is held, what rests on what."""

from wordsight.errors import RuleError, StateError
from wordsight.states.beliefs import (
    BeliefCalibration,
    BeliefSettings,
    FactBelief,
    StateBeliefs,
    calibration,
)
from wordsight.states.discovery.boosting import BoostingSettings
from wordsight.states.discovery.clausal import ClausalSettings
from wordsight.states.discovery.constraints import FactConstraints, discover_constraints
from wordsight.states.discovery.learning import (
    StateLearningSettings,
    choose_transition,
    discover_rules,
    edit_share,
)
from wordsight.states.discovery.selection import SelectionSettings
from wordsight.states.discovery.sentences import (
    FactsFromSentences,
    SentenceSettings,
    TimedSentence,
    facts_said,
)
from wordsight.states.discovery.training import (
    LearnedWeights,
    PerceptronSettings,
    TrainingVideo,
    learn_weights,
    prepare_videos,
)
from wordsight.states.events.definitions import (
    EventDefinition,
    EventError,
    format_events,
    leonard_events,
    parse_events,
)
from wordsight.states.events.find import StateEvent, find_events, outermost
from wordsight.states.explanations import RuleUse, StateExplanation, explain
from wordsight.states.formats import (
    draw_timeline,
    write_events,
    write_states,
)
from wordsight.states.grounding.clauses import ClauseSet
from wordsight.states.grounding.grounder import Grounding, ground
from wordsight.states.grounding.observations import StateObservations, TrackedObject, TrackSmoothing
from wordsight.states.labels import read_intervals, sequence_from_intervals
from wordsight.states.model import StateModel, state_sequence
from wordsight.states.rules.facts import (
    Fact,
    FactInterval,
    StateFeatures,
    StateSequence,
    parse_fact,
    state_columns,
)
from wordsight.states.rules.rule import (
    Atom,
    FeatureComparison,
    FeatureTerm,
    Rule,
    format_rules,
    parse_rules,
)
from wordsight.states.rules.vocabulary import (
    ObjectFeature,
    Predicate,
    StateVocabulary,
    parse_vocabulary,
)
from wordsight.states.search.inference import InferenceSettings, infer
from wordsight.states.search.segments import (
    EXACT,
    Decoding,
    Minimum,
    SegmentDecoder,
    SegmentSearchSettings,
    decode,
    minimise,
)

__all__ = [
    "EXACT",
    "Atom",
    "BeliefCalibration",
    "BeliefSettings",
    "BoostingSettings",
    "ClausalSettings",
    "ClauseSet",
    "Decoding",
    "EventDefinition",
    "EventError",
    "Fact",
    "FactBelief",
    "FactConstraints",
    "FactInterval",
    "FactsFromSentences",
    "FeatureComparison",
    "FeatureTerm",
    "Grounding",
    "InferenceSettings",
    "LearnedWeights",
    "Minimum",
    "ObjectFeature",
    "PerceptronSettings",
    "Predicate",
    "Rule",
    "RuleError",
    "RuleUse",
    "SegmentDecoder",
    "SegmentSearchSettings",
    "SelectionSettings",
    "SentenceSettings",
    "StateBeliefs",
    "StateError",
    "StateEvent",
    "StateExplanation",
    "StateFeatures",
    "StateLearningSettings",
    "StateModel",
    "StateObservations",
    "StateSequence",
    "StateVocabulary",
    "TimedSentence",
    "TrackSmoothing",
    "TrackedObject",
    "TrainingVideo",
    "calibration",
    "choose_transition",
    "decode",
    "discover_constraints",
    "discover_rules",
    "draw_timeline",
    "edit_share",
    "explain",
    "facts_said",
    "find_events",
    "format_events",
    "format_rules",
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
    "prepare_videos",
    "read_intervals",
    "sequence_from_intervals",
    "state_columns",
    "state_sequence",
    "write_events",
    "write_states",
]
