"""Temporal coherence G: how well one detection follows from another, in units of their own size.

The step from box to box is compared with what the object's velocity predicts. It is measured in
box widths and heights and divided by how much steps scatter in this very video, so that neither
resolution, distance to the camera, frame rate nor the detector's jitter needs a setting.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Coherence", "LocalLines", "States", "local_lines", "log_odds", "steps_between"]


_MAD_TO_SIGMA = 1.4826  # of a normal distribution
_TYPICAL_JITTER = 0.12  # box sizes; what detectors show from frame to frame
_TYPICAL_WEIGHT = 10.0  # steps; how many of them the typical jitter counts for


@dataclass(frozen=True, eq=False)
class States:
    """Where N objects are at one moment each, and where they are heading.

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
    """Return how far each pair is off its prediction, relative to the size of the boxes.

    Args:
        before: N states.
        after: N later ones.

    Returns:
        ``(N, 4)``: the centre's offset in widths and heights after moving with the mean of the two
        velocities, and the logarithms of the ratios of widths and heights.
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

    The distance :math:`d` is that of the step from its prediction, in standard deviations of what
    is usual. This is the form of Yu & Siskind (2013) with their pixels replaced by relative units.

    Attributes:
        tolerance: Distance, in standard deviations, at which a link is as doubtful as not.
        softness: How gradually links become doubtful around it.
        drift: Uncertainty of the position that grows with time, in box sizes per second.
        growth: The same for the logarithm of the size, per second.
        speed: Usual speed of an object of unknown velocity, in box sizes per second.
        margin: Factor on the measured jitter, which the best matches make look too small.
        least_jitter: Boxes are never trusted more than this, in box sizes.
        most_jitter: Nor less than this, beyond which objects cannot be told from chance; twice as
            much while their velocities are unknown.
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
        """Estimate how much usual steps scatter, in spite of unusual ones.

        Args:
            steps: ``(N, 4)`` from :func:`steps_between`, most of them of one object each.
            moving_unknown: Whether the velocities are still unknown, and so part of the steps.

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
        """Return G of links with these distances, 0 at best."""
        return -np.logaddexp(0.0, (distances - self.tolerance) / self.softness)


# Detection scores into log-odds that one tracker understands, whatever the detector's scale.
#
# Confidences of different detectors and videos have different ranges and meanings. What they share
# is that a real object is seen again in the neighbouring frames and a false alarm mostly is not. So
# the share of detections with a fitting neighbour, as a rising function of the score, stands in for
# the unknown share of true ones.

_BIN_SIZE = 20  # detections; fewer give a share too coarse to tell 0.9 from 1
_MAX_BINS = 20
_CEILING = 0.97  # no detection is believed more than this, so that none outweighs a whole track
_LEAST_SUPPORT = 0.3  # below this even the best scores say little, and are not blown up to 1


def log_odds(
    scores: NDArray[np.float64], support: NDArray[np.float64], *, prior: float = 0.0
) -> NDArray[np.float64]:
    """Return F, the log-odds that each detection is real, rising with its score.

    Args:
        scores: ``(N,)`` the detector's confidences on any scale.
        support: ``(N,)`` the share of the neighbouring frames, 0 to 1, in which something fits.
        prior: How much evidence is asked for: taken off all log-odds.

    Returns:
        ``(N,)`` log-odds. Equal scores give equal log-odds; the highest scores get the ceiling,
        since their missing support is the detector's misses and not false alarms.
    """
    from scipy.optimize import isotonic_regression  # slow to load, and not every use tracks

    if len(scores) == 0:
        return np.zeros(0)
    bins = int(np.clip(len(scores) // _BIN_SIZE, 1, _MAX_BINS))
    groups = np.array_split(np.argsort(scores, kind="stable"), bins)
    centres = np.array([scores[group].mean() for group in groups])
    # One imagined detection with and one without support keep the share off 0 and 1.
    shares = np.array([(support[group].sum() + 1.0) / (len(group) + 2.0) for group in groups])
    weights = np.array([len(group) for group in groups], dtype=np.float64)
    rising = isotonic_regression(shares, weights=weights).x
    believed = np.minimum(_CEILING * rising / max(rising[-1], _LEAST_SUPPORT), _CEILING)
    odds = np.log(believed / (1.0 - believed)) - prior
    return np.asarray(np.interp(scores, centres, odds), dtype=np.float64)


# Straight lines fitted to short stretches of many tracks at once: velocities and smooth boxes.

_SAME_TIME = 1e-9  # seconds; a window's border includes the frame that lies on it


@dataclass(frozen=True, eq=False)
class LocalLines:
    """Least-squares lines through the points around M places.

    Attributes:
        spread: ``(M,)`` sum of the squared times from their mean, in squared seconds.
        moment: ``(M, D)`` sum of the times from their mean, times the values.
        mean_times: ``(M,)`` mean time of the points minus the time of the place, in seconds.
        means: ``(M, D)`` mean of the values.
    """

    spread: NDArray[np.float64]
    moment: NDArray[np.float64]
    mean_times: NDArray[np.float64]
    means: NDArray[np.float64]

    def slopes(
        self, prior: NDArray[np.float64] | float = 0.0, weight: NDArray[np.float64] | float = 1e-12
    ) -> NDArray[np.float64]:
        """Return the ``(M, D)`` slopes, drawn towards ``prior`` with that ``weight``."""
        return (self.moment + weight * prior) / (self.spread[:, None] + weight)

    def heights(self) -> NDArray[np.float64]:
        """Return the ``(M, D)`` values of the lines at the places themselves."""
        return self.means - self.slopes() * self.mean_times[:, None]


def local_lines(
    times: NDArray[np.float64],
    values: NDArray[np.float64],
    groups: NDArray[np.intp],
    places: NDArray[np.intp],
    half_window: float,
) -> LocalLines:
    """Fit a line around each place to the points of its group within the window.

    Args:
        times: ``(N,)`` seconds, rising within a group.
        values: ``(N, D)``.
        groups: ``(N,)`` which track a point belongs to; a track's points lie together, and the
            numbers rise.
        places: ``(M,)`` indices of the points to fit around.
        half_window: How far the window reaches to either side, in seconds.

    Returns:
        The lines, in running sums rather than a loop over tracks.
    """
    starts = np.searchsorted(groups, groups)
    own, relative = times - times[starts], values - values[starts]
    # Tracks side by side on one axis, further apart than any window reaches.
    apart = float(own.max(initial=0.0)) + 2.0 * half_window + 1.0
    axis = groups * apart + own
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
