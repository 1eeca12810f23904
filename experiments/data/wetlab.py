"""Reads the wet-lab data: protocols with parses, and what the hands touch in their videos.

Any folder with ``protocols/`` and ``video_blobs/`` laid out alike will do. Files are matched by
name: a video belongs to the protocol whose name its own begins with.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment import Instructions, Line, Observed
from wordsight.alignment.observe.intervals import IntervalFile
from wordsight.alignment.text.instructions import nouns_of_parse, parse_tree, verbs_of_parse
from wordsight.alignment.text.tagging import nouns_and_verbs
from wordsight.errors import FormatError
from wordsight.language.captions.decoding import read_text

__all__ = ["Recording", "read_protocol", "read_recordings"]

_STEP = re.compile(r"step\b", re.IGNORECASE)


@dataclass(frozen=True)
class Recording:
    """One video with its text and the step that people say each chunk belongs to.

    Attributes:
        name: Of the video, upper case.
        instructions: Its protocol.
        observed: What the hands touch.
        gold: ``(T,)`` true step of each chunk, -1 where the file does not tell.
    """

    name: str
    instructions: Instructions
    observed: Observed
    gold: NDArray[np.int64]


def read_recordings(folder: Path) -> dict[str, list[Recording]]:
    """Read all videos of a folder.

    Returns:
        ``anvil`` (touches marked by hand) and ``vision`` (touches found by a program), each sorted
        by name; one of them may be empty.

    Raises:
        FormatError: If the folder or a file is not as expected.
    """
    protocols = {
        path.stem.removeprefix("protocol_").upper(): read_protocol(path)
        for path in sorted((folder / "protocols").glob("protocol_*.txt"))
    }
    videos = sorted((folder / "video_blobs").glob("*.txt"))
    if not protocols or not videos:
        raise FormatError(
            f"{folder} holds no wet-lab data: expected protocols/protocol_X.txt and "
            "video_blobs/*.txt."
        )
    found: dict[str, list[Recording]] = {"anvil": [], "vision": []}
    for path in videos:
        kind = "vision" if ".vision" in path.name.lower() else "anvil"
        found[kind].append(_recording(path, protocols))
    return {kind: sorted(rows, key=lambda row: row.name) for kind, rows in found.items()}


def read_protocol(path: Path) -> Instructions:
    """Read ``protocol_X.txt``; sentences without a noun are left out.

    Nouns and verbs come from ``parses_X.txt`` beside it, one parse per line, or by rules where
    there is no such file.
    """
    rows = [row.strip() for row in read_text(path).splitlines() if row.strip()]
    words = _words(rows, path)
    lines, step = [], 0
    for row, (nouns, verbs) in zip(rows, words, strict=True):
        step += bool(_STEP.match(row))
        if nouns:
            lines.append(Line(row, step, nouns, verbs))
    return Instructions(path.stem.removeprefix("protocol_").upper(), tuple(lines))


def _words(rows: list[str], path: Path) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the nouns and verbs of each sentence."""
    beside = path.with_name(path.name.replace("protocol_", "parses_"))
    if not beside.exists():
        return [nouns_and_verbs(_STEP.sub("", row)) for row in rows]
    texts = [row for row in read_text(beside).splitlines() if row.strip()]
    if len(texts) != len(rows):
        raise FormatError(
            f"{path} has {len(rows)} sentences but {beside.name} {len(texts)} parses; expected one "
            "parse per line."
        )
    trees = [parse_tree(text) for text in texts]
    return [(nouns_of_parse(tree), verbs_of_parse(tree)) for tree in trees]


def _recording(path: Path, protocols: dict[str, Instructions]) -> Recording:
    name = path.name.split(".")[0].upper()
    fitting = [key for key in protocols if name.startswith(key)]
    if not fitting:
        raise FormatError(f"{path} fits no protocol; there are {', '.join(protocols)}.")
    touches = IntervalFile(path, video_id=name)
    observed, gold = touches.observe(), touches.gold_steps()
    if not len(gold) or len(gold) != len(observed.chunks) or gold.max() < 0:
        raise FormatError(f"{path} tells no true step of any interval with a thing touched.")
    return Recording(name, protocols[max(fitting, key=len)], observed, gold)
