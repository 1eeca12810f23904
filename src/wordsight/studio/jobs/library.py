"""Adding uploaded videos to the library, looking again at one, and checking all files."""

import contextlib
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.files import BOX_SUFFIXES
from wordsight.library import Library
from wordsight.studio.jobs.task import JobContext
from wordsight.studio.networks import detector_options
from wordsight.studio.server import without_paths
from wordsight.studio.uploads import upload_folder
from wordsight.workflows.add import AddRequest, add
from wordsight.workflows.detect import default_detector
from wordsight.workflows.settings import make_request
from wordsight.workflows.world import render_street

if TYPE_CHECKING:
    from wordsight.library import AddReport

__all__ = ["add_demo", "add_video", "look_again", "make_playable", "verify_files"]

_DEMO_FILMS = 12


def add_video(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Add the videos of an upload, with what is said of them, and remove the upload.

    Args:
        arguments: ``upload``, the name of its folder, in which captions, boxes and a
            ``metadata.jsonl`` may be beside videos; ``sentences``, of a single video;
            ``detector``, ``network``, ``settings`` and ``rate``: how to look; ``fps`` and ``size``
            of boxes without a video; ``force``: whether to look again at videos that are there;
            ``engine``.
        context: Where to work.
    """
    folder = upload_folder(context.folder, arguments["upload"])
    files = sorted(folder.glob("*")) if folder.is_dir() else []
    if not files:
        raise WordsightError("the uploaded file is not there any more; upload it again.")
    _check_inside(folder)
    alone = all(file.suffix.lower() in BOX_SUFFIXES for file in files)  # boxes without videos
    sources = files if alone or len(files) == 1 else [folder]
    report = _added(arguments, context, sources=sources, copy_videos=True)
    shutil.rmtree(folder, ignore_errors=True)
    there = [skipped.video_id for skipped in report.skipped]
    return {"videos": [*report.added, *there], "sentences": report.num_sentences}


def add_demo(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Render some films of a street with sentences, and add them to the library.

    Args:
        arguments: None are needed.
        context: Where to work.
    """
    with tempfile.TemporaryDirectory() as folder:
        films = Path(folder) / "street"
        render_street(output=films, clips=_DEMO_FILMS, frame_rate=20.0, progress=context.progress)
        how = {"detector": "rendered"}
        report = _added(how, context, sources=[films], copy_videos=True)
    return {"videos": list(report.added), "sentences": report.num_sentences}


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
    limited = {"per_class": last["options"].get("per_class")}
    choices: tuple[dict[str, Any], ...] = ({}, limited, last["options"])
    for options in choices:
        with contextlib.suppress(WordsightError):
            if load_detector(last["detector"], **options).settings() == last["options"]:
                return {"detector": last["detector"], "options": options, "rate": last["rate"]}
    raise WordsightError("the settings of this video's detector are unknown; choose a detector.")


def _added(arguments: Mapping[str, Any], context: JobContext, **settings: Any) -> "AddReport":
    names = ("sentences", "rate", "fps", "size", "force", "engine")
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


def make_playable(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Make a copy of a video that every browser plays, kept with its artefacts.

    Args:
        arguments: ``video``.
        context: Where to work.
    """
    from wordsight.workflows.export import write_proxy

    with Library.open(context.library) as library:
        entry = write_proxy(library, arguments["video"], context.progress)
    return {"video": arguments["video"], "size": entry.size}


def verify_files(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Check that everything the catalogue promises is there, unchanged to the byte.

    Args:
        arguments: None are needed.
        workplace: Where to work.
    """
    with Library.open(workplace.library) as library:
        report = library.verify(progress=workplace.progress)
    wrong = [f"{Path(one.path).name}: {without_paths(one.message)}" for one in report.problems]
    summary = "Nothing is wrong." if report.ok else f"{len(wrong)} wrong: {'; '.join(wrong[:5])}"
    return {"ok": report.ok, "problems": wrong[:100], "summary": summary}
