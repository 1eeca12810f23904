"""Adding uploaded videos to the library, and looking again at one that is there."""

import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.studio.jobs.task import JobContext
from wordsight.studio.uploads.folders import upload_folder

if TYPE_CHECKING:
    from wordsight.library import AddReport

__all__ = ["add_video", "look_again"]


def add_video(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Add the videos of an upload, with what is said of them, and clear the upload away.

    Args:
        arguments: ``upload``, the name of its folder, in which captions, boxes and a
            ``metadata.jsonl`` may lie beside videos; ``sentences``, of a single video;
            ``detector``, ``network``, ``settings`` and ``rate``: how to look; ``force``: whether to
            look again at videos that are there; ``engine``.
        workplace: Where to work.
    """
    folder = upload_folder(workplace.folder, arguments["upload"])
    files = sorted(folder.glob("*")) if folder.is_dir() else []
    if not files:
        raise WordsightError("the uploaded file is not there any more; upload it again.")
    _stays_inside(folder)
    source = files[0] if len(files) == 1 else folder
    report = _added(source, {**arguments, "copy": True}, workplace)
    shutil.rmtree(folder, ignore_errors=True)
    there = [skipped.video_id for skipped in report.skipped]
    return {"videos": [*report.added, *there], "sentences": report.num_sentences}


def look_again(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Look at a video of the library with another detector, take its boxes, or add sentences.

    Args:
        arguments: ``video``; ``upload``, a folder of a file of ``boxes`` or of ``captions``, if
            any were sent; and the rest as for :func:`add_video`.
        workplace: Where to work.
    """
    from wordsight.language.captions import read_captions

    folder = upload_folder(workplace.folder, arguments.get("upload", ""))
    boxes = next(iter(sorted(folder.glob("boxes/*"))), None)
    captions = next(iter(sorted(folder.glob("captions/*"))), None)
    said = [*arguments.get("sentences", ())]
    if captions is not None:
        said += read_captions(captions)
    with Library.open(workplace.library) as library:
        video = library.resolve(arguments["video"])
        path = library.video(video).path
        before = {} if arguments.get("detector") or boxes else _as_before(library, video)
    asked = {**arguments, **before, "sentences": said, "boxes": boxes, "copy": False}
    report = _added(Path(path), asked, workplace)
    shutil.rmtree(folder, ignore_errors=True)
    return {"video": video, "sentences": report.num_sentences}


def _as_before(library: Library, video: str) -> dict[str, Any]:
    """Return how a video was looked at last, so that nobody looks again."""
    from wordsight.perception import load_detector

    looked = library.artefacts("detections", video_id=video)
    last = max(looked, key=lambda one: one.created_at).settings
    if last["detector"] == "boxes":
        raise WordsightError("this video's boxes came from a file; send it again with the words.")
    # Settings name more than options do: those are right that lead to the same settings.
    choices: tuple[dict[str, Any], ...] = ({}, last["options"])
    for options in choices:
        with contextlib.suppress(WordsightError):
            if load_detector(last["detector"], **options).settings() == last["options"]:
                return {"detector": last["detector"], "options": options, "rate": last["rate"]}
    raise WordsightError("nobody knows how this video was looked at; choose a detector.")


def _added(source: Path, asked: Mapping[str, Any], workplace: JobContext) -> "AddReport":
    from wordsight.engine import open_engine
    from wordsight.studio.uploads.detector_settings import detector_options

    with (
        Library.open(workplace.library, create=True) as library,
        open_engine(asked.get("engine")) as engine,
    ):
        report = library.add(
            source,
            sentences=tuple(asked.get("sentences", ())),
            boxes=asked.get("boxes"),
            detector=asked.get("detector") or "regions",
            options=asked.get("options") or detector_options(workplace.folder, asked),
            rate=asked.get("rate", 10.0),
            copy=bool(asked["copy"]),
            force=bool(asked.get("force")),
            workers=1,  # this process is the job's own
            engine=engine,
            progress=workplace.progress,
        )
    if report.failed:
        raise WordsightError(report.failed[0].message)
    return report


def _stays_inside(folder: Path) -> None:
    """Refuse a description that names files elsewhere on this machine."""
    from wordsight.library.ingest.sources import METADATA_NAME, MetadataRow, read_metadata

    for file in folder.glob(METADATA_NAME):
        for row in read_metadata(file):
            named = [row.path, row.boxes] if isinstance(row, MetadataRow) else []
            for path in filter(None, named):
                if not path.resolve().is_relative_to(folder.resolve()):
                    raise WordsightError(f"{METADATA_NAME} may only name files sent along with it.")
