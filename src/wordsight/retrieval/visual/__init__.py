"""What shots look like: mixtures of Gaussians over blocks of their key frames."""

from wordsight.retrieval.visual.block_dct import BlockDct, DynamicBlockDct
from wordsight.retrieval.visual.features import (
    FeatureScale,
    Samples,
    VisualFeatures,
    picture_query,
    picture_samples,
)
from wordsight.retrieval.visual.index import VisualIndex
from wordsight.retrieval.visual.packing import PackedMixtures
from wordsight.retrieval.visual.part import (
    ShotMixtures,
    VisualPart,
    VisualSettings,
    model_picture,
)
from wordsight.retrieval.visual.scoring import (
    CollectionBackground,
    log_densities,
    log_likelihoods,
    log_mean_density,
    smoothed_gains,
)
from wordsight.retrieval.visual.smoothing import VisualSmoothing, learn_smoothing

__all__ = [
    "BlockDct",
    "CollectionBackground",
    "DynamicBlockDct",
    "FeatureScale",
    "PackedMixtures",
    "Samples",
    "ShotMixtures",
    "VisualFeatures",
    "VisualIndex",
    "VisualPart",
    "VisualSettings",
    "VisualSmoothing",
    "learn_smoothing",
    "log_densities",
    "log_likelihoods",
    "log_mean_density",
    "model_picture",
    "picture_query",
    "picture_samples",
    "smoothed_gains",
]
