"""What a kind of job is, and where it works."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordsight.progress import Progress

__all__ = ["JobContext", "JobKind"]


@dataclass(frozen=True)
class JobContext:
    """Where a job works.

    Attributes:
        library: The library.
        folder: The studio's own folder.
        progress: Called with how far the work is.
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
        awaited: Whether a user waits for it, so that it must not queue up behind work
            that takes hours.
        aside: Whether it is a part of a page rather than work of its own: the list of jobs leaves
            it out, and it is forgotten after a while.
        warm: Whether it is a question that is answered within seconds: processes that are kept
            running do it, so that starting one takes no time.
        lasting: Whether it runs until it is stopped, so that nothing may queue up behind it.
    """

    title: str
    work: Callable[[Mapping[str, Any], JobContext], dict[str, Any]]
    awaited: bool = False
    aside: bool = False
    warm: bool = False
    lasting: bool = False
