"""CAD-120 as states over time: annotated tracks and projected hands, with who holds what when.

Reads ``tracks.npz``, ``states.jsonl`` and, for what is said, ``clips.jsonl`` of a folder described
in the data's own README. Frames count from 1 there, at 30 per second.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.data.cad120 import read_lines
from experiments.data.reading import existing, reading
from experiments.report import say
from wordsight.errors import FormatError
from wordsight.states import (
    Predicate,
    StateObservations,
    StateSequence,
    StateVocabulary,
    TimedSentence,
    TrackedObject,
    TrackSmoothing,
    parse_fact,
)

__all__ = ["VOCABULARY", "LabelledVideo", "load_videos"]

FRAME_RATE = 30.0
FRAME_SIZE = (640, 480)
_FOCAL_LENGTH = 560.0  # pixels; fits the annotated boxes best
_HANDS = (11, 12)
_REACH = 15.0  # pixels from the middle of a hand to its edge
_SMOOTHING = TrackSmoothing(median_frames=5, fill_seconds=np.inf, hold=True)

VOCABULARY = StateVocabulary(
    (Predicate("attached", ("person", "object")), Predicate("grounded", ("object",)))
)
"""What the labels speak of."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LabelledVideo:
    """One video.

    Attributes:
        observations: Features of the person, whose parts are the hands, and the named objects.
        states: The truth, at the frames that are labelled: the first ones.
        subject: Who acts.
        activity: What is going on.
        sentences: What is said of it when, if that is known.
    """

    observations: StateObservations
    states: StateSequence
    subject: str
    activity: str
    sentences: tuple[TimedSentence, ...] = ()


def load_videos(
    folder: Path, *, causal: bool = False, vocabulary: StateVocabulary | None = None
) -> list[LabelledVideo]:
    """Read all labelled videos of a folder.

    Args:
        folder: Where the data lies.
        causal: Whether measurements may not look ahead.
        vocabulary: Declares features beyond those built in.
    """
    rows = read_lines(folder / "states.jsonl")
    if not rows:
        raise FormatError(f"{folder / 'states.jsonl'} holds no video.")
    said = _sentences(folder / "clips.jsonl")
    path = existing(folder / "tracks.npz", "the CAD-120 data")
    with reading(path, "the tracks of states.jsonl"), np.load(path) as arrays:
        known = [row for row in rows if _has_tracks(row, arrays)]
        if not known:
            raise FormatError(f"{folder / 'tracks.npz'} has no tracks of {rows[0]['video']}.")
        if len(known) < len(rows):
            say(f"{folder}: {len(rows) - len(known)} videos have no states, tracks or skeleton")
        return [
            _video(
                row,
                arrays[f"{row['video']}_obj"].astype(np.float64),
                arrays[f"{row['video']}_skel"].astype(np.float64),
                tuple(said.get(row["video"], ())),
                causal,
                vocabulary,
            )
            for row in known
        ]


def _has_tracks(row: dict[str, Any], arrays: Any) -> bool:
    names = [f"{row['video']}_{what}" for what in ("obj", "skel")]
    return bool(row["states"]) and all(name in arrays and len(arrays[name]) for name in names)


def _sentences(path: Path) -> dict[str, list[TimedSentence]]:
    """Return what is said of each video; nothing if there is no such file."""
    said: dict[str, list[TimedSentence]] = {}
    with reading(path, "the file of CAD-120 clips"):
        for row in read_lines(path) if path.is_file() else ():
            start, end = (row["start_frame"] - 1) / FRAME_RATE, row["end_frame"] / FRAME_RATE
            rows = said.setdefault(row["video"], [])
            rows += [TimedSentence(start, end, sentence) for sentence in row["sentences"]]
    return said


def _video(
    row: dict[str, Any],
    annotated: Array,
    skeleton: Array,
    sentences: tuple[TimedSentence, ...],
    causal: bool,
    vocabulary: StateVocabulary | None,
) -> LabelledVideo:
    count = min(len(annotated), len(skeleton), max(state[1] for state in row["states"]))
    times = np.arange(count) / FRAME_RATE
    followed = row["objects"][: annotated.shape[1]]  # of an object without a track nothing is known
    columns = {name: k for k, name in reversed(list(enumerate(followed)))}
    names = sorted(columns, key=columns.__getitem__)  # a name that comes twice: its first object
    boxes = np.full((count, 1 + len(names), 2, 4), np.nan)
    boxes[:, 0] = _hands(skeleton[:count])
    boxes[:, 1:, 0] = annotated[:count, [columns[name] for name in names]]
    things = [TrackedObject("person", "person"), *(TrackedObject(name, "object") for name in names)]
    seen = StateObservations.from_boxes(
        row["video"],
        times,
        things,
        boxes,
        vocabulary=vocabulary,
        smoothing=_SMOOTHING,
        causal=causal,
    )
    rows = sorted(row["states"], key=lambda state: state[0])
    starts = [*(state[0] for state in rows[1:]), np.inf]
    known = {"person", *names}
    stretches = []
    for (first, last, texts), following in zip(rows, starts, strict=True):
        facts = [fact for fact in map(parse_fact, texts) if known.issuperset(fact.arguments)]
        end = min(last, following - 1)  # one label reaches a frame into the next
        stretches.append(((first - 1) / FRAME_RATE, end / FRAME_RATE, facts))
    states = StateSequence.from_segments(row["video"], times, stretches)
    return LabelledVideo(seen, states, row["subject"], row["activity"], sentences)


def _hands(skeleton: Array) -> Array:
    """Return ``(T, 2, 4)`` boxes around the projected hands, NaN where a joint is not known."""
    joints = skeleton[:, _HANDS, :]
    depth = np.where(joints[..., 2] > 0, joints[..., 2], np.nan)
    across = FRAME_SIZE[0] / 2 + _FOCAL_LENGTH * joints[..., 0] / depth
    down = FRAME_SIZE[1] / 2 - _FOCAL_LENGTH * joints[..., 1] / depth
    middle = np.stack([across, down], axis=-1)
    return np.concatenate([middle - _REACH, middle + _REACH], axis=-1)
