"""Adding an uploaded video to the library."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.studio.tasks.task import Workplace

__all__ = ["add_video"]


def add_video(arguments: Mapping[str, Any], workplace: Workplace) -> dict[str, Any]:
    """Add the video of an upload, with what is said of it, and clear the upload away.

    Args:
        arguments: ``upload``, the name of its folder; ``sentences``; ``detector``.
        workplace: Where to work.
    """
    folder = workplace.folder / "uploads" / Path(arguments["upload"]).name
    files = sorted(folder.glob("*")) if folder.is_dir() else []
    if not files:
        raise WordsightError("the uploaded file is not there any more; upload it again.")
    with Library.open(workplace.library, create=True) as library:
        report = library.add(
            files[0],
            sentences=tuple(arguments.get("sentences", ())),
            detector=arguments.get("detector", "regions"),
            copy=True,
            workers=1,  # this process is the job's own
            progress=workplace.progress,
        )
    if report.failed:
        raise WordsightError(report.failed[0].message)
    shutil.rmtree(folder, ignore_errors=True)
    there = [skipped.video_id for skipped in report.skipped]
    return {"videos": [*report.added, *there], "sentences": report.num_sentences}
