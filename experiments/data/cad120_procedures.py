"""CAD-120 as procedures: per video its sentences in order, and its hands and objects as tracks.

Reads ``meta.json``, ``tracks.npz`` and ``clips.jsonl`` of the folder described in the data's own
README. Frames count from 1 there, at 30 per second.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment import Instructions, Line
from wordsight.alignment.text import nouns_and_verbs
from wordsight.errors import FormatError

__all__ = ["FRAME_RATE", "Procedure", "load_procedures"]

FRAME_RATE = 30.0
_FRAME_SIZE = (640, 480)
_FOCAL_LENGTH = 560.0  # pixels; fits the annotated boxes best
_HEAD, _HANDS = 0, (11, 12)
_ACTOR = "person"  # in every sentence, so that it tells nothing

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Procedure:
    """One video.

    Attributes:
        instructions: The sentences of its labelled segments, in order, each a step.
        spans: ``(N, 2)`` start and end of each segment in seconds; for scoring only.
        times: ``(T,)`` seconds of the frames.
        things: By name ``(T, 4)`` boxes; NaN where a box is missing. Things of the same name are
            numbered ``plate#2``.
        hands: ``(T, 2)`` each, in pixels.
        head: ``(T, 2)`` in pixels.
    """

    instructions: Instructions
    spans: Array
    times: Array
    things: Mapping[str, Array]
    hands: tuple[Array, ...]
    head: Array


def load_procedures(folder: Path) -> list[Procedure]:
    """Read all videos of a folder that have a sentence, sorted by name.

    Raises:
        FormatError: If a file is missing or speaks of a video without tracks.
    """
    meta = json.loads(_existing(folder / "meta.json").read_text(encoding="utf-8"))
    lines = _existing(folder / "clips.jsonl").read_text(encoding="utf-8").splitlines()
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if line.strip():
            row = json.loads(line)
            if row.get("sentences"):
                rows.setdefault(str(row["video"]), []).append(row)
    with np.load(_existing(folder / "tracks.npz")) as arrays:
        return [_procedure(video, rows[video], meta, arrays) for video in sorted(rows)]


def _procedure(
    video: str, rows: list[dict[str, Any]], meta: Mapping[str, Any], arrays: Mapping[str, Any]
) -> Procedure:
    if video not in meta or f"{video}_obj" not in arrays or f"{video}_skel" not in arrays:
        raise FormatError(
            f"clips.jsonl speaks of the video {video}, but meta.json or tracks.npz does not."
        )
    boxes = np.asarray(arrays[f"{video}_obj"], dtype=np.float64)
    joints = _projected(np.asarray(arrays[f"{video}_skel"], dtype=np.float64))
    count = min(len(boxes), len(joints))
    rows = sorted(rows, key=lambda row: row["start_frame"])
    sentences = [str(row["sentences"][0]) for row in rows]
    frames = np.array([[row["start_frame"] - 1, row["end_frame"]] for row in rows], dtype=float)
    return Procedure(
        Instructions(video, tuple(_line(text, step) for step, text in enumerate(sentences))),
        frames / FRAME_RATE,
        np.arange(count) / FRAME_RATE,
        _things(boxes[:count], meta[video]["objects"]),
        tuple(joints[:count, joint] for joint in _HANDS),
        joints[:count, _HEAD],
    )


def _line(text: str, step: int) -> Line:
    nouns, verbs = nouns_and_verbs(text)
    return Line(text, step, tuple(noun for noun in nouns if noun != _ACTOR), verbs)


def _things(boxes: Array, names: list[str]) -> dict[str, Array]:
    things: dict[str, Array] = {}
    for column, name in enumerate(names[: boxes.shape[1]]):
        same = sum(other.partition("#")[0] == name for other in things)
        things[name if not same else f"{name}#{same + 1}"] = _filled(boxes[:, column])
    return things


def _filled(boxes: Array) -> Array:
    """Fill in boxes that are all zero between annotated ones; outside they become NaN."""
    known = np.flatnonzero(boxes[:, 2] > boxes[:, 0])
    filled = np.full_like(boxes, np.nan)
    if len(known):
        inside = np.arange(known[0], known[-1] + 1)
        for side in range(4):
            filled[inside, side] = np.interp(inside, known, boxes[known, side])
    return filled


def _projected(skeleton: Array) -> Array:
    """Project ``(T, 15, 4)`` joints in millimetres onto the picture: ``(T, 15, 2)`` pixels."""
    depth = np.maximum(skeleton[..., 2], 1.0)
    across = _FRAME_SIZE[0] / 2 + _FOCAL_LENGTH * skeleton[..., 0] / depth
    down = _FRAME_SIZE[1] / 2 - _FOCAL_LENGTH * skeleton[..., 1] / depth
    return np.stack([across, down], axis=-1)


def _existing(path: Path) -> Path:
    if not path.exists():
        raise FormatError(f"{path} is missing; --data must name the folder of the CAD-120 data.")
    return path
