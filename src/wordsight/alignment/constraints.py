"""User constraints as a table of which chunk may belong to which line.

A line that starts at a time does not occur before it and does occur at it. Models that go through
the text in order draw the remaining conclusions themselves.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.errors import ConstraintError
from wordsight.alignment.records import Constraint, Instructions, Observed

__all__ = ["FORBIDDEN", "allowed_lines", "penalties"]

FORBIDDEN = -1e4
"""Log weight of what a constraint forbids: practically impossible, but finite."""


def allowed_lines(
    constraints: Sequence[Constraint], instructions: Instructions, observed: Observed
) -> NDArray[np.bool_] | None:
    """Return ``(T, N)`` whether each chunk may belong to each line; ``None`` without constraints.

    Raises:
        ConstraintError: If a line does not exist, or constraints leave a chunk without any line.
    """
    if not constraints:
        return None
    allowed = np.ones((len(observed.chunks), len(instructions.lines)), dtype=bool)
    for constraint in constraints:
        _check(constraint, instructions)
    for constraint in constraints:
        _apply(constraint, observed, allowed)
    _check_order(constraints)
    empty = np.flatnonzero(~allowed.any(axis=1))
    if len(empty):
        chunk = observed.chunks[empty[0]]
        raise ConstraintError(
            f"the constraints contradict each other: they allow no line from {chunk.start:.1f} to "
            f"{chunk.end:.1f} s. Remove or move one of them."
        )
    return allowed


def penalties(allowed: NDArray[np.bool_] | None) -> NDArray[np.float64] | float:
    """Return ``(T, N)`` log weights: 0 where a line is allowed, ``FORBIDDEN`` elsewhere."""
    return 0.0 if allowed is None else np.where(allowed, 0.0, FORBIDDEN)


def _apply(constraint: Constraint, observed: Observed, allowed: NDArray[np.bool_]) -> None:
    middles = observed.times.mean(axis=1)
    line = constraint.line
    others = np.arange(allowed.shape[1]) != line
    if constraint.start is not None:
        allowed[middles < constraint.start, line] = False
        at = int(np.searchsorted(middles, constraint.start))
        if at < len(middles):
            allowed[at, others] = False
            # Later lines come after this one, earlier ones are over.
            allowed[:at, line:] = False
            allowed[at:, :line] = False
    if constraint.end is not None:
        allowed[middles >= constraint.end, line] = False
        at = int(np.searchsorted(middles, constraint.end)) - 1
        if at >= 0:
            allowed[at, others] = False
            allowed[: at + 1, line + 1 :] = False
            allowed[at + 1 :, : line + 1] = False


def _check(constraint: Constraint, instructions: Instructions) -> None:
    count = len(instructions.lines)
    if not 0 <= constraint.line < count:
        raise ConstraintError(
            f"a constraint names line {constraint.line + 1}, but the text has {count} lines."
        )
    start, end = constraint.start, constraint.end
    if start is not None and end is not None and end <= start:
        raise ConstraintError(
            f"line {constraint.line + 1} cannot start at {start:g} s and end at {end:g} s; the end "
            "must be after the start."
        )


def _check_order(constraints: Sequence[Constraint]) -> None:
    known = sorted((c.start, c.line) for c in constraints if c.start is not None)
    for (early, line), (late, after) in pairwise(known):
        if after < line or (after == line and early != late):
            raise ConstraintError(
                f"line {line + 1} cannot start at {early:g} s if line {after + 1} starts at "
                f"{late:g} s: lines follow the order of the text. Remove or move one of them."
            )
