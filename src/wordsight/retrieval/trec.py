"""Reading and writing TREC run files and relevance judgements (qrels)."""

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from wordsight.errors import FormatError
from wordsight.files import check_plain, write_text

__all__ = ["read_qrels", "read_run", "write_run"]

_MAX_BYTES = 1 << 30


def read_run(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Read a run: lines of query, ``Q0``, document, rank, score and name.

    Returns:
        For each query the score of each document.

    Raises:
        FormatError: If a line has another form, or repeats a document of a query.
    """
    run: dict[str, dict[str, float]] = {}
    for number, fields in _rows(path, 6, "query Q0 document rank score name"):
        query, _, document, _, score, _ = fields
        scores = run.setdefault(query, {})
        if document in scores:
            raise FormatError(f"{path}, line {number}: {document} occurs twice for {query}.")
        scores[document] = _number(path, number, score)
    return run


def read_qrels(path: str | os.PathLike[str]) -> dict[str, dict[str, int]]:
    """Read judgements: lines of query, iteration, document and grade.

    Returns:
        For each query the grade of each document.

    Raises:
        FormatError: If a line has another form, or contradicts an earlier one.
    """
    qrels: dict[str, dict[str, int]] = {}
    for number, (query, _, document, grade) in _rows(path, 4, "query 0 document grade"):
        value = _number(path, number, grade)
        if value != int(value):
            raise FormatError(
                f"{path}, line {number}: a grade must be a whole number, got {grade!r}."
            )
        known = qrels.setdefault(query, {}).setdefault(document, int(value))
        if known != int(value):
            raise FormatError(
                f"{path}, line {number}: {document} was judged {known} for {query} before, now "
                f"{grade}; keep one of the two."
            )
    if not qrels:
        raise FormatError(f"{path} contains no judgements; expected lines: query 0 document grade.")
    return qrels


def write_run(
    path: str | os.PathLike[str],
    run: Mapping[str, Iterable[tuple[str, float]]],
    name: str = "wordsight",
    *,
    overwrite: bool = False,
) -> None:
    """Write a run.

    Args:
        path: The file.
        run: The documents of each query with their scores, best first.
        name: The name of the run.
        overwrite: Whether an existing file may be replaced.

    Raises:
        FileExistsError: If it exists and may not be replaced.
    """
    lines = [
        f"{_word(query)} Q0 {_word(document)} {rank} {score:.8g} {_word(name)}"
        for query, ranking in run.items()
        for rank, (document, score) in enumerate(ranking, start=1)
    ]
    write_text(path, "".join(line + "\n" for line in lines), overwrite=overwrite)


def _rows(path: str | os.PathLike[str], width: int, form: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(_text(Path(path)).splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != width:
            raise FormatError(
                f"{path}, line {number}: expected `{form}`, got {line.strip()[:80]!r}."
            )
        yield number, fields


def _text(path: Path) -> str:
    try:
        check_plain(path)
        if path.stat().st_size > _MAX_BYTES:
            raise FormatError(f"{path} is larger than 1 GiB; split it by query.")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 text ({error.reason}).") from error
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from error


def _number(path: str | os.PathLike[str], line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FormatError(f"{path}, line {line}: expected a number, got {text!r}.")
    return value


def _word(text: str) -> str:
    """Replace white space, which separates fields."""
    return "_".join(text.split()) or "_"
