"""`Studio`: everything the pages and the API share: library, jobs, templates, folders."""

import shutil
from pathlib import Path
from time import time
from typing import Any

from fastapi import Request
from fastapi.templating import Jinja2Templates

from wordsight import __version__
from wordsight.files import VIDEO_SUFFIXES
from wordsight.library import Library
from wordsight.studio.exports import sweep_exports
from wordsight.studio.format import clock, megabytes, since
from wordsight.studio.jobs import JOB_KINDS
from wordsight.studio.jobs.runner import JobRunner
from wordsight.studio.jobs.store import JobRecord, JobStore
from wordsight.studio.settings import StudioSettings
from wordsight.studio.uploads.folders import new_upload, sweep_uploads, upload_folder
from wordsight.studio.uploads.upload_files import harmless_name

__all__ = ["Studio", "studio_at", "studio_of"]

_HERE = Path(__file__).parent
_ASIDE_FOR = 86400.0  # seconds for which what parts of pages came to is kept
UPLOAD_SUFFIXES = VIDEO_SUFFIXES | {".m2ts", ".ogv", ".ts"}
"""Suffixes of uploaded videos."""


class Studio:
    """The state behind the pages.

    Args:
        settings: What the studio was told.
    """

    def __init__(self, settings: StudioSettings) -> None:
        self.settings = settings
        self.library = Library.open(settings.library, create=True)
        self.folder = settings.folder or self.library.folder / "studio"
        self.jobs = JobStore(self.folder / "jobs.sqlite")
        self._sweep()  # before any job begins
        self.runner = JobRunner(self.jobs, settings.library, settings.jobs_at_once)
        self.templates = Jinja2Templates(_HERE / "templates")
        self.templates.env.filters |= {"clock": clock, "megabytes": megabytes, "since": since}
        self.templates.env.globals["version"] = __version__

    def page(self, request: Request, template: str, **values: Any) -> Any:
        """Render a template as the answer to a request."""
        return self.templates.TemplateResponse(request, template, values)

    def begin(self, kind: str, **arguments: Any) -> JobRecord:
        """Put a job into the queue and see that it is looked at."""
        job = self.jobs.add(kind, JOB_KINDS[kind].title.format(**arguments), arguments)
        self.runner.wake()
        return job

    def begin_once(self, kind: str, **arguments: Any) -> JobRecord:
        """Return the job that does or did just this, or put one into the queue."""
        kept = self.jobs.find(kind, arguments)
        if kept is not None and kept.state not in ("failed", "cancelled"):
            return kept
        self.jobs.forget(
            [name for name, task in JOB_KINDS.items() if task.aside], time() - _ASIDE_FOR
        )
        return self.begin(kind, **arguments)

    def work(self, limit: int = 6) -> list[JobRecord]:
        """Return the newest jobs but those that are parts of pages."""
        aside = [name for name, task in JOB_KINDS.items() if task.aside]
        return self.jobs.list(limit=limit, without=aside)

    def running(self, kind: str) -> JobRecord | None:
        """Return the newest job of a kind that is not over, if there is one among the newest."""
        newest = self.jobs.list(limit=30)
        return next((job for job in newest if job.kind == kind and not job.over), None)

    def new_upload(self, name: str) -> Path:
        """Return a new path for an upload; only the harmless part of its name is kept.

        Raises:
            WordsightError: If the name does not end as a video's does.
        """
        clean = harmless_name(name, VIDEO_SUFFIXES, "video")
        folder = upload_folder(self.folder, new_upload())
        folder.mkdir(parents=True)
        return folder / clean

    def drop_upload(self, path: Path) -> None:
        """Forget an upload that was not finished."""
        shutil.rmtree(path.parent, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove unfinished exports and old uploads of an earlier run of the studio."""
        sweep_exports(self.folder)
        wanted = {str(job.arguments.get("upload", "")) for job in self.jobs.unfinished()}
        sweep_uploads(self.folder, wanted)

    def close(self) -> None:
        """Stop the jobs and close the library."""
        self.runner.stop()
        self.library.close()


async def studio_of(request: Request) -> Studio:
    """Return the studio a request is made to."""
    # Awaited although there is nothing to wait for: anything else would cost a thread each time.
    return studio_at(request)


def studio_at(request: Request) -> Studio:
    """Return the studio a request is made to, where nothing can be awaited."""
    studio: Studio = request.app.state.studio
    return studio
