"""Shrunken linear discriminants: calibrated probabilities of an attribute's words for a picture."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FAMILIAR_SHARE",
    "Discriminant",
    "calibrated_discriminant",
    "choose_discriminant",
    "distinct_rows",
    "held_out_log_posterior",
    "picture_folds",
]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

FAMILIAR_SHARE = 0.97
"""Share of held-out pictures that are near enough to a word to be known."""

_SHRINKAGES = (0.02, 0.1, 0.3)
_TEMPERATURES = np.array([0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.5, 7.0])
_FOLDS = 5
_FEWEST = 4  # different pictures from which features are chosen
_LEAST_PROBABILITY = 1e-4  # of a word that does not occur in a fold
_HALF_WAY = 0.5
_MOST_LEFT_OUT = 200  # pictures that are left out in turn
_UNIFORM_LESSONS = 2.0  # limit ratio above which lessons vary too little to tell what is unusual


@dataclass(eq=False)
class Discriminant:
    """Linear discriminant analysis with a covariance shrunken towards a spherical one.

    Attributes:
        columns: ``(c,)`` the features used.
        shrinkage: Share of the spherical covariance.
        temperature: Divides log odds, which dependent features make too large.
        limits: The two squared distances of :meth:`distances` beyond which a picture is unknown.
        classes_: ``(C,)`` the words.
        means_: ``(C, c)`` their mean pictures.
        precision_: ``(c, c)`` inverse of the shared covariance.
        prior_: ``(C,)`` the frequency of each word.
    """

    columns: Labels
    shrinkage: float = 0.1
    temperature: float = 1.0
    limits: tuple[float, float] = (np.inf, np.inf)
    classes_: Labels = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    means_: Array = field(default_factory=lambda: np.zeros((0, 0)))
    precision_: Array = field(default_factory=lambda: np.zeros((0, 0)))
    prior_: Array = field(default_factory=lambda: np.zeros(0))

    def fit(self, x: Array, words: Labels) -> Self:
        """Learn from ``(N, D)`` pictures and ``(N,)`` words."""
        x = x[:, self.columns]
        counts = np.bincount(words)
        self.classes_ = np.flatnonzero(counts)
        sizes = counts[self.classes_]
        own = np.searchsorted(self.classes_, words)
        member = (own == np.arange(len(sizes))[:, None]).astype(np.float64)
        self.means_ = member @ x / sizes[:, None]
        residual = x - self.means_[own]
        # Words with one lesson say nothing about the variation within a word.
        scatter = residual.T @ residual / max(len(x) - len(sizes), 1)
        # At least a small variance: identical pictures have no covariance.
        size = max(float(np.trace(scatter)) / max(len(scatter), 1), 1e-3)
        scatter = (1 - self.shrinkage) * scatter + self.shrinkage * size * np.eye(len(scatter))
        self.precision_ = np.asarray(np.linalg.inv(scatter), dtype=np.float64)
        self.prior_ = (sizes + 0.5) / (sizes + 0.5).sum()
        return self

    def log_posterior(self, x: Array) -> Array:
        """Return ``(N, C)`` log probabilities of the words."""
        weights = self.means_ @ self.precision_
        bias = -0.5 * (weights * self.means_).sum(axis=1)
        odds = (x[:, self.columns] @ weights.T + bias) / self.temperature + np.log(self.prior_)
        return _log_softmax(odds)

    def distances(self, x: Array) -> Array:
        """Return ``(N, 2)`` squared distances to the nearest word.

        The first is in the subspace that separates the words. The second is in all features: a
        picture may be near a word in that subspace, as yellow is near green, and yet be unlike all
        pictures of the word.
        """
        basis, root = self._basis()
        points, means = x[:, self.columns] @ root.T, self.means_ @ root.T
        return np.stack([_nearest(points @ basis, means @ basis), _nearest(points, means)], axis=1)

    def known(self, x: Array) -> NDArray[np.bool_]:
        """Return ``(N,)`` whether pictures resemble those of the words."""
        return np.asarray((self.distances(x) <= self.limits).all(axis=1))

    def closest_words(self) -> float:
        """Return the squared distance between the two nearest words."""
        means = self.means_ @ self._basis()[1].T
        distances = ((means[:, None] - means[None]) ** 2).sum(axis=-1)
        np.fill_diagonal(distances, np.inf)
        return float(distances.min())

    def held_out_error(self, x: Array, words: Labels) -> float:
        """Return the share of words that are wrong without their picture, as of two more one.

        Args:
            x: ``(N, D)`` pictures, all features.
            words: ``(N,)`` their words.
        """
        pictures = distinct_rows(x)
        count = int(pictures.max(initial=-1)) + 1
        wrong = asked = 0
        for picture in range(0, count, -(-count // _MOST_LEFT_OUT) or 1):
            rest = pictures != picture
            if rest.any():
                fitted = Discriminant(self.columns, self.shrinkage).fit(x[rest], words[rest])
                said = fitted.classes_[fitted.log_posterior(x[~rest]).argmax(axis=1)]
                wrong += int((said != words[~rest]).sum())
                asked += len(said)
        return (wrong + 1) / (asked + 2)

    def _basis(self) -> tuple[Array, Array]:
        root: Array = np.asarray(np.linalg.cholesky(self.precision_).T, dtype=np.float64)
        spread = (self.means_ - self.means_.mean(axis=0)) @ root.T
        _, s, vt = np.linalg.svd(spread, full_matrices=False)
        kept = vt[s > 1e-8 * max(s.max(initial=0), 1e-300)]
        # For a single word, every direction counts.
        return (kept.T if len(kept) else np.eye(len(root))), root


def choose_discriminant(
    x: Array,
    words: Labels,
    parts: Sequence[Labels],
    *,
    num_linear: int | None = None,
    random_state: int = 0,
) -> Discriminant:
    """Choose by cross-validation which kinds of features an attribute depends on.

    Colour words depend on colours alone: with shapes too, the model would learn that no cup was
    ever blue. Among choices whose held-out log likelihood is within a standard error of the best,
    the one with the fewest features is taken.

    Args:
        x: ``(N, D)`` pictures.
        words: ``(N,)`` words of one attribute.
        parts: The kinds of features, as columns of ``x``.
        num_linear: Columns from this one on are nonlinear; they are used only where they help.
        random_state: Seed of the folds.
    """
    folds = _few_folds(x, random_state)
    if len(np.unique(words)) < 2 or folds is None:
        return Discriminant(np.arange(x.shape[1])).fit(x, words)
    candidates = []
    for columns in _subsets(parts, x.shape[1] if num_linear is None else num_linear):
        for shrinkage in _SHRINKAGES:
            model = Discriminant(columns, shrinkage)
            model.temperature, scores = _best_temperature(_held_out(x, words, model, folds)[0])
            candidates.append((scores, model))
    top = max(candidates, key=lambda one: float(one[0].mean()))[0]

    def nearly_best(scores: Array) -> bool:
        loss = top - scores
        return bool(loss.mean() <= loss.std() / np.sqrt(len(loss)))

    good = [one for one in candidates if nearly_best(one[0])]
    fewest = min(len(one[1].columns) for one in good)
    _, chosen = max(
        (one for one in good if len(one[1].columns) == fewest), key=lambda one: one[0].mean()
    )
    _, distances = _held_out(x, words, chosen, folds, with_distances=True)
    near, far = np.quantile(distances, FAMILIAR_SHARE, axis=0).tolist()
    chosen.fit(x, words)
    # Half the distance to the next word is near enough in any case: lessons may vary less than
    # pictures seen later, through another camera. If they do, the second limit is unknown too.
    halfway = _HALF_WAY**2 * chosen.closest_words()
    chosen.limits = max(near, halfway), far if halfway <= _UNIFORM_LESSONS * near else np.inf
    return chosen


def calibrated_discriminant(
    x: Array, words: Labels, *, shrinkage: float = 0.1, random_state: int = 0
) -> Discriminant:
    """Learn from all features, with a temperature chosen by cross-validation."""
    model = Discriminant(np.arange(x.shape[1]), shrinkage)
    folds = picture_folds(x, _FOLDS, random_state)
    if folds is not None and len(np.unique(words)) > 1:
        model.temperature, _ = _best_temperature(_held_out(x, words, model, folds)[0])
    return model.fit(x, words)


def held_out_log_posterior(
    x: Array, words: Labels, random_state: int = 0, *, shrinkage: float = 0.1
) -> Array | None:
    """Return ``(N, C)`` cross-validated log probabilities of words.

    Words are numbered from 0 without gaps; one that does not occur in a fold is nearly impossible
    there. ``None`` if there are too few rows for folds.
    """
    folds = picture_folds(x, _FOLDS, random_state)
    if folds is None:
        return None
    model = Discriminant(np.arange(x.shape[1]), shrinkage)
    odds, _ = _held_out(x, words, model, folds)
    best, _ = _best_temperature(odds)
    posterior = np.full((len(x), int(words.max()) + 1), np.log(_LEAST_PROBABILITY))
    for fold, (raw, _, prior) in enumerate(odds):
        classes = np.unique(words[folds != fold])
        posterior[np.ix_(folds == fold, classes)] = _log_softmax(raw / best + prior)
    return np.asarray(np.maximum(posterior, np.log(_LEAST_PROBABILITY)))


def distinct_rows(x: Array) -> Labels:
    """Return ``(N,)`` a number for each row, the same for equal ones, in the rows' order."""
    rows = x.round(9)
    leading = rows[:, 0] if rows.shape[1] else np.zeros(len(rows))
    _, first, number = np.unique(leading, return_index=True, return_inverse=True)
    # The first column nearly always tells rows apart, and sorting by all takes far longer.
    if not np.array_equal(rows[first][number], rows):
        number = np.unique(rows, axis=0, return_inverse=True)[1]
    return np.asarray(number.ravel(), dtype=np.intp)


def picture_folds(x: Array, count: int, random_state: int) -> Labels | None:
    """Return the fold of each row, equal rows in one fold; ``None`` if too few rows differ."""
    picture = distinct_rows(x)
    different = int(picture.max(initial=-1)) + 1
    if different < 2 * count:
        return None
    shuffled = np.random.default_rng(random_state).permutation(different)
    return np.asarray(shuffled[picture] % count)


def _few_folds(x: Array, random_state: int) -> Labels | None:
    """Return folds as :func:`picture_folds`; of few pictures, each is left out alone."""
    folds = picture_folds(x, _FOLDS, random_state)
    if folds is not None:
        return folds
    alone = distinct_rows(x)
    return alone if alone.max(initial=0) + 1 >= _FEWEST else None


def _subsets(parts: Sequence[Labels], num_linear: int) -> list[Labels]:
    kinds = [part for part in parts if len(part)]
    # Of many kinds not all subsets are tried: one, two, or all of them.
    sizes = range(1, len(kinds) + 1) if len(kinds) <= 4 else (1, 2, len(kinds))
    groups = [list(group) for size in sizes for group in combinations(kinds, size)]
    whole = [np.concatenate(group) for group in groups]
    linear = [columns[columns < num_linear] for columns in whole]
    curved = [columns for columns in whole if (columns >= num_linear).any()]
    return [columns for columns in (*linear, *curved) if len(columns)]


def _held_out(
    x: Array,
    words: Labels,
    model: Discriminant,
    folds: Labels,
    *,
    with_distances: bool = False,
) -> tuple[list[tuple[Array, Labels, Array]], Array]:
    """Return per fold raw odds, the true word's column (-1: missing) and log priors; distances."""
    odds, distances = [], []
    for fold in range(int(folds.max()) + 1):
        inside, outside = folds != fold, folds == fold
        fitted = Discriminant(model.columns, model.shrinkage).fit(x[inside], words[inside])
        weights = fitted.means_ @ fitted.precision_
        bias = -0.5 * (weights * fitted.means_).sum(axis=1)
        place = np.searchsorted(fitted.classes_, words[outside])
        place = np.minimum(place, len(fitted.classes_) - 1)
        present = fitted.classes_[place] == words[outside]
        raw = x[outside][:, fitted.columns] @ weights.T + bias
        odds.append((raw, np.where(present, place, -1), np.log(fitted.prior_)))
        if with_distances:
            distances.append(fitted.distances(x[outside]))
    return odds, np.concatenate(distances) if distances else np.zeros((0, 2))


def _best_temperature(folds: list[tuple[Array, Labels, Array]]) -> tuple[float, Array]:
    """Return the likeliest temperature, and ``(N,)`` log probabilities of held-out words at it."""
    likelihoods = []
    for raw, place, prior in folds:
        log = _log_softmax(raw / _TEMPERATURES[:, None, None] + prior)
        true = np.where(place >= 0, log[:, np.arange(len(place)), place], -np.inf)
        likelihoods.append(np.maximum(true, np.log(_LEAST_PROBABILITY)))
    scores = np.concatenate(likelihoods, axis=1)
    best = int(scores.mean(axis=1).argmax())
    return float(_TEMPERATURES[best]), scores[best]


def _nearest(points: Array, means: Array) -> Array:
    return np.asarray(((points[:, None] - means[None]) ** 2).sum(axis=-1).min(axis=1))


def _log_softmax(odds: Array) -> Array:
    # scipy's takes four times as long on these small tables, of which there are thousands.
    odds = odds - odds.max(axis=-1, keepdims=True)
    return np.asarray(odds - np.log(np.exp(odds).sum(axis=-1, keepdims=True)))
