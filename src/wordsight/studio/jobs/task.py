"""What a kind of job is, and where it works."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordsight.progress import Progress

__all__ = ["JobContext", "JobKind", "device_at_hand"]


@dataclass(frozen=True)
class JobContext:
    """Where a job works.

    Attributes:
        library: The library.
        folder: The studio's own folder.
        progress: Told how far the work is.
    """

    library: str
    folder: Path
    progress: Progress


@dataclass(frozen=True)
class JobKind:
    """One kind of job.

    Attributes:
        title: What it does, for people; may name arguments in braces.
        work: Does it; returns what came out, as JSON can hold it.
        awaited: Whether somebody sits and waits for it, so that it must not queue up behind work
            that takes hours.
        aside: Whether it is a part of a page rather than work of its own: the list of jobs leaves
            it out, and it is forgotten after a while.
    """

    title: str
    work: Callable[[Mapping[str, Any], JobContext], dict[str, Any]]
    awaited: bool = False
    aside: bool = False


def device_at_hand(name: str | None) -> tuple[str | None, list[str]]:
    """Look for a device.

    Returns:
        Its name if it is there, else ``None``, which means the processor; and why, for people.
    """
    if name is None:
        return None, []
    from wordsight.inference.gpu import DeviceWarning, find_device

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DeviceWarning)
        found = find_device(name)
    return (None if found is None else name), [str(one.message) for one in told]
