"""`VisualPart`: the mixtures of a segment's documents, fitted once and merged by copying."""

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


# How the visual side of an index was made; kept in it, so that queries are made the same way.


@dataclass(frozen=True)
class VisualSettings:
    """Everything a shot's visual model depends on, besides its pictures.

    Attributes:
        num_components: Components per mixture.
        restarts: Starts of EM per shot.
        floor: Least variance, as a share of the collection's.
        kappa: Weight of a shot against the background when samples are scored.
        longest: Pixels of the longer side at which blocks are taken.
        dynamic: Whether time within a second around the key frame is a dimension too.
        scale: The scale of the collection; measured when the index is made.
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
            raise RetrievalError(f"kappa must lie between 0 and 1, got {self.kappa}.")

    def features(self) -> BlockDct | DynamicBlockDct:
        """Return the features that describe pictures."""
        blocks = BlockDct(self.longest)
        return DynamicBlockDct(blocks) if self.dynamic else blocks

    def model(self, device: str | None = None) -> ShotMixtures:
        """Return the estimator of the mixtures, which fits them on a device if one is named."""
        return ShotMixtures(
            self.num_components,
            restarts=self.restarts,
            floor=self.floor,
            random_state=self.random_state,
            device=device,
        )

    def scaled(self, scale: FeatureScale) -> Self:
        """Return the same with a scale."""
        return replace(self, scale=scale)

    def known_scale(self) -> FeatureScale:
        """Return the scale.

        Raises:
            RetrievalError: If it has not been measured.
        """
        if self.scale is None:
            raise RetrievalError("the scale of the collection is not known yet; measure it first.")
        return self.scale

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        scale = None if self.scale is None else self.scale.to_json()
        return asdict(replace(self, scale=None)) | {"scale": scale}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Read what :meth:`to_json` wrote."""
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

    def build(self, sources: Sequence[DocumentSource]) -> PartData:
        """Fit a mixture to the frames of every document."""
        bags = [source_samples(source, self.settings).values for source in sources]
        model = self.settings.model(self.device).fit(bags, scale=self.settings.known_scale())
        packed = PackedMixtures.of(model.mixtures_)
        lots = sampling_keys(source.document.id for source in sources)
        return PartData(
            {"factors": packed.factors, "constants": packed.constants, "lots": lots}, {}
        )

    def merge(self, stretches: Sequence[LiveSegment]) -> PartData:
        """Copy the mixtures of the documents that are still wanted."""
        arrays = {
            name: np.concatenate([s.segment.array(VISUAL, name)[s.rows] for s in stretches])
            for name in _ARRAYS
        }
        return PartData(arrays, {})


def source_samples(source: DocumentSource, settings: VisualSettings) -> Samples:
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
