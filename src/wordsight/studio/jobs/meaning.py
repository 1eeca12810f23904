"""Questions about one video: who is who, which word fails when, what could be said."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wordsight.studio.jobs.task import JobContext
from wordsight.workflows.describe import DescribeRequest, describe
from wordsight.workflows.explain import ExplainRequest, explain
from wordsight.workflows.score import ScoreRequest, score
from wordsight.workflows.settings import make_request
from wordsight.workflows.track import TrackRequest, TrackResult, track
from wordsight.workflows.units import finite
from wordsight.workflows.workflow import open_library

if TYPE_CHECKING:
    from wordsight.library import Library
    from wordsight.progress import Progress

__all__ = ["ASKED", "answer_question"]

ASKED = "asked"
"""Name of the file that says that something was asked in this studio."""


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
