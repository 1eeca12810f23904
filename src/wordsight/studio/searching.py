"""Searching in the studio: the index that is there answers, and a job brings it up to date."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from wordsight.errors import WordsightError
from wordsight.meaning import LearnedLexicon
from wordsight.retrieval import Index
from wordsight.retrieval.index.segments import MANIFEST
from wordsight.retrieval.joint import JointSearch
from wordsight.studio.jobs.store import JobRecord
from wordsight.studio.studio import Studio, learned_words, words_stamp
from wordsight.workflows.found_moments import FoundMoment
from wordsight.workflows.index import index_folder, index_stamp, is_current
from wordsight.workflows.lexicon import understood_query
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.search import SearchRequest, find_moments

__all__ = ["SearchAnswer", "answer", "index_job", "names_of", "version_of"]

_AT_ONCE = 12  # videos looked at for a sentence's meaning in a request; more are a job's work
_LOOK_EVERY = 3.0  # seconds between two comparisons of a library that changes with its index
_LOOK_AGAIN = 60.0  # seconds after which one is compared again although it seems the same
_TRY_EVERY = 60.0  # seconds before an index that could not be made is tried again

_lock = Lock()
_opened: dict[Path, tuple[int, float, JointSearch]] = {}
_looked: dict[Path, "_Look"] = {}
_names: dict[Path, dict[str, str]] = {}


@dataclass(frozen=True)
class _Look:
    """When the library was last compared with its index, and what came of it."""

    when: float
    current: bool
    revision: tuple[int, ...] | None

    def stands(self, now: tuple[int, ...] | None) -> bool:
        """Whether the library need not be compared again: it was lately, or has not changed."""
        same = self.current and now is not None and now == self.revision
        return time.monotonic() - self.when < (_LOOK_AGAIN if same else _LOOK_EVERY)


@dataclass(frozen=True)
class SearchAnswer:
    """What a search came to.

    Attributes:
        moments: The moments, the best first.
        how: In a sentence, what they were judged by.
        notes: What else is worth knowing.
        job: The job that brings the index up to date, or that looks for what the words mean.
    """

    moments: Sequence[FoundMoment]
    how: str
    notes: Sequence[str]
    job: JobRecord | None

    @property
    def nothing(self) -> bool:
        """Whether nothing of the library is what was asked for, however near."""
        far = all(each.by == ("picture",) and (each.visual or 0) <= 0 for each in self.moments)
        false = all(each.holds is False for each in self.moments)
        return not self.moments or far or false


def answer(
    studio: Studio, request: SearchRequest, *, begin: bool = False, in_job: bool = False
) -> SearchAnswer:
    """Search the library by the index that is there; what takes long is left to a job.

    Args:
        studio: The studio.
        request: What is looked for.
        begin: Whether jobs may be begun: never by a request that only looks.
        in_job: Whether a job looks closely at videos also where they are few.
    """
    request.query()  # says what is wrong with it
    reporter = RecordingReporter()
    job = index_job(studio, begin=begin)
    ready = _ready(studio)
    if ready is None:
        return SearchAnswer((), "", [_why_not_ready(studio, job)], job)
    words = _words(studio)
    if _takes_long(studio, request, words, 0 if in_job else _AT_ONCE):
        return _from_job(studio, request, begin)
    if job is not None and not job.over:
        reporter.note(
            "The library has changed; what is new can be found when the index is up to date."
        )
    aloud = request.by == "meaning"
    found = find_moments(studio.library, request, reporter, words, ready=ready, aloud=aloud)
    return SearchAnswer(found.moments, found.how, reporter.notes, job)


def _takes_long(
    studio: Studio, request: SearchRequest, words: LearnedLexicon | None, at_once: int
) -> bool:
    """Return whether many videos must be looked at closely: for a sentence that words can read."""
    pictured = request.images or request.like
    if request.by == "said" or words is None or not request.text or pictured:
        return False
    if len(names_of(studio)) <= at_once:
        return False
    return understood_query(words, request.text, RecordingReporter(), aloud=False) is not None


def _from_job(studio: Studio, request: SearchRequest, begin: bool) -> SearchAnswer:
    """Answer with what a job found, or is about to find."""
    manifest = index_folder(studio.library, None) / MANIFEST
    stamp = f"{manifest.stat().st_mtime_ns}/{words_stamp(studio)}"
    asked = request.model_dump(include={"text", "by", "top", "everything", "prune"})
    asked = {"stamp": stamp, **asked}
    job = studio.begin_once("search", **asked) if begin else studio.jobs.find("search", asked)
    if job is None:
        return SearchAnswer((), "", ["This search takes a job: ask with POST."], None)
    if job.state in ("failed", "cancelled"):
        return SearchAnswer((), "", [job.message or "The search was cancelled."], job)
    if job.result is None:
        note = "Looking closely at what the words mean; this takes a moment."
        return SearchAnswer((), "", [note], job)
    found = [_restored(kept) for kept in job.result["found"]]
    return SearchAnswer(found, job.result["how"], job.result["notes"], None)


def _restored(kept: dict[str, Any]) -> FoundMoment:
    """Restore what was found; JSON knows lists only."""
    values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in kept.items()}
    return FoundMoment(**values)


def index_job(studio: Studio, *, begin: bool) -> JobRecord | None:
    """See that the index is brought up to date where the library has changed.

    Args:
        studio: The studio.
        begin: Whether a job may be begun for it.

    Returns:
        The job that does it, or did it in vain a moment ago; ``None`` if there is none.
    """
    folder = index_folder(studio.library, None)
    with _lock:
        revision = studio.library.revision
        look = _looked.get(folder, _Look(-_LOOK_AGAIN, False, None))
        lately = look.stands(revision)
        if look.current and lately:
            return None
        last = next((job for job in studio.jobs.list(limit=30) if job.kind == "index"), None)
        if lately and last is not None and not last.over:
            return last  # it is at work: the library need not be compared at every search
        _names[folder] = {video.id: video.name for video in studio.library.videos()}
        current = not _names[folder] or is_current(studio.library, folder)
        _looked[folder] = _Look(time.monotonic(), current, revision)
        if current:
            return None
        if last is not None and _is_enough(last):
            return last
        return studio.begin("index") if begin else None


def version_of(studio: Studio) -> tuple[Any, ...] | None:
    """Return what stays the same as long as every search finds the same.

    ``None`` while it is unknown, or while the index is behind the library.
    """
    folder, revision = index_folder(studio.library, None), studio.library.revision
    look = _looked.get(folder)
    if look is None or revision is None or look.revision != revision or not look.current:
        return None
    return (folder, index_stamp(folder), revision, words_stamp(studio))


def names_of(studio: Studio) -> dict[str, str]:
    """Return the names of the videos by their ids, as they were when the index was looked at."""
    return _names.get(index_folder(studio.library, None), {})


def _is_enough(last: JobRecord) -> bool:
    # A clock that was set back makes it negative: then its age is unknown.
    ago = time.time() - last.changed
    in_vain = last.state in ("failed", "cancelled") and 0 <= ago < _TRY_EVERY
    return not last.over or in_vain


def _ready(studio: Studio) -> JointSearch | None:
    """Return the index as it is now, opened once for all requests."""
    folder = index_folder(studio.library, None)
    if not (folder / MANIFEST).exists():
        return None
    stamp = (folder / MANIFEST).stat().st_mtime_ns
    with _lock:
        known, when, search = _opened.get(folder, (None, 0.0, None))
        look = _looked.get(folder)
        # One that is being made changes with every video: it is not read again for each of them.
        behind = look is not None and not look.current
        if search is None or (stamp != known and not (behind and _is_fresh(when))):
            search = JointSearch(Index(folder))
            # Opened here, under the lock: what is made when first used is made once.
            _ = (search.index.documents, search.index.visual, search.text.model)
            _opened[folder] = (stamp, time.monotonic(), search)
        return search


def _is_fresh(when: float) -> bool:
    return time.monotonic() - when < _LOOK_EVERY


def _words(studio: Studio) -> LearnedLexicon | None:
    try:
        return learned_words(studio)
    except WordsightError:
        return None


def _why_not_ready(studio: Studio, job: JobRecord | None) -> str:
    if not len(studio.library):
        return "There is no video in the library yet; add some on the Library page."
    if job is not None and job.over:
        return f"The index could not be made: {job.message or 'it was cancelled.'}"
    if job is None:
        return "The library is not indexed yet; a search with POST has it indexed."
    return "The library is being indexed for the first time; this takes a moment."
