"""`Codebook`: clusters regions by appearance, so that the cluster can replace a class."""

import os
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.errors import RecordError
from wordsight.perception.regions.blob import APPEARANCE_SIZE
from wordsight.records import Detections
from wordsight.records.arrays import load_npz, save_npz

__all__ = ["Codebook", "is_look", "kmeans", "nearest", "silhouette"]


_CHUNK = 65_536  # points compared with all centres at once, to bound memory

Points = NDArray[np.float64]


_LOOK = "look-"


def is_look(label: str) -> bool:
    """Return whether a label is that of regions without classes, before or after a codebook."""
    return label == "region" or (label.startswith(_LOOK) and label[len(_LOOK) :].isdigit())


def kmeans(
    points: Points, num_clusters: int, rng: np.random.Generator, *, restarts: int = 4
) -> Points:
    """Cluster points by k-means++ (Arthur and Vassilvitskii, 2007), the best of several starts.

    Args:
        points: ``(N, D)``.
        num_clusters: Number of clusters; fewer are returned for fewer distinct points.
        rng: Random generator; saved codebooks depend on how it is used here.
        restarts: Number of starts.

    Returns:
        ``(K, D)`` centres.
    """
    best, least = points[:1], np.inf
    for _ in range(restarts):
        centres = _improve(points, _seeds(points, num_clusters, rng))
        cost = float(nearest(points, centres)[1].sum())
        if cost < least:
            best, least = centres, cost
    return best


def nearest(points: Points, centres: Points) -> tuple[NDArray[np.intp], Points]:
    """Return the ``(N,)`` index of the nearest centre of each point and its squared distance.

    Of equally near centres, the first is returned.
    """
    index = np.empty(len(points), np.intp)
    squared = np.empty(len(points))
    lengths = (centres**2).sum(axis=1)
    for start in range(0, len(points), _CHUNK):
        part = slice(start, start + _CHUNK)
        distance = lengths - 2 * points[part] @ centres.T + (points[part] ** 2).sum(axis=1)[:, None]
        index[part] = distance.argmin(axis=1)
        squared[part] = np.maximum(distance.min(axis=1), 0)
    return index, squared


def silhouette(points: Points, labels: NDArray[np.intp]) -> float:
    """Return the silhouette coefficient of a clustering (Rousseeuw, 1987), -1 to 1.

    The mean over points of (b - a) / max(a, b), where a is the mean distance to the other points
    of the own cluster and b that to the nearest other cluster; 0 for a point alone in its cluster.

    Args:
        points: ``(N, D)``; all pairs are compared, so a few thousand at most.
        labels: ``(N,)`` cluster of each point.
    """
    names, codes = np.unique(labels, return_inverse=True)
    if len(names) < 2:
        return 0.0
    lengths = (points**2).sum(axis=1)
    distance = np.sqrt(np.maximum(lengths[:, None] - 2 * points @ points.T + lengths[None], 0))
    member = np.eye(len(names))[codes]
    sums, sizes = distance @ member, member.sum(axis=0)
    own = sizes[codes]
    rows = np.arange(len(points))
    within = sums[rows, codes] / np.maximum(own - 1, 1)
    others = np.where(member > 0, np.inf, sums / sizes)
    beyond = others.min(axis=1)
    larger = np.maximum(np.maximum(within, beyond), 1e-12)
    return float(np.where(own > 1, (beyond - within) / larger, 0.0).mean())


def _seeds(points: Points, count: int, rng: np.random.Generator) -> Points:
    chosen = [int(rng.integers(len(points)))]
    squared = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < count and squared.sum() > 1e-12:
        chosen.append(int(rng.choice(len(points), p=squared / squared.sum())))
        squared = np.minimum(squared, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen].copy()


def _improve(points: Points, centres: Points, most: int = 100) -> Points:
    labels = np.full(len(points), -1)
    for _ in range(most):
        previous, labels = labels, nearest(points, centres)[0]
        if np.array_equal(previous, labels):
            break
        counts = np.bincount(labels, minlength=len(centres))
        for dimension in range(points.shape[1]):
            sums = np.bincount(labels, weights=points[:, dimension], minlength=len(centres))
            # The centre of an empty cluster stays where it is.
            centres[:, dimension] = np.where(
                counts > 0, sums / np.maximum(counts, 1), centres[:, dimension]
            )
    return centres


_LAYOUT_VERSION = 1
_FIT_SAMPLES = 20_000  # enough for dozens of words, and fitted in seconds
_CHOICE_SAMPLES = 1_500  # for the silhouette, which compares all pairs


class Codebook:
    """An unsupervised vocabulary of appearances: k-means centres.

    A region gets the same label in every video, so the label can replace the class of a detector.
    The number of words is given, or chosen by the silhouette; rare words are merged into the
    nearest other one.

    Args:
        words: Number of words; chosen up to ``max_words`` if None.
        max_words: Largest number of words when it is chosen.
        least_share: Words with a smaller share of the regions are merged.
        random_state: Seed; the same regions and seed give the same codebook.

    Attributes:
        centres_: ``(K, D)`` centres, most frequent first; after :meth:`fit`.
        shares_: ``(K,)`` share of the regions of each word.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> reds, blues = rng.normal(0, 0.1, (60, 3)) + [1, 0, 0], rng.normal(0, 0.1, (40, 3))
        >>> book = Codebook().fit(np.concatenate([reds, blues]))
        >>> book.label_names, book.predict([[1, 0, 0.1], [0, 0.1, 0]]).tolist()
        (('look-0', 'look-1'), [0, 1])
    """

    def __init__(
        self,
        words: int | None = None,
        *,
        max_words: int = 24,
        least_share: float = 0.005,
        random_state: int = 0,
    ) -> None:
        if words is not None and words < 1:
            raise RecordError(f"words must be 1 or more, got {words}.")
        if max_words < 1:
            raise RecordError(f"max_words must be 1 or more, got {max_words}.")
        if not 0 <= least_share < 1:
            raise RecordError(f"least_share must be 0 or more and below 1, got {least_share}.")
        self.words = words
        self.max_words = max_words
        self.least_share = least_share
        self.random_state = random_state
        self.centres_: NDArray[np.float64] = np.zeros((0, 0))
        self.shares_: NDArray[np.float64] = np.zeros(0)

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the words, ``look-0`` being the most frequent."""
        return tuple(f"{_LOOK}{index}" for index in range(len(self.centres_)))

    def fit(self, appearance: ArrayLike) -> Self:
        """Learn the words from ``(N, D)`` appearances and return the codebook itself."""
        points = _points(appearance)
        if not len(points):
            raise RecordError("a codebook must be fitted to at least one region, got none.")
        rng = np.random.default_rng(self.random_state)
        sample = points
        if len(points) > _FIT_SAMPLES:
            sample = points[np.sort(rng.choice(len(points), _FIT_SAMPLES, replace=False))]
        if self.words is None:
            centres = self._chosen(sample, rng)
        else:
            centres = kmeans(sample, self.words, rng)
        self._keep(*_without_rare(sample, centres, self.least_share))
        return self

    def predict(self, appearance: ArrayLike) -> NDArray[np.int32]:
        """Return the ``(N,)`` index of the word nearest to each of ``(N, D)`` appearances."""
        points = _points(appearance)
        self._check(points.shape[1] if len(points) else None)
        return nearest(points, self.centres_)[0].astype(np.int32)

    def label(self, detections: Detections) -> Detections:
        """Return the same boxes labelled by their appearance.

        Raises:
            RecordError: If the detections have no appearance, or one of another length.
        """
        self._check(None)
        labels = np.zeros(detections.mask.shape, np.int32)
        if detections.mask.any():
            if detections.appearance is None:
                raise RecordError(
                    "these detections have no appearance; use a detector that computes it, such "
                    "as regions."
                )
            labels[detections.mask] = self.predict(detections.appearance[detections.mask])
        return detections.relabelled(labels, self.label_names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the codebook atomically to an ``.npz`` file without pickle."""
        self._check(None)
        arrays = {"centres": self.centres_, "shares": self.shares_}
        save_npz(path, "Codebook", _LAYOUT_VERSION, arrays, self._options())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a codebook that :meth:`save` wrote; it gives the same labels."""
        arrays, values = load_npz(path, "Codebook", _LAYOUT_VERSION)
        names = ("words", "max_words", "least_share", "random_state")
        book = cls(**{name: values[name] for name in names if name in values})
        centres, shares = arrays.get("centres"), arrays.get("shares")
        if centres is None or shares is None or centres.ndim != 2 or len(centres) != len(shares):
            raise RecordError(f"{path} has no centres of a codebook; fit and save it again.")
        book._keep(centres.astype(np.float64), shares.astype(np.float64))
        return book

    def __repr__(self) -> str:
        return f"Codebook({len(self.centres_)} looks)"

    def _options(self) -> dict[str, Any]:
        return {
            "words": self.words,
            "max_words": self.max_words,
            "least_share": self.least_share,
            "random_state": self.random_state,
        }

    def _chosen(self, sample: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the centres for the number of words with the best silhouette."""
        few = sample
        if len(sample) > _CHOICE_SAMPLES:
            few = sample[np.sort(rng.choice(len(sample), _CHOICE_SAMPLES, replace=False))]
        best, highest = sample.mean(axis=0, keepdims=True), 0.0
        for count in _counts(min(self.max_words, len(few) - 1)):
            centres = kmeans(few, count, rng, restarts=2)
            fit = silhouette(few, nearest(few, centres)[0])
            if fit > highest:
                best, highest = centres, fit
        return kmeans(sample, len(best), rng)

    def _keep(self, centres: NDArray[np.float64], shares: NDArray[np.float64]) -> None:
        self.centres_, self.shares_ = centres, shares
        self.centres_.setflags(write=False)
        self.shares_.setflags(write=False)

    def _check(self, width: int | None) -> None:
        if not len(self.centres_):
            raise RecordError("this codebook is not fitted; call fit with appearances first.")
        if width is not None and width != self.centres_.shape[1]:
            raise RecordError(
                f"appearances must have {self.centres_.shape[1]} numbers each, like those the "
                f"codebook was fitted to, got {width}; fit a new one."
            )


def _points(appearance: ArrayLike) -> NDArray[np.float64]:
    points = np.asarray(appearance, dtype=np.float64)
    if points.ndim != 2:
        raise RecordError(f"appearances must have shape (N, D), got {points.shape}.")
    points = points[:, :APPEARANCE_SIZE]
    if not np.isfinite(points).all():
        raise RecordError("appearances must be finite, got NaN or infinity.")
    return points


def _counts(most: int) -> list[int]:
    """Return the numbers of words to try, with increasing steps."""
    counts, count = [], 2
    while count <= most:
        counts.append(count)
        count += max(1, count // 5)
    return counts


def _without_rare(
    points: NDArray[np.float64], centres: NDArray[np.float64], least: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Merge rare clusters into their neighbours; return centres and shares by frequency."""
    while True:
        labels = nearest(points, centres)[0]
        shares = np.bincount(labels, minlength=len(centres)) / len(points)
        rarest = int(shares.argmin())
        if len(centres) == 1 or (shares[rarest] >= least and shares[rarest] > 0):
            order = np.argsort(-shares, kind="stable")
            return np.ascontiguousarray(centres[order]), shares[order]
        centres = np.delete(centres, rarest, axis=0)
