"""Numbers as people read them, for the templates."""

import time

__all__ = ["clock", "megabytes", "since"]


def clock(seconds: float | None) -> str:
    """Write a time in a video: ``1:02:03`` or ``2:03.4``."""
    if seconds is None:
        return ""
    tenths = round(seconds * 10)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest // 10:02d}"
    return f"{minutes}:{rest // 10:02d}.{rest % 10}"


def megabytes(size: int) -> str:
    """Write the size of a file."""
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} kB"


def since(moment: float) -> str:
    """Write how long ago something was."""
    gone = max(0.0, time.time() - moment)
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if gone >= size:
            count = int(gone // size)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"
