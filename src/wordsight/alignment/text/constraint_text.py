"""Timing constraints as users type them: ``7=3:20`` means that line 7 starts at 3:20."""

import math
import re
from collections.abc import Iterable

from wordsight.alignment.errors import ConstraintError
from wordsight.alignment.records import Constraint, Instructions

__all__ = ["check_constraints", "parse_constraint", "parse_constraints"]

_PIN = re.compile(r"\s*(?P<step>s(?:tep)?\s*)?(?P<number>\d+)\s*=\s*(?P<times>\S.*?)\s*")
_CLOCK = re.compile(r"(?:(\d+):)?(?:(\d+):)?(\d+(?:[.,]\d+)?)\s*s?")
_EXAMPLE = "'7=3:20' (line 7 starts at 3:20), '7=3:20-3:45', '7=-3:45' (it ends then) or 's2=1:00'"


def parse_constraint(text: str, instructions: Instructions) -> tuple[Constraint, ...]:
    r"""Read one pin.

    Args:
        text: ``LINE=START``, ``LINE=START-END`` or ``LINE=-END``; lines count from 1, and ``s2``
            means the first line of step 2 for a start, the last one for an end. Times are
            seconds, m:ss or h:mm:ss.
        instructions: The text it is about.

    Returns:
        One constraint, or two where a step of several lines is told to start and to end.

    Raises:
        ConstraintError: If it cannot be read or names a line that is not there.

    Examples:
        >>> from wordsight.alignment.text import instructions_from_text
        >>> parse_pin("2=1:05", instructions_from_text("1. Fill the cup.\n2. Drink."))
        (Constraint(line=1, start=65.0, end=None),)
    """
    match = _PIN.fullmatch(text)
    if match is None:
        raise ConstraintError(f"a constraint is written like {_EXAMPLE}, got {text!r}.")
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
    """Read several pins and check that they fit together."""
    pins = tuple(pin for text in texts for pin in parse_constraint(text, instructions))
    check_constraints(pins, instructions)
    return pins


def check_constraints(
    pins: Iterable[Constraint], instructions: Instructions, duration: float | None = None
) -> None:
    """Refuse pins that contradict each other or lie outside the video.

    Raises:
        ConstraintError: If a line is pinned to two times, or a time is after the end.
    """
    known: dict[tuple[int, str], float] = {}
    for pin in pins:
        for side in ("start", "end"):
            time = getattr(pin, side)
            if time is None:
                continue
            if duration is not None and time > duration:
                raise ConstraintError(
                    f"line {pin.line + 1} cannot {side} at {time:g} s: the video lasts "
                    f"{duration:.1f} s."
                )
            other = known.setdefault((pin.line, side), time)
            if other != time:
                raise ConstraintError(
                    f"line {pin.line + 1} ({instructions.lines[pin.line].text[:40]!r}) is told to "
                    f"{side} at {other:g} s and at {time:g} s; keep one of the two."
                )
    for (line, side), time in known.items():
        finish = known.get((line, "end"))
        if side == "start" and finish is not None and finish <= time:
            raise ConstraintError(
                f"line {line + 1} is told to start at {time:g} s and to end at {finish:g} s; "
                "an end comes after a start."
            )


def _lines(number: int, is_step: bool, instructions: Instructions, text: str) -> list[int]:
    first = instructions.lines[0].step
    if is_step:
        found = [i for i, line in enumerate(instructions.lines) if line.step - first + 1 == number]
        most = instructions.lines[-1].step - first + 1
    else:
        most = len(instructions.lines)
        found = [number - 1] if 1 <= number <= most else []
    if not found:
        kind = "step" if is_step else "line"
        raise ConstraintError(
            f"{text!r} is about {kind} {number}, but {instructions.name} has {kind}s 1 to {most}."
        )
    return found


def _seconds(clock: str, text: str) -> float:
    match = _CLOCK.fullmatch(clock.strip())
    if match is None:
        raise ConstraintError(f"a constraint is written like {_EXAMPLE}, got {text!r}.")
    *larger, seconds = (part.replace(",", ".") for part in match.groups() if part is not None)
    total = float(seconds)
    for power, part in enumerate(reversed(larger), start=1):
        total += int(part) * 60**power
    return total if math.isfinite(total) else 0.0
