"""Import of corrected annotations, which replace those of the video."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError, LibraryError
from wordsight.library.catalog.entries import DETECTIONS, SentenceEntry
from wordsight.library.catalog.queries import NewSentence
from wordsight.library.exchange.annotations import (
    NEW_ID,
    AnnotatedVideo,
    ReadSentence,
    ReadVideo,
    annotated,
)
from wordsight.library.library import Library
from wordsight.perception import watch as look_at
from wordsight.perception.detectors.suppression import box_iou
from wordsight.perception.formats import BoxTable
from wordsight.perception.formats.table import NO_ID
from wordsight.records import Detections, FrameDetections
from wordsight.video import Frame, VideoReader

__all__ = ["ImportedVideo", "put_back"]

_SAME_PIXELS = 6e-3  # CVAT keeps hundredths of a pixel; shares and percents lose a last digit
_SAME_SECONDS = 1.5e-3  # ELAN has whole milliseconds
_SAME_THING = 0.5  # overlap from which a corrected box looks as the one it was


@dataclass(frozen=True)
class ImportedVideo:
    """What an import changed in one video.

    Attributes:
        video_id: The video.
        boxes: How many boxes it has now.
        boxes_changed: How many are new or were corrected.
        boxes_removed: How many are no longer there, or were corrected.
        sentences_added: Sentences that are new or were corrected.
        sentences_removed: Sentences that are no longer there, or were corrected.
        note: What could not be kept; empty if all was.
    """

    video_id: str
    boxes: int = 0
    boxes_changed: int = 0
    boxes_removed: int = 0
    sentences_added: int = 0
    sentences_removed: int = 0
    note: str = ""

    @property
    def changed(self) -> bool:
        """Whether anything changed."""
        return bool(
            self.boxes_changed
            or self.boxes_removed
            or self.sentences_added
            or self.sentences_removed
        )


def put_back(library: Library, read: ReadVideo, source: str) -> ImportedVideo:
    """Put corrected annotations in the place of those a video has.

    What comes back as it went out stays as it is, to the last digit. The corrected boxes are
    entered beside the earlier ones and count from then on.

    Args:
        library: The library.
        read: The annotations.
        source: The file, as the source of new sentences.

    Raises:
        LibraryError: If no video of the library is meant.
        FormatError: If boxes do not fit the video.
    """
    video_id = _meant(library, read)
    before = annotated(library, video_id)
    result = ImportedVideo(video_id, boxes=len(before.boxes.frames))
    if read.boxes is not None:
        result = _put_boxes(library, before, read.boxes, result)
    if read.sentences is not None:
        said = list(_sentences(before, read.sentences, source))
        added, removed = library.set_sentences(video_id, said)
        result = replace(result, sentences_added=added, sentences_removed=removed)
    return result


def _meant(library: Library, read: ReadVideo) -> str:
    for name in filter(None, read.names):
        try:
            return library.resolve(name)
        except LibraryError:
            continue
    listed = ", ".join(repr(name) for name in read.names if name) or "a video without a name"
    raise LibraryError(f"{listed} is not in the library; add the film first.")


def _sentences(
    video: AnnotatedVideo, read: Iterable[ReadSentence], source: str
) -> Iterator[NewSentence]:
    left = list(video.sentences)
    for one in read:
        ours = next((known for known in left if _unchanged(video, one, known)), None)
        if ours is not None:
            left.remove(ours)
            yield NewSentence(ours.text, ours.start, ours.end, ours.source)
            continue
        start, end = one.start, one.end
        if one.frames is not None and one.frames != video.frames_of(start, end):
            first, last = one.frames
            start, end = _time_at(video, first), _time_at(video, last + 1)
        yield NewSentence(one.text, start, end, one.source or source)


def _unchanged(video: AnnotatedVideo, read: ReadSentence, ours: SentenceEntry) -> bool:
    if read.text != " ".join(ours.text.split()):
        return False
    if read.frames is not None:
        return read.frames == video.frames_of(ours.start, ours.end)
    if read.start is None or read.end is None or ours.start is None or ours.end is None:
        return read.start is None and ours.start is None
    gaps = abs(read.start - ours.start), abs(read.end - ours.end)
    return max(gaps) < _SAME_SECONDS


def _time_at(video: AnnotatedVideo, frame: int) -> float:
    times = video.times
    if frame < len(times):
        return float(times[max(0, frame)])
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    return float(times[-1]) + step if len(times) else 0.0


def _put_boxes(
    library: Library, before: AnnotatedVideo, read: BoxTable, result: ImportedVideo
) -> ImportedVideo:
    ours = before.boxes
    if len(read.frames) and read.frames.max() >= len(before.times):
        raise FormatError(
            f"{before.entry.name} has {len(before.times)} frames, but there is a box in frame "
            f"{int(read.frames.max())} (counting from 0); is it another film?"
        )
    table = _on_frames_looked_at(_scaled(read, ours), ours)
    same = _same_boxes(table, ours)
    table = replace(table, ids=_identities(table, ours, same))
    kept = same >= 0
    changed = ~kept | _differs(table, ours, same)
    removed = len(ours.frames) - len(set(same[kept & ~changed].tolist()))
    result = replace(
        result,
        boxes=len(table.frames),
        boxes_changed=int(changed.sum()),
        boxes_removed=removed,
    )
    if not result.changed:
        return result
    boxes, scores = table.boxes.copy(), table.scores.copy()
    boxes[kept] = ours.boxes[same[kept]]
    unknown = np.isnan(scores)
    scores[unknown & kept] = ours.scores[same[unknown & kept]]
    table = replace(table, boxes=boxes, scores=np.nan_to_num(scores, nan=1.0))
    seen, note = _measured(library, before, table)
    digest = hashlib.sha256(b"".join(a.tobytes() for a in (seen.boxes, seen.labels, seen.times)))
    settings = {"detector": "boxes", "options": {"sha256": digest.hexdigest()}, "rate": None}
    library.put_artefact(
        DETECTIONS, seen.save, suffix=".npz", settings=settings, video_id=result.video_id
    )
    return replace(result, note=note)


def _scaled(read: BoxTable, ours: BoxTable) -> BoxTable:
    if read.frame_size in (None, ours.frame_size) or ours.frame_size is None:
        return read
    assert read.frame_size is not None
    factor = np.array(ours.frame_size) / np.array(read.frame_size)
    return replace(read, boxes=read.boxes * np.tile(factor, 2), frame_size=ours.frame_size)


def _on_frames_looked_at(read: BoxTable, ours: BoxTable) -> BoxTable:
    """Keep boxes on the frames that ours have; others only of things that are on none of those.

    Tools draw between the frames that were looked at by themselves.
    """
    assert ours.covered is not None
    there = np.isin(read.frames, ours.covered)
    tracked = np.isin(read.ids, read.ids[there]) & (read.ids != NO_ID)
    keep = there | ~tracked
    order = np.flatnonzero(keep)[np.argsort(read.frames[keep], kind="stable")]
    rows = {n: getattr(read, n)[order] for n in ("frames", "boxes", "scores", "labels", "ids")}
    return replace(read, **rows, covered=np.union1d(ours.covered, rows["frames"]))


def _same_boxes(table: BoxTable, ours: BoxTable) -> NDArray[np.int64]:
    """Return for each box the row of ours at the same place in the same frame, -1 for none."""
    names = {name: index for index, name in enumerate(ours.label_names)}
    labels = np.array([names.get(name, -1) for name in table.label_names] or [-1])
    free: dict[int, list[int]] = {}
    for row, frame in enumerate(ours.frames.tolist()):
        free.setdefault(frame, []).append(row)
    same = np.full(len(table.frames), -1, dtype=np.int64)
    for row, frame in enumerate(table.frames.tolist()):
        rows = free.get(frame, [])
        if not rows:
            continue
        gaps = np.abs(ours.boxes[rows] - table.boxes[row]).max(axis=1)
        near = np.flatnonzero(gaps < _SAME_PIXELS)
        if not len(near):
            continue
        there = np.array(rows)[near]
        # Of several at one place the one of the same label and identity is meant.
        other_label = ours.labels[there] != labels[table.labels[row]]
        other_id = ours.ids[there] != table.ids[row]
        same[row] = rows.pop(int(near[np.lexsort((gaps[near], other_id, other_label))[0]]))
    return same


def _identities(table: BoxTable, ours: BoxTable, same: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return identities in our numbers: tools number things in their own way.

    A thing keeps the number that most of its boxes had; a single box of none stays without one.
    """
    ids = np.full(len(table.ids), NO_ID, dtype=np.int64)
    votes = []
    for identity in np.unique(table.ids[table.ids != NO_ID]).tolist():
        rows = np.flatnonzero(table.ids == identity)
        known = ours.ids[same[rows][same[rows] >= 0]]
        named, counts = np.unique(known[known != NO_ID], return_counts=True)
        untouched = len(rows) == 1 and len(known) and known[0] == NO_ID
        best = int(named[counts.argmax()]) if len(named) else NO_ID
        if not untouched:
            votes.append((-int(counts.max(initial=0)), identity, best, rows))
    taken: set[int] = set()
    for _, identity, best, rows in sorted(votes, key=lambda vote: vote[:2]):
        if best == NO_ID or best in taken:
            best = identity if identity < NEW_ID and identity not in taken else NEW_ID
        if best == NEW_ID:
            best = max(taken | set(ours.ids.tolist()), default=NO_ID) + 1
        taken.add(best)
        ids[rows] = best
    return ids


def _differs(table: BoxTable, ours: BoxTable, same: NDArray[np.int64]) -> NDArray[np.bool_]:
    mine, theirs = np.array(ours.label_names or [""]), np.array(table.label_names or [""])
    at = np.maximum(same, 0)
    if not len(ours.frames):
        return np.ones(len(same), dtype=np.bool_)
    score = ~np.isnan(table.scores) & (np.abs(table.scores - ours.scores[at]) > 1e-6)
    result: NDArray[np.bool_] = (
        (mine[ours.labels[at]] != theirs[table.labels]) | (ours.ids[at] != table.ids) | score
    )
    return result


class _Given:
    """A detector that sees what it was given, so that flow is measured as for all others."""

    def __init__(self, table: BoxTable) -> None:
        self.name = "boxes"
        self.label_names = table.label_names
        self._table = table
        self._ids = (table.ids != NO_ID).any()

    def settings(self) -> dict[str, Any]:
        return {}

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        table = self._table
        for frame in frames:
            here = slice(*np.searchsorted(table.frames, [frame.index, frame.index + 1]))
            ids = table.ids[here] if self._ids else None
            columns = table.boxes[here], table.scores[here], table.labels[here]
            yield FrameDetections(frame.time, *columns, ids=ids)


def _measured(library: Library, before: AnnotatedVideo, table: BoxTable) -> tuple[Detections, str]:
    """Return boxes with their flow, and what they look like as far as that is known."""
    ours = library.detections(before.entry.id)
    assert table.covered is not None
    if before.file is None:
        size = before.entry.width, before.entry.height
        return table.to_detections(before.entry.name, times=before.times, frame_size=size), ""
    wanted = set(table.covered.tolist())
    with VideoReader(before.file) as reader:
        size = reader.info.width, reader.info.height
        frames = (frame for frame in reader.frames() if frame.index in wanted)
        seen = look_at(frames, _Given(table), size)
    if ours.appearance is None:
        return seen, ""
    looks, missing = _looks(seen, ours)
    if missing:
        return seen, (
            f"{before.entry.name}: {missing} new boxes are where nothing was seen, so that what "
            "things look like is no longer known; `wordsight add --force` looks again."
        )
    return replace(seen, appearance=looks), ""


def _looks(seen: Detections, ours: Detections) -> tuple[NDArray[np.float32], int]:
    """Return each box's appearance, that of our box it overlaps most, and how many have none."""
    assert ours.appearance is not None
    looks = np.zeros((*seen.mask.shape, ours.appearance.shape[2]), np.float32)
    missing = 0
    rows = {time: row for row, time in enumerate(ours.times.tolist())}
    for row, time in enumerate(seen.times.tolist()):
        known = rows.get(time)
        here = np.flatnonzero(seen.mask[row])
        there = np.zeros(0, np.intp) if known is None else np.flatnonzero(ours.mask[known])
        if known is None or not len(there):
            missing += len(here)
            continue
        overlap = box_iou(seen.boxes[row, here], ours.boxes[known, there])
        best = overlap.argmax(axis=1)
        missing += int((overlap.max(axis=1) < _SAME_THING).sum())
        looks[row, here] = ours.appearance[known, there[best]]
    return looks, missing
