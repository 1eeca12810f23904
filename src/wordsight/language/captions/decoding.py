"""Reading text files in the usual encodings."""

import codecs
import os
import warnings

from wordsight.errors import FormatError
from wordsight.files import read_limited

__all__ = ["MAX_TEXT_BYTES", "CaptionWarning", "decode", "read_text"]

MAX_TEXT_BYTES = 64 << 20
"""A day of dense subtitles is under 5 MB; larger files are refused."""

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class CaptionWarning(UserWarning):
    """A text file whose encoding had to be guessed."""


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a text file whole.

    Args:
        path: The file.

    Returns:
        Its text without a byte order mark.

    Raises:
        FormatError: If it cannot be opened, is too large or is not text.
    """
    too_large = (
        f"has {{size}} bytes, more than the {MAX_TEXT_BYTES:,} of a text with captions; is it "
        "another kind of file?"
    )
    return decode(read_limited(path, MAX_TEXT_BYTES, too_large), str(path))


def decode(data: bytes, source: str) -> str:
    """Decode UTF-8, UTF-16 or UTF-32 with its byte order mark, otherwise Windows-1252.

    Args:
        data: The bytes of a file.
        source: Its name, for messages.

    Returns:
        The text without a byte order mark.

    Raises:
        FormatError: If the bytes are not text.

    Warns:
        CaptionWarning: If Windows-1252 had to be assumed.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8" or b"\0" in data:
            raise FormatError(
                f"{source} is not readable as text ({encoding}, byte {error.start}); save it as "
                "UTF-8 text."
            ) from error
        warnings.warn(
            f"{source} is not UTF-8 (byte {error.start}); read as Windows-1252. Save it as UTF-8 "
            "if letters look wrong.",
            CaptionWarning,
            stacklevel=3,
        )
        text = data.decode("cp1252", errors="replace")
    if "\0" in text:
        raise FormatError(f"{source} is not text; it holds NUL bytes. Save it as UTF-8 text.")
    return text
