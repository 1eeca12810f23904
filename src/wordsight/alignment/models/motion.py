"""MotionHSMM: steps told apart by how the things they name move, learned without labels.

Where things are followed as boxes, far more is seen of them than which are touched: how fast they
move, how near a hand is, where they come from. A classifier learns from these measurements what is
done to a thing, which is what the verb of a line says of it. It learns from the alignment of a
semi-Markov model over touches, and a better alignment follows from it, from which it learns again.
Each video is aligned by classifiers that learned from others, so that none confirms its own errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.base import Bias
from wordsight.alignment.models.encoding import AlignmentVocabulary, Encoded
from wordsight.alignment.models.hsmm import HSMM, mix_lines
from wordsight.progress import Progress

__all__ = ["MotionHSMM", "RoleClassifier", "names_followed"]

Array = NDArray[np.float64]

_BINS = 6  # of each measurement, equally filled
_ITERATIONS = 40  # of L-BFGS
_LABEL = 10.0  # weight of a labelled chunk; one aligned without labels has weight one
# Neighbouring chunks are not independent, so posteriors are surer than right. Chosen on subjects 1
# and 3 of CAD-120, each aligned by models of the other subjects.
_CALM = 0.6
_DOUBT = 1e-3  # probability added to that of every line
_LEAST_NAMED = 0.5  # share of the lines that must name a thing that was followed


def names_followed(pair: Encoded) -> bool:
    """Return whether at least half of a text's lines name a thing that was followed."""
    if pair.roles is None or not pair.roles.size:
        return False
    return bool(1.0 - _of_any(pair.roles).mean() >= _LEAST_NAMED)


class RoleClassifier:
    """Softmax regression: the role of a thing in what is done, given how it moves.

    Args:
        roles: Number of roles; the first is that of a thing nothing is done to.
        penalty: Weight of the squared weights.

    Attributes:
        thresholds: ``(B, F)`` bounds between the bins of each measurement.
        weights: ``(D, C)`` weight of each measurement beyond each bound, and a constant, per role.
        shares: ``(C,)`` how often each role occurs.
    """

    def __init__(self, roles: int, penalty: float) -> None:
        self._penalty = penalty
        self.thresholds, self.weights = np.zeros((0, 0)), np.zeros((0, roles))
        self.shares = np.full(roles, 1.0 / roles)

    def fit(
        self, pairs: Sequence[Encoded], posteriors: Sequence[Array], start: Array | None = None
    ) -> "RoleClassifier":
        """Learn from videos and the probability ``(T, N)`` of each line at each chunk.

        Args:
            pairs: Texts with videos in which things were followed.
            posteriors: One per pair; what is missing to one belongs to no line.
            start: Weights to start from.
        """
        from scipy.optimize import minimize

        motions = [_motion(pair) for pair in pairs]
        every = np.concatenate([motion.reshape(-1, motion.shape[2]) for motion in motions])
        self.thresholds = np.quantile(every, np.linspace(0, 1, _BINS + 1)[1:-1], axis=0)
        inputs = np.concatenate([self._inputs(motion) for motion in motions])
        count = len(self.shares)
        targets = np.concatenate(
            [_targets(*one, count) for one in zip(pairs, posteriors, strict=True)]
        )
        said = targets.sum(axis=0)
        self.shares = (said + 1.0) / (said.sum() + count)
        shape = (inputs.shape[1], count)
        mass = targets.sum(axis=1, keepdims=True)

        def objective(flat: Array) -> tuple[float, Array]:
            weights = flat.reshape(shape)
            logs = _log_softmax(inputs @ weights)
            slope = inputs.T @ (mass * np.exp(logs) - targets) + self._penalty * weights
            value = -(targets * logs).sum() + self._penalty / 2 * (flat**2).sum()
            return float(value), slope.ravel()

        first = np.zeros(shape) if start is None or start.shape != shape else start
        options = {"maxiter": _ITERATIONS}
        found = minimize(objective, first.ravel(), jac=True, method="L-BFGS-B", options=options)
        self.weights = found.x.reshape(shape)
        return self

    def ratios(self, pair: Encoded) -> tuple[Array, Array]:
        """Return log ratios of what is seen to what is seen anyway, of lines and of no line.

        Returns:
            ``(T, N)`` and ``(T,)``. A line speaks of every thing: of those that it does not name it
            says that nothing is done to them. Roles never learned say nothing.
        """
        motion, roles = _motion(pair), pair.roles
        assert roles is not None
        logs = _log_softmax(self._inputs(motion) @ self.weights) - np.log(self.shares)
        logs = np.pad(logs.reshape(*motion.shape[:2], -1), ((0, 0), (0, 0), (0, 1)))
        lines = np.sum([logs[thing][:, roles[:, thing]] for thing in range(len(motion))], axis=0)
        lines[:, _of_any(roles)] /= max(len(motion), 1)
        return lines, logs[..., 0].sum(axis=0)

    def _inputs(self, motion: Array) -> Array:
        """Return ``(O * T, D)`` which bounds each measurement exceeds, and a constant."""
        beyond = motion[..., None] >= self.thresholds.T
        rows = beyond.reshape(motion.shape[0] * motion.shape[1], -1).astype(np.float64)
        return np.concatenate([rows, np.ones((len(rows), 1))], axis=1)


@dataclass
class MotionHSMM(HSMM):
    """A semi-Markov model whose steps are told apart by the motion of the things they name.

    Where things were not followed, or fewer than two videos have texts that name them, it is
    an :class:`HSMM`.

    Args:
        rounds: How often the classifier learns from the alignment.
        folds: Groups of videos, each aligned by a classifier that learned from the others.
        penalty: Weight of the squared weights of the classifier.

    Attributes:
        classifier_: What roles in lines look like, or ``None``.
    """

    rounds: int = 2
    folds: int = 5
    penalty: float = 3.0
    classifier_: RoleClassifier | None = field(default=None, init=False, repr=False)

    def settings(self) -> dict[str, Any]:
        """Return the constructor arguments by name."""
        return {name: v for name, v in super().settings().items() if name != "classifier_"}

    def state(self) -> dict[str, Array]:
        """Return all learned arrays by name, for storage."""
        arrays = super().state()
        if self.classifier_ is not None:
            names = ("thresholds", "weights", "shares")
            arrays |= {f"motion_{name}": getattr(self.classifier_, name) for name in names}
        return arrays

    def restore(self, vocabulary: AlignmentVocabulary, arrays: dict[str, Array]) -> None:
        """Set all learned values from storage."""
        super().restore(vocabulary, arrays)
        self.classifier_ = None
        if "motion_weights" in arrays:
            self.classifier_ = RoleClassifier(len(vocabulary.roles), self.penalty)
            for name in ("thresholds", "weights", "shares"):
                setattr(self.classifier_, name, arrays[f"motion_{name}"])

    def _fit(self, pairs: list[Encoded], progress: Progress | None) -> None:
        self.classifier_ = None
        super()._fit(pairs, progress)
        pairs = [pair for pair in pairs if names_followed(pair)]
        if len(pairs) < 2:
            return
        posteriors = [_true(pair, self._posterior(pair, 0.0)) for pair in pairs]
        folds = min(self.folds, len(pairs))
        weights: list[Array | None] = [None] * folds
        for _ in range(self.rounds):
            updated = list(posteriors)
            for fold in range(folds):
                # Labelled videos are not aligned again, so every classifier may learn from them.
                rest = [
                    n
                    for n, pair in enumerate(pairs)
                    if n % folds != fold or pair.labels is not None
                ]
                classifier = self._trained(pairs, posteriors, rest, weights[fold])
                weights[fold] = classifier.weights
                for n in range(fold, len(pairs), folds):
                    if pairs[n].labels is None:
                        updated[n] = self._aligned(pairs[n], classifier, 0.0)
            posteriors = updated
        self.classifier_ = self._trained(pairs, posteriors, range(len(pairs)), weights[0])

    def _trained(
        self,
        pairs: Sequence[Encoded],
        posteriors: Sequence[Array],
        chosen: Sequence[int],
        start: Array | None,
    ) -> RoleClassifier:
        classifier = RoleClassifier(len(self.vocabulary_.roles), self.penalty)
        return classifier.fit([pairs[n] for n in chosen], [posteriors[n] for n in chosen], start)

    def _aligned(self, encoded: Encoded, classifier: RoleClassifier, bias: Bias) -> Array:
        """Return ``(T, N)`` probabilities of lines by a classifier, the clock and the order."""
        example = self._example(encoded, bias)
        steps, shares = mix_lines(*classifier.ratios(encoded), encoded.steps, self.drop)
        states = self._segment(example, steps + encoded.fits).states[example.edges.units]
        return np.asarray(shares * states[:, encoded.steps])

    def _posterior(self, encoded: Encoded, bias: Bias) -> Array:
        if self.classifier_ is None or not names_followed(encoded):
            return super()._posterior(encoded, bias)
        return _calmed(self._aligned(encoded, self.classifier_, bias))


def _motion(pair: Encoded) -> Array:
    assert pair.motion is not None
    return pair.motion


def _of_any(roles: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return ``(N,)`` which lines name no thing in particular, and so are about one of them."""
    return np.asarray((roles == roles[:, :1]).all(axis=1) & (roles.shape[1] > 1))


def _calmed(posterior: Array) -> Array:
    """Return ``(T, N)`` less extreme probabilities, which are right about as often as they say."""
    total = np.maximum(posterior.sum(axis=1, keepdims=True), 1e-12)
    calm = (posterior / total + _DOUBT) ** _CALM
    return np.asarray(total * calm / calm.sum(axis=1, keepdims=True))


def _log_softmax(scores: Array) -> Array:
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


def _true(pair: Encoded, posterior: Array) -> Array:
    """Return the labels of a pair as probabilities, or else its posterior."""
    if pair.labels is None:
        return posterior
    return np.asarray((pair.labels[:, None] == np.arange(pair.num_lines)).astype(np.float64))


def _targets(pair: Encoded, posterior: Array, roles: int) -> Array:
    """Return ``(O * T, C)`` how probable each role of each thing is at each chunk."""
    assert pair.roles is not None
    rows = []
    for said in pair.roles.T:
        role = np.zeros((len(posterior), roles + 1))  # the last one for roles never learned
        np.add.at(role.T, said, posterior.T)
        role[:, 0] += np.clip(1.0 - posterior.sum(axis=1), 0.0, 1.0)
        rows.append(role[:, :-1])
    return np.concatenate(rows) * (1.0 if pair.labels is None else _LABEL)
