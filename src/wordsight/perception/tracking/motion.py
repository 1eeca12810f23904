"""Straight lines fitted to short stretches of many tracks at once: velocities and smooth boxes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LocalLines", "local_lines"]

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
