"""Lexicon files: plain text, one entry per line."""

import re
from dataclasses import replace
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path

from wordsight.errors import LexiconError, nearest
from wordsight.files import write_text
from wordsight.language.lexicon import Entry, Lexicon, PartOfSpeech

__all__ = ["LEXICON_VERSION", "default_lexicon", "parse_lexicon", "read_lexicon", "write_lexicon"]

LEXICON_VERSION = 1
"""The newest version of the file format that this package reads."""

_PART = re.compile(r"\s*(?P<part>[^(:]*?)\s*(?:\((?P<roles>[^)]*)\)\s*)?$")
_NAME = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_ROLE = re.compile(r"[^\W\d_]\w*(?:/[^\W\d_]\w*)*")
_ALIASES = {"preposition": PartOfSpeech.SPATIAL_PREPOSITION}


def read_lexicon(path: str | PathLike[str]) -> Lexicon:
    """Read a lexicon file.

    Args:
        path: A UTF-8 text file of lines ``entry : part of speech (roles) : spelling | spelling``.

    Returns:
        Its entries.

    Raises:
        LexiconError: If the file is missing or malformed; the message has file, line and column.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise LexiconError(f"cannot read the lexicon {path}: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise LexiconError(
            f"{path}: expected UTF-8 text, but byte {error.start} is not; save it as UTF-8."
        ) from None
    return parse_lexicon(text, where=str(path))


def parse_lexicon(text: str, where: str = "lexicon") -> Lexicon:
    """Read a lexicon from text in the format of :func:`read_lexicon`.

    Args:
        text: The lines.
        where: Name of the text in errors.
    """
    entries: list[Entry] = []
    lines: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.partition("#")[0].rstrip()
        try:
            if content.lstrip().startswith("%"):
                _check_version(content)
            elif content:
                entries.append(_read_entry(content))
                lines.append(number)
        except _Misplaced as error:
            raise LexiconError(f"{where}:{number}:{error.column + 1}: {error}") from None
    return _assembled(entries, lines, where)


def write_lexicon(path: str | PathLike[str], lexicon: Lexicon, *, overwrite: bool = False) -> None:
    """Write a lexicon to a file for :func:`read_lexicon`.

    Raises:
        FileExistsError: If the file exists and ``overwrite`` is false.
    """
    width = max((len(entry.name) for entry in lexicon), default=0)
    lines = [f"%version {LEXICON_VERSION}"]
    lines += [
        f"{e.name:<{width}} : {e.part} ({', '.join(e.roles)}) : {' | '.join(e.spellings)}"
        for e in lexicon
    ]
    write_text(path, "\n".join(lines) + "\n", overwrite=overwrite)


@cache
def default_lexicon() -> Lexicon:
    """Return the lexicon of the street corpus, which is part of the package."""
    text = resources.files(__package__).joinpath("street.lexicon").read_text(encoding="utf-8")
    return parse_lexicon(text, where="street.lexicon")


class _Misplaced(Exception):
    """An error at a column of the current line, counted from 0."""

    def __init__(self, column: int, message: str) -> None:
        super().__init__(message)
        self.column = column


def _assembled(entries: list[Entry], lines: list[int], where: str) -> Lexicon:
    try:
        return Lexicon(tuple(entries))
    except LexiconError:
        # Entries contradict each other; report the first line with a contradiction.
        for count, number in enumerate(lines, start=1):
            try:
                Lexicon(tuple(entries[:count]))
            except LexiconError as error:
                raise LexiconError(f"{where}:{number}:1: {error}") from None
        raise


def _check_version(content: str) -> None:
    column = content.index("%")
    match = re.fullmatch(r"\s*%version\s+(\d+)\s*", content)
    if match is None:
        raise _Misplaced(column, f"expected '%version {LEXICON_VERSION}', got {content.strip()!r}.")
    if int(match[1]) > LEXICON_VERSION:
        raise _Misplaced(
            column,
            f"the lexicon has version {match[1]}, but this Wordsight reads up to version "
            f"{LEXICON_VERSION}; it was written for a newer one: update Wordsight.",
        )


def _read_entry(content: str) -> Entry:
    pieces = content.split(":", maxsplit=2)
    if len(pieces) < 2:
        raise _Misplaced(
            len(content), "expected ':' and a part of speech after the entry, as in 'chair : noun'."
        )
    starts = [0, len(pieces[0]) + 1, len(pieces[0]) + len(pieces[1]) + 2]
    name = _read_name(pieces[0])
    part, roles = _read_part(pieces[1], starts[1])
    spellings = _read_spellings(pieces[2], starts[2]) if len(pieces) == 3 else ()
    column = starts[1]
    try:
        entry = Entry(name, part, roles)
        column = starts[2]
        return replace(entry, spellings=spellings)
    except LexiconError as error:
        raise _Misplaced(_indent(content, column), str(error)) from None


def _read_name(piece: str) -> str:
    name = piece.strip()
    if not _NAME.fullmatch(name) or name != name.lower():
        raise _Misplaced(
            _indent(piece, 0),
            f"expected an entry's name, lower-case words joined by hyphens, got {name!r}.",
        )
    return name


def _read_part(piece: str, start: int) -> tuple[PartOfSpeech, tuple[str, ...]]:
    match = _PART.match(piece)
    column = start + _indent(piece, 0)
    if match is None:
        raise _Misplaced(column, f"expected 'part of speech (role, role)', got {piece.strip()!r}.")
    part = _part_named("-".join(match["part"].lower().split()), column)
    if match["roles"] is None:
        return part, ()
    roles = tuple(role.strip() for role in match["roles"].split(","))
    for role in roles:
        if not _ROLE.fullmatch(role):
            raise _Misplaced(
                start + match.start("roles"),
                f"expected the names of roles separated by commas, got {role!r}.",
            )
    return part, roles


def _part_named(name: str, column: int) -> PartOfSpeech:
    if name in _ALIASES:
        return _ALIASES[name]
    try:
        return PartOfSpeech(name)
    except ValueError:
        close = nearest(name, PartOfSpeech, count=1)
        hint = f"; did you mean {str(close[0])!r}?" if close else "."
        raise _Misplaced(
            column,
            f"expected a part of speech ({', '.join(PartOfSpeech)}), got {name!r}{hint}",
        ) from None


def _read_spellings(piece: str, start: int) -> tuple[str, ...]:
    spellings: list[str] = []
    column = start
    for spelling in piece.split("|"):
        if not spelling.strip():
            raise _Misplaced(column, "expected a spelling, got nothing; remove the ':' or '|'.")
        spellings.append(" ".join(spelling.split()))
        column += len(spelling) + 1
    return tuple(spellings)


def _indent(text: str, start: int) -> int:
    rest = text[start:]
    return start + len(rest) - len(rest.lstrip())
