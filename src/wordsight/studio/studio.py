"""`Studio`: everything the pages and the API share: library, words, jobs, templates, folders."""

import re
import shutil
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.templating import Jinja2Templates

from wordsight import __version__
from wordsight.errors import WordsightError
from wordsight.files import VIDEO_SUFFIXES
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon
from wordsight.studio.jobs import JOB_KINDS
from wordsight.studio.jobs.exports import sweep_exports
from wordsight.studio.jobs.lexicon import require_words
from wordsight.studio.jobs.runner import JobRunner
from wordsight.studio.jobs.store import JobRecord, JobStore
from wordsight.studio.server import StudioSettings
from wordsight.studio.uploads import harmless_name, new_upload, sweep_uploads, upload_folder
from wordsight.workflows.lexicon import LEXICON, lexicon_folder, load_lexicon
from wordsight.workflows.units import bytes_text

__all__ = [
    "Studio",
    "clock",
    "learned_words",
    "since",
    "studio_at",
    "studio_of",
    "words_folder",
    "words_stamp",
]


_HERE = Path(__file__).parent

_ASIDE_FOR = 86400.0  # seconds for which what parts of pages came to is kept

UPLOAD_SUFFIXES = VIDEO_SUFFIXES | {".m2ts", ".ogv", ".ts"}
"""Suffixes of uploaded videos."""


class Studio:
    """The state behind the pages.

    Args:
        settings: The settings of the studio.
    """

    def __init__(self, settings: StudioSettings) -> None:
        self.settings = settings
        self.library = Library.open(settings.library, create=True)
        self.folder = settings.folder or self.library.folder / "studio"
        self.jobs = JobStore(self.folder / "jobs.sqlite")
        self._sweep()  # before any job begins
        self._adopt_words()
        self.runner = JobRunner(self.jobs, settings.library, settings.jobs_at_once)
        self.templates = Jinja2Templates(_HERE / "templates")
        self.templates.env.filters |= {"clock": clock, "size_text": bytes_text, "since": since}
        self.templates.env.filters |= {"plain": plain, "rounded": rounded}
        self.templates.env.globals |= {"version": __version__, "bool": bool, "float": float}
        self.templates.env.globals["example"] = partial(example_sentence, self)

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
            [name for name, task in JOB_KINDS.items() if task.aside], time.time() - _ASIDE_FOR
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

    def _adopt_words(self) -> None:
        """Give the library the words of a studio that kept them for itself, as earlier ones did."""
        with suppress(OSError):  # a library that cannot be written to
            for name in (f"{LEXICON}-versions", LEXICON):
                own, place = self.folder / name, self.library.folder / name
                if own.is_dir() and not place.exists():
                    own.rename(place)

    def _sweep(self) -> None:
        """Remove unfinished exports and old uploads of an earlier run of the studio."""
        self.jobs.resume()
        if any(job.state == "running" for job in self.jobs.unfinished()):
            return  # another studio is at work on this library, and may be making a file
        sweep_exports(self.folder)
        wanted = {str(job.arguments.get("upload", "")) for job in self.jobs.unfinished()}
        sweep_uploads(self.folder, wanted)

    def close(self) -> None:
        """Stop the jobs and close the library."""
        self.runner.stop()
        self.jobs.close()
        self.library.close()


async def studio_of(request: Request) -> Studio:
    """Return the studio a request is made to."""
    # Awaited although there is nothing to wait for: anything else would cost a thread each time.
    return studio_at(request)


def studio_at(request: Request) -> Studio:
    """Return the studio a request is made to, where nothing can be awaited."""
    studio: Studio = request.app.state.studio
    return studio


def words_folder(studio: Studio) -> Path:
    """Return where the library's lexicon is kept, whether or not there is one yet."""
    return lexicon_folder(studio.library, None)


def words_stamp(studio: Studio) -> str:
    """Return what changes when the lexicon does; an empty text where there is none."""
    try:
        return str((words_folder(studio) / "model.json").stat().st_mtime_ns)
    except FileNotFoundError:
        return ""


def learned_words(studio: Studio) -> LearnedLexicon:
    """Return the library's lexicon.

    Raises:
        WordsightError: If nothing was learned yet.
    """
    return load_lexicon(require_words(studio.library))


def example_sentence(studio: Studio) -> str:
    """Return a sentence that the learned words can read; any plain one where there are none."""
    with suppress(WordsightError):
        return learned_words(studio).example
    return "The person picked up the backpack."


def clock(seconds: float | None) -> str:
    """Write a time in a video: ``1:02:03`` or ``2:03.4``."""
    if seconds is None:
        return ""
    tenths = round(seconds * 10)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest // 10:02d}"
    return f"{minutes}:{rest // 10:02d}.{rest % 10}"


def plain(note: str) -> str:
    """Leave out which participants of a sentence its words are said of.

    Examples:
        >>> plain("Understood: person(p0) picked-up(p0,p1) chair(p1).")
        'Understood: person picked up chair.'
    """
    return re.sub(r"([\w-]+)\(p\d+(?:,p\d+)*\)", lambda word: word[1].replace("-", " "), note)


def rounded(name: str) -> str:
    """Write the limits in the name of a bin with two digits.

    Examples:
        >>> rounded("-0.0546 to 0.0546"), rounded("below 4e-06")
        ('-0.055 to 0.055', '0')
    """
    if re.fullmatch(r"below \d\S*e-\d+", name):
        return "0"  # what is never negative, such as a gap
    return re.sub(r"-?\d+\.?\d*(?:e[-+]\d+)?", lambda one: f"{float(one[0]):.2g}", name)


def since(moment: float) -> str:
    """Write how long ago something was."""
    gone = max(0.0, time.time() - moment)
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if gone >= size:
            count = int(gone // size)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"
