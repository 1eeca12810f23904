"""Jobs that answer questions: about one video, and about the library by its index."""

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import IndexBusyError, WordsightError
from wordsight.retrieval.index.segments import MANIFEST
from wordsight.studio.jobs.attributes import TAUGHT
from wordsight.studio.jobs.lexicon import require_words
from wordsight.studio.jobs.task import JobContext
from wordsight.workflows.describe import DescribeRequest, describe
from wordsight.workflows.explain import ExplainRequest, explain
from wordsight.workflows.index import IndexRequest, IndexSettings, index, index_folder
from wordsight.workflows.lexicon import load_lexicon
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.score import ScoreRequest, score
from wordsight.workflows.search import SearchRequest, find_moments, search
from wordsight.workflows.settings import make_request
from wordsight.workflows.track import TrackRequest, TrackResult, track
from wordsight.workflows.units import finite
from wordsight.workflows.workflow import open_library

if TYPE_CHECKING:
    from wordsight.library import Library
    from wordsight.progress import Progress
    from wordsight.retrieval.joint import JointSearch

__all__ = [
    "ASKED",
    "QUERIES",
    "answer_queries",
    "answer_question",
    "index_library",
    "search_meaning",
]

ASKED = "asked"
"""Name of the file that says that something was asked in this studio."""

Result = TypeVar("Result")
_LOOK_EVERY = 0.5  # seconds

QUERIES = "queries"
"""Name of the folder of files of queries in the studio's folder."""

_MOST_VIDEOS = 1000  # of more, those are looked at in which the words are said


def answer_question(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Answer a question about a video.

    Args:
        arguments: ``verb``: track, score, explain or describe; and the settings of its request;
            ``stamp`` only distinguishes lexicons.
        context: Where to work.
    """
    asked = {name: value for name, value in arguments.items() if name not in ("verb", "stamp")}
    (context.folder / ASKED).touch()
    with open_library(context.library) as library:
        return _ANSWERS[arguments["verb"]](library, asked, context.progress)


def _track(library: "Library", asked: dict[str, Any], progress: "Progress") -> dict[str, Any]:
    request = make_request(TrackRequest, asked | {"probabilities": True})
    found = track(library, request, progress=progress)
    tracked, scored = found.tracked, found.score
    assert scored is not None  # since probabilities were asked for
    return {
        "start": found.start,
        "end": found.end,
        "moment": found.is_moment,
        "sentence": asked["sentence"],
        "score": finite(scored.score),
        "threshold": finite(found.threshold),
        "holds": scored.holds,
        "verdict": found.verdict,
        "tracks": [
            {
                "label": one.label,
                "times": np.round(one.times, 4).tolist(),
                "boxes": np.round(one.boxes, 1).tolist(),
            }
            for one in tracked.tracks
        ],
        "times": np.round(tracked.times, 4).tolist(),
        "words": _words(found),
        "living": _living(found),
        "lost": finite(max(tracked.lost_mass, scored.lost_mass)),
    }


def _living(found: TrackResult) -> list[dict[str, Any]]:
    return [
        {
            "text": one.text,
            "participant": one.participant,
            "word": one.word,
            "belief": [] if one.belief is None else np.round(one.belief, 3).tolist(),
            "begins": one.begins,
            "failing": one.failing,
            "reason": one.reason,
        }
        for one in found.living
    ]


def _score(library: "Library", asked: dict[str, Any], progress: "Progress") -> dict[str, Any]:
    found = score(library, make_request(ScoreRequest, asked), progress=progress)
    rows = zip(asked["sentences"], found.scores, found.are_moments, found.verdicts, strict=True)
    return {
        "scores": [
            {
                "start": one.start,
                "end": one.end,
                "moment": is_moment,
                "sentence": sentence,
                "score": finite(one.score),
                "holds": one.holds,
                "verdict": judged,
                "lost": finite(one.lost_mass),
            }
            for sentence, one, is_moment, judged in rows
        ]
    }


def _explain(library: "Library", asked: dict[str, Any], progress: "Progress") -> dict[str, Any]:
    result = explain(library, make_request(ExplainRequest, asked), progress=progress)
    found = result.explanation
    return {
        "start": found.start,
        "end": found.end,
        "moment": result.is_moment,
        "sentence": asked["sentence"],
        "score": finite(found.score),
        "words": [{"word": word.word, "evidence": finite(word.fit)} for word in found.words],
        "weakest": found.weakest,
        "weakest_span": found.weakest_span,
        "reason": found.reason,
    }


def _describe(library: "Library", asked: dict[str, Any], progress: "Progress") -> dict[str, Any]:
    found = describe(library, make_request(DescribeRequest, asked), progress=progress)
    return {
        "sentences": [
            {
                "start": one.start,
                "end": one.end,
                "moment": (one.start, one.end) != (found.start, found.end),
                "text": one.text,
                "probability": finite(one.probability),
                "verdict": "unsure" if one.unsure else "likely",
            }
            for one in found.descriptions
        ]
    }


def _words(found: TrackResult) -> list[dict[str, Any]]:
    """Return per word when it is in which state, and how likely."""
    tracked = found.tracked
    rows = zip(tracked.sentence.words, tracked.words, found.words, strict=True)
    return [
        {
            "word": states.word,
            "participants": list(word.participants),
            "spans": _spans(states.states, known.num_states, tracked.times, found.end),
            "probabilities": [] if known.shares is None else np.round(known.shares, 4).tolist(),
        }
        for word, states, known in rows
    ]


def _spans(
    states: NDArray[np.int64], most: int, times: NDArray[np.float64], end: float
) -> list[dict[str, Any]]:
    """Join frames of one state into spans."""
    if not len(times):
        return []
    firsts = np.flatnonzero(np.diff(states, prepend=-1))
    bounds = [*times[firsts].tolist(), end]
    return [
        {"start": bounds[n], "end": bounds[n + 1], "state": int(states[first]), "states": most}
        for n, first in enumerate(firsts)
    ]


_ANSWERS: dict[str, Callable[["Library", dict[str, Any], "Progress"], dict[str, Any]]] = {
    "track": _track,
    "score": _score,
    "explain": _explain,
    "describe": _describe,
}


def _when_free(work: Callable[[], Result], progress: "Progress") -> Result:
    """Do something with the index; where another job is changing it, when that has ended."""
    while True:
        try:
            return work()
        except IndexBusyError:
            progress(0, None, "Waiting until the index is up to date …")
            time.sleep(_LOOK_EVERY)


def index_library(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Look at what is new in the library, so that it can be searched.

    Args:
        arguments: Settings as :class:`IndexSettings` has them; ``attributes``: whether the things
            in every shot are named by taught words; ``forget``: whether they are named no longer.
            Left out, all stay as they are.
        context: Where to work.
    """
    settings = {name: arguments[name] for name in IndexSettings.model_fields if name in arguments}
    attributes = None
    if arguments.get("attributes"):
        attributes = context.folder / TAUGHT
        if not attributes.exists():
            raise WordsightError("no words were taught yet; do so on the Attributes page first.")
    elif arguments.get("forget"):
        attributes = Path("none")
    request = IndexRequest(**settings, attributes=attributes)
    with open_library(context.library) as library:
        if request.describe:
            require_words(library)
        if request.language or request.visual:
            # Word endings and models are part of all that is indexed: others start over.
            shutil.rmtree(index_folder(library, None), ignore_errors=True)
        result = _when_free(
            lambda: index(library, request, progress=context.progress), context.progress
        )
    report = result.report
    return {
        "notes": list(result.warnings),
        "added": len(report.added),
        "unchanged": len(report.unchanged),
        "removed": len(report.removed),
        "failed": [f"{video}: {reason}" for video, reason in report.failed],
    }


def search_meaning(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Find the moments a sentence is true of.

    Args:
        arguments: ``text``, ``by``, ``top``, ``everything``, ``prune``; ``stamp`` only
            distinguishes searches of a library and of words that have changed since.
        context: Where to work.
    """
    settings = {name: value for name, value in arguments.items() if name != "stamp"}
    request, reporter = SearchRequest(**settings), RecordingReporter(context.progress)
    with open_library(context.library) as library:
        words = load_lexicon(require_words(library))
        found = find_moments(
            library,
            request,
            reporter,
            words,
            aloud=request.by == "meaning",
            ready=_as_it_is(library),
            most_videos=_MOST_VIDEOS,
        )
    moments = [asdict(one) for one in found.moments]
    return {"found": moments, "how": found.how, "notes": reporter.notes}


def _as_it_is(library: "Library") -> "JointSearch | None":
    """Open the index without bringing it up to date, which is another job's work."""
    from wordsight.retrieval import Index
    from wordsight.retrieval.joint import JointSearch

    folder = index_folder(library, None)
    return JointSearch(Index(folder)) if (folder / MANIFEST).exists() else None


def answer_queries(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Rank the shots of the library for every query of a file, and keep the ranking.

    Args:
        arguments: ``name`` of the folder of the file and of the ranking; ``file``; ``top`` shots
            of each; ``expand``; ``engine``; ``device``.
        context: Where to work.
    """
    from wordsight.studio.jobs.exports import exporting

    name = Path(arguments["name"]).name
    source = context.folder / QUERIES / name / Path(arguments["file"]).name
    if not source.is_file():
        raise WordsightError("the queries are not there any more; send them again.")
    chosen = ("top", "expand", "engine", "device")
    settings = {name: arguments[name] for name in chosen if name in arguments}
    title, file = f"Ranking of {source.name}", f"{source.stem}.run"
    with exporting(context.folder, name, "", "run", title, file) as path:
        request = SearchRequest(queries=source, run=path, **settings)
        result = _when_free(
            lambda: search(context.library, request, progress=context.progress), context.progress
        )
    return {
        "made": name,
        "file": file,
        "queries": len(result.answers or {}),
        "hits": result.num_hits,
        "notes": list(result.warnings),
    }
