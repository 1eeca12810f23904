"""Reading text files and the numbers in them with errors that say what is wrong."""

from pathlib import Path

from wordsight.errors import FormatError

__all__ = ["parse_number", "parse_whole", "read_text"]


def read_text(path: Path) -> str:
    """Read a UTF-8 file, with or without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path.name} is not text (byte {error.start}); expected boxes as MOT text, COCO JSON, "
            "CVAT XML or CSV. Unpack it first if it is an archive."
        ) from error
    except OSError as error:
        raise FormatError(
            f"{path} cannot be read ({error.strerror}); check that it exists and may be read."
        ) from error


def parse_whole(text: str) -> int:
    """Read a whole number, ``7`` or ``7.0``; anything else is a ``ValueError``."""
    stripped = text.strip()
    try:
        return int(_without_underscores(stripped))
    except ValueError:
        value = parse_number(stripped)
    if not value.is_integer():
        raise ValueError(f"{stripped!r} is not a whole number")
    return int(value)


def parse_number(text: str) -> float:
    """Read a number; NaN and infinity are left for the checks of boxes."""
    try:
        return float(_without_underscores(text.strip()))
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not a number") from None


def _without_underscores(text: str) -> str:
    # Python reads 1_000 as a number; a file that holds it is damaged.
    if "_" in text:
        raise ValueError(text)
    return text
