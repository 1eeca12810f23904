"""Temporal coherence G: how well one detection follows from another, in units of their own size.

The step from box to box is compared with what the object's velocity predicts. It is measured in
box widths and heights and divided by how much steps scatter in this very video, so that neither
resolution, distance to the camera, frame rate nor the detector's jitter needs a setting.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Coherence", "States", "steps_between"]

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
