"""`Instructions` from text and from files, with or without bracketed parses."""

import codecs
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from wordsight.alignment.errors import AlignmentError
from wordsight.alignment.records import Instructions, Line
from wordsight.alignment.text.parses import nouns_of_parse, parse_tree, verbs_of_parse
from wordsight.alignment.text.splitting import split_lines, split_steps
from wordsight.alignment.text.tagging import nouns_and_verbs
from wordsight.errors import FormatError
from wordsight.language.captions import CaptionWarning, parse_captions
from wordsight.language.captions.decoding import MAX_TEXT_BYTES, decode

__all__ = ["instructions_from_text", "read_instructions"]

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
    try:
        if file.stat().st_size > MAX_TEXT_BYTES:
            raise FormatError(f"{file} is too large for a text; check that it is the right file.")
        data = file.read_bytes()
    except FileNotFoundError:
        raise FormatError(f"{file} does not exist; check the name.") from None
    except OSError as error:
        raise FormatError(f"{file} cannot be read: {error.strerror or error}.") from error
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
