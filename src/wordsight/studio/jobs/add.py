"""Adding uploaded videos to the library, and looking again at one that is there."""

import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.studio.jobs.task import JobContext
from wordsight.studio.uploads.detector_settings import detector_options
from wordsight.studio.uploads.folders import upload_folder
from wordsight.workflows.add import AddRequest, add
from wordsight.workflows.detector import default_detector
from wordsight.workflows.settings import make_request

if TYPE_CHECKING:
    from wordsight.library import AddReport

__all__ = ["add_video", "look_again"]


def add_video(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Add the videos of an upload, with what is said of them, and remove the upload.

    Args:
        arguments: ``upload``, the name of its folder, in which captions, boxes and a
            ``metadata.jsonl`` may be beside videos; ``sentences``, of a single video;
            ``detector``, ``network``, ``settings`` and ``rate``: how to look; ``force``: whether to
            look again at videos that are there; ``engine``.
        context: Where to work.
    """
    folder = upload_folder(context.folder, arguments["upload"])
    files = sorted(folder.glob("*")) if folder.is_dir() else []
    if not files:
        raise WordsightError("the uploaded file is not there any more; upload it again.")
    _check_inside(folder)
    source = files[0] if len(files) == 1 else folder
    report = _added(arguments, context, sources=source, copy_videos=True)
    shutil.rmtree(folder, ignore_errors=True)
    there = [skipped.video_id for skipped in report.skipped]
    return {"videos": [*report.added, *there], "sentences": report.num_sentences}


def look_again(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Look at a video of the library with another detector, take its boxes, or add sentences.

    Args:
        arguments: ``video``; ``upload``, a folder of a file of ``boxes`` or of ``captions``, if
            any were sent; and the rest as for :func:`add_video`.
        context: Where to work.
    """
    folder = upload_folder(context.folder, arguments.get("upload", ""))
    boxes = next(iter(sorted(folder.glob("boxes/*"))), None)
    captions = next(iter(sorted(folder.glob("captions/*"))), None)
    with Library.open(context.library) as library:
        video = library.resolve(arguments["video"])
        path = library.video(video).path
        before = {} if arguments.get("detector") or boxes else _last_settings(library, video)
    files = {"sources": path, "boxes": boxes, "captions": captions}
    report = _added(arguments, context, **files, **before)
    shutil.rmtree(folder, ignore_errors=True)
    return {"video": video, "sentences": report.num_sentences}


def _last_settings(library: Library, video: str) -> dict[str, Any]:
    """Return how a video was looked at last, so that its detections stay as they are."""
    from wordsight.perception import load_detector

    looked = library.artefacts("detections", video_id=video)
    last = max(looked, key=lambda one: one.created_at).settings
    if last["detector"] == "boxes":
        raise WordsightError("the boxes of this video came from a file; send it again as well.")
    # Settings name more than options do: those are right that lead to the same settings.
    choices: tuple[dict[str, Any], ...] = ({}, last["options"])
    for options in choices:
        with contextlib.suppress(WordsightError):
            if load_detector(last["detector"], **options).settings() == last["options"]:
                return {"detector": last["detector"], "options": options, "rate": last["rate"]}
    raise WordsightError("the settings of this video's detector are unknown; choose a detector.")


def _added(arguments: Mapping[str, Any], context: JobContext, **settings: Any) -> "AddReport":
    names = ("sentences", "rate", "force", "engine")
    asked = {name: arguments[name] for name in names if name in arguments}
    asked["detector"] = arguments.get("detector") or default_detector()
    if "options" not in settings:
        asked["options"] = detector_options(context.folder, arguments)
    if not asked.get("engine"):
        asked["workers"] = 1  # this process is the job's own
    request = make_request(AddRequest, asked | settings)
    report = add(context.library, request, progress=context.progress).report
    if report.failed:
        raise WordsightError(report.failed[0].message)
    return report


def _check_inside(folder: Path) -> None:
    """Refuse a description that names files elsewhere on this machine."""
    from wordsight.library.ingest.sources import METADATA_NAME, MetadataRow, read_metadata

    for file in folder.glob(METADATA_NAME):
        for row in read_metadata(file):
            named = [row.path, row.boxes] if isinstance(row, MetadataRow) else []
            for path in filter(None, named):
                if not path.resolve().is_relative_to(folder.resolve()):
                    raise WordsightError(f"{METADATA_NAME} may only name files sent along with it.")
