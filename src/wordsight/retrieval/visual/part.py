"""`VisualPart`: the mixtures of a segment's documents, fitted once and merged by copying."""

from collections.abc import Sequence

import numpy as np

from wordsight.retrieval.documents import Source
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.segments import PartData, Stretch
from wordsight.retrieval.visual.background import lot_of
from wordsight.retrieval.visual.dynamic import DynamicBlockDct
from wordsight.retrieval.visual.features import Samples
from wordsight.retrieval.visual.packing import PackedMixtures
from wordsight.retrieval.visual.settings import VisualSettings

__all__ = ["VISUAL", "VisualPart", "source_samples"]

VISUAL = "visual"
_ARRAYS = ("factors", "constants", "lots")


class VisualPart:
    """Makes the visual part of segments.

    Args:
        settings: How; with a scale.
        device: Where mixtures are fitted; the processor if left out.
    """

    name = VISUAL
    piecewise = True

    def __init__(self, settings: VisualSettings, *, device: str | None = None) -> None:
        settings.known_scale()
        self.settings = settings
        self.device = device

    def build(self, sources: Sequence[Source]) -> PartData:
        """Fit a mixture to the frames of every document."""
        bags = [source_samples(source, self.settings).values for source in sources]
        model = self.settings.model(self.device).fit(bags, scale=self.settings.known_scale())
        packed = PackedMixtures.of(model.mixtures_)
        lots = lot_of(source.document.id for source in sources)
        return PartData(
            {"factors": packed.factors, "constants": packed.constants, "lots": lots}, {}
        )

    def merge(self, stretches: Sequence[Stretch]) -> PartData:
        """Copy the mixtures of the documents that are still wanted."""
        arrays = {
            name: np.concatenate([s.segment.array(VISUAL, name)[s.rows] for s in stretches])
            for name in _ARRAYS
        }
        return PartData(arrays, {})


def source_samples(source: Source, settings: VisualSettings) -> Samples:
    """Return the samples of a document's frames.

    Raises:
        RetrievalError: If it has none.
    """
    if not source.frames:
        raise RetrievalError(f"{source.document.id} has no frame to look at.")
    features = settings.features()
    if isinstance(features, DynamicBlockDct):
        times = source.times or (source.document.key_time,) * len(source.frames)
        return features.clip_samples(source.frames, times, source.document.key_time)
    return Samples.together([features.samples(frame) for frame in source.frames])
