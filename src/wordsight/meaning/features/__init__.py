"""What words look at: features of things in a clip, cut into bins."""

from wordsight.meaning.features import pairs, paper, plain, single
from wordsight.meaning.features.bins import (
    Bins,
    Categories,
    Clusters,
    Fixed,
    Magnitude,
    Plain,
    Scheme,
    Share,
    Signed,
)
from wordsight.meaning.features.facts import FACT, fact_features, with_facts
from wordsight.meaning.features.feature import Feature, available_features, feature, register
from wordsight.meaning.features.observation import Observation, observe
from wordsight.meaning.features.sets import (
    FEATURE_SETS,
    LABEL,
    FeatureSet,
    PartFeatures,
    Slot,
    feature_set,
)
from wordsight.meaning.features.told import NamedClip, told_feature, with_told
from wordsight.meaning.features.view import PARTS, ClipView, view_clip
from wordsight.meaning.features.vocabulary import Vocabulary, learn_vocabulary

__all__ = [
    "FACT",
    "FEATURE_SETS",
    "LABEL",
    "PARTS",
    "Bins",
    "Categories",
    "ClipView",
    "Clusters",
    "Feature",
    "FeatureSet",
    "Fixed",
    "Magnitude",
    "NamedClip",
    "Observation",
    "PartFeatures",
    "Plain",
    "Scheme",
    "Share",
    "Signed",
    "Slot",
    "Vocabulary",
    "available_features",
    "fact_features",
    "feature",
    "feature_set",
    "learn_vocabulary",
    "observe",
    "pairs",
    "paper",
    "plain",
    "register",
    "single",
    "told_feature",
    "view_clip",
    "with_facts",
    "with_told",
]
