"""CAD-120 as procedures: per video its sentences in order, and its hands and objects as tracks.

Reads ``meta.json``, ``tracks.npz`` and ``clips.jsonl`` of the folder described in the data's own
README. Frames count from 1 there, at 30 per second.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.data.cad120 import FRAME_RATE, load_seen, read_json, read_lines
from experiments.data.reading import reading
from wordsight.alignment import Instructions, Line
from wordsight.alignment.text import nouns_and_verbs
from wordsight.errors import FormatError
from wordsight.records import Detections

__all__ = ["Procedure", "load_procedures"]

_ACTOR = "person"  # in every sentence, so that it tells nothing

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Procedure:
    """One video.

    Attributes:
        instructions: The sentences of its labelled segments, in order, each a step.
        spans: ``(N, 2)`` start and end of each segment in seconds; for scoring only.
        seen: Boxes of its objects, hands and head, with identities.
        subject: Who is seen; empty if unknown.
        activity: What is done; empty if unknown.
    """

    instructions: Instructions
    spans: Array
    seen: Detections
    subject: str = ""
    activity: str = ""


def load_procedures(folder: Path) -> list[Procedure]:
    """Read all videos of a folder that have a sentence, sorted by name.

    Raises:
        FormatError: If a file is missing or speaks of a video without tracks.
    """
    meta, clips = read_json(folder / "meta.json"), folder / "clips.jsonl"
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in read_lines(clips):
        if row.get("sentences"):
            rows.setdefault(str(row.get("video")), []).append(row)
    seen, _ = load_seen(folder, "tracks")
    for video in rows:
        if video not in seen:
            raise FormatError(
                f"clips.jsonl speaks of the video {video}, but meta.json or tracks.npz does not."
            )
    with reading(clips, "the file of CAD-120 clips"):
        return [_procedure(video, rows[video], meta[video], seen[video]) for video in sorted(rows)]


def _procedure(
    video: str, rows: list[dict[str, Any]], about: dict[str, Any], seen: Detections
) -> Procedure:
    rows = sorted(rows, key=lambda row: row["start_frame"])
    sentences = [str(row["sentences"][0]) for row in rows]
    frames = np.array([[row["start_frame"] - 1, row["end_frame"]] for row in rows], dtype=float)
    return Procedure(
        Instructions(video, tuple(_line(text, step) for step, text in enumerate(sentences))),
        frames / FRAME_RATE,
        seen,
        str(about.get("subject", "")),
        str(about.get("dir", "")),
    )


def _line(text: str, step: int) -> Line:
    nouns, verbs = nouns_and_verbs(text)
    return Line(text, step, tuple(noun for noun in nouns if noun != _ACTOR), verbs)
