"""User constraints: read from text, and as a table of which chunk may belong to which line.

A line that starts at a time does not occur before it and does occur at it. Models that go through
the text in order draw the remaining conclusions themselves.
"""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.records import Constraint, Instructions, Observed
from wordsight.errors import ConstraintError

__all__ = [
    "FORBIDDEN",
    "allowed_lines",
    "check_constraints",
    "parse_constraint",
    "parse_constraints",
    "penalties",
]

_NOTATION = re.compile(r"\s*(?P<step>s(?:tep)?\s*)?(?P<number>\d+)\s*=\s*(?P<times>\S.*?)\s*")
_CLOCK = re.compile(r"(?:(\d+):)?(?:(\d+):)?(\d+(?:[.,]\d+)?)\s*s?")
_EXAMPLE = "'7=3:20' (line 7 starts at 3:20), '7=3:20-3:45', '7=-3:45' (it ends then) or 's2=1:00'"


def parse_constraint(text: str, instructions: Instructions) -> tuple[Constraint, ...]:
    r"""Parse one constraint.

    Args:
        text: ``LINE=START``, ``LINE=START-END`` or ``LINE=-END``; lines count from 1, and ``s2``
            means the first line of step 2 for a start, the last one for an end. Times are
            seconds, m:ss or h:mm:ss.
        instructions: The text it is about.

    Returns:
        One constraint, or two for the start and the end of a step of several lines.

    Raises:
        ConstraintError: If it cannot be parsed or names a line that does not exist.

    Examples:
        >>> from wordsight.alignment.text import instructions_from_text
        >>> parse_constraint("2=1:05", instructions_from_text("1. Fill the cup.\n2. Drink."))
        (Constraint(line=1, start=65.0, end=None),)
    """
    match = _NOTATION.fullmatch(text)
    if match is None:
        raise _malformed(text)
    begin, dash, finish = match["times"].partition("-")
    start = _seconds(begin, text) if begin.strip() else None
    end = _seconds(finish, text) if dash else None
    if start is not None and end is not None and start >= end:
        raise ConstraintError(f"{text!r} would end before it starts; swap the times.")
    lines = _lines(int(match["number"]), bool(match["step"]), instructions, text)
    if len(lines) == 1:
        return (Constraint(lines[0], start, end),)
    starts = () if start is None else (Constraint(lines[0], start=start),)
    return starts if end is None else (*starts, Constraint(lines[-1], end=end))


def parse_constraints(texts: Iterable[str], instructions: Instructions) -> tuple[Constraint, ...]:
    """Parse several constraints and check that they are consistent."""
    constraints = tuple(one for text in texts for one in parse_constraint(text, instructions))
    check_constraints(constraints, instructions)
    return constraints


def check_constraints(
    constraints: Iterable[Constraint], instructions: Instructions, duration: float | None = None
) -> None:
    """Refuse constraints that contradict each other or lie outside the video.

    Raises:
        ConstraintError: If a line has two different times, or a time is after the end.
    """
    known: dict[tuple[int, str], float] = {}
    for constraint in constraints:
        line = constraint.line
        for side in ("start", "end"):
            time = getattr(constraint, side)
            if time is None:
                continue
            if duration is not None and time > duration:
                raise ConstraintError(
                    f"line {line + 1} cannot {side} at {time:g} s; the video lasts only "
                    f"{duration:.1f} s."
                )
            other = known.setdefault((line, side), time)
            if other != time:
                raise ConstraintError(
                    f"line {line + 1} ({instructions.lines[line].text[:40]!r}) cannot {side} both "
                    f"at {other:g} s and at {time:g} s; keep one of the two."
                )
    for (line, side), time in known.items():
        finish = known.get((line, "end"))
        if side == "start" and finish is not None and finish <= time:
            raise ConstraintError(
                f"line {line + 1} cannot start at {time:g} s and end at {finish:g} s; the end must "
                "be after the start."
            )


def _lines(number: int, is_step: bool, instructions: Instructions, text: str) -> list[int]:
    first = instructions.lines[0].step
    if is_step:
        lines = [i for i, line in enumerate(instructions.lines) if line.step - first + 1 == number]
        most = instructions.lines[-1].step - first + 1
    else:
        most = len(instructions.lines)
        lines = [number - 1] if 1 <= number <= most else []
    if not lines:
        kind = "step" if is_step else "line"
        raise ConstraintError(
            f"{text!r} names {kind} {number}, but {instructions.name} has {kind}s 1 to {most}."
        )
    return lines


def _malformed(text: str) -> ConstraintError:
    return ConstraintError(f"expected a constraint such as {_EXAMPLE}, got {text!r}.")


def _seconds(clock: str, text: str) -> float:
    match = _CLOCK.fullmatch(clock.strip())
    if match is None:
        raise _malformed(text)
    *larger, seconds = (part.replace(",", ".") for part in match.groups() if part is not None)
    total = float(seconds)
    for power, part in enumerate(reversed(larger), start=1):
        total += int(part) * 60**power
    return total if math.isfinite(total) else 0.0


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
