"""The visual part of an index: its settings, and one mixture of Gaussians per shot."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import IndexDamagedError, RetrievalError
from wordsight.inference.mixtures.gaussian import (
    MixtureFits,
    Mixtures,
    Start,
    fit_mixtures,
    reseed_mixture,
    start_mixture,
)
from wordsight.retrieval.documents import DocumentSource
from wordsight.retrieval.index.segments import LiveSegment, PartData
from wordsight.retrieval.visual.block_dct import BlockDct, DynamicBlockDct
from wordsight.retrieval.visual.codes import FEWEST_CODED, code_mixtures
from wordsight.retrieval.visual.embedding import EmbeddedBlocks, EmbeddingFile
from wordsight.retrieval.visual.features import FeatureScale, Samples
from wordsight.retrieval.visual.packing import PackedMixtures
from wordsight.retrieval.visual.scoring import sampling_keys

__all__ = [
    "LEAST_VARIANCE",
    "VISUAL",
    "ShotMixtures",
    "VisualPart",
    "VisualSettings",
    "choose_components",
    "model_picture",
    "source_samples",
]


Array = NDArray[np.float64]
Image = NDArray[np.uint8]

LEAST_VARIANCE = 0.2
"""Share of the collection's variance. Larger than needed to prevent collapse: a narrower model
finds its own picture, but not similar ones."""


class ShotMixtures:
    r"""Fits a mixture of diagonal Gaussians to each bag of samples by EM.

    $$p(v|\theta)=\sum_{c=1}^{C}\pi_c\,\mathcal N(v;\mu_c,\operatorname{diag}\sigma^2_c)$$

    Samples are standardised by the scale of the collection, where no variance may be below
    ``floor``: components on flat regions such as black borders would otherwise collapse. A
    component left with less than one sample is moved to where the mixture fits worst. Starts
    depend on ``random_state`` alone, so that the model of a shot does not depend on the others.

    Args:
        num_components: ``C``.
        restarts: Number of starts per shot; the likeliest result is kept.
        floor: Smallest variance, as a share of the collection's.
        max_iterations: Maximum number of EM steps.
        tolerance: Stop when the log likelihood per sample rises by less.
        start: Initialisation of EM: from distant seeds, or from random assignments.
        random_state: Seed.
        device: Device that runs EM, such as ``cuda``, in single precision; None for the CPU.

    Attributes:
        scale_: The scale; given to :meth:`fit` or measured there.
        mixtures_: The mixtures, on that scale.
        log_likelihoods_: ``(D,)`` log likelihood per sample of each.
        histories_: The log likelihoods of EM of the start that was kept.

    Examples:
        >>> bags = [np.random.default_rng(seed).normal(seed, 1, (300, 2)) for seed in range(3)]
        >>> model = ShotMixtures(2).fit(bags, resolution=np.full(2, 0.01))
        >>> model.mixtures_.means.shape
        (3, 2, 2)
    """

    def __init__(
        self,
        num_components: int = 8,
        *,
        restarts: int = 1,
        floor: float = LEAST_VARIANCE,
        max_iterations: int = 50,
        tolerance: float = 1e-3,
        start: Start = "seeds",
        random_state: int = 0,
        device: str | None = None,
    ) -> None:
        if num_components < 1 or restarts < 1 or not floor > 0:
            raise RetrievalError(
                "num_components and restarts must be 1 or more and floor above 0, got "
                f"{num_components}, {restarts} and {floor}."
            )
        self.num_components, self.restarts, self.floor = num_components, restarts, floor
        self.max_iterations, self.tolerance = max_iterations, tolerance
        self.start: Start = start
        self.random_state, self.device = random_state, device

    def fit(
        self,
        samples: Sequence[ArrayLike],
        *,
        scale: FeatureScale | None = None,
        resolution: ArrayLike | None = None,
    ) -> Self:
        """Fit one mixture per bag of samples.

        Args:
            samples: ``D`` arrays ``(N, n)``.
            scale: The scale of the collection; measured on the samples by default.
            resolution: ``(n,)`` the smallest spread when it is measured.

        Returns:
            This object.
        """
        if not len(samples):
            raise RetrievalError("there is nothing to fit; give at least one bag of samples.")
        if scale is None:
            least = np.full(np.shape(samples[0])[1], 1e-6) if resolution is None else resolution
            scale = FeatureScale.measure(samples, least)
        bags = [scale.standardise(each) for each in samples]
        fits = self._best(bags)
        self.scale_: FeatureScale = scale
        self.mixtures_: Mixtures = fits.mixtures
        self.log_likelihoods_: Array = fits.log_likelihoods
        self.histories_: tuple[Array, ...] = fits.histories
        return self

    def _best(self, bags: Sequence[Array]) -> MixtureFits:
        """Fit from every start, move idle components, and keep the likeliest of each shot."""
        floor = np.full(bags[0].shape[1], self.floor)

        def fit(restart: int) -> MixtureFits:
            seed = [self.random_state, restart]
            starts = [
                start_mixture(
                    bag, self.num_components, floor, np.random.default_rng(seed), self.start
                )
                for bag in bags
            ]
            return self._reseed_idle(bags, self._run(bags, _stacked(starts), floor), floor)

        return reduce(_likelier, (fit(restart) for restart in range(self.restarts)))

    def _run(self, bags: Sequence[Array], starts: Mixtures, floor: Array) -> MixtureFits:
        limits: dict[str, Any] = {
            "max_iterations": self.max_iterations,
            "tolerance": self.tolerance,
        }
        if self.device is None:
            return fit_mixtures(bags, starts, floor, **limits)
        from wordsight.inference.gpu import fit_mixtures_on

        return fit_mixtures_on(bags, starts, floor, self.device, **limits)

    def _reseed_idle(self, bags: Sequence[Array], fits: MixtureFits, floor: Array) -> MixtureFits:
        fresh = [reseed_mixture(bag, fits.mixtures[d], floor) for d, bag in enumerate(bags)]
        changed = [d for d, mixture in enumerate(fresh) if mixture is not None]
        if not changed:
            return fits
        starts = _stacked([mixture for mixture in fresh if mixture is not None])
        again = self._run([bags[d] for d in changed], starts, floor)
        return _likelier(fits, again, changed)


COMPONENTS = (1, 2, 4, 8, 16, 32)
"""Numbers of components that BIC chooses from."""


def choose_components(
    bags: Sequence[Array], scale: FeatureScale, settings: "VisualSettings"
) -> int:
    """Return the number of components with the lowest BIC, summed over bags of samples.

    Models of one index have the same number, so that all of them are scored by one product.

    Args:
        bags: ``(N, n)`` samples of some shots.
        scale: The scale of the collection.
        settings: Restarts, floor and seed of the models.
    """
    sizes = np.array([len(bag) for bag in bags], np.float64)
    dimensions = bags[0].shape[1]
    criteria = []
    for number in COMPONENTS:
        fitted = replace(settings, num_components=number).model().fit(bags, scale=scale)
        parameters = number * (2 * dimensions + 1) - 1
        criteria.append(
            float((parameters * np.log(sizes) - 2 * sizes * fitted.log_likelihoods_).sum())
        )
    return COMPONENTS[int(np.argmin(criteria))]


def _stacked(parts: Sequence[Mixtures]) -> Mixtures:
    return Mixtures(
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.means for part in parts]),
        np.concatenate([part.variances for part in parts]),
    )


def _likelier(
    first: MixtureFits, second: MixtureFits, which: Sequence[int] | None = None
) -> MixtureFits:
    """Return ``first`` with the fits of ``second`` (of the shots ``which``) that are likelier."""
    places = range(len(first.log_likelihoods)) if which is None else which
    weights, means = first.mixtures.weights.copy(), first.mixtures.means.copy()
    variances, scores = first.mixtures.variances.copy(), first.log_likelihoods.copy()
    histories = list(first.histories)
    new = second.mixtures
    for there, here in enumerate(places):
        if second.log_likelihoods[there] > scores[here]:
            weights[here], means[here] = new.weights[there], new.means[there]
            variances[here] = new.variances[there]
            scores[here], histories[here] = second.log_likelihoods[there], second.histories[there]
    return MixtureFits(Mixtures(weights, means, variances), scores, tuple(histories))


VISUAL = "visual"

_ARRAYS = ("factors", "constants", "lots")


@dataclass(frozen=True)
class VisualSettings:
    """The settings of visual models; stored in the index, so that queries use the same.

    Attributes:
        num_components: Components per mixture; 0 until BIC has chosen their number.
        restarts: Starts of EM per shot.
        floor: Smallest variance, as a share of the collection's.
        kappa: Weight of a shot against the background in scores; learned from the shots if None,
            together with how much telling samples count.
        longest: Pixels of the longer side at which blocks are taken.
        dynamic: Whether the time within a second around the key frame is a dimension too.
        scale: The scale of the collection; measured when the index is created.
        random_state: Seed.
        embedding: A frozen network that describes the place of every block as well.
    """

    num_components: int = 8
    restarts: int = 1
    floor: float = LEAST_VARIANCE
    kappa: float | None = None
    longest: int = 352
    dynamic: bool = False
    scale: FeatureScale | None = None
    random_state: int = 0
    embedding: EmbeddingFile | None = None

    def __post_init__(self) -> None:
        if self.kappa is not None and not 0 < self.kappa < 1:
            raise RetrievalError(f"kappa must be between 0 and 1, got {self.kappa}.")
        if self.dynamic and self.embedding is not None:
            raise RetrievalError(
                "a network describes single pictures: choose models of the key frame (static) with "
                "an embedding."
            )

    def features(self) -> BlockDct | DynamicBlockDct | EmbeddedBlocks:
        """Return the features that describe pictures."""
        blocks = BlockDct(self.longest)
        if self.embedding is not None:
            return EmbeddedBlocks(blocks, self.embedding)
        return DynamicBlockDct(blocks) if self.dynamic else blocks

    @property
    def described(self) -> str:
        """What pictures are described by, alike for settings whose samples can be compared."""
        kind = "a second around key frames" if self.dynamic else "key frames"
        text = f"{kind} of at most {self.longest} pixels"
        if self.embedding is not None:
            text += f" and a network ({self.embedding.sha256[:16]})"
        return text

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
        values = asdict(replace(self, scale=None)) | {"scale": scale}
        if self.embedding is None:  # as versions without embeddings expect
            del values["embedding"]
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Create settings from the result of :meth:`to_json`."""
        try:
            scale = values["scale"]
            known = None if scale is None else FeatureScale.from_json(scale)
            if known is not None and not np.all(known.spread > 0):
                raise ValueError("a spread of 0")
            file = values.get("embedding")
            embedding = None if file is None else EmbeddingFile(**file)
            settings = cls(**{**values, "scale": known, "embedding": embedding})
            expected = len(settings.features().names)
            if known is not None and {len(known.center), len(known.spread)} != {expected}:
                raise ValueError(f"a scale of {len(known.center)} numbers for {expected} features")
            return settings
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
        """Copy the mixtures of the documents that are left; code them if they are many."""
        arrays = {
            name: np.concatenate([s.segment.array(VISUAL, name)[s.rows] for s in segments])
            for name in _ARRAYS
        }
        # Codes of the many dimensions of an embedding would be too coarse.
        if len(arrays["lots"]) >= FEWEST_CODED and self.settings.embedding is None:
            arrays |= code_mixtures(PackedMixtures(arrays["factors"], arrays["constants"]))
        return PartData(arrays)


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


def model_picture(image: Image, settings: VisualSettings | None = None) -> Image:
    """Draw what the model of a picture knows of it: at every place the looks expected there.

    Args:
        image: ``(H, W, 3)`` RGB.
        settings: The settings of the model; its scale is that of the picture.

    Returns:
        ``(H, W, 3)`` RGB, made of blocks.
    """
    import cv2

    settings = settings or VisualSettings()
    features = BlockDct(settings.longest)
    samples = features.samples(image)
    model = settings.model().fit([samples.values], resolution=features.resolution)
    places, mixture = list(features.places), model.mixtures_
    where = model.scale_.standardise(samples.values)[:, places]
    seen = Mixtures(mixture.weights, mixture.means[..., places], mixture.variances[..., places])
    logs = seen.component_log_densities(where)[0]
    shares = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
    blocks = features.render(model.scale_.restore(shares @ mixture.means[0]))
    drawn = np.zeros_like(image)
    for (left, top, right, bottom), block in zip(
        samples.boxes.round().astype(int), blocks, strict=True
    ):
        # Blocks that overlap cover each other; all of them expect nearly the same.
        drawn[top:bottom, left:right] = cv2.resize(block, (right - left, bottom - top))
    return drawn
