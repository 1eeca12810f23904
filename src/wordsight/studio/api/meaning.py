"""Sentences and one video: who is who, why not, what could be said, what is measured."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from wordsight.errors import WordsightError
from wordsight.studio.api.fields import Here, aside
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.jobs.lexicon import require_words
from wordsight.studio.jobs.store import JobError, JobRecord
from wordsight.studio.studio import words_stamp
from wordsight.workflows.clips import Measured, look_at
from wordsight.workflows.describe import DescribeSettings
from wordsight.workflows.moments import ClipSettings
from wordsight.workflows.settings import changed

__all__ = ["ClipBody", "router"]

router = APIRouter(prefix="/videos/{video_id}", tags=["meaning"])

Sentence = Annotated[str, Field(min_length=1, max_length=500)]
Verdict = Literal["likely", "unsure", "not likely"]

QUESTION: dict[int | str, dict[str, Any]] = {
    202: {"model": JobInfo, "description": "The job that answers, with `Prefer: respond-async`."},
    409: {"description": "The question was cancelled."},
}
_SOON, _LATER = 0.02, 0.25  # seconds between two looks at whether there is an answer


class PendingAnswer:
    """Asks what may take longer than a second: a job answers, and no thread waits for it.

    With ``Prefer: respond-async`` the job is the answer, for pages that show a bar.

    Args:
        request: Who asks.
        studio: The studio that is asked.
    """

    def __init__(self, request: Request, studio: Here) -> None:
        self._request = request
        self._studio = studio

    async def answer(self, verb: str, video_id: str, asked: ClipSettings) -> Any:
        """Return what the job comes to, or the job."""
        begin = partial(self._begin, verb, video_id, asked.model_dump())
        job = await run_in_threadpool(begin)
        if "respond-async" in self._request.headers.get("prefer", ""):
            return JSONResponse(JobInfo.of(job).model_dump(), 202)
        pause = _SOON
        while not job.over:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LATER)
            job = await run_in_threadpool(self._studio.jobs.get, job.id)
            if not job.over and await self._request.is_disconnected():
                with suppress(JobError):  # it has just ended
                    job = await run_in_threadpool(self._studio.jobs.cancel, job.id)
        if job.state == "failed":
            raise WordsightError(job.message)
        if job.state == "cancelled":
            raise HTTPException(409, "The question was cancelled.")
        return job.result

    def _begin(self, verb: str, video_id: str, asked: dict[str, Any]) -> JobRecord:
        studio = self._studio
        require_words(studio.library)
        asked |= {"verb": verb, "video": studio.library.resolve(video_id)}
        return studio.begin_once("ask", **asked, stamp=words_stamp(studio))


Asking = Annotated[PendingAnswer, Depends()]


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


class LivingPiece(BaseModel):
    """A piece of a sentence as it is written, and how true it is over time.

    ``belief`` has a value from 0 to 1 for each of the times; it is empty for a piece that says
    nothing of its own, such as an article.
    """

    text: str
    participant: int | None
    word: str | None
    belief: list[float]
    begins: float | None
    failing: tuple[float, float] | None
    reason: str


class Tracked(Answered):
    """Who is who, given a sentence."""

    sentence: str
    score: float
    threshold: float
    holds: bool
    verdict: Verdict
    tracks: list[Followed]
    times: list[float]
    words: list[WordStates]
    living: list[LivingPiece]
    lost: float = Field(description="share of all explanations that pruning left out, at most")


class Scored(Answered):
    """How well a sentence fits a video, and whether it is true of it."""

    sentence: str
    score: float
    holds: bool
    verdict: Verdict
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
    reason: str


class Described(Answered):
    """A sentence that is judged true, or fits best of all and may well be true (unsure)."""

    text: str
    probability: float
    verdict: Verdict


class Descriptions(BaseModel):
    """What could be said of a video, the likeliest true first."""

    sentences: list[Described]


@router.post("/track", response_model=Tracked, responses=QUESTION)
async def track_sentence(asking: Asking, video_id: str, asked: SentenceBody) -> Any:
    """Find who is who in a video, given a sentence, and which of its words is true when."""
    return await asking.answer("track", video_id, asked)


@router.post("/score", response_model=list[Scored], responses=QUESTION)
async def score_sentences(asking: Asking, video_id: str, asked: SentencesBody) -> Any:
    """Say how well sentences fit a video, and whether they are true of it."""
    found = await asking.answer("score", video_id, asked)
    return found["scores"] if isinstance(found, dict) else found


@router.post("/explain", response_model=Explained, responses=QUESTION)
async def explain_sentence(asking: Asking, video_id: str, asked: SentenceBody) -> Any:
    """Say which word of a sentence fits a video, and which one fails."""
    return await asking.answer("explain", video_id, asked)


@router.post("/describe", response_model=Descriptions, responses=QUESTION)
async def describe_video(asking: Asking, video_id: str, asked: DescribeBody) -> Any:
    """Say in sentences what happens in a video; of a long one, moment by moment."""
    return await asking.answer("describe", video_id, asked)


class SeenThing(BaseModel):
    """A thing at the moment."""

    label: str
    score: float
    box: list[float]
    features: tuple[Measured, ...]


class SeenPair(BaseModel):
    """Two things at the moment, by their places in the list of things."""

    first: int
    second: int
    features: tuple[Measured, ...]


class SeenMoment(BaseModel):
    """Everything measured at one moment."""

    time: float
    things: list[SeenThing]
    pairs: list[SeenPair]


@router.get("/moment")
@aside
def show_moment(
    studio: Here, video_id: str, time: Annotated[float, Query(ge=0, le=1e7)]
) -> SeenMoment:
    """Measure what is seen at a moment: how things move, how large and how far apart they are."""
    when, things, pairs = look_at(studio.library, studio.library.resolve(video_id), time)
    return SeenMoment(
        time=when,
        things=[
            SeenThing(
                label=thing.label,
                score=round(thing.score, 3),
                box=[round(side, 1) for side in thing.box],
                features=thing.features,
            )
            for thing in things
        ],
        pairs=[
            SeenPair(first=pair.first, second=pair.second, features=pair.features) for pair in pairs
        ],
    )
