"""Searching in the studio: the index that is there answers, and a job brings it up to date."""

import time
from pathlib import Path
from threading import Lock
from typing import Any

from wordsight.errors import WordsightError
from wordsight.meaning import LearnedLexicon
from wordsight.retrieval import Index
from wordsight.retrieval.index.segments import MANIFEST
from wordsight.retrieval.joint import JointSearch
from wordsight.studio.jobs.store import JobRecord
from wordsight.studio.studio import Studio
from wordsight.studio.words import learned_words, words_folder, words_stamp
from wordsight.workflows.annotator import load_annotator
from wordsight.workflows.compute import pruning
from wordsight.workflows.found_moments import FoundMoment
from wordsight.workflows.index import index_folder, is_current
from wordsight.workflows.lexicon import can_read
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.search_query import SearchQuery
from wordsight.workflows.searcher import Searcher

__all__ = ["SearchAnswer", "answer", "index_job", "names_of"]

_AT_ONCE = 12  # videos looked at for a sentence's meaning in a request; more are a job's work
_LOOK_EVERY = 3.0  # seconds between two comparisons of the library with its index
_TRY_EVERY = 60.0  # seconds before an index that could not be made is tried again

_lock = Lock()
_opened: dict[tuple[Path, int], JointSearch] = {}
_looked: dict[Path, tuple[float, bool]] = {}
_names: dict[Path, dict[str, str]] = {}


class SearchAnswer:
    """What a search came to.

    Attributes:
        found: The moments, best first.
        how: In a sentence, what was gone by.
        notes: What else is worth knowing.
        job: The job that brings the index up to date, or that looks for what the words mean.
    """

    def __init__(
        self, found: list[FoundMoment], how: str, notes: list[str], job: JobRecord | None
    ) -> None:
        self.found = found
        self.how = how
        self.notes = notes
        self.job = job

    @property
    def nothing(self) -> bool:
        """Whether nothing of the library is what was asked for, however near."""
        far = all(each.by == ("picture",) and (each.visual or 0) <= 0 for each in self.found)
        false = all(each.holds is False for each in self.found)
        return not self.found or far or false


def answer(
    studio: Studio,
    asked: SearchQuery,
    *,
    by: str = "auto",
    top: int = 12,
    everything: bool = False,
    weight: float | None = None,
    exact: bool = False,
    prune: int | None = None,
) -> SearchAnswer:
    """Search the library.

    Args:
        studio: Whose library.
        asked: What is looked for.
        by: ``auto``, ``said`` or ``meaning``.
        top: How many moments at most.
        everything: Whether to return what nothing speaks for.
        weight: Share of the picture beside words; learned if ``None``.
        exact: Whether a picture is compared with every shot, however many there are.
        prune: Boxes that are followed per participant and frame; all that fit if ``None``.
    """
    book = RecordingReporter()
    job = index_job(studio)
    ready = _ready(studio)
    if ready is None:
        return SearchAnswer([], "", [_why_not_ready(studio, job)], job)
    words = _words(studio)
    if _is_much(studio, asked, by, words):
        return _from_job(studio, asked, by=by, top=top, everything=everything, prune=prune)
    if job is not None and not job.over:
        book.note("The library has changed; what is new can be found when the index is up to date.")
    searching = Searcher(
        book,
        studio.library,
        top=top,
        everything=everything,
        weight=weight,
        exact=exact or None,
        ready=ready,
        namer=None if words is None else load_annotator(words_folder(studio)),
    )
    with pruning(prune):
        found, how = searching.answer(asked, by, words, named=by == "meaning")
    return SearchAnswer(found, how, book.notes, job)


def _is_much(studio: Studio, asked: SearchQuery, by: str, words: LearnedLexicon | None) -> bool:
    """Tell whether many videos must be looked at closely: for a sentence that words can read."""
    if by == "said" or words is None or not asked.text or asked.images or asked.like:
        return False
    many = len(names_of(studio)) > _AT_ONCE
    return many and can_read(words, asked.text, RecordingReporter(), aloud=False)


def _from_job(studio: Studio, asked: SearchQuery, **wanted: Any) -> SearchAnswer:
    """Answer with what a job found, or is about to find."""
    manifest = index_folder(studio.library, None) / MANIFEST
    stamp = f"{manifest.stat().st_mtime_ns}/{words_stamp(studio)}"
    job = studio.begin_once("search", text=asked.text, stamp=stamp, **wanted)
    if job.state in ("failed", "cancelled"):
        return SearchAnswer([], "", [job.message or "The search was cancelled."], job)
    if job.result is None:
        return SearchAnswer(
            [], "", ["Looking closely at what the words mean; this takes a moment."], job
        )
    found = [_found(kept) for kept in job.result["found"]]
    return SearchAnswer(found, job.result["how"], job.result["notes"], None)


def _found(kept: dict[str, Any]) -> FoundMoment:
    """Restore what was found; JSON knows lists only."""
    values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in kept.items()}
    return FoundMoment(**values)


def index_job(studio: Studio) -> JobRecord | None:
    """See that the index is brought up to date where the library has changed.

    Returns:
        The job that does it, or did it in vain a moment ago; ``None`` if there is nothing to do.
    """
    folder = index_folder(studio.library, None)
    with _lock:
        when, current = _looked.get(folder, (0.0, False))
        if current and time.monotonic() - when < _LOOK_EVERY:
            return None
        _names[folder] = {video.id: video.name for video in studio.library.videos()}
        current = not _names[folder] or is_current(studio.library, folder)
        _looked[folder] = (time.monotonic(), current)
        if current:
            return None
        last = next((job for job in studio.jobs.list(limit=30) if job.kind == "index"), None)
        if last is not None and _is_enough(last):
            return last
        return studio.begin("index")


def names_of(studio: Studio) -> dict[str, str]:
    """Return the names of the videos by their ids, as they were when the index was looked at."""
    return _names.get(index_folder(studio.library, None), {})


def _is_enough(last: JobRecord) -> bool:
    # A clock that was set back makes it negative: then nobody knows how long ago it was.
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
        key = (folder, stamp)
        if key not in _opened:
            for old in [each for each in _opened if each[0] == folder]:
                del _opened[old]
            search = JointSearch(Index(folder))
            # Opened here, under the lock: what is made when first used is made once.
            _ = (search.index.documents, search.index.visual, search.text.model)
            _opened[key] = search
        return _opened[key]


def _words(studio: Studio) -> LearnedLexicon | None:
    try:
        return learned_words(studio)
    except WordsightError:
        return None


def _why_not_ready(studio: Studio, job: JobRecord | None) -> str:
    if not len(studio.library):
        return "There is no video in the library yet; add some on the Library page."
    if job is not None and job.over:
        return f"The index could not be made: {job.message}"
    return "The library is being indexed for the first time; this takes a moment."
