"""The visual part of an index: its settings, and the mixtures of each segment's documents."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from wordsight.retrieval.documents import DocumentSource
from wordsight.retrieval.errors import IndexDamagedError, RetrievalError
from wordsight.retrieval.index.segments import LiveSegment, PartData
from wordsight.retrieval.visual.block_dct import BlockDct, DynamicBlockDct
from wordsight.retrieval.visual.features import FeatureScale, Samples
from wordsight.retrieval.visual.packing import PackedMixtures
from wordsight.retrieval.visual.scoring import sampling_keys
from wordsight.retrieval.visual.shot_mixtures import LEAST_VARIANCE, ShotMixtures

__all__ = ["VISUAL", "VisualPart", "VisualSettings", "source_samples"]

VISUAL = "visual"
_ARRAYS = ("factors", "constants", "lots")


@dataclass(frozen=True)
class VisualSettings:
    """The settings of visual models; stored in the index, so that queries use the same.

    Attributes:
        num_components: Components per mixture.
        restarts: Starts of EM per shot.
        floor: Smallest variance, as a share of the collection's.
        kappa: Weight of a shot against the background in scores.
        longest: Pixels of the longer side at which blocks are taken.
        dynamic: Whether the time within a second around the key frame is a dimension too.
        scale: The scale of the collection; measured when the index is created.
        random_state: Seed.
    """

    num_components: int = 8
    restarts: int = 1
    floor: float = LEAST_VARIANCE
    kappa: float = 0.9
    longest: int = 352
    dynamic: bool = False
    scale: FeatureScale | None = None
    random_state: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.kappa < 1:
            raise RetrievalError(f"kappa must be between 0 and 1, got {self.kappa}.")

    def features(self) -> BlockDct | DynamicBlockDct:
        """Return the features that describe pictures."""
        blocks = BlockDct(self.longest)
        return DynamicBlockDct(blocks) if self.dynamic else blocks

    def model(self, device: str | None = None) -> ShotMixtures:
        """Return the estimator of the mixtures."""
        return ShotMixtures(
            self.num_components,
            restarts=self.restarts,
            floor=self.floor,
            random_state=self.random_state,
            device=device,
        )

    def with_scale(self, scale: FeatureScale) -> Self:
        """Return the same settings with a scale."""
        return replace(self, scale=scale)

    def require_scale(self) -> FeatureScale:
        """Return the scale.

        Raises:
            RetrievalError: If it has not been measured.
        """
        if self.scale is None:
            raise RetrievalError("the scale of the collection has not been measured yet.")
        return self.scale

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        scale = None if self.scale is None else self.scale.to_json()
        return asdict(replace(self, scale=None)) | {"scale": scale}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Create settings from the result of :meth:`to_json`."""
        try:
            scale = values["scale"]
            known = None if scale is None else FeatureScale.from_json(scale)
            if known is not None and not np.all(known.spread > 0):
                raise ValueError("a spread of 0")
            return cls(**{**values, "scale": known})
        except (KeyError, TypeError, ValueError) as error:
            raise IndexDamagedError(
                f"the visual settings of the index cannot be read ({error}); build it again."
            ) from error


class VisualPart:
    """The visual part of segments: a mixture per document.

    Args:
        settings: The settings, with a scale.
        device: Device that fits mixtures; None for the CPU.
    """

    name = VISUAL
    batched = True

    def __init__(self, settings: VisualSettings, *, device: str | None = None) -> None:
        settings.require_scale()
        self.settings = settings
        self.device = device

    def build(self, sources: Sequence[DocumentSource]) -> PartData:
        """Fit a mixture to the frames of every document."""
        bags = [source_samples(source, self.settings).values for source in sources]
        model = self.settings.model(self.device).fit(bags, scale=self.settings.require_scale())
        packed = PackedMixtures.pack(model.mixtures_)
        keys = sampling_keys(source.document.id for source in sources)
        values = (packed.factors, packed.constants, keys)
        return PartData(dict(zip(_ARRAYS, values, strict=True)))

    def merge(self, segments: Sequence[LiveSegment]) -> PartData:
        """Copy the mixtures of the documents that are left."""
        return PartData(
            {
                name: np.concatenate([s.segment.array(VISUAL, name)[s.rows] for s in segments])
                for name in _ARRAYS
            }
        )


def source_samples(source: DocumentSource, settings: VisualSettings) -> Samples:
    """Return the samples of a document's frames.

    Raises:
        RetrievalError: If it has none.
    """
    if not source.frames:
        raise RetrievalError(f"{source.document.id} has no frame to describe.")
    features = settings.features()
    if isinstance(features, DynamicBlockDct):
        times = source.times or (source.document.key_time,) * len(source.frames)
        return features.clip_samples(source.frames, times, source.document.key_time)
    return Samples.concatenate([features.samples(frame) for frame in source.frames])
