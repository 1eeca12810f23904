"""Natural timing: movements that start and stop smoothly; constant before and after."""

import numpy as np

__all__ = ["cruise", "cruise_time", "glide", "overshoot", "smooth"]

_JERK_PEAK = 1.875
"""Peak speed of a smooth movement, as a multiple of its mean speed."""


def smooth(u: float) -> float:
    """Go from 0 to 1 while ``u`` does, with speed and acceleration 0 at both ends.

    The minimum-jerk curve that reaching hands follow; its top speed is 1.875 times the mean.
    """
    u = min(max(u, 0.0), 1.0)
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


def glide(time: float, start: float, end: float, begin: float, goal: float) -> float:
    """Move smoothly from ``begin`` at time ``start`` to ``goal`` at time ``end``."""
    return begin + (goal - begin) * smooth((time - start) / max(end - start, 1e-9))


def overshoot(u: float, amount: float) -> float:
    """Go from 0 to 1 while ``u`` does, passing 1 by about ``amount`` shortly before the end."""
    late = min(max((u - 0.55) / 0.45, 0.0), 1.0)
    return smooth(u / 0.8) + amount * float(np.sin(np.pi * late)) ** 2


def cruise_time(distance: float, speed: float, acceleration: float) -> float:
    """Return the seconds to go ``distance`` at top ``speed`` or less, from standing to standing."""
    distance = abs(distance)
    ramp = _JERK_PEAK * speed / acceleration
    if distance >= speed * ramp:
        return distance / speed + ramp
    return 2.0 * float(np.sqrt(distance * _JERK_PEAK / acceleration)) if distance else 0.0


def cruise(time: float, distance: float, speed: float, acceleration: float) -> float:
    """Return how far one has come at ``time`` on a walk that speeds up, goes steadily and stops.

    Args:
        time: Seconds since the start.
        distance: How far the walk leads, in metres; its sign is kept.
        speed: Steady speed; short walks stay below it.
        acceleration: Peak acceleration while speeding up and slowing down.
    """
    total = cruise_time(distance, speed, acceleration)
    if total <= 0.0:
        return 0.0
    ramp = min(_JERK_PEAK * speed / acceleration, total / 2.0)
    top = abs(distance) / (total - ramp)
    time = min(max(time, 0.0), total)
    done = _ramped(min(time, ramp), ramp, top) + top * max(min(time, total - ramp) - ramp, 0.0)
    if time > total - ramp:
        done += _ramped(ramp, ramp, top) - _ramped(total - time, ramp, top)
    return float(np.copysign(done, distance))


def _ramped(time: float, ramp: float, top: float) -> float:
    # The integral of top * smooth(t / ramp): half the ramp's length at top speed in the end.
    u = time / ramp
    return top * ramp * u**4 * (2.5 + u * (u - 3.0))
