"""Reading files of data sets: whatever is wrong with one is said in a line, with its name."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile

from wordsight.errors import FormatError, WordsightError

__all__ = ["existing", "reading"]

_DAMAGED = (
    OSError,
    EOFError,
    ValueError,  # of JSON, text, numbers and arrays
    LookupError,
    TypeError,
    AttributeError,
    BadZipFile,
    zlib.error,
)


@contextmanager
def reading(path: Path, expected: str) -> Iterator[None]:
    """Say of errors meanwhile that a file is damaged or another one.

    Args:
        path: The file.
        expected: What should be in it.

    Raises:
        FormatError: In place of any error that a file with other contents causes.
    """
    try:
        yield
    except WordsightError:
        raise
    except _DAMAGED as error:
        brief = " ".join((str(error) or type(error).__name__).split())[:120]
        if isinstance(error, KeyError):
            brief = f"it has no {brief}"
        raise FormatError(f"{path} is not {expected}, or it is damaged: {brief}.") from error


def existing(path: Path, data: str) -> Path:
    """Return a file of a data set.

    Raises:
        FormatError: If it is not there.
    """
    if not path.exists():
        raise FormatError(f"{path} is missing; --data must name the folder of {data}.")
    return path
