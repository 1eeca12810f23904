"""Sentences and one video: who is who, why not, and what could be said of it."""

from functools import partial
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Query
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from wordsight.errors import WordsightError
from wordsight.meaning import LearnedLexicon, TrackedSentence, best_moment, describe_moments
from wordsight.records import Clip
from wordsight.studio.api.compute_options import Beam, Prune
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.words import learned_words, words_folder
from wordsight.workflows.annotator import load_annotator
from wordsight.workflows.clips import clip_between
from wordsight.workflows.compute import pruning

__all__ = ["router"]

router = APIRouter(prefix="/videos/{video_id}", tags=["meaning"])
Here = Annotated[Studio, Depends(studio_of)]

_LONGEST_TOLD = 300.0  # seconds of film of which someone waits to be told: under a minute's work


class ClipBody(BaseModel):
    """Which part of a video is asked about."""

    start: float | None = Field(default=None, ge=0, le=1e7)
    end: float | None = Field(default=None, ge=0, le=1e7)
    whole: bool = Field(
        default=False,
        description="take a long film as one event, instead of finding its best moment first",
    )
    prune: Prune = None


class SentenceBody(ClipBody):
    """A sentence about a video."""

    sentence: str = Field(min_length=1, max_length=500)


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


class SentencesBody(ClipBody):
    """Sentences about a video."""

    sentences: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field(
        min_length=1, max_length=50
    )
    beam: Beam = None


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
    words, whole = learned_words(studio), _clip(studio, video_id, asked.start, asked.end)
    with pruning(asked.prune):
        clip = _moment(words, whole, asked.sentence, asked)
        found = words.track(clip, asked.sentence)
        score = words.score(clip, asked.sentence)
    return Tracked(
        start=clip.start,
        end=clip.end,
        moment=clip is not whole,
        sentence=asked.sentence,
        score=_finite(score.score),
        threshold=_finite(words.threshold),
        holds=score.holds,
        tracks=[
            Followed(
                label=track.label,
                times=np.round(track.times, 4).tolist(),
                boxes=np.round(track.boxes, 1).tolist(),
            )
            for track in found.tracks
        ],
        times=np.round(found.times, 4).tolist(),
        words=_words(words, clip, found),
        lost=_finite(max(found.lost_mass, score.lost_mass)),
    )


@router.post("/score")
def score_sentences(studio: Here, video_id: str, asked: SentencesBody) -> list[Scored]:
    """Say how well sentences fit a video, and whether they are true of it."""
    words, whole = learned_words(studio), _clip(studio, video_id, asked.start, asked.end)
    with pruning(asked.prune, asked.beam):
        clips = [_moment(words, whole, sentence, asked) for sentence in asked.sentences]
        found = [words.score(*each) for each in zip(clips, asked.sentences, strict=True)]
    return [
        Scored(
            start=one.start,
            end=one.end,
            moment=clip is not whole,
            sentence=sentence,
            score=_finite(one.score),
            holds=one.holds,
            lost=_finite(one.lost_mass),
        )
        for clip, sentence, one in zip(clips, asked.sentences, found, strict=True)
    ]


@router.post("/explain")
def explain_sentence(studio: Here, video_id: str, asked: SentenceBody) -> Explained:
    """Say which word of a sentence fits a video, and which one fails."""
    words, whole = learned_words(studio), _clip(studio, video_id, asked.start, asked.end)
    with pruning(asked.prune):
        clip = _moment(words, whole, asked.sentence, asked)
        found = words.explain(clip, asked.sentence)
    return Explained(
        start=found.start,
        end=found.end,
        moment=clip is not whole,
        sentence=asked.sentence,
        score=_finite(found.score),
        words=[WordEvidence(word=word.word, evidence=_finite(word.fit)) for word in found.words],
        weakest=found.weakest,
        weakest_span=found.weakest_span,
    )


@router.get("/describe")
def describe_video(
    studio: Here,
    video_id: str,
    top: Annotated[int, Query(ge=1, le=20)] = 5,
    start: Annotated[float | None, Query(ge=0, le=1e7)] = None,
    end: Annotated[float | None, Query(ge=0, le=1e7)] = None,
    prune: Annotated[Prune, Query()] = None,
    beam: Annotated[Beam, Query()] = None,
    surest: Annotated[bool, Query()] = False,
    whole: Annotated[bool, Query()] = False,
) -> Descriptions:
    """Say in sentences what happens in a video; of a long film, moment by moment."""
    words, clip = learned_words(studio), _clip(studio, video_id, start, end)
    if not whole and clip.end - clip.start > _LONGEST_TOLD:
        raise WordsightError(
            f"a film of {clip.end - clip.start:.0f} s is told of moment by moment, which takes too "
            f"long to wait for: ask about a part of at most {_LONGEST_TOLD:.0f} s with from and "
            "to, or use wordsight describe, which shows how far it is."
        )
    with pruning(prune, beam):
        tell = words.describe if whole else partial(describe_moments, words)
        found = tell(clip, top=top, surest=surest)
    return Descriptions(
        sentences=[
            Described(
                start=one.start,
                end=one.end,
                moment=(one.start, one.end) != (clip.start, clip.end),
                text=one.text,
                probability=_finite(one.probability),
                holds=one.holds,
            )
            for one in found
        ]
    )


def _clip(studio: Studio, video_id: str, start: float | None, end: float | None) -> Clip:
    return clip_between(studio.library, video_id, start, end, load_annotator(words_folder(studio)))


def _moment(words: LearnedLexicon, clip: Clip, sentence: str, asked: ClipBody) -> Clip:
    return clip if asked.whole else best_moment(words, clip, sentence)


def _words(words: LearnedLexicon, clip: Clip, found: TrackedSentence) -> list[WordStates]:
    """Tell of every word when it is in which state, and how likely."""
    likely: list[NDArray[np.float64]] = []
    if len(found.times):
        _, posteriors = words.read(clip).posteriors(found.sentence)
        # What a word is said of does not matter here: summed over all things.
        likely = [each.reshape(len(each), -1, each.shape[-1]).sum(axis=1) for each in posteriors]
    return [
        WordStates(
            word=said.word,
            participants=list(word.participants),
            spans=_spans(said.states, words[word.entry].num_states, found.times, clip.end),
            probabilities=np.round(likely[number], 4).tolist() if likely else [],
        )
        for number, (word, said) in enumerate(zip(found.sentence.words, found.words, strict=True))
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
