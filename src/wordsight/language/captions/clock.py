"""Time codes such as ``01:02:03,456``, read and written without losing a millisecond."""

import re
from decimal import Decimal

from wordsight.language.captions.format import line_error

__all__ = ["LOOKS_LIKE_TIMING", "clock", "milliseconds", "parse_timing"]

_CODE = r"-?(?:[0-9]{1,6}:)?[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]{1,12})?"
_TIMING = re.compile(rf"\s*({_CODE})\s*-->\s*({_CODE})(?:\s.*)?")

LOOKS_LIKE_TIMING = re.compile(r"\s*-?[0-9]+\s*:[0-9:.,\s]*-->")
"""Matches the start of lines that mean to be a timing, even where they are not a proper one."""


def milliseconds(seconds: float) -> int:
    """Return whole milliseconds, cutting off the rest.

    The decimal digits Python prints are cut, not the binary fraction behind them: 1.001 s is 1001
    ms although the nearest binary number lies below it. So what was read from a file is written
    back the same.
    """
    return int(Decimal(repr(float(seconds))) * 1000)


def clock(seconds: float, separator: str) -> str:
    """Write seconds as ``hh:mm:ss,mmm`` with the given decimal separator.

    Examples:
        >>> clock(3723.4569, ",")
        '01:02:03,456'
    """
    rest, thousandths = divmod(milliseconds(seconds), 1000)
    minutes, whole = divmod(rest, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{whole:02d}{separator}{thousandths:03d}"


def parse_timing(line: str, number: int) -> tuple[float, float]:
    """Read ``start --> end``, whatever may follow it.

    Args:
        line: The line, with comma or point before the milliseconds, hours and milliseconds
            optional.
        number: Its number for error messages, counting from 1.

    Returns:
        Start and end in seconds, digits beyond milliseconds cut off.

    Raises:
        FormatError: If a time is malformed, negative or out of range, or they are reversed.
    """
    match = _TIMING.fullmatch(line)
    if match is None:
        raise line_error(
            number, "a timing such as '00:01:02.500 --> 00:01:04.000'", line, "correct the line"
        )
    start, end = (_seconds(code, number) for code in match.groups())
    if start > end:
        raise line_error(
            number, "an end that is not before the start", line.strip(), "swap or correct the times"
        )
    return start, end


def _seconds(code: str, number: int) -> float:
    if code.startswith("-"):
        raise line_error(
            number, "times of 0 or later", code, "shift all times so that the first is not negative"
        )
    *hours, minutes, rest = code.split(":")
    seconds, _, fraction = rest.replace(",", ".").partition(".")
    if int(minutes) > 59 or int(seconds) > 59:
        raise line_error(number, "minutes and seconds up to 59", code, "correct the time")
    thousandths = int(fraction.ljust(3, "0")[:3])
    # One division keeps the result the nearest float to the decimal time.
    whole = (int(hours[0] if hours else 0) * 60 + int(minutes)) * 60 + int(seconds)
    return (whole * 1000 + thousandths) / 1000
