"""``name``: all taught words for pictures, a part of one, or the things in a video."""

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

    what: tuple[str, ...] = argument(
        "What to name: pictures, folders of pictures, moments of videos, or the things of one "
        "video of the library.",
        metavar="IMAGE|FOLDER|VIDEO@SECONDS|VIDEO",
        min_length=1,
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
    """Words for pictures, or for the things of a video.

    Attributes:
        naming: The words for the picture, if one was named.
        pictures: What was named and the words for it, if several pictures were.
        things: The words for each box of a video, if one was named.
        files: What was written.
    """

    naming: "Naming | None" = None
    things: "tuple[NamedDetection, ...]" = ()
    files: tuple[Path, ...] = ()
    pictures: "tuple[tuple[str, Naming], ...]" = ()

    def to_json(self) -> Any:
        """Return what ``wordsight name --json`` prints."""
        if self.naming is not None:
            return as_json(_naming_json(self.naming))
        if self.pictures:
            return as_json([{"picture": one} | _naming_json(own) for one, own in self.pictures])
        return as_json(self.things)

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


def _naming_json(naming: "Naming") -> dict[str, Any]:
    return {"text": naming.text, "attributes": naming.attributes}


@workflow(NameRequest)
def name(request: NameRequest, *, reporter: RecordingReporter) -> NameResult:
    """Find all taught words for pictures, a part of one, or the things in a video."""
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
    places = [place for what in request.what for place in _places(what)]
    if len(places) > 1 and (request.play is not None or measured):
        option = "--source" if measured else "--play"
        raise WordsightError(f"{option} is about one picture, got {len(places)}; name it alone.")
    pictures = [_picture(place, request.box) for place in places]
    if len(places) > 1 or Path(request.what[0]).is_dir():
        return NameResult(pictures=tuple(zip(places, learner.name_all(pictures), strict=True)))
    naming = learner.name(pictures[0], sources=measured)
    if request.play is None:
        return NameResult(naming)
    write_sound(request.play, learner.say(naming), overwrite=request.force)
    reporter.note(f"Spoken: {request.play}")
    return NameResult(naming, files=(request.play,))


def _places(what: str) -> list[str]:
    """Return the pictures of a folder, or what was given where that is none."""
    folder = Path(what)
    if not folder.is_dir():
        return [what]
    found = [one for one in sorted(folder.iterdir()) if one.suffix.lower() in IMAGE_SUFFIXES]
    if not found:
        raise WordsightError(f"{what} has no pictures (.png, .jpg) to name.")
    return [str(one) for one in found]


def _boxed_video(request: NameRequest) -> "tuple[str, Detections] | None":
    """Return the file and the boxes of a video whose things are to be named, if one is."""
    videos = [what for what in request.what if request.boxes or _may_be_video(what)]
    if not videos:
        return None
    what = videos[0]
    if request.boxes is None:
        found = _library_video(request.library, what)
        if found is None and Path(what).exists():
            return None
        if found is None:
            raise WordsightError(
                f"{what} does not exist; expected a picture, VIDEO@SECONDS, or a video of the "
                "library."
            )
    if len(request.what) > 1:
        raise WordsightError(
            f"the things of a video are named alone; {what} was given with "
            f"{len(request.what) - 1} more."
        )
    if request.boxes is None:
        return found
    from wordsight.perception import read_boxes
    from wordsight.video import VideoReader

    with VideoReader(what) as reader:
        times, size = reader.times, (reader.info.width, reader.info.height)
    return what, read_boxes(request.boxes, times=times, frame_size=size)


def _may_be_video(what: str) -> bool:
    path = Path(what)
    return not path.is_dir() and "@" not in what and path.suffix.lower() not in IMAGE_SUFFIXES


def _library_video(location: str, what: str) -> "tuple[str, Detections] | None":
    """Return the file and the boxes of a video of the library; ``None`` if it has no such one."""
    from wordsight.library import Library
    from wordsight.perception.tracking.tracks import track_detections

    try:
        opened = Library.open(location)
    except LibraryError:
        return None
    with opened as library:
        try:
            video_id = library.resolve(what)
        except LibraryError:
            return None
        _, tracked = track_detections(library.detections(video_id), video_id)
        return library.video(video_id).path, tracked


def _picture(what: str, box: str | None) -> "NDArray[np.uint8]":
    from wordsight.attributes.recall.videos import crop_box
    from wordsight.video import VideoReader, read_image

    path, at, seconds = what.rpartition("@")
    if Path(what).is_file() or not at:
        if Path(what).is_file() and Path(what).suffix.lower() not in IMAGE_SUFFIXES:
            raise WordsightError(
                f"{what} is not a picture (.png, .jpg). Of a video, name a moment "
                f"({what}@SECONDS) or the boxes to look at (--boxes FILE), or add it to a library "
                "(`wordsight add`), where its things are found."
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
