"""Times, sizes and counts as people write them."""

import math

__all__ = ["bytes_text", "clock", "count", "finite", "verdict"]


def clock(seconds: float) -> str:
    """Write seconds as m:ss.mmm or h:mm:ss.mmm, cut to the millisecond, never rounded up.

    Examples:
        >>> clock(83.4567), clock(3725)
        ('1:23.456', '1:02:05.000')
    """
    # The millionth keeps 0.57 s, which is a little less in binary, from becoming 0.569.
    milliseconds = int(abs(seconds) * 1000 + 1e-6)
    minutes, milliseconds = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    rest = f"{milliseconds // 1000:02d}.{milliseconds % 1000:03d}"
    sign = "-" if seconds < 0 else ""
    return f"{sign}{hours}:{minutes:02d}:{rest}" if hours else f"{sign}{minutes}:{rest}"


def bytes_text(size: float) -> str:
    """Write a number of bytes with a unit.

    Examples:
        >>> bytes_text(999), bytes_text(1_500_000)
        ('999 B', '1.5 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def count(number: int, noun: str) -> str:
    """Write a number of things.

    Examples:
        >>> count(1, "video"), count(1200, "frame"), count(2, "query")
        ('1 video', '1,200 frames', '2 queries')
    """
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith(("ry", "ty")) else f"{noun}s"
    return f"{number:,} {plural}"


def finite(value: float) -> float:
    """Return a number that JSON can hold: 0 for what is none, a large one for an infinite one."""
    if math.isfinite(value):
        return float(value)
    return 0.0 if math.isnan(value) else math.copysign(1e9, value)


_UNSURE = 0.3  # how much more or less probable than at the threshold a sentence may be


def verdict(holds: bool, score: float, threshold: float) -> str:
    """Return whether a sentence is ``likely``, ``unsure`` or ``not likely`` true.

    Args:
        holds: Whether it is judged true.
        score: Its log probability of truth.
        threshold: The log probability from which on a sentence is judged true.
    """
    near = math.isfinite(score - threshold) and abs(math.expm1(score - threshold)) < _UNSURE
    return "unsure" if near else "likely" if holds else "not likely"
