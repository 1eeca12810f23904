"""Splitting of a text into steps and sentences: protocols, Markdown lists, paragraphs, plain lines.

The strongest marks of a text decide: lines that begin with "Step", then numbers, then bullets, then
headings, then empty lines. Without any of them every line is a step.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["split_lines", "split_sentences", "split_steps"]

_STEP = re.compile(r"step\b[\s#]*(?:\d+[a-z]?\b)?[\s.:)–-]*", re.IGNORECASE)
_NUMBER = re.compile(r"\(?(?:\d+(?:\.\d+)*)[.):]\s+|\(?\d+\)\s*|\d+(?:\.\d+)+\s+")
_LETTER = re.compile(r"\(?(?:[a-zA-Z]|[ivx]{1,4})[.)]\s+")
_BULLET = re.compile(r"[-*+•‣◦–—·]\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"#{1,6}\s+")
_RULE = re.compile(r"[-=_*\s]{3,}|```.*")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"(\*\*|__|\*|`)(?=\S)(.+?)(?<=\S)\1")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_UNSURE = re.compile(r"\(\s*[?!]+\s*\)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”')\]]*\s+(?=[\"“'(\[]?[^\W\d_a-z])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|ca|approx|min|max|no|fig|vol|vs|dr|mr|mrs|ms|st|temp|sec|hr|etc)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_LISTS = re.compile(
    r"(?:ingredients?|materials?|reagents?|equipment|tools?|supplies|you(?:'ll| will) need|notes?|"
    r"references?|safety|tips?|what you need|shopping list|parts(?: list)?)\b[\w\s]{0,20}:?",
    re.IGNORECASE,
)
_METHOD = re.compile(
    r"(?:method|methods|directions?|instructions?|procedure|protocol|steps?|preparation|assembly)"
    r"\s*:?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Row:
    kind: str  # step, number, letter, bullet, heading, plain, blank
    indent: int
    text: str


def split_steps(text: str) -> list[list[str]]:
    r"""Split a text into steps, and each step into sentences.

    Titles are omitted, and so are lists of ingredients or tools under such a heading.

    Args:
        text: Plain text, Markdown or a numbered protocol.

    Returns:
        Per step its sentences; no step is empty.

    Examples:
        >>> split_steps("1. Label the bottle.\n2. Add water. Mix.")
        [['Label the bottle.'], ['Add water.', 'Mix.']]
    """
    steps = [_sentences(group) for group in split_lines(text)]
    return [step for step in steps if step]


def split_lines(text: str) -> list[list[str]]:
    """Split a text into steps, and each step into lines without their numbers and bullets."""
    rows = list(_without_lists([_row(line) for line in text.splitlines()]))
    return [group for group in _grouped(rows) if group]


def split_sentences(line: str) -> list[str]:
    """Split a line at the ends of sentences, but not at abbreviations and decimal points.

    Examples:
        >>> split_sentences("Add ca. 5.5 mL. Mix (e.g. by hand).")
        ['Add ca. 5.5 mL.', 'Mix (e.g. by hand).']
    """
    sentences: list[str] = []
    for piece in _SENTENCE_END.split(_UNSURE.sub("", line).strip()):
        if sentences and _ABBREVIATION.search(sentences[-1]):
            sentences[-1] += " " + piece
        elif re.search(r"\w", piece):
            sentences.append(piece.strip())
    return sentences


def _row(line: str) -> _Row:
    expanded = line.replace("\t", "    ").replace("\ufeff", "").rstrip()
    bare = expanded.lstrip()
    indent = len(expanded) - len(bare)
    bare = bare.lstrip(">").strip()  # quoted in Markdown
    if not bare or _RULE.fullmatch(bare):
        return _Row("blank", indent, "")
    kinds = (("heading", _HEADING), ("step", _STEP), ("number", _NUMBER))
    for kind, mark in (*kinds, ("bullet", _BULLET), ("letter", _LETTER)):
        match = mark.match(bare)
        if match:
            return _Row(kind, indent, _plain(bare[match.end() :]))
    # "**1. Mix**": the number is inside the emphasis.
    plain = _plain(bare)
    return _row(plain) if plain != bare and _NUMBER.match(plain) else _Row("plain", indent, plain)


def _plain(text: str) -> str:
    return _TAG.sub("", _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text))).strip()


def _without_lists(rows: Sequence[_Row]) -> Iterator[_Row]:
    """Omit sections that list things instead of instructions."""
    skipping = False
    for row in rows:
        is_title = row.kind == "heading" or (row.kind == "plain" and len(row.text.split()) < 5)
        if is_title and _LISTS.fullmatch(row.text):
            skipping = True
            continue
        opens_method = is_title and _METHOD.fullmatch(row.text) is not None
        if opens_method or row.kind in {"heading", "step", "number"}:
            skipping = False
        if not skipping and not (opens_method and row.kind == "plain"):
            yield row


def _grouped(rows: Sequence[_Row]) -> list[list[str]]:
    for kind in ("step", "number", "bullet"):
        openers = [row.indent for row in rows if row.kind == kind]
        if openers:
            return _opened(rows, kind, min(openers))
    if sum(row.kind == "heading" for row in rows) > 1:
        return _opened(rows, "heading", 0)
    return _paragraphs([row for row in rows if row.kind != "heading"])


def _opened(rows: Sequence[_Row], opener: str, indent: int) -> list[list[str]]:
    """Group the rows that follow each opener; nested items belong to the step above."""
    groups: list[list[str]] = []
    joinable = False
    for row in rows:
        if row.kind == opener and row.indent <= indent + 1:
            groups.append([row.text] if row.kind != "heading" and row.text else [])
        elif groups and row.text and row.kind != "heading":
            _add_line(groups[-1], row, joinable)
        joinable = row.kind not in {"blank", "heading"}
    return groups


def _paragraphs(rows: Sequence[_Row]) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    joinable = False
    for row in rows:
        if row.kind == "blank":
            groups.append([])
        else:
            _add_line(groups[-1], row, joinable)
        joinable = row.kind != "blank"
    groups = [group for group in groups if group]
    if len(groups) > 1 and any(len(_sentences(group)) > 1 for group in groups):
        return groups
    lines = [line for group in groups for line in group]
    return [[s] for s in split_sentences(lines[0])] if len(lines) == 1 else [[x] for x in lines]


def _sentences(lines: Sequence[str]) -> list[str]:
    return [sentence for line in lines for sentence in split_sentences(line)]


def _add_line(group: list[str], row: _Row, joinable: bool) -> None:
    """Add a line to a step; one that continues a sentence is joined to the last line."""
    continues = row.kind == "plain" and row.text[:1].islower()
    if joinable and continues and group and group[-1][-1:] not in ".!?":
        group[-1] += " " + row.text
    else:
        group.append(row.text)
