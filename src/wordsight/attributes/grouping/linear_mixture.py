r"""Mixtures of linear maps with latent assignments of pairs: the paper's EM, and variational Bayes.

:math:`f(y|x)=\sum_k\xi_k\,N(y; A_kx+b_k, \Sigma_k)`. The E-step weighs maps by
:math:`\xi_kf_k(y|x)`; the paper prints it without the mixing weights, which is an option. The
M-step is a weighted ridge regression per map, exact under a prior, so that the objective (log
likelihood plus log prior) never falls.

By variational Bayes the number of maps is found, and what each looks at: weights
:math:`w_{dj}\sim N(0,\alpha_d^{-1})` have a relevance :math:`\alpha_d` for every direction of
pictures, noise a precision :math:`\beta`, and mixing weights a sparse prior, so that directions
that do not help a map and maps that are not needed get no weight (MacKay, 1994; Attias, 2000).
"""

from dataclasses import KW_ONLY, dataclass
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from wordsight.attributes.grouping.cca import checked_sources
from wordsight.errors import TeachingError
from wordsight.inference import ConvergenceMonitor

__all__ = [
    "LinearMaps",
    "LinearMixture",
    "Noise",
    "exclusive_axis",
    "fit_variational",
    "random_start",
    "split_along",
]

Array = NDArray[np.float64]
Noise = Literal["full", "diagonal", "isotropic"]

_LEAST_SHARE = 1e-12
_EQUAL = 1e-7  # differences of responsibilities within rounding
_PERTURBATION = 1e-3  # share of random responsibilities that is mixed in then

_SPARSE = 1e-2  # concentration of the mixing weights: components without pairs vanish
_BROAD = 1e-3  # shape and rate of the priors of precisions
_HOTTEST = 30.0
_FEWEST = 2.0  # pairs of a component that is kept


@dataclass(frozen=True, eq=False)
class LinearMaps:
    """The parameters of a mixture.

    Attributes:
        shares: ``(K,)`` mixing weights.
        maps: ``(K, dx + 1, dy)``; the last row is the constant.
        covariances: ``(K, dy, dy)``.
    """

    shares: Array
    maps: Array
    covariances: Array

    def predict(self, x: Array) -> Array:
        """Return ``(K, N, dy)`` the prediction of each map."""
        return np.asarray(_extended(x) @ self.maps)

    def log_densities(self, x: Array, y: Array) -> Array:
        """Return ``(N, K)`` log density of y under each map, without the mixing weights."""
        densities = np.empty((len(x), len(self.shares)))
        for k, expected in enumerate(self.predict(x)):
            factor = np.linalg.cholesky(self.covariances[k])
            scaled = np.linalg.solve(factor, (y - expected).T)
            constant = 2 * np.log(np.diag(factor)).sum() + y.shape[1] * np.log(2 * np.pi)
            densities[:, k] = -0.5 * ((scaled**2).sum(axis=0) + constant)
        return densities

    def log_likelihoods(self, x: Array, y: Array) -> Array:
        """Return ``(N,)`` log density of y under the mixture."""
        joint = self.log_densities(x, y) + np.log(self.shares)
        return _log_sum_exp(joint)


@dataclass(eq=False)
class LinearMixture:
    """EM for a mixture of linear maps.

    Attributes:
        num_components: K.
        iterations: Steps of EM.
        start: "axis" (the paper's eigenvector, with the missing square) or "random".
        restarts: Number of starts; from the second on they are random. The best objective wins.
        annealed: Whether to start at a temperature at which all maps are alike, and to cool to 1
            over the first two thirds of the steps.
        hottest: That temperature.
        ridge: Pseudo-samples of the prior that maps are flat, per unit variance of x.
        floor: Prior variance of y around every map; keeps a map from collapsing on one pair.
        noise: The covariance around every map: "full", "diagonal" or "isotropic".
        epsilon: Bounds the weight of identical pictures in the start "axis".
        printed_step: Whether to omit the mixing weights from the E-step, as printed in the paper.
        random_state: Seed of the starts.
        maps_: The learned parameters.
        responsibilities_: ``(N, K)`` of the training pairs.
        start_responsibilities_: ``(N, K)`` at the start of EM.
        history_: The objective after every step.
    """

    num_components: int
    _: KW_ONLY
    iterations: int = 60
    start: str = "axis"
    restarts: int = 1
    annealed: bool = False
    hottest: float = 100.0
    ridge: float = 1.0
    floor: float = 0.05
    noise: Noise = "full"
    epsilon: float = 1e-3
    printed_step: bool = False
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.num_components < 1 or self.iterations < 1 or self.restarts < 1:
            raise TeachingError(
                "num_components, iterations and restarts must be 1 or more, got "
                f"{self.num_components}, {self.iterations} and {self.restarts}."
            )
        if self.start not in ("axis", "random"):
            raise TeachingError(f"start must be 'axis' or 'random', got {self.start!r}.")
        if self.noise not in get_args(Noise):
            raise TeachingError(
                f"noise must be one of {', '.join(get_args(Noise))}, got {self.noise!r}."
            )

    def fit(self, x: Array, y: Array, start: Array | None = None) -> Self:
        """Learn from pairs.

        Args:
            x: ``(N, dx)`` pictures.
            y: ``(N, dy)`` words.
            start: ``(N, K)`` responsibilities of the first start, instead of :attr:`start`.
        """
        x, y = checked_sources(x, y)
        if len(x) < self.num_components:
            raise TeachingError(f"{len(x)} pairs are too few for {self.num_components} components.")
        random = np.random.default_rng(self.random_state)
        best = -np.inf
        for restart in range(self.restarts):
            given = start if restart == 0 else None
            first = self._start(x, y, random, restart) if given is None else given
            maps, weights, history = self._run(x, y, first)
            if history[-1] > best:
                best = history[-1]
                self.maps_, self.responsibilities_, self.history_ = maps, weights, history
                self.start_responsibilities_ = first
        return self

    def score(self, x: Array, y: Array) -> float:
        """Return the mean log likelihood of pairs."""
        return float(self.maps_.log_likelihoods(x, y).mean())

    def responsibilities(self, x: Array, y: Array) -> Array:
        """Return ``(N, K)`` the posterior of the maps for each pair."""
        return self._e_step(self.maps_, x, y, 1.0)[0]

    def _start(self, x: Array, y: Array, random: np.random.Generator, restart: int) -> Array:
        if self.start == "axis" and restart == 0:
            return split_along(y @ exclusive_axis(x, y, self.epsilon), self.num_components)
        return random_start(len(x), self.num_components, random)

    def _run(self, x: Array, y: Array, weights: Array) -> tuple[LinearMaps, Array, list[float]]:
        # Annealing and the printed step change the objective, so that it may fall.
        falling: Literal["ignore", "raise"] = (
            "ignore" if self.annealed or self.printed_step else "raise"
        )
        monitor = ConvergenceMonitor(0.0, self.iterations, falling)
        noise = random_start(len(x), self.num_components, np.random.default_rng(self.random_state))
        maps = self._m_step(x, y, weights)
        for step in range(self.iterations):
            power = self._inverse_temperature(step)
            weights, objective = self._e_step(maps, x, y, power)
            monitor.update(objective)
            if power < 1 and np.abs(weights - weights.mean(axis=0)).max() < _EQUAL:
                # Hot maps become equal, and equal maps would stay equal.
                weights = (1 - _PERTURBATION) * weights + _PERTURBATION * noise
            maps = self._m_step(x, y, weights)
        return maps, self._e_step(maps, x, y, 1.0)[0], monitor.history

    def _inverse_temperature(self, step: int) -> float:
        if not self.annealed:
            return 1.0
        cooled = step / max(1, round(self.iterations * 2 / 3))
        return float(min(1.0, self.hottest ** (cooled - 1)))

    def _e_step(self, maps: LinearMaps, x: Array, y: Array, power: float) -> tuple[Array, float]:
        """Return the responsibilities and the objective at these parameters."""
        densities = maps.log_densities(x, y)
        joint = densities + np.log(maps.shares)
        used = power * (densities if self.printed_step else joint)
        weights = np.exp(used - _log_sum_exp(used)[:, None])
        return weights, float(_log_sum_exp(joint).sum() + self._log_prior(maps))

    def _m_step(self, x: Array, y: Array, weights: Array) -> LinearMaps:
        full = _extended(x)
        penalty = self.ridge * np.diag(np.append(np.ones(x.shape[1]), 0.0))
        maps, covariances = [], []
        for share in weights.T:
            weighted = full * share[:, None]
            # A little on the constant, too: a map without pairs still has a solution.
            table = np.linalg.solve(
                weighted.T @ full + penalty + 1e-9 * np.eye(full.shape[1]), weighted.T @ y
            )
            residual = y - full @ table
            scatter = (residual * share[:, None]).T @ residual + self._prior_scatter(table)
            maps.append(table)
            covariances.append(
                _restricted(scatter, self.noise) / (share.sum() + self._prior_count(table))
            )
        shares = np.maximum(weights.mean(axis=0), _LEAST_SHARE)
        return LinearMaps(shares / shares.sum(), np.array(maps), np.array(covariances))

    def _prior_count(self, table: Array) -> float:
        return float((table.shape[0] - 1) * (self.ridge > 0) + table.shape[1])

    def _prior_scatter(self, table: Array) -> Array:
        width = table.shape[1]
        flat = table[:-1]
        return np.asarray(self.ridge * flat.T @ flat + width * self.floor * np.eye(width))

    def _log_prior(self, maps: LinearMaps) -> float:
        """Return the log prior of maps and covariances, up to a constant."""
        total = 0.0
        for table, covariance in zip(maps.maps, maps.covariances, strict=True):
            _, size = np.linalg.slogdet(covariance)
            inside = np.trace(np.linalg.solve(covariance, self._prior_scatter(table)))
            total -= 0.5 * (self._prior_count(table) * size + float(inside))
        return total


def _restricted(scatter: Array, noise: Noise) -> Array:
    """Return the scatter whose covariance is likeliest among those of a kind."""
    if noise == "full":
        return scatter
    own = np.diag(scatter)
    return np.diag(own if noise == "diagonal" else np.full(len(own), own.mean()))


def exclusive_axis(x: Array, y: Array, epsilon: float = 1e-3) -> Array:
    r"""Return the direction of speech along which words for similar pictures differ most.

    It maximises :math:`\sum_{i<j}(c\cdot y_i-c\cdot y_j)^2/(\|x_i-x_j\|+\epsilon)` over unit c:
    the paper's Eq. 4 with the square that makes it an eigenvalue problem. The matrix is
    :math:`Y^T(D-W)Y`, with W the weights of pairs and D their sums.

    Args:
        x: ``(N, dx)`` pictures.
        y: ``(N, dy)`` words.
        epsilon: Bounds the weight of identical pictures.

    Returns:
        ``(dy,)`` of unit length, its largest component positive.
    """
    from scipy.spatial.distance import cdist

    weights = 1 / (cdist(x, x) + epsilon)
    np.fill_diagonal(weights, 0.0)
    matrix = y.T @ (weights.sum(axis=1)[:, None] * y) - y.T @ weights @ y
    axis = np.linalg.eigh((matrix + matrix.T) / 2)[1][:, -1]
    return np.asarray(axis * (1.0 if axis[np.abs(axis).argmax()] > 0 else -1.0))


def split_along(places: Array, count: int) -> Array:
    """Return ``(N, count)`` responsibilities that split places on a line into equal groups.

    The paper does not say where it splits.
    """
    rank = np.argsort(np.argsort(places, kind="stable"), kind="stable")
    return np.asarray((rank * count // len(places))[:, None] == np.arange(count), dtype=np.float64)


def random_start(num_pairs: int, count: int, random: np.random.Generator) -> Array:
    """Return ``(num_pairs, count)`` random responsibilities."""
    return np.asarray(random.dirichlet(np.ones(count), num_pairs))


def fit_variational(
    x: Array, y: Array, *, most: int = 8, iterations: int = 150, random_state: int = 0
) -> LinearMixture:
    """Fit a mixture of linear maps whose number of components is found.

    It is cooled over the first two thirds of the steps, as :class:`LinearMixture` is.

    Args:
        x: ``(N, dx)`` pictures.
        y: ``(N, dy)`` words.
        most: Components at the start.
        iterations: Steps.
        random_state: Seed of the start.

    Returns:
        A fitted mixture of the components that are left.
    """
    design = np.hstack([x, np.ones((len(x), 1))])
    start = random_start(len(x), most, np.random.default_rng(random_state))
    shares, relevance = start, np.ones((most, design.shape[1]))
    precision = np.full(most, 1 / max(float(y.var()), 1e-9))
    for step in range(iterations):
        heat = max(_HOTTEST ** (1 - 1.5 * step / iterations), 1.0)
        counts = shares.sum(axis=0)
        fits = [_fitted(design, y, shares[:, k], relevance[k], precision[k]) for k in range(most)]
        maps, relevance = np.array([fit[0] for fit in fits]), np.array([fit[1] for fit in fits])
        errors = np.array([fit[2] for fit in fits]).T
        shape = _BROAD + y.shape[1] * counts / 2
        rate = _BROAD + (shares * errors).sum(axis=0) / 2
        precision = shape / rate
        weights = digamma(_SPARSE + counts) - digamma(most * _SPARSE + len(x))
        log = weights + y.shape[1] / 2 * (digamma(shape) - np.log(rate)) - precision * errors / 2
        log /= heat
        shares = np.exp(log - log.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
    kept = np.flatnonzero(shares.sum(axis=0) >= _FEWEST)
    mixture = LinearMixture(len(kept), iterations=iterations, random_state=random_state)
    own = shares[:, kept] + 1e-12
    mixture.responsibilities_ = own / own.sum(axis=1, keepdims=True)
    mixture.start_responsibilities_ = start
    noise = np.eye(y.shape[1]) / precision[kept, None, None]
    mixture.maps_ = LinearMaps(mixture.responsibilities_.mean(axis=0), maps[kept], noise)
    return mixture


def _extended(x: Array) -> Array:
    return np.hstack([x, np.ones((len(x), 1))])


def _log_sum_exp(values: Array) -> Array:
    # Several times faster than scipy's on tables of a few columns.
    top = values.max(axis=1)
    return np.asarray(top + np.log(np.exp(values - top[:, None]).sum(axis=1)))


def _fitted(
    design: Array, y: Array, shares: Array, relevance: Array, precision: float
) -> tuple[Array, Array, Array]:
    """Return one map, the relevance of its directions and the expected squared errors."""
    weighted = design * shares[:, None]
    scatter = precision * (weighted.T @ design) + np.diag(relevance)
    covariance = np.linalg.inv(scatter)
    table = precision * covariance @ (weighted.T @ y)
    width = y.shape[1]
    squares = (table**2).sum(axis=1) + width * np.diag(covariance)
    relevance = (_BROAD + width / 2) / (_BROAD + squares / 2)
    relevance[-1] = _BROAD  # of the constant
    spread = ((design @ covariance) * design).sum(axis=1)
    errors = ((y - design @ table) ** 2).sum(axis=1) + width * spread
    return table, relevance, errors
