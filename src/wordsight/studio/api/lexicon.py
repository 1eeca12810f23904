"""The lexicon: all words, each word's tables, where it is surest, and learning anew."""

import tempfile
from pathlib import Path
from threading import Lock
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from wordsight.language import parse_lexicon
from wordsight.meaning.model.inspect import save_word_plot
from wordsight.studio.api.compute_options import Device, Engine
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.api.words import (
    WordExamples,
    WordInfo,
    WordName,
    examples_of,
    word_info,
    word_name,
)
from wordsight.studio.jobs.learn import STREET
from wordsight.studio.jobs.learning_curve import read_curve
from wordsight.studio.rule_sets import model_folder
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.words import learned_words
from wordsight.workflows.learn import LearnSettings
from wordsight.workflows.settings import changed

__all__ = ["router"]

router = APIRouter(prefix="/lexicon", tags=["lexicon"])
Here = Annotated[Studio, Depends(studio_of)]
_drawing = Lock()  # what draws has settings that all threads share


class LearningCurveInfo(BaseModel):
    """The objective of a learning: per restart after every iteration, then after every epoch."""

    restarts: list[list[float]]
    sharpened: list[float]


class LearnBody(LearnSettings):
    """How to learn."""

    quick: bool = changed(LearnSettings, "quick", default=True)
    threads: int = changed(LearnSettings, "threads", default=1)
    attributes: bool = Field(default=False, description="Let taught words be adjectives.")
    grammar: str | None = Field(
        default=None,
        max_length=500_000,
        description="How words combine: the text of a lexicon file, or `street` for the one that "
        "comes with Wordsight; inferred from the sentences if left out.",
    )
    states: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{12}$",
        description="A learned set of rules of states, whose facts words may look at.",
    )
    engine: Engine = None
    device: Device = None


@router.get("")
def list_words(studio: Here) -> list[WordName]:
    """List the words that were learned."""
    lexicon = learned_words(studio)
    return [word_name(lexicon[entry]) for entry in sorted(lexicon.words)]


@router.get("/history")
def show_history(studio: Here) -> LearningCurveInfo:
    """Return the objective of the learning that runs, or of the last one."""
    course = read_curve(studio.folder)
    return LearningCurveInfo(
        restarts=[list(run) for run in course.restarts], sharpened=list(course.sharpened)
    )


@router.post("/learn", status_code=202)
def learn(studio: Here, asked: LearnBody) -> JobInfo:
    """Learn from all videos with sentences, in a job."""
    if asked.grammar is not None and asked.grammar != STREET:
        parse_lexicon(asked.grammar, "the grammar")  # what is wrong with it is said at once
    if asked.states is not None:
        model_folder(studio.folder, asked.states)
    return JobInfo.of(studio.begin("learn", **asked.model_dump()))


@router.get("/words/{entry}")
def show_word(studio: Here, entry: str) -> WordInfo:
    """Show a word's tables."""
    return word_info(learned_words(studio), entry)


@router.get("/words/{entry}/figure", response_class=Response)
def draw_word(studio: Here, entry: str, ending: Literal["png", "svg", "pdf"] = "png") -> Response:
    """Send a drawing of a word: its states, steps and distributions."""
    lexicon = learned_words(studio)
    lexicon[entry]  # says what is near where there is no such word
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"word.{ending}"
        with _drawing:
            save_word_plot(lexicon, entry, path)
        kind = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}[ending]
        name = quote(f"{entry}.{ending}")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        return Response(path.read_bytes(), media_type=kind, headers=headers)


@router.get("/words/{entry}/examples")
def show_examples(
    studio: Here, entry: str, top: Annotated[int, Query(ge=1, le=20)] = 4
) -> WordExamples:
    """Show the videos where a word said of them fits best, and worst, once a job has looked."""
    return examples_of(studio, entry, top)
