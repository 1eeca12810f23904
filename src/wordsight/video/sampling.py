"""Choosing some frames of a video by their time stamps, so that an uneven rate does no harm."""

__all__ = ["Sampler"]

_ROUNDING = 1e-6
"""Share of an interval by which a rounded time stamp may be early without losing its turn."""


class Sampler:
    """Chooses at most ``rate`` frames a second.

    Takes the first frame and then the first one of each following interval of ``1 / rate`` seconds.

    Args:
        rate: Frames per second; ``None`` for all.

    Raises:
        ValueError: If the rate is not above 0.

    Examples:
        >>> sampler = Sampler(2)
        >>> [time for time in (0.0, 0.3, 0.6, 0.9, 1.2) if sampler.takes(time)]
        [0.0, 0.6, 1.2]
    """

    def __init__(self, rate: float | None):
        if rate is not None and not rate > 0:
            raise ValueError(f"rate must be above 0 frames per second, got {rate}.")
        self._rate = rate
        self._first: float | None = None
        self._taken = -1

    def takes(self, seconds: float) -> bool:
        """Say whether the frame at this time is chosen; to be asked once per frame, in order."""
        if self._rate is None:
            return True
        if self._first is None:
            self._first = seconds
        interval = int((seconds - self._first) * self._rate + _ROUNDING)
        if interval <= self._taken:
            return False
        self._taken = interval
        return True
