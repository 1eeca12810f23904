"""Reading text collections in SMART format: documents, queries and judgements of any layout.

Documents and queries are items ``.I 1`` with fields ``.T``, ``.W`` and others, or numbered texts
that end with a line ``/`` (npl). Judgements come as ``query document grade`` (cran), ``query 0
document 1`` (med), ``query document 0 0.000000`` (cisi, adi, cacm), pairs, or a query followed by
its documents, on one line or up to a line ``/``; which one is found out from the numbers.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from experiments.report import say
from wordsight.errors import FormatError

__all__ = [
    "SmartCollection",
    "collection_folders",
    "parse_items",
    "parse_judgements",
    "read_smart",
]

_ITEM = re.compile(r"^\.I[ \t]*(\S+)[^\n]*\n?", re.MULTILINE)
_SLASH = re.compile(r"^[ \t]*/[ \t]*$\n?", re.MULTILINE)
_FIELD = re.compile(r"^\.([A-Z])[ \t]*\n?", re.MULTILINE)
# Titles, texts and keywords; not authors, sources or references.
_FIELDS_READ = ("T", "W", "K")
_MOST_BYTES = 1 << 28
_LOOKED_AT = 50  # queries that tell how they are numbered


@dataclass(frozen=True)
class SmartCollection:
    """A collection with its judged queries.

    Attributes:
        name: For people.
        documents: Text of each document by its id.
        queries: Text of each query by its id.
        qrels: For each judged query the grade of each document: 1 relevant, 0 not.
    """

    name: str
    documents: dict[str, str]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]


def read_smart(folder: Path) -> SmartCollection:
    """Read the collection in a folder, finding out which file is which.

    Raises:
        FormatError: If documents, queries or judgements are not there.
    """
    items: list[tuple[Path, dict[str, str]]] = []
    judgements: list[tuple[Path, dict[str, dict[str, int]]]] = []
    for path in _files(folder):
        text = _decoded(path.read_bytes()).replace("\r\n", "\n")
        if found := parse_judgements(text):
            judgements.append((path, found))
        elif texts := parse_items(text):
            items.append((path, texts))
    documents, queries = _documents_and_queries(folder, items)
    if not judgements:
        raise FormatError(
            f"{folder} holds no judgements; expected a file of numbers such as cranqrel or MED.REL."
        )
    qrels = min(judgements, key=lambda each: _judgement_rank(each[0]))[1]
    # Judgements may be of more documents than are here; a query without an answer says nothing.
    known = {
        query: judged
        for query, judged in qrels.items()
        if any(grade and document in documents for document, grade in judged.items())
    }
    queries = _renumbered(queries, known, documents)
    if not queries:
        raise FormatError(f"{folder}: no judgement is of a query and a document that are there.")
    missing = len(known) - len(queries)
    if missing:
        say(f"{missing} judged queries are not there and left out")
    return SmartCollection(folder.name, documents, queries, {q: known[q] for q in queries})


def _decoded(data: bytes) -> str:
    """Return a text, which is Latin-1 where it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse_items(text: str) -> dict[str, str]:
    """Return title, text and keywords of each item by its id, zeros in front left out.

    A text that is not made of items gives none. Of items with one id the first counts.
    """
    if not _ITEM.match(text.lstrip("\ufeff \n")):
        return _slashed_items(text)
    pieces = _ITEM.split(text)[1:]
    found: dict[str, str] = {}
    for name, body in zip(pieces[::2], pieces[1::2], strict=True):
        fields = _FIELD.split(body)
        wanted = [
            value
            for letter, value in zip(fields[1::2], fields[2::2], strict=True)
            if letter in _FIELDS_READ
        ]
        whole = "\n".join(wanted) if len(fields) > 1 else body
        if found.setdefault(_plain(name), whole) != whole:
            say(f"item {name} is there twice; the first counts")
    return found


def _slashed_items(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for piece in _SLASH.split(text)[:-1]:
        name, _, body = piece.strip().partition("\n")
        if not name.strip().isdecimal():
            return {}
        found[_plain(name.strip())] = body
    return found


def parse_judgements(text: str) -> dict[str, dict[str, int]]:
    """Return grades by query and document; empty if the text holds no judgements."""
    pieces = _SLASH.split(text)
    # Joined up to each slash, a query stands in one row with its documents.
    lines = text.splitlines() if len(pieces) == 1 else [" ".join(p.split()) for p in pieces]
    rows = [re.split(r"[\s,;]+", line.strip()) for line in lines if line.strip()]
    if not rows or sum(_is_numeric(row) for row in rows) < 0.9 * len(rows):
        return {}
    rows = [row for row in rows if _is_numeric(row)]
    widths = {len(row) for row in rows} if len(pieces) == 1 else set()
    if widths == {4}:
        return _four_columns(rows)
    if widths == {3}:
        # cran lists relevant documents only, whatever their code (1 best to 4, -1 unexplained): its
        # readme says that the pairs are those of the file without codes.
        return _graded((query, doc, int(float(grade) != 0)) for query, doc, grade in rows)
    if widths == {2}:
        return _graded((query, document, 1) for query, document in rows)
    return _graded((row[0], document, 1) for row in rows for document in row[1:])


def _four_columns(rows: list[list[str]]) -> dict[str, dict[str, int]]:
    # The second column of TREC's layout is one constant (0); that of cisi is the document.
    if len({row[1] for row in rows}) == 1 and len({row[2] for row in rows}) > 1:
        return _graded((query, doc, int(float(grade) > 0)) for query, _, doc, grade in rows)
    return _graded((query, document, 1) for query, document, _, _ in rows)


def _graded(rows: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for query, document, grade in rows:
        judged = qrels.setdefault(_plain(query), {})
        judged[_plain(document)] = max(grade, judged.get(_plain(document), 0))
    return qrels


def _documents_and_queries(
    folder: Path, items: list[tuple[Path, dict[str, str]]]
) -> tuple[dict[str, str], dict[str, str]]:
    queries = [each for each in items if re.search(r"qry|quer|que$", each[0].name, re.IGNORECASE)]
    others = [each for each in items if each not in queries]
    if not queries and len(others) > 1:
        # No telling names: there are always fewer queries than documents.
        others.sort(key=lambda each: len(each[1]))
        queries = [others.pop(0)]
    if not queries or not others:
        raise FormatError(
            f"{folder} holds {len(items)} file(s) of `.I` items; expected documents and queries, "
            "such as cran.all.1400 and cran.qry."
        )
    return max((found for _, found in others), key=len), queries[0][1]


def _renumbered(
    queries: dict[str, str], qrels: dict[str, dict[str, int]], documents: dict[str, str]
) -> dict[str, str]:
    """Return the judged queries, numbered from 1 in their order if judgements do that (cran)."""
    counted = {str(n): text for n, text in enumerate(queries.values(), start=1)}
    if not set(qrels) <= set(queries):
        # Some may be missing: right is the numbering under which answers share words with queries.
        queries = max(queries, counted, key=lambda each: _shared_words(each, qrels, documents))
    return {name: text for name, text in queries.items() if name in qrels}


def _shared_words(
    queries: dict[str, str], qrels: dict[str, dict[str, int]], documents: dict[str, str]
) -> float:
    """Return the share of the queries' words that the documents judged relevant have."""
    shares = []
    for query in [name for name in queries if name in qrels][:_LOOKED_AT]:
        words = set(re.findall(r"[a-z]{4,}", queries[query].lower()))
        for document, grade in qrels[query].items():
            if grade and words and document in documents:
                there = set(re.findall(r"[a-z]{4,}", documents[document].lower()))
                shares.append(len(words & there) / len(words))
    return sum(shares) / len(shares) if shares else 0.0


def collection_folders(folder: Path) -> list[Path]:
    """Return the folders of collections below a folder, or the folder itself if it is one."""
    inner, files = _entries(folder)
    if files or not inner:
        return [folder]
    return [found for path in inner for found in collection_folders(path)]


def _entries(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the folders and the files of a folder, without hidden ones and read-me files."""
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise FormatError(f"{folder} cannot be read; --data must name a folder.") from error
    files = [path for path in paths if path.is_file() and "readme" not in path.name.lower()]
    return [path for path in paths if path.is_dir()], files


def _files(folder: Path) -> list[Path]:
    inner, files = _entries(folder)
    if not files and len(inner) == 1:
        return _files(inner[0])
    if not files and inner:
        raise FormatError(f"{folder} holds {len(inner)} folders; name one: {inner[0].name}, …")
    return [path for path in files if path.stat().st_size <= _MOST_BYTES]


def _judgement_rank(path: Path) -> tuple[bool, bool, str]:
    """Prefer what is called judgements, and not an old version of them."""
    name = path.name.lower()
    return ("old" in name, not re.search(r"rel|qrels?", name), name)


def _is_numeric(row: list[str]) -> bool:
    return len(row) > 1 and all(re.fullmatch(r"-?\d+(?:\.\d+)?", value) for value in row)


def _plain(name: str) -> str:
    return name.lstrip("0") or "0"
