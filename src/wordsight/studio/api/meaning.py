"""Sentences and one video: who is who, why not, and what could be said of it."""

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Query
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from wordsight.errors import WordsightError
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.words import known_words
from wordsight.workflows.describe import DescribeRequest, DescribeSettings, describe
from wordsight.workflows.explain import ExplainRequest, explain
from wordsight.workflows.moments import ClipSettings
from wordsight.workflows.score import ScoreRequest, score
from wordsight.workflows.settings import changed
from wordsight.workflows.track import TrackRequest, TrackResult, track

__all__ = ["router"]

router = APIRouter(prefix="/videos/{video_id}", tags=["meaning"])
Here = Annotated[Studio, Depends(studio_of)]
Sentence = Annotated[str, Field(min_length=1, max_length=500)]

_LONGEST_DESCRIBED = 300.0  # seconds of video that are described while the page waits: a minute


class ClipBody(ClipSettings):
    """Which part of a video is asked about."""

    model_config = ConfigDict(extra="ignore")

    start: float | None = changed(ClipSettings, "start", ge=0, le=1e7)
    end: float | None = changed(ClipSettings, "end", ge=0, le=1e7)


class SentenceBody(ClipBody):
    """A sentence about a video."""

    sentence: Sentence


class SentencesBody(ClipBody):
    """Sentences about a video."""

    sentences: list[Sentence] = Field(min_length=1, max_length=50)


class DescribeBody(DescribeSettings):
    """How a video is described."""

    model_config = ConfigDict(extra="ignore")

    start: float | None = changed(ClipSettings, "start", ge=0, le=1e7)
    end: float | None = changed(ClipSettings, "end", ge=0, le=1e7)
    top: int = changed(DescribeSettings, "top", le=20)


class Answered(BaseModel):
    """From when to when the answer is about: of a long film the moment that fits best."""

    start: float
    end: float
    moment: bool = Field(default=False, description="whether a long film was looked through first")


class Followed(BaseModel):
    """Where one participant is."""

    label: str
    times: list[float]
    boxes: list[list[float]]


class StateSpan(BaseModel):
    """A stretch of time a word is in one state."""

    start: float
    end: float
    state: int
    states: int


class WordStates(BaseModel):
    """A word over time: its best states, and how likely each state is in each frame looked at."""

    word: str
    participants: list[int]
    spans: list[StateSpan]
    probabilities: list[list[float]]


class Tracked(Answered):
    """Who is who, given a sentence."""

    sentence: str
    score: float
    threshold: float
    holds: bool
    tracks: list[Followed]
    times: list[float]
    words: list[WordStates]
    lost: float = Field(description="share of all explanations that pruning left out, at most")


class Scored(Answered):
    """How well a sentence fits a video, and whether it is true of it."""

    sentence: str
    score: float
    holds: bool
    lost: float


class WordEvidence(BaseModel):
    """How well a word fits: about 1 where it is true."""

    word: str
    evidence: float


class Explained(Answered):
    """Which word fits and which fails."""

    sentence: str
    score: float
    words: list[WordEvidence]
    weakest: str
    weakest_span: tuple[float, float] | None


class Described(Answered):
    """A sentence that could be said."""

    text: str
    probability: float
    holds: bool


class Descriptions(BaseModel):
    """What could be said of a video, best first."""

    sentences: list[Described]


@router.post("/track")
def track_sentence(studio: Here, video_id: str, asked: SentenceBody) -> Tracked:
    """Find who is who in a video, given a sentence."""
    request = TrackRequest(
        **asked.model_dump(), video=video_id, words=known_words(studio), probabilities=True
    )
    found = track(studio.library, request)
    tracked, scored = found.tracked, found.score
    assert scored is not None  # since probabilities were asked for
    return Tracked(
        start=found.start,
        end=found.end,
        moment=found.is_moment,
        sentence=asked.sentence,
        score=_finite(scored.score),
        threshold=_finite(found.threshold),
        holds=scored.holds,
        tracks=[
            Followed(
                label=one.label,
                times=np.round(one.times, 4).tolist(),
                boxes=np.round(one.boxes, 1).tolist(),
            )
            for one in tracked.tracks
        ],
        times=np.round(tracked.times, 4).tolist(),
        words=_words(found),
        lost=_finite(max(tracked.lost_mass, scored.lost_mass)),
    )


@router.post("/score")
def score_sentences(studio: Here, video_id: str, asked: SentencesBody) -> list[Scored]:
    """Say how well sentences fit a video, and whether they are true of it."""
    request = ScoreRequest(**asked.model_dump(), video=video_id, words=known_words(studio))
    found = score(studio.library, request)
    return [
        Scored(
            start=one.start,
            end=one.end,
            moment=is_moment,
            sentence=sentence,
            score=_finite(one.score),
            holds=one.holds,
            lost=_finite(one.lost_mass),
        )
        for sentence, one, is_moment in zip(
            asked.sentences, found.scores, found.are_moments, strict=True
        )
    ]


@router.post("/explain")
def explain_sentence(studio: Here, video_id: str, asked: SentenceBody) -> Explained:
    """Say which word of a sentence fits a video, and which one fails."""
    request = ExplainRequest(**asked.model_dump(), video=video_id, words=known_words(studio))
    result = explain(studio.library, request)
    found = result.explanation
    return Explained(
        start=found.start,
        end=found.end,
        moment=result.is_moment,
        sentence=asked.sentence,
        score=_finite(found.score),
        words=[WordEvidence(word=word.word, evidence=_finite(word.fit)) for word in found.words],
        weakest=found.weakest,
        weakest_span=found.weakest_span,
    )


@router.get("/describe")
def describe_video(
    studio: Here, video_id: str, asked: Annotated[DescribeBody, Query()]
) -> Descriptions:
    """Say in sentences what happens in a video; of a long one, moment by moment."""
    duration = studio.library.video(video_id).duration
    length = min(duration, asked.end or duration) - (asked.start or 0.0)
    if not asked.whole and length > _LONGEST_DESCRIBED:
        raise WordsightError(
            f"a video of {length:.0f} s is described moment by moment, which takes too long to "
            f"wait for: ask about a part of at most {_LONGEST_DESCRIBED:.0f} s with from and to, "
            "or use wordsight describe, which shows its progress."
        )
    request = DescribeRequest(**asked.model_dump(), video=video_id, words=known_words(studio))
    found = describe(studio.library, request)
    return Descriptions(
        sentences=[
            Described(
                start=one.start,
                end=one.end,
                moment=(one.start, one.end) != (found.start, found.end),
                text=one.text,
                probability=_finite(one.probability),
                holds=one.holds,
            )
            for one in found.descriptions
        ]
    )


def _words(found: TrackResult) -> list[WordStates]:
    """Return per word when it is in which state, and how likely."""
    tracked = found.tracked
    rows = zip(tracked.sentence.words, tracked.words, found.words, strict=True)
    return [
        WordStates(
            word=states.word,
            participants=list(word.participants),
            spans=_spans(states.states, known.num_states, tracked.times, found.end),
            probabilities=[] if known.shares is None else np.round(known.shares, 4).tolist(),
        )
        for word, states, known in rows
    ]


def _spans(
    states: NDArray[np.int64], most: int, times: NDArray[np.float64], end: float
) -> list[StateSpan]:
    """Join frames of one state into spans."""
    if not len(times):
        return []
    firsts = np.flatnonzero(np.diff(states, prepend=-1))
    bounds = [*times[firsts].tolist(), end]
    return [
        StateSpan(start=bounds[n], end=bounds[n + 1], state=int(states[first]), states=most)
        for n, first in enumerate(firsts)
    ]


def _finite(value: float) -> float:
    return float(np.nan_to_num(value, nan=0.0, posinf=1e9, neginf=-1e9))
