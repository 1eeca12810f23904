"""Labels of when facts hold, read from CSV, JSON, EAF, CVAT and the truth of made worlds."""

import csv
import io
import itertools
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError, StateError
from wordsight.files import check_plain
from wordsight.perception.formats.text import XmlElement, parse_xml
from wordsight.states.discovery.sentences import TimedSentence
from wordsight.states.rules.facts import Fact, FactInterval, StateSequence, parse_fact

__all__ = [
    "LabelledTracks",
    "check_directions",
    "read_intervals",
    "read_timed_sentences",
    "sequence_from_intervals",
]

_COLUMNS = ("video", "start", "end", "fact")
_SAID = ("video", "start", "end", "sentence")
Labels = list[tuple[str, dict[str, Any]]]
"""Where a row was read, for messages, and the row."""


def read_intervals(
    path: str | PathLike[str], *, frame_rate: float | None = None
) -> dict[str, list[FactInterval]]:
    """Read intervals of facts; the suffix says from what.

    ``.csv`` has the columns video, start, end, fact, and a row with only its name for a video
    without facts; ``.json`` is as :func:`wordsight.states.write_states` writes it; ``.jsonl`` is
    the truth of a made world; in ``.eaf`` an annotation, or its tier, is called as the fact; in
    the ``.xml`` of CVAT a track is labelled with the fact and lasts as long as it.

    Args:
        path: The file.
        frame_rate: Frames per second, for CVAT, which has frames and no times.

    Returns:
        Per video its intervals, in the order of the file.

    Raises:
        FormatError: If the file cannot be read; the message names the line.
    """
    file, text = Path(path), _text(path)
    if file.suffix.lower() == ".xml":
        rows = _cvat_rows(text, file, frame_rate)
    else:
        readers = {".json": _json_rows, ".jsonl": _truth_rows, ".eaf": _eaf_rows}
        rows = readers.get(file.suffix.lower(), _csv_rows)(text, file)
    videos: dict[str, list[FactInterval]] = {}
    for where, row in rows:
        if row.get("fact") is None:
            videos.setdefault(str(row["video"]), [])
            continue
        interval = _interval(row, where)
        videos.setdefault(interval.video_id, []).append(interval)
    if not videos:
        raise FormatError(f"{path} has no labels; expected rows of {', '.join(_COLUMNS)}.")
    for intervals in videos.values():
        _check_overlap(intervals, file)
    return videos


def _text(path: str | PathLike[str]) -> str:
    try:
        check_plain(Path(path))
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: expected UTF-8 text, but byte {error.start} is not.") from None


def read_timed_sentences(path: str | PathLike[str]) -> dict[str, list[TimedSentence]]:
    """Read what is said of videos from a table with the columns video, start, end, sentence.

    Raises:
        FormatError: If the file cannot be read; the message names the line.
    """
    reader = csv.DictReader(io.StringIO(_text(path)))
    missing = [name for name in _SAID if name not in (reader.fieldnames or [])]
    if missing:
        raise FormatError(
            f"{path}: expected the columns {', '.join(_SAID)}, but {missing[0]} is missing."
        )
    videos: dict[str, list[TimedSentence]] = {}
    for row in reader:
        where = f"{path}, line {reader.line_num}"
        try:
            start, end = float(row["start"]), float(row["end"])
        except (TypeError, ValueError):
            raise FormatError(
                f"{where}: expected numbers of seconds as start and end, got {row['start']!r} and "
                f"{row['end']!r}."
            ) from None
        if not (np.isfinite([start, end]).all() and start < end):
            raise FormatError(
                f"{where}: a sentence must start before it ends, got {start:g} to {end:g} s."
            )
        cells = [row["sentence"] or "", *row.get(None, [])]
        words = " ".join(" ".join(cells).split())
        if not words:
            raise FormatError(f"{where}: there is no sentence; write one, or leave out the line.")
        videos.setdefault(row["video"], []).append(TimedSentence(start, end, words))
    if not videos:
        raise FormatError(f"{path} has no sentences; expected rows of {', '.join(_SAID)}.")
    return videos


def _check_overlap(intervals: Sequence[FactInterval], path: Path) -> None:
    """Refuse two intervals of one fact that overlap: one of them must be wrong."""
    ordered = sorted(intervals, key=lambda row: (row.fact, row.start))
    for one, other in itertools.pairwise(ordered):
        if one.fact == other.fact and other.start < one.end - 1e-9:
            raise FormatError(
                f"{path}: {one.fact} of {one.video_id} is labelled from {one.start:g} to "
                f"{one.end:g} s and again from {other.start:g} to {other.end:g} s; join the two, "
                "or correct one of them."
            )


def sequence_from_intervals(
    video_id: str, times: NDArray[np.float64], intervals: Iterable[FactInterval]
) -> StateSequence:
    """Return the states at times ``(T,)`` from intervals of facts.

    Raises:
        StateError: If an interval lies entirely outside the times.
    """
    rows = list(intervals)
    facts = tuple(sorted({row.fact for row in rows}))
    values = np.zeros((len(times), len(facts)), dtype=np.bool_)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    for row in rows:
        # Half a step of tolerance, because times in files are rounded.
        slack = min(step, row.end - row.start) / 2
        inside = (times >= row.start - slack) & (times < row.end - slack)
        if not inside.any() and not (len(times) and times[0] <= row.start <= times[-1] + step):
            raise StateError(
                f"{video_id}: {row.fact} is labelled from {row.start:g} to {row.end:g} s, but the "
                f"video runs from {times[0] if len(times) else 0:g} to "
                f"{times[-1] if len(times) else 0:g} s."
            )
        values[inside, facts.index(row.fact)] = True
    return StateSequence(video_id, times, facts, values)


def _csv_rows(text: str, path: Path) -> list[tuple[str, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or [])]
    if missing:
        raise FormatError(
            f"{path}: expected the columns {', '.join(_COLUMNS)}, but {missing[0]} is missing."
        )
    return [_csv_row(f"{path}, line {reader.line_num}", dict(row)) for row in reader]


def _csv_row(where: str, row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a row with its fact joined again, which without quotes is split at its comma."""
    if None in (row[name] for name in _COLUMNS):
        raise FormatError(
            f"{where}: expected {', '.join(_COLUMNS)}, but the line is shorter; a video without "
            "facts is written with the last three columns empty: film,,,"
        )
    extra = row.pop(None, [])  # type: ignore[call-overload]  # cells beyond the named columns
    row["fact"] = ",".join([row["fact"], *extra])
    if not any(str(row[name]).strip() for name in _COLUMNS[1:]):
        row["fact"] = None
    return where, row


def _json_rows(text: str, path: Path) -> list[tuple[str, dict[str, Any]]]:
    try:
        videos = json.loads(text)["videos"]
        names = [str(video["video"]) for video in videos]
        rows = []
        for video in videos:
            where = f"{path}, video {video['video']}"
            rows.append((where, {"video": video["video"]}))
            rows += [(where, {"video": video["video"], **row}) for row in video["intervals"]]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise FormatError(
            f'{path}: expected {{"videos": [{{"video", "intervals": [{{"start", "end", "fact"}}]}}]'
            f"}}, found otherwise ({error})."
        ) from None
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FormatError(
            f"{path} has {twice[0]} twice, and the two may contradict each other; keep one."
        )
    return rows


def _interval(row: Mapping[str, Any], where: str) -> FactInterval:
    try:
        start, end = _seconds(row["start"]), _seconds(row["end"])
        fact = parse_fact(str(row["fact"]))
    except (TypeError, ValueError) as error:
        raise FormatError(f"{where}: {error}") from None
    except KeyError as error:
        raise FormatError(
            f"{where}: an interval needs start, end and fact; {error} is missing."
        ) from None
    if not (np.isfinite([start, end]).all() and start < end):
        raise FormatError(f"{where}: {fact} must start before it ends, got {start:g} to {end:g} s.")
    return FactInterval(str(row["video"]), start, end, fact)


def _seconds(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"expected seconds as start and end, got {value!r}.") from None


def _truth_rows(text: str, path: Path) -> Labels:
    """Return the facts of films of a made world, those of order as :func:`directed` has them."""
    rows: Labels = []
    for number, line in enumerate(text.splitlines(), start=1):
        where = f"{path}, line {number}"
        try:
            film = json.loads(line)
            name, boxes = str(film["name"]), film["boxes"]
            spans = [(s["frames"], s["start"], s["end"], s["facts"]) for s in film["states"]]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise FormatError(
                f"{where}: expected a film of a made world with name, boxes and states, found "
                f"otherwise ({error})."
            ) from None
        rows.append((where, {"video": name}))
        open_: dict[str, dict[str, Any]] = {}
        for frames, start, end, facts in spans:
            here = {_directed(fact, boxes, frames[0]) for fact in facts}
            for fact in here:
                known = open_.get(fact)
                if known is not None and abs(known["end"] - start) < 1e-6:
                    known["end"] = end
                else:
                    open_[fact] = {"video": name, "start": start, "end": end, "fact": fact}
                    rows.append((where, open_[fact]))
    return rows


def _directed(text: str, boxes: Mapping[str, Any], frame: int) -> str:
    """Return a fact of support with the lower thing first, which holds the other one up."""
    fact = parse_fact(text)
    if fact.predicate != "contacts":
        return text
    lower = {name: (boxes[name][frame] or [0.0] * 4)[3] for name in fact.arguments}
    return str(Fact(fact.predicate, tuple(sorted(fact.arguments, key=lambda name: -lower[name]))))


def _eaf_rows(text: str, path: Path) -> Labels:
    root = parse_xml(text, path.name)
    if root.tag != "ANNOTATION_DOCUMENT":
        raise FormatError(f"{path}: expected an ELAN document (EAF), found <{root.tag}>.")
    order = root.find("TIME_ORDER")
    slots = {
        slot.attributes.get("TIME_SLOT_ID", ""): slot.attributes.get("TIME_VALUE")
        for slot in (order.all("TIME_SLOT") if order else [])
    }
    video = _eaf_video(root) or path.stem
    rows: Labels = [(str(path), {"video": video})]
    for tier in root.all("TIER"):
        for one in (row for box in tier.all("ANNOTATION") for row in box.children):
            where = f"{path}, line {one.line}"
            value = one.find("ANNOTATION_VALUE")
            said = value.text.strip() if value is not None else ""
            fact = said if "(" in said else tier.attributes.get("TIER_ID", "")
            ends = [slots.get(one.attributes.get(f"TIME_SLOT_REF{k}", "")) for k in (1, 2)]
            if None in ends:
                raise FormatError(f"{where}: the annotation has no times; align it in ELAN.")
            start, end = (int(e or 0) / 1000 for e in ends)
            rows.append((where, {"video": video, "start": start, "end": end, "fact": fact}))
    return rows


def _eaf_video(root: XmlElement) -> str:
    header = root.find("HEADER")
    if header is None:
        return ""
    named = [p.text.strip() for p in header.all("PROPERTY") if p.attributes.get("NAME") == "video"]
    files = [m.attributes.get("MEDIA_URL", "") for m in header.all("MEDIA_DESCRIPTOR")]
    return next((name for name in (*named, *(Path(f).stem for f in files)) if name), "")


def _cvat_rows(text: str, path: Path, frame_rate: float | None) -> Labels:
    if frame_rate is None:
        raise FormatError(f"{path}: CVAT counts frames; give frames per second (--rate).")
    root = parse_xml(text, path.name)
    source = root.find("meta", "task", "source") or root.find("meta", "source")
    video = Path(source.text.strip()).stem if source is not None and source.text else path.stem
    rows: Labels = [(str(path), {"video": video})]
    for track in root.all("track"):
        where, fact = f"{path}, line {track.line}", track.attributes.get("label", "")
        if "(" not in fact:
            continue  # a thing, not a fact
        boxes = sorted(track.all("box"), key=lambda box: int(box.attributes.get("frame", "0")))
        begin: int | None = None
        for box in boxes:
            frame, gone = int(box.attributes.get("frame", "0")), box.attributes.get("outside")
            if gone == "1" and begin is not None:
                rows.append((where, _frames(video, begin, frame, fact, frame_rate)))
                begin = None
            elif gone != "1" and begin is None:
                begin = frame
        if begin is not None:
            last = int(boxes[-1].attributes.get("frame", "0")) + 1
            rows.append((where, _frames(video, begin, last, fact, frame_rate)))
    return rows


def _frames(video: str, first: int, end: int, fact: str, rate: float) -> dict[str, Any]:
    return {"video": video, "start": first / rate, "end": end / rate, "fact": fact}


class LabelledTracks(NamedTuple):
    """The labels of one video, and where its things are.

    Attributes:
        intervals: The labels.
        lower_edges: Per thing ``(T,)`` the lower edge of its box, growing downwards, NaN if not
            seen.
        times: ``(T,)`` seconds.
        hands: Names of the things that are hands.
    """

    intervals: Sequence[FactInterval]
    lower_edges: Mapping[str, NDArray[np.float64]]
    times: NDArray[np.float64]
    hands: Collection[str] = ()


def check_directions(videos: Iterable[LabelledTracks]) -> tuple[int, int]:
    """Refuse labels whose order of arguments cannot be meant.

    ``contacts(a,b)`` means that a, the lower one, holds up b. Where the labels of all videos have
    every pair in alphabetical order, and the lower thing is sometimes first and sometimes second,
    the order follows the alphabet, and what is learned from it says nothing. ``attached(a,b)``
    means that a holds b, so that no thing comes before a hand.

    Args:
        videos: All videos with their labels.

    Returns:
        How many labels of contact have the lower thing first, and how many second.

    Raises:
        StateError: If so; the message shows the right order of the first that is wrong.
    """
    wrong: list[FactInterval] = []
    rightly, alphabetical = 0, True
    for video in videos:
        for row in video.intervals:
            if len(row.fact.arguments) != 2:
                continue
            if row.fact.predicate == "attached":
                _check_holder(row, video.hands)
            elif row.fact.predicate == "contacts":
                above = _first_above(row, video)
                alphabetical &= row.fact.arguments[0] < row.fact.arguments[1]
                rightly += above < 0
                wrong += [row] if above > 0 else []
    if wrong and rightly and alphabetical:
        row = wrong[0]
        raise StateError(
            f"{row.video_id}: {row.fact} from {row.start:g} to {row.end:g} s has its things in "
            f"alphabetical order, as all labels do; write the one that holds up the other first: "
            f"{_turned(row.fact)}."
        )
    return rightly, len(wrong)


def _check_holder(row: FactInterval, hands: Collection[str]) -> None:
    held, hand = row.fact.arguments
    if hand in hands and held not in hands:
        raise StateError(
            f"{row.video_id}: {row.fact} says that {held} holds {hand}; write the one that "
            f"holds the other first: {_turned(row.fact)}."
        )


def _turned(fact: Fact) -> Fact:
    return Fact(fact.predicate, fact.arguments[::-1])


def _first_above(row: FactInterval, video: LabelledTracks) -> float:
    """Return how far the first thing of a label lies above the second, 0 if that is not seen."""
    first, second = row.fact.arguments
    if not {first, second} <= video.lower_edges.keys():
        return 0.0
    inside = (video.times >= row.start) & (video.times < row.end)
    above = video.lower_edges[second][inside] - video.lower_edges[first][inside]
    return float(np.nanmedian(above)) if np.isfinite(above).any() else 0.0
