"""Gains for tracking: coherence G of links, log-odds F of detections, and local velocity fits.

The step from box to box is compared with the prediction from the object's velocity. It is measured
in box sizes and divided by the scatter of steps in the same video, so that neither resolution,
distance to the camera, frame rate nor the detector's jitter needs a setting.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Coherence", "LocalLines", "States", "local_lines", "log_odds", "steps_between"]


_MAD_TO_SIGMA = 1.4826  # of a normal distribution
_TYPICAL_JITTER = 0.12  # box sizes; typical of detectors
_TYPICAL_WEIGHT = 10.0  # weight of the typical jitter in numbers of steps


@dataclass(frozen=True, eq=False)
class States:
    """Positions and velocities of N objects, each at its own time.

    Attributes:
        times: ``(N,)`` seconds.
        centres: ``(N, 2)`` pixels.
        sizes: ``(N, 2)`` width and height in pixels.
        velocities: ``(N, 2)`` pixels per second.
        variances: ``(N, 2)`` uncertainty of the velocity, in squared box sizes per second.
    """

    times: NDArray[np.float64]
    centres: NDArray[np.float64]
    sizes: NDArray[np.float64]
    velocities: NDArray[np.float64]
    variances: NDArray[np.float64]

    def __getitem__(self, index: NDArray[np.intp]) -> "States":
        return States(
            self.times[index],
            self.centres[index],
            self.sizes[index],
            self.velocities[index],
            self.variances[index],
        )

    def __len__(self) -> int:
        return len(self.times)


def steps_between(before: States, after: States) -> NDArray[np.float64]:
    """Return the deviation of each pair from its prediction, relative to the box size.

    Args:
        before: N states.
        after: N later states.

    Returns:
        ``(N, 4)``: offset of the centre in widths and heights after motion with the mean of the two
        velocities, and logarithms of the ratios of widths and heights.
    """
    seconds = (after.times - before.times)[:, None]
    predicted = before.centres + 0.5 * (before.velocities + after.velocities) * seconds
    scale = np.sqrt(before.sizes * after.sizes)
    return np.concatenate(
        [(after.centres - predicted) / scale, np.log(after.sizes / before.sizes)], axis=1
    )


@dataclass(frozen=True)
class Coherence:
    r"""The gain of a link, :math:`G = \log\sigma((\text{tolerance} - d) / \text{softness})`.

    The distance :math:`d` of a step from its prediction is in standard deviations. This is the form
    of Yu & Siskind (2013) with pixels replaced by relative units.

    Attributes:
        tolerance: Distance in standard deviations at which a link has even odds.
        softness: Width of the transition around it.
        drift: Uncertainty of the position that grows with time, in box sizes per second.
        growth: The same for the logarithm of the size, per second.
        speed: Typical speed of an object of unknown velocity, in box sizes per second.
        margin: Factor on the measured jitter, which is biased by choosing the best matches.
        least_jitter: Smallest jitter in box sizes.
        most_jitter: Largest jitter, beyond which objects cannot be distinguished from chance; twice
            as much while velocities are unknown.
    """

    tolerance: float = 4.0
    softness: float = 0.5
    drift: float = 0.25
    growth: float = 0.1
    speed: float = 0.8
    margin: float = 1.3
    least_jitter: float = 0.08
    most_jitter: float = 0.3

    def jitter(
        self, steps: NDArray[np.float64], *, moving_unknown: bool = False
    ) -> NDArray[np.float64]:
        """Estimate the scatter of steps, robust to outliers.

        Args:
            steps: ``(N, 4)`` from :func:`steps_between`, most of them of one object each.
            moving_unknown: Whether the velocities are unknown and thus part of the steps.

        Returns:
            ``(4,)`` standard deviations.
        """
        count = len(steps)
        spread = _MAD_TO_SIGMA * np.median(np.abs(steps), axis=0) if count else np.zeros(4)
        mixed = (count * spread**2 + _TYPICAL_WEIGHT * _TYPICAL_JITTER**2) / (
            count + _TYPICAL_WEIGHT
        )
        most = self.most_jitter * (2.0 if moving_unknown else 1.0)
        return np.clip(self.margin * np.sqrt(mixed), self.least_jitter, most)

    def distances(
        self, before: States, after: States, jitter: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the ``(N,)`` distances d of N pairs of states."""
        seconds = (after.times - before.times)[:, None]
        unsure = (before.variances + after.variances) / 4.0  # of the mean of two velocities
        place = jitter[:2] ** 2 + seconds**2 * (unsure + self.drift**2)
        size = jitter[2:] ** 2 + seconds**2 * self.growth**2
        steps = steps_between(before, after)
        squared = steps**2 / np.concatenate([place, np.broadcast_to(size, place.shape)], axis=1)
        return np.asarray(np.sqrt(squared.sum(axis=1)), dtype=np.float64)

    def gains(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return G of links with these distances, at most 0."""
        return -np.logaddexp(0.0, (distances - self.tolerance) / self.softness)


# Calibration: confidences of different detectors have different scales. But a real object is
# detected again in neighbouring frames and a false alarm mostly is not, so the share of detections
# with a matching neighbour, as an increasing function of the score, estimates that of true ones.

_BIN_SIZE = 20  # detections; fewer give too coarse a share to distinguish 0.9 from 1
_MAX_BINS = 20
_CEILING = 0.97  # largest probability, so that no detection outweighs a whole track
_LEAST_SUPPORT = 0.3  # below this even the best scores are weak evidence and are not scaled up


def log_odds(
    scores: NDArray[np.float64], support: NDArray[np.float64], *, prior: float = 0.0
) -> NDArray[np.float64]:
    """Return F, the log-odds that each detection is real, increasing with its score.

    Args:
        scores: ``(N,)`` the detector's confidences on any scale.
        support: ``(N,)`` share of the neighbouring frames with a matching detection, 0 to 1.
        prior: Subtracted from all log-odds.

    Returns:
        ``(N,)`` log-odds. Equal scores give equal log-odds; the highest scores get the ceiling,
        since their missing support is due to misses and not to false alarms.
    """
    from scipy.optimize import isotonic_regression  # slow to import

    if len(scores) == 0:
        return np.zeros(0)
    bins = int(np.clip(len(scores) // _BIN_SIZE, 1, _MAX_BINS))
    groups = np.array_split(np.argsort(scores, kind="stable"), bins)
    centres = np.array([scores[group].mean() for group in groups])
    # One pseudo-detection with and one without support keep the share away from 0 and 1.
    shares = np.array([(support[group].sum() + 1.0) / (len(group) + 2.0) for group in groups])
    weights = np.array([len(group) for group in groups], dtype=np.float64)
    monotone = isotonic_regression(shares, weights=weights).x
    probability = np.minimum(_CEILING * monotone / max(monotone[-1], _LEAST_SUPPORT), _CEILING)
    odds = np.log(probability / (1.0 - probability)) - prior
    return np.asarray(np.interp(scores, centres, odds), dtype=np.float64)


_SAME_TIME = 1e-9  # seconds; windows include frames on their border


@dataclass(frozen=True, eq=False)
class LocalLines:
    """Least-squares lines fitted to the neighbours of M points.

    Attributes:
        spread: ``(M,)`` sum of squared deviations of the times, in squared seconds.
        moment: ``(M, D)`` sum of deviations of the times multiplied by the values.
        mean_times: ``(M,)`` mean time relative to the point, in seconds.
        means: ``(M, D)`` mean of the values.
    """

    spread: NDArray[np.float64]
    moment: NDArray[np.float64]
    mean_times: NDArray[np.float64]
    means: NDArray[np.float64]

    def slopes(
        self, prior: NDArray[np.float64] | float = 0.0, weight: NDArray[np.float64] | float = 1e-12
    ) -> NDArray[np.float64]:
        """Return the ``(M, D)`` slopes, with a prior slope of that ``weight``."""
        return (self.moment + weight * prior) / (self.spread[:, None] + weight)

    def heights(self) -> NDArray[np.float64]:
        """Return the ``(M, D)`` values of the lines at the points themselves."""
        return self.means - self.slopes() * self.mean_times[:, None]


def local_lines(
    times: NDArray[np.float64],
    values: NDArray[np.float64],
    groups: NDArray[np.intp],
    places: NDArray[np.intp],
    half_window: float,
) -> LocalLines:
    """Fit lines to short windows of many tracks at once, with running sums.

    Args:
        times: ``(N,)`` seconds, ascending within a group.
        values: ``(N, D)``.
        groups: ``(N,)`` track of each point, ascending.
        places: ``(M,)`` indices of the points to fit around.
        half_window: Half the window in seconds.
    """
    starts = np.searchsorted(groups, groups)
    own, relative = times - times[starts], values - values[starts]
    # Tracks one after the other on one axis, separated by more than a window.
    offset = float(own.max(initial=0.0)) + 2.0 * half_window + 1.0
    axis = groups * offset + own
    low = np.searchsorted(axis, axis[places] - half_window - _SAME_TIME)
    high = np.searchsorted(axis, axis[places] + half_window + _SAME_TIME, side="right")
    count = (high - low).astype(np.float64)
    stacked = np.column_stack([own, own**2, relative, own[:, None] * relative])
    sums = np.concatenate([np.zeros((1, stacked.shape[1])), np.cumsum(stacked, axis=0)])
    within = (sums[high] - sums[low]) / count[:, None]
    width = values.shape[1]
    mean_time, mean_square = within[:, 0], within[:, 1]
    mean, mean_product = within[:, 2 : 2 + width], within[:, 2 + width :]
    return LocalLines(
        spread=np.maximum(count * (mean_square - mean_time**2), 0.0),
        moment=count[:, None] * (mean_product - mean_time[:, None] * mean),
        mean_times=mean_time - own[places],
        means=mean + values[starts[places]],
    )
