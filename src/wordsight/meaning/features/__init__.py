"""Features of the objects in a clip, measured per frame and discretised into bins."""

from wordsight.meaning.features import measures  # registers the built-in features
from wordsight.meaning.features.annotations import (
    FACT_PREFIX,
    NAME_PREFIX,
    AnnotatedClip,
    fact_features,
    name_feature,
    taught_meaning,
    with_facts,
    with_names,
)
from wordsight.meaning.features.bins import (
    BinningScheme,
    Bins,
    CategoryBins,
    ClusterBins,
    FixedBins,
    MagnitudeBins,
    QuantileBins,
    ShareBins,
    SignedBins,
)
from wordsight.meaning.features.observation import (
    FeatureVocabulary,
    Observation,
    learn_vocabulary,
    observe,
)
from wordsight.meaning.features.registry import (
    TrackFeature,
    available_features,
    get_feature,
    register_feature,
)
from wordsight.meaning.features.sets import (
    FEATURE_SETS,
    LABEL,
    FeatureSet,
    PartFeatures,
    Slot,
    get_feature_set,
)
from wordsight.meaning.features.view import ClipView, Participants, view_clip

__all__ = [
    "FACT_PREFIX",
    "FEATURE_SETS",
    "LABEL",
    "NAME_PREFIX",
    "AnnotatedClip",
    "BinningScheme",
    "Bins",
    "CategoryBins",
    "ClipView",
    "ClusterBins",
    "FeatureSet",
    "FeatureVocabulary",
    "FixedBins",
    "MagnitudeBins",
    "Observation",
    "PartFeatures",
    "Participants",
    "QuantileBins",
    "ShareBins",
    "SignedBins",
    "Slot",
    "TrackFeature",
    "available_features",
    "fact_features",
    "get_feature",
    "get_feature_set",
    "learn_vocabulary",
    "measures",
    "name_feature",
    "observe",
    "register_feature",
    "taught_meaning",
    "view_clip",
    "with_facts",
    "with_names",
]
