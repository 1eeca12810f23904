"""The lexicon: all words, each word's tables, where it is surest, and learning anew."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.api.words import (
    Examples,
    WordInfo,
    WordName,
    examples_of,
    word_info,
    word_name,
)
from wordsight.studio.course import read_kept_course
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.words import learned_words

__all__ = ["router"]

router = APIRouter(prefix="/lexicon", tags=["lexicon"])
Here = Annotated[Studio, Depends(studio_of)]


class CourseInfo(BaseModel):
    """The objective of a learning: per restart after every iteration, then after every epoch."""

    restarts: list[list[float]]
    sharpened: list[float]


class Learning(BaseModel):
    """How to learn."""

    restarts: int = Field(default=2, ge=1, le=20)
    quick: bool = True
    attributes: bool = False
    seed: int = Field(default=0, ge=0, le=2**31)


@router.get("")
def list_words(studio: Here) -> list[WordName]:
    """List the words that were learned."""
    lexicon = learned_words(studio)
    return [word_name(lexicon[entry]) for entry in sorted(lexicon.words)]


@router.get("/history")
def show_history(studio: Here) -> CourseInfo:
    """Return the objective of the learning that runs, or of the last one."""
    course = read_kept_course(studio.folder)
    return CourseInfo(
        restarts=[list(run) for run in course.restarts], sharpened=list(course.sharpened)
    )


@router.post("/learn", status_code=202)
def learn(studio: Here, asked: Learning) -> JobInfo:
    """Learn from all videos with sentences, in a job."""
    return JobInfo.of(studio.begin("learn", **asked.model_dump()))


@router.get("/words/{entry}")
def show_word(studio: Here, entry: str) -> WordInfo:
    """Show a word's tables."""
    return word_info(learned_words(studio), entry)


@router.get("/words/{entry}/examples")
def show_examples(
    studio: Here, entry: str, top: Annotated[int, Query(ge=1, le=20)] = 4
) -> Examples:
    """Show the videos where a word said of them fits best, and worst, once a job has looked."""
    return examples_of(studio, entry, top)
