"""Reading text files and numbers, and exact decimal arithmetic for coordinates."""

from decimal import Context, Decimal, InvalidOperation
from pathlib import Path

from wordsight.errors import FormatError

__all__ = [
    "decimal_of",
    "minus",
    "parse_decimal",
    "parse_number",
    "parse_whole",
    "plus",
    "read_text",
    "text_of",
]


def read_text(path: Path) -> str:
    """Read a UTF-8 file, with or without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path.name} is not text (byte {error.start}); expected MOT text, COCO JSON, CVAT XML "
            "or CSV. Unpack it first if it is an archive."
        ) from error
    except OSError as error:
        raise FormatError(
            f"{path} cannot be read ({error.strerror}); check its name and permissions."
        ) from error


def parse_whole(text: str) -> int:
    """Parse an integer such as ``7`` or ``7.0``; raise ``ValueError`` for anything else."""
    stripped = text.strip()
    try:
        return int(_without_underscores(stripped))
    except ValueError:
        value = parse_number(stripped)
    if not value.is_integer():
        raise ValueError(f"{stripped!r} is not a whole number")
    return int(value)


def parse_number(text: str) -> float:
    """Parse a number; NaN and infinity are accepted here and rejected for boxes."""
    try:
        return float(_without_underscores(text.strip()))
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not a number") from None


def _without_underscores(text: str) -> str:
    # Python accepts 1_000 as a number; a file that contains it is damaged.
    if "_" in text:
        raise ValueError(text)
    return text


# Formats with a corner and a size would change boxes by a rounding error each time they are read
# and written. The shortest decimal of a float identifies it, and decimals add exactly.

# Floats span 10^-324 to 10^308; this many digits represent any sum of two of them.
_EXACT = Context(prec=700)


def decimal_of(value: float) -> Decimal:
    """Return the shortest decimal that parses as this float."""
    return Decimal(repr(float(value)))


def parse_decimal(text: str) -> Decimal:
    """Parse a finite number; raise ``ValueError`` for anything else."""
    try:
        value = Decimal("" if "_" in text else text.strip())
    except InvalidOperation:
        raise ValueError(f"{text.strip()!r} is not a number") from None
    # Far from any coordinate, and a huge exponent would give a huge text.
    if not value.is_finite() or abs(value.adjusted()) > 400:
        raise ValueError(f"{text.strip()!r} is not a usable number")
    return value


def plus(one: Decimal, other: Decimal) -> Decimal:
    """Add exactly."""
    return _EXACT.add(one, other)


def minus(one: Decimal, other: Decimal) -> Decimal:
    """Subtract exactly."""
    return _EXACT.subtract(one, other)


def text_of(value: Decimal | float) -> str:
    """Format a number without an exponent or trailing zeros.

    Examples:
        >>> text_of(100.0), text_of(0.25), text_of(1e-7)
        ('100', '0.25', '0.0000001')
    """
    exact = value if isinstance(value, Decimal) else decimal_of(value)
    if exact == 0:
        return "0"
    return format(exact.normalize(_EXACT), "f")
