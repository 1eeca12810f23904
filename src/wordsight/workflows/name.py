"""``name``: all taught words for a picture, a part of one, or the things in a video."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import LibraryError, WordsightError
from wordsight.files import IMAGE_SUFFIXES
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.search_query import parse_region
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.teach import load_taught, taught_setting
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wordsight.attributes import Naming
    from wordsight.attributes.recall.videos import NamedDetection
    from wordsight.records import Detections

__all__ = ["NameRequest", "NameResult", "name"]


class NameRequest(Request):
    """What to name, and how to answer."""

    what: str = argument(
        "What to name: a picture, a moment of a video, or the things of a video of the library.",
        metavar="IMAGE|VIDEO@SECONDS|VIDEO",
    )
    box: str | None = setting(None, "Only this part, in pixels.", metavar="X,Y,W,H")
    boxes: Path | None = setting(
        None, "Name all things of a video that this file boxes.", metavar="FILE"
    )
    source: tuple[str, ...] = setting(
        (),
        "What else was measured of the thing, where words were taught with it: a number, numbers "
        "with commas, or a recording.",
        metavar="NAME=VALUE",
    )
    play: Path | None = setting(None, "Write the answer in the teacher's own voice.", metavar="WAV")
    force: bool = setting(False, "Replace what is there.")
    taught: Path = taught_setting()
    library: str = setting(
        "wordsight-library", "The library of the videos that are no files.", hidden=True
    )


@dataclass(frozen=True)
class NameResult(Result):
    """Words for a picture, or for the things of a video.

    Attributes:
        naming: The words for the picture, if one was named.
        things: The words for each box of a video, if one was named.
        files: What was written.
    """

    naming: "Naming | None" = None
    things: "tuple[NamedDetection, ...]" = ()
    files: tuple[Path, ...] = ()

    def to_json(self) -> Any:
        """Return what ``wordsight name --json`` prints."""
        if self.naming is None:
            return as_json(self.things)
        return as_json({"text": self.naming.text, "attributes": self.naming.attributes})

    def by_thing(self) -> list[dict[str, Any]]:
        """Return for every thing of a video what it is called most often, and when it is seen."""
        things: dict[int, list[NamedDetection]] = {}
        for one in self.things:
            things.setdefault(one.identity, []).append(one)
        rows = []
        for identity, boxes in sorted(things.items()):
            (text, count), *_ = Counter(box.naming.text for box in boxes).most_common(1)
            times = {"start": boxes[0].time, "end": boxes[-1].time}
            share = count / len(boxes)
            rows.append({"thing": identity, "text": text, "share": share, **times})
        return rows


@workflow(NameRequest)
def name(request: NameRequest, *, reporter: RecordingReporter) -> NameResult:
    """Find all taught words for a picture, a part of one, or the things in a video."""
    from wordsight.attributes import write_sound
    from wordsight.attributes.recall.videos import name_detections

    learner = load_taught(request.taught)
    video = _boxed_video(request)
    if video is not None:
        path, detections = video
        with reporter.progress("Naming") as progress:
            things = name_detections(learner, path, detections, progress=progress)
        return NameResult(things=tuple(things))
    refuse_existing(request.play, force=request.force)
    measured = dict(_measured(one) for one in request.source)
    naming = learner.name(_picture(request.what, request.box), sources=measured)
    if request.play is None:
        return NameResult(naming)
    write_sound(request.play, learner.say(naming), overwrite=request.force)
    reporter.note(f"Spoken: {request.play}")
    return NameResult(naming, files=(request.play,))


def _boxed_video(request: NameRequest) -> "tuple[str, Detections] | None":
    """Return the file and the boxes of a video whose things are to be named, if one is."""
    what = request.what
    if request.boxes is not None:
        from wordsight.perception import read_boxes
        from wordsight.video import VideoReader

        with VideoReader(what) as reader:
            times, size = reader.times, (reader.info.width, reader.info.height)
        return what, read_boxes(request.boxes, times=times, frame_size=size)
    if Path(what).exists() or "@" in what or Path(what).suffix.lower() in IMAGE_SUFFIXES:
        return None
    from wordsight.library import Library
    from wordsight.perception.tracking.tracks import track_detections

    try:
        with Library.open(request.library) as library:
            video_id = library.resolve(what)
            _, tracked = track_detections(library.detections(video_id), video_id)
            return library.video(video_id).path, tracked
    except LibraryError:
        raise WordsightError(
            f"{what} does not exist; expected a picture, VIDEO@SECONDS, or a video of the library."
        ) from None


def _picture(what: str, box: str | None) -> "NDArray[np.uint8]":
    from wordsight.attributes.recall.videos import crop_box
    from wordsight.video import VideoReader, read_image

    path, at, seconds = what.rpartition("@")
    if Path(what).is_file() or not at:
        if Path(what).is_file() and Path(what).suffix.lower() not in IMAGE_SUFFIXES:
            raise WordsightError(
                f"{what} is not a picture (.png, .jpg). Of a video, name a moment "
                f"({what}@SECONDS) or the boxes to look at (--boxes FILE)."
            )
        image = read_image(what)
    else:
        time = _seconds(seconds)
        with VideoReader(path) as reader:
            image = reader.frame_at(time).image
    region = parse_region(box)
    if region is None:
        return image
    x, y, width, height = region
    return crop_box(image, (x, y, x + width, y + height))


def _measured(text: str) -> tuple[str, "NDArray[np.float64]"]:
    from wordsight.attributes.lesson_files import read_source

    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise WordsightError(f"--source takes NAME=VALUE, as in weight=1.2, got {text!r}.")
    try:
        return name, read_source([float(number) for number in value.split(",")])
    except ValueError:
        return name, read_source(value)


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise WordsightError(
            f"after @ the time in seconds was expected, as in film.mp4@12.5, got {text!r}."
        ) from None
