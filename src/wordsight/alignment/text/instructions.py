"""`Instructions` from text and from files, with or without bracketed parses.

Nouns and verbs come from the text, or from parses such as ``(S (VP (VB Pour) (NP (NN water))))``:
heads of noun phrases only, the substance rather than its measure in "25 mL of water", and nothing
of what is written on a label, as in the instruction-alignment literature.
"""

import codecs
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wordsight.alignment.records import Instructions, Line
from wordsight.alignment.text.tagging import nouns_and_verbs
from wordsight.errors import AlignmentError, FormatError
from wordsight.files import read_limited
from wordsight.language.captions import CaptionWarning, parse_captions
from wordsight.language.captions.decoding import MAX_TEXT_BYTES, decode

__all__ = [
    "Tree",
    "instructions_from_text",
    "nouns_of_parse",
    "parse_tree",
    "read_instructions",
    "split_lines",
    "split_sentences",
    "split_steps",
    "verbs_of_parse",
    "words_of_parse",
]

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


_PIECE = re.compile(r"[()]|[^\s()]+")

_NOUN_TAGS = frozenset({"NN", "NNP"})

_DEEPEST = 200  # nested brackets; more are not a sentence and would exhaust the stack


@dataclass(frozen=True)
class Tree:
    """A node of a parse.

    Attributes:
        tag: Part of speech or kind of phrase.
        word: The word of a leaf, lower case; empty for other nodes.
        children: Child nodes in order.
    """

    tag: str
    word: str = ""
    children: tuple["Tree", ...] = ()


def parse_tree(text: str) -> Tree:
    """Parse one bracketed tree.

    Raises:
        FormatError: If brackets do not match, or there is more than one tree.

    Examples:
        >>> parse_tree("(NP (DT the) (NN Bottle))").children[1]
        Tree(tag='NN', word='bottle', children=())
    """
    pieces = _PIECE.findall(text)
    tree, end = _node(pieces, 0, 0, text)
    if end != len(pieces):
        raise _malformed(text, "one tree")
    return tree


def nouns_of_parse(tree: Tree) -> tuple[str, ...]:
    """Return the heads of noun phrases in order, each once, without "step"."""
    nouns: list[str] = []
    _gather_nouns(tree, nouns)
    return tuple(dict.fromkeys(noun for noun in nouns if noun != "step"))


def verbs_of_parse(tree: Tree) -> tuple[str, ...]:
    """Return the verbs in their base form, in order, each once."""
    if tree.word:
        return (tree.word,) if tree.tag == "VB" else ()
    verbs = (verb for child in tree.children for verb in verbs_of_parse(child))
    return tuple(dict.fromkeys(verbs))


def words_of_parse(tree: Tree) -> tuple[str, ...]:
    """Return all words, lower case, in order."""
    if tree.word:
        return (tree.word,)
    return tuple(word for child in tree.children for word in words_of_parse(child))


def _node(pieces: list[str], at: int, depth: int, text: str) -> tuple[Tree, int]:
    if at + 1 >= len(pieces) or pieces[at] != "(" or depth > _DEEPEST:
        raise _malformed(text, "an opening bracket and a tag")
    has_tag = pieces[at + 1] not in "()"
    tag, at = (pieces[at + 1], at + 2) if has_tag else ("", at + 1)
    children: list[Tree] = []
    word = ""
    while at < len(pieces) and pieces[at] != ")":
        if pieces[at] == "(":
            child, at = _node(pieces, at, depth + 1, text)
            children.append(child)
        else:
            word, at = pieces[at].lower(), at + 1
    if at == len(pieces):
        raise _malformed(text, "a closing bracket")
    return Tree(tag, "" if children else word, tuple(children)), at + 1


def _gather_nouns(tree: Tree, nouns: list[str]) -> None:
    if tree.word and tree.tag in _NOUN_TAGS:
        nouns.append(tree.word)
    after_write = False
    for place, child in enumerate(tree.children):
        following = tree.children[place + 1] if place + 1 < len(tree.children) else None
        if not (after_write or _is_modifier(child, following)):
            _gather_nouns(child, nouns)
        after_write = child.tag.startswith("VB") and child.word == "write"


def _is_modifier(child: Tree, following: Tree | None) -> bool:
    """Return whether a node only modifies the next one: "paper" towel, "25 mL" of water."""
    if following is None:
        return False
    if following.tag in _NOUN_TAGS:
        return True
    words = words_of_parse(following)[:1] if following.tag == "PP" else ()
    return words == ("of",)


def _malformed(text: str, expected: str) -> FormatError:
    shown = text.strip()
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return FormatError(
        f"a bracketed parse needs {expected}, got {shown!r}; write it like "
        "(S (VP (VB Pour) (NP (DT the) (NN water))))."
    )


_CAPTIONS = {".srt": "srt", ".vtt": "vtt", ".webvtt": "vtt", ".jsonl": "jsonl"}

_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_MOST_LINES = 5000  # a text with more lines is not one of instructions


def instructions_from_text(
    text: str, name: str = "text", *, parses: Sequence[str] | None = None
) -> Instructions:
    r"""Return a text as lines with their steps, nouns and verbs.

    A line that names no thing ("Mix.") uses its verbs as nouns, so that it can be found too.

    Args:
        text: Plain text, Markdown or a numbered protocol.
        name: Name of the text.
        parses: Bracketed parses of the lines, one each, in order. Nouns and verbs are then taken
            from them, and every line of the text is one sentence.

    Raises:
        AlignmentError: If the text has no sentence.
        FormatError: If there are more or fewer parses than lines, or one is malformed.

    Examples:
        >>> instructions_from_text("1. Add water to the tube.\n2. Shake it.").lines[1]
        Line(text='Shake it.', step=1, nouns=('shake',), verbs=('shake',))
    """
    if parses is None:
        steps = split_steps(text)
        lines = [_line(sentence, step) for step, group in enumerate(steps) for sentence in group]
    else:
        lines = _parsed_lines(text, [parse for parse in parses if parse.strip()], name)
    return _checked(name, lines)


def read_instructions(
    path: str | os.PathLike[str], *, parses: str | os.PathLike[str] | None = None
) -> Instructions:
    """Read instructions from a file.

    Subtitle files (``.srt``, ``.vtt``) and ``.jsonl`` give one step per caption; their times are
    ignored. Every other file is read as text in UTF-8 or UTF-16; lines in neither encoding are
    decoded as Windows-1252 with a warning.

    Args:
        path: The text.
        parses: File with one bracketed parse per line of the text.

    Returns:
        The instructions, named like the file.

    Raises:
        FormatError: If a file cannot be read.
        AlignmentError: If it has no sentence.
    """
    file = Path(path)
    text = _read(file)
    kind = _CAPTIONS.get(file.suffix.lower())
    if kind is not None:
        captions = parse_captions(text, kind, source=str(file))
        spoken = [caption.text.replace("\n", " ") for caption in captions]
        return _checked(file.stem, [_line(words, step) for step, words in enumerate(spoken)])
    given = None if parses is None else _read(Path(parses)).splitlines()
    return instructions_from_text(text, file.stem, parses=given)


def _line(sentence: str, step: int) -> Line:
    nouns, verbs = nouns_and_verbs(sentence)
    return Line(sentence, step, nouns or verbs, verbs)


def _parsed_lines(text: str, parses: Sequence[str], name: str) -> list[Line]:
    rows = [(row, step) for step, group in enumerate(split_lines(text)) for row in group]
    if len(rows) != len(parses):
        raise FormatError(
            f"{name} has {len(rows)} lines but {len(parses)} parses; give one parse per line, in "
            "order."
        )
    lines = []
    for (row, step), parse in zip(rows, parses, strict=True):
        tree = parse_tree(parse)
        verbs = verbs_of_parse(tree)
        lines.append(Line(row, step, nouns_of_parse(tree) or verbs, verbs))
    return lines


def _checked(name: str, lines: Sequence[Line]) -> Instructions:
    if not lines:
        raise AlignmentError(
            f"{name} has no sentence to align; write one step per line, for example "
            "'1. Label the bottle.'"
        )
    if len(lines) > _MOST_LINES:
        raise AlignmentError(
            f"{name} has {len(lines):,} lines, more than the {_MOST_LINES:,} that instructions "
            "may have; check that it is the right file."
        )
    return Instructions(name, tuple(lines))


def _read(file: Path) -> str:
    too_large = "is too large for a text; check that it is the right file."
    data = read_limited(file, MAX_TEXT_BYTES, too_large)
    if data.startswith(_MARKS) or b"\0" in data:
        return decode(data, str(file))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decoded_by_line(data, file)


def _decoded_by_line(data: bytes, file: Path) -> str:
    """Decode text whose lines have different encodings."""
    rows, strange = [], 0
    for row in data.splitlines(keepends=True):
        try:
            rows.append(row.decode("utf-8"))
        except UnicodeDecodeError:
            rows.append(row.decode("cp1252", errors="replace"))
            strange += 1
    warnings.warn(
        f"{file}: {strange} of {len(rows)} lines are not UTF-8 and were decoded as Windows-1252. "
        "Save the file as UTF-8 if characters are wrong.",
        CaptionWarning,
        stacklevel=3,
    )
    return "".join(rows)
