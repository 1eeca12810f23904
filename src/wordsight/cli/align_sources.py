"""Where ``wordsight align`` takes its observations from: files, folders, the library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.cli.output import Output
from wordsight.errors import WordsightError

if TYPE_CHECKING:
    from wordsight.alignment import Observed

__all__ = ["AlignmentVideo", "ObserveSettings", "gather_films"]

_VIDEO_SUFFIXES = frozenset(
    (".3gp", ".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm", ".wmv")
)
_INTERVAL_SUFFIXES = frozenset((".txt", ".tsv"))


@dataclass(frozen=True)
class ObserveSettings:
    """How to look at videos.

    Attributes:
        detector: Name of the detector.
        options: Its options.
        rate: Frames per second.
        seen: File of touched things for the one video, if given.
        boxes: File of boxes for the one video, if given.
    """

    detector: str
    options: Mapping[str, Any]
    rate: float
    seen: Path | None = None
    boxes: Path | None = None


@dataclass(frozen=True)
class AlignmentVideo:
    """A video with what was observed in it.

    Attributes:
        observed: The observations.
        path: The video file, if there is one.
        source: The file the observations came from, if they did.
        wanted: Whether its alignment was asked for, or it only helps to learn.
    """

    observed: "Observed"
    path: Path | None
    source: Path | None = None
    wanted: bool = True


def gather_films(
    video: str, others: Sequence[str], watching: ObserveSettings, library: str, output: Output
) -> list[AlignmentVideo]:
    """Observe the videos asked for, and the others.

    Raises:
        WordsightError: If a name is neither a file nor in the library.
    """
    if watching.seen is not None or watching.boxes is not None:
        return [_given(video, watching), *_films(others, False, watching, library, output)]
    films = _films([video], True, watching, library, output)
    films += _films(others, False, watching, library, output)
    return _with_own_names(films)


def _films(
    names: Sequence[str], wanted: bool, watching: ObserveSettings, library: str, output: Output
) -> list[AlignmentVideo]:
    films: list[AlignmentVideo] = []
    loose: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            found = sorted(p for p in path.iterdir() if p.suffix.lower() in _VIDEO_SUFFIXES)
            if not found:
                raise WordsightError(f"{path} holds no video; name a video file.")
            loose += found
        elif path.is_file() and path.suffix.lower() in _INTERVAL_SUFFIXES:
            films.append(_from_intervals(path, None, wanted))
        elif path.exists():
            loose.append(path)
        else:
            films += _from_library(name, library, wanted)
    return films + _looked_at(loose, wanted, watching, output)


def _given(video: str, watching: ObserveSettings) -> AlignmentVideo:
    path = Path(video)
    if not path.is_file():
        raise WordsightError(f"{video} is no video file; --seen and --boxes belong to one.")
    if watching.seen is not None:
        return _from_intervals(watching.seen, path, True)
    from wordsight.alignment.observe import DetectedThings
    from wordsight.perception import read_boxes
    from wordsight.video import VideoReader

    assert watching.boxes is not None
    with VideoReader(path) as reader:
        size = (reader.info.width, reader.info.height)
        boxes = read_boxes(watching.boxes, times=reader.times, frame_size=size)
        duration = reader.info.start_time + reader.info.duration
    observed = DetectedThings(path.stem, boxes, duration=duration).observe()
    return AlignmentVideo(observed, path, watching.boxes)


def _from_intervals(source: Path, video: Path | None, wanted: bool) -> AlignmentVideo:
    from wordsight.alignment.observe import IntervalFile

    name, duration = None, None
    if video is not None:
        from wordsight.video import VideoReader

        with VideoReader(video) as reader:
            name, duration = video.stem, reader.info.start_time + reader.info.duration
    return AlignmentVideo(IntervalFile(source, name, duration).observe(), video, source, wanted)


def _looked_at(
    paths: Sequence[Path], wanted: bool, watching: ObserveSettings, output: Output
) -> list[AlignmentVideo]:
    if not paths:
        return []
    from wordsight.alignment.observe import DetectedThings
    from wordsight.alignment.observe.detections import hand_mask
    from wordsight.alignment.observe.videos import detect_videos

    with output.progress("Looking") as progress:
        seen = detect_videos(
            paths,
            detector=watching.detector,
            options=watching.options,
            rate=watching.rate,
            progress=progress,
        )
    if not any(hand_mask(one).any() for one in seen):
        output.note(
            f"The detector {watching.detector} saw no hand, so only what moves counts. One that "
            "knows hands and your things does far better (--detector onnx, --boxes)."
        )
    return [
        AlignmentVideo(DetectedThings(path.stem, one).observe(), path, None, wanted)
        for path, one in zip(paths, seen, strict=True)
    ]


def _from_library(name: str, library: str, wanted: bool) -> list[AlignmentVideo]:
    from wordsight.alignment.observe import DetectedThings
    from wordsight.errors import LibraryError
    from wordsight.library import Library

    try:
        opened = Library.open(library)
    except LibraryError as error:
        raise WordsightError(
            f"there is no file {name}, and no library to look it up in ({error})"
        ) from error
    with opened:
        entries = [v for v in opened.videos() if v.id.startswith(name) or v.name.startswith(name)]
        if not entries:
            raise WordsightError(
                f"{name} is neither a file nor the beginning of a video's id in {library}; "
                "`wordsight list` shows them."
            )
        films = []
        for entry in entries:
            seen = opened.detections(entry.id)
            start = float(seen.times[0]) if len(seen) else 0.0
            source = DetectedThings(entry.id, seen, duration=start + entry.duration)
            films.append(AlignmentVideo(source.observe(), Path(entry.path), None, wanted))
    return films


def _with_own_names(films: Sequence[AlignmentVideo]) -> list[AlignmentVideo]:
    """Tell videos of one name apart, so that none overwrites another's results."""
    from dataclasses import replace

    taken: dict[str, int] = {}
    named = []
    for film in films:
        name = film.observed.video_id
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            observed = replace(film.observed, video_id=f"{name}-{taken[name]}")
            film = replace(film, observed=observed)
        named.append(film)
    return named
