r"""A mixture of linear maps: every pair follows one of K maps, nobody says which (the paper's EM).

:math:`f(y|x)=\sum_k\xi_k\,N(y; A_kx+b_k, \Sigma_k)`. The E-step weighs maps by
:math:`\xi_kf_k(y|x)`; the paper prints it without the mixing weights, which is an option. The
M-step is a weighted ridge regression per map, exact under a prior, so that the objective (log
likelihood plus log prior) never falls.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.errors import TeachingError
from wordsight.attributes.grouping.cca import checked_sources
from wordsight.inference import ConvergenceMonitor

__all__ = [
    "ComponentScore",
    "LinearMaps",
    "LinearMixture",
    "choose_num_components",
    "exclusive_axis",
    "random_start",
    "score_components",
    "split_along",
]

Array = NDArray[np.float64]


# Where the mixture of linear maps begins: the paper's axis, or chance.


def exclusive_axis(x: Array, y: Array, epsilon: float = 1e-3) -> Array:
    r"""Return the direction of speech along which words said of similar pictures differ most.

    It maximises :math:`\sum_{i<j}(c\cdot y_i-c\cdot y_j)^2/(\|x_i-x_j\|+\epsilon)` over unit c:
    the paper's Eq. 4 with the square without which it would be no eigenvalue problem. The matrix
    is :math:`Y^T(D-W)Y`, W holding the weights of pairs and D their sums.

    Args:
        x: ``(N, dx)`` pictures.
        y: ``(N, dy)`` words.
        epsilon: Keeps identical pictures from weighing infinitely.

    Returns:
        ``(dy,)`` of unit length, its largest part positive.
    """
    from scipy.spatial.distance import cdist

    weights = 1 / (cdist(x, x) + epsilon)
    np.fill_diagonal(weights, 0.0)
    matrix = y.T @ (weights.sum(axis=1)[:, None] * y) - y.T @ weights @ y
    axis = np.linalg.eigh((matrix + matrix.T) / 2)[1][:, -1]
    return np.asarray(axis * (1.0 if axis[np.abs(axis).argmax()] > 0 else -1.0))


def split_along(places: Array, count: int) -> Array:
    """Return ``(N, count)`` responsibilities that cut places on a line into groups of equal size.

    The paper does not say where it cuts.
    """
    rank = np.argsort(np.argsort(places, kind="stable"), kind="stable")
    return np.asarray((rank * count // len(places))[:, None] == np.arange(count), dtype=np.float64)


def random_start(num_pairs: int, count: int, random: np.random.Generator) -> Array:
    """Return ``(num_pairs, count)`` random responsibilities."""
    return np.asarray(random.dirichlet(np.ones(count), num_pairs))


_LEAST_SHARE = 1e-12
_EQUAL = 1e-7  # differences of responsibilities that rounding alone could make
_UNREST = 1e-3  # share of chance that is mixed in then


@dataclass(frozen=True, eq=False)
class LinearMaps:
    """The parameters of a mixture.

    Attributes:
        shares: ``(K,)`` mixing weights.
        maps: ``(K, dx + 1, dy)`` the last row being the constant.
        covariances: ``(K, dy, dy)``.
    """

    shares: Array
    maps: Array
    covariances: Array

    def predict(self, x: Array) -> Array:
        """Return ``(K, N, dy)`` what each map expects."""
        return np.asarray(_extended(x) @ self.maps)

    def log_densities(self, x: Array, y: Array) -> Array:
        """Return ``(N, K)`` log density of y under each map, without the mixing weights."""
        found = np.empty((len(x), len(self.shares)))
        for k, expected in enumerate(self.predict(x)):
            factor = np.linalg.cholesky(self.covariances[k])
            scaled = np.linalg.solve(factor, (y - expected).T)
            constant = 2 * np.log(np.diag(factor)).sum() + y.shape[1] * np.log(2 * np.pi)
            found[:, k] = -0.5 * ((scaled**2).sum(axis=0) + constant)
        return found


class LinearMixture:
    """Expectation and maximisation for a mixture of linear maps.

    Args:
        num_components: K.
        iterations: Steps of EM.
        start: "axis" (the paper's eigenvector, its square restored) or "random".
        restarts: How many starts; from the second on they are random. The best objective wins.
        annealed: Start at a temperature at which all maps look alike, and cool to 1 over the
            first two thirds of the steps.
        hottest: That temperature.
        ridge: Imagined samples that say that maps are flat, per unit variance of x.
        floor: Imagined variance of y about every map; keeps a map from closing on one pair.
        printed_step: Leave the mixing weights out of the E-step, as printed in the paper.
        random_state: Seed of the starts.

    Attributes:
        maps_: The parameters.
        responsibilities_: ``(N, K)`` of the training pairs.
        start_responsibilities_: ``(N, K)`` where EM started.
        history_: The objective after every step.
    """

    def __init__(
        self,
        num_components: int,
        *,
        iterations: int = 60,
        start: str = "axis",
        restarts: int = 1,
        annealed: bool = False,
        hottest: float = 100.0,
        ridge: float = 1.0,
        floor: float = 0.05,
        printed_step: bool = False,
        random_state: int = 0,
    ) -> None:
        if num_components < 1 or iterations < 1 or restarts < 1:
            raise TeachingError("a mixture needs a component, a step and a start at least.")
        if start not in ("axis", "random"):
            raise TeachingError(f"start must be 'axis' or 'random', got {start!r}.")
        self.num_components = num_components
        self.iterations = iterations
        self.start = start
        self.restarts = restarts
        self.annealed = annealed
        self.hottest = hottest
        self.ridge = ridge
        self.floor = floor
        self.printed_step = printed_step
        self.random_state = random_state

    def fit(self, x: Array, y: Array) -> Self:
        """Learn from pairs ``(N, dx)`` and ``(N, dy)``."""
        x, y = checked_sources(x, y)
        if len(x) < self.num_components:
            raise TeachingError(f"{len(x)} pairs cannot fill {self.num_components} components.")
        random = np.random.default_rng(self.random_state)
        best = -np.inf
        for turn in range(self.restarts):
            first = self._first(x, y, random, turn)
            maps, weights, history = self._run(x, y, first)
            if history[-1] > best:
                best = history[-1]
                self.maps_, self.responsibilities_, self.history_ = maps, weights, history
                self.start_responsibilities_ = first
        return self

    def score(self, x: Array, y: Array) -> float:
        """Return the mean log likelihood of pairs."""
        joint = self.maps_.log_densities(x, y) + np.log(self.maps_.shares)
        return float(_log_sum(joint).mean())

    def responsibilities(self, x: Array, y: Array) -> Array:
        """Return ``(N, K)`` how probably each pair followed each map."""
        return self._weights(self.maps_, x, y, 1.0)[0]

    def _first(self, x: Array, y: Array, random: np.random.Generator, turn: int) -> Array:
        if self.start == "axis" and turn == 0:
            return split_along(y @ exclusive_axis(x, y), self.num_components)
        return random_start(len(x), self.num_components, random)

    def _run(self, x: Array, y: Array, weights: Array) -> tuple[LinearMaps, Array, list[float]]:
        # Cooling and the printed step change what is maximised, so there it may fall.
        falling = "ignore" if self.annealed or self.printed_step else "raise"
        monitor = ConvergenceMonitor(0.0, self.iterations, falling)  # type: ignore[arg-type]
        unrest = random_start(len(x), self.num_components, np.random.default_rng(self.random_state))
        maps = self._maximised(x, y, weights)
        for step in range(self.iterations):
            power = self._power(step)
            weights, objective = self._weights(maps, x, y, power)
            monitor.update(objective)
            if power < 1 and np.abs(weights - weights.mean(axis=0)).max() < _EQUAL:
                # Hot maps become equal, and equal maps would stay so for ever.
                weights = (1 - _UNREST) * weights + _UNREST * unrest
            maps = self._maximised(x, y, weights)
        return maps, self._weights(maps, x, y, 1.0)[0], monitor.history

    def _power(self, step: int) -> float:
        if not self.annealed:
            return 1.0
        cooled = step / max(1, round(self.iterations * 2 / 3))
        return float(min(1.0, self.hottest ** (cooled - 1)))

    def _weights(self, maps: LinearMaps, x: Array, y: Array, power: float) -> tuple[Array, float]:
        """Return the responsibilities and the objective at these parameters."""
        densities = maps.log_densities(x, y)
        joint = densities + np.log(maps.shares)
        used = power * (densities if self.printed_step else joint)
        weights = np.exp(used - _log_sum(used)[:, None])
        return weights, float(_log_sum(joint).sum() + self._log_prior(maps))

    def _maximised(self, x: Array, y: Array, weights: Array) -> LinearMaps:
        full = _extended(x)
        penalty = self.ridge * np.diag(np.append(np.ones(x.shape[1]), 0.0))
        maps, covariances = [], []
        for share in weights.T:
            weighted = full * share[:, None]
            # A hair on the constant, too: a map that no pair follows still has an answer.
            table = np.linalg.solve(
                weighted.T @ full + penalty + 1e-9 * np.eye(full.shape[1]), weighted.T @ y
            )
            apart = y - full @ table
            scatter = (apart * share[:, None]).T @ apart + self._prior_scatter(table)
            maps.append(table)
            covariances.append(scatter / (share.sum() + self._prior_count(x, y)))
        shares = np.maximum(weights.mean(axis=0), _LEAST_SHARE)
        return LinearMaps(shares / shares.sum(), np.array(maps), np.array(covariances))

    def _prior_count(self, x: Array, y: Array) -> float:
        return float(x.shape[1] * (self.ridge > 0) + y.shape[1])

    def _prior_scatter(self, table: Array) -> Array:
        width = table.shape[1]
        flat = table[:-1]
        return np.asarray(self.ridge * flat.T @ flat + width * self.floor * np.eye(width))

    def _log_prior(self, maps: LinearMaps) -> float:
        """Return the log prior of maps and covariances, up to a constant."""
        count = (maps.maps.shape[1] - 1) * (self.ridge > 0) + maps.maps.shape[2]
        found = 0.0
        for table, covariance in zip(maps.maps, maps.covariances, strict=True):
            _, size = np.linalg.slogdet(covariance)
            inside = np.trace(np.linalg.solve(covariance, self._prior_scatter(table)))
            found -= 0.5 * (count * size + float(inside))
        return found


def _extended(x: Array) -> Array:
    return np.hstack([x, np.ones((len(x), 1))])


def _log_sum(values: Array) -> Array:
    top = values.max(axis=1)
    return np.asarray(top + np.log(np.exp(values - top[:, None]).sum(axis=1)))


# How many linear maps there are: by the likelihood of pairs left out, with MDL beside.


_FOLDS = 4


@dataclass(frozen=True)
class ComponentScore:
    """How well a number of components explains pairs.

    Attributes:
        num_components: The number.
        held_out: Mean log likelihood of pairs that were left out, over folds.
        standard_error: Of that mean's gain over the number before, across pairs.
        description_length: Negative log likelihood of all pairs and the cost of the parameters,
            in nats; the smallest is best by the principle of minimum description length.
    """

    num_components: int
    held_out: float
    standard_error: float
    description_length: float


def score_components(
    mixture: LinearMixture, x: Array, y: Array, *, most: int = 5
) -> list[ComponentScore]:
    """Fit every number of components from 1 to ``most`` and score it.

    Args:
        mixture: How to fit; its number of components is ignored.
        x: ``(N, dx)`` pictures.
        y: ``(N, dy)`` words.
        most: The largest number tried.
    """
    folds = np.random.default_rng(mixture.random_state).permutation(len(x)) % _FOLDS
    scores: list[ComponentScore] = []
    before = np.zeros(len(x))
    for number in range(1, min(most, len(x) // 2) + 1):
        held = np.zeros(len(x))
        for fold in range(_FOLDS):
            inside, outside = folds != fold, folds == fold
            fitted = _like(mixture, number).fit(x[inside], y[inside])
            held[outside] = _log_likelihoods(fitted, x[outside], y[outside])
        whole = _like(mixture, number).fit(x, y)
        gain = held - before
        width = number * (y.shape[1] * (x.shape[1] + 1) + y.shape[1] * (y.shape[1] + 1) / 2)
        length = -whole.score(x, y) * len(x) + 0.5 * (width + number - 1) * np.log(len(x))
        error = float(gain.std() / np.sqrt(len(x)))
        scores.append(ComponentScore(number, float(held.mean()), error, float(length)))
        before = held
    return scores


def choose_num_components(mixture: LinearMixture, x: Array, y: Array, *, most: int = 5) -> int:
    """Return the number after which held-out likelihood gains less than two standard errors."""
    scores = score_components(mixture, x, y, most=most)
    chosen = scores[0]
    for score in scores[1:]:
        if score.held_out - chosen.held_out < 2 * score.standard_error:
            break
        chosen = score
    return chosen.num_components


def _like(mixture: LinearMixture, number: int) -> LinearMixture:
    settings = {k: v for k, v in vars(mixture).items() if not k.endswith("_")}
    return LinearMixture(**settings | {"num_components": number})


def _log_likelihoods(mixture: LinearMixture, x: Array, y: Array) -> Array:
    joint = mixture.maps_.log_densities(x, y) + np.log(mixture.maps_.shares)
    top = joint.max(axis=1)
    return np.asarray(top + np.log(np.exp(joint - top[:, None]).sum(axis=1)))
