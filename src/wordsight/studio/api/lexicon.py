"""The lexicon: its words, learning them, changing one by hand and going back."""

import tempfile
from pathlib import Path
from threading import Lock
from typing import Annotated, Literal
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Query
from fastapi import Path as InPath
from fastapi.responses import Response
from pydantic import BaseModel, Field

from wordsight.language import parse_lexicon
from wordsight.meaning import LearnedLexicon, WordModel
from wordsight.meaning.model.wording import save_word_plot
from wordsight.studio.api.fields import Device, Engine, Here, aside
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.jobs.lexicon import STREET, read_curve
from wordsight.studio.studio import Studio, learned_words, words_folder, words_stamp
from wordsight.workflows.annotator import load_annotator, save_lexicon
from wordsight.workflows.learn import LearnSettings
from wordsight.workflows.rule_sets import model_folder
from wordsight.workflows.settings import changed
from wordsight.workflows.word_edits import (
    Version,
    edited,
    keep_version,
    list_versions,
    load_version,
    restore_version,
)

__all__ = [
    "FeatureTable",
    "LearnBody",
    "WordExample",
    "WordExamples",
    "WordInfo",
    "WordName",
    "examples_of",
    "router",
    "word_info",
    "word_name",
]

router = APIRouter(prefix="/lexicon", tags=["lexicon"])


class WordName(BaseModel):
    """A word of the lexicon."""

    entry: str
    part: str
    arity: int
    states: int
    senses: int


class FeatureTable(BaseModel):
    """What a word's states expect of one feature."""

    feature: str
    roles: list[int]
    bins: list[str]
    shares: list[list[float]]
    usual: list[float]
    distance: float


class WordInfo(WordName):
    """All tables of a word."""

    initial: list[float]
    transition: list[list[float]]
    features: list[FeatureTable]
    page: str


class WordExample(BaseModel):
    """A video and how well a word fits one of the sentences said of it."""

    video_id: str
    name: str
    sentence: str
    fit: float


class WordExamples(BaseModel):
    """Where a word fits best and worst, once the job has looked."""

    job: JobInfo | None
    surest: list[WordExample]
    least: list[WordExample]


def word_info(lexicon: LearnedLexicon, entry: str) -> WordInfo:
    """Collect all tables of a word, the features that differ most from usual first."""
    word = lexicon[entry]
    tables = []
    for slot, shares in zip(word.slots, word.emissions, strict=True):
        usual = lexicon.background[slot.feature]
        tables.append(
            FeatureTable(
                feature=slot.feature,
                roles=list(slot.roles),
                bins=list(lexicon.vocabulary.bins[slot.feature].names),
                shares=np.round(shares, 5).tolist(),
                usual=np.round(usual, 5).tolist(),
                distance=float(np.abs(shares - usual).sum(axis=1).max() / 2),
            )
        )
    tables.sort(key=lambda table: -table.distance)
    return WordInfo(
        **word_name(word).model_dump(),
        initial=np.round(word.initial, 5).tolist(),
        transition=np.round(word.transition, 5).tolist(),
        features=tables,
        page=lexicon.page(entry),
    )


def examples_of(studio: Studio, entry: str, top: int, *, begin: bool = False) -> WordExamples:
    """Find where a word that is said of a video fits best and worst, in a job if one may begin."""
    learned_words(studio)[entry]  # says what is near where there is no such word
    asked = {"entry": entry, "top": top, "stamp": words_stamp(studio)}
    job = studio.begin_once("examples", **asked) if begin else studio.jobs.find("examples", asked)
    result = (job.result if job else None) or {}
    return WordExamples(
        job=None if job is None else JobInfo.of(job),
        surest=[WordExample(**one) for one in result.get("surest", ())],
        least=[WordExample(**one) for one in result.get("least", ())],
    )


def word_name(word: WordModel) -> WordName:
    """Return what a word is called and how large it is."""
    return WordName(
        entry=word.entry,
        part=str(word.part),
        arity=word.arity,
        states=word.num_states,
        senses=word.senses,
    )


_drawing = Lock()  # what draws has settings that all threads share


class LearningCurveInfo(BaseModel):
    """The objective of a learning: per restart after every iteration, then after every epoch."""

    restarts: list[list[float]]
    sharpened: list[float]


class LearnBody(LearnSettings):
    """How to learn."""

    method: Literal["discriminative", "ml", "growth", "published"] = changed(
        LearnSettings, "method", default="ml"
    )
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
@aside
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


@router.post("/words/{entry}/examples", status_code=202)
def look_for_examples(
    studio: Here, entry: str, top: Annotated[int, Query(ge=1, le=20)] = 4
) -> WordExamples:
    """Look for the videos where a word fits best, and worst, in a job."""
    return examples_of(studio, entry, top, begin=True)


Number = Annotated[int, InPath(ge=1, le=10**6)]

_changing = Lock()  # two changes at once must not lose one of them


class Edit(BaseModel):
    """A new distribution for one state and one feature of a word."""

    feature: str = Field(max_length=100)
    roles: list[int] = Field(max_length=4)
    state: int = Field(ge=0, le=50)
    shares: list[float] = Field(min_length=1, max_length=500)


class EditsBody(BaseModel):
    """Everything that is to change about a word."""

    edits: list[Edit] = Field(min_length=1, max_length=500)


class CompareBody(BaseModel):
    """What is compared: the lexicon of now with edits, and the lexicon of a version, or of now."""

    edits: list[Edit] = Field(default=[], max_length=500)
    version: int | None = Field(default=None, ge=1, le=10**6)


@router.put("/words/{entry}")
def edit_word(studio: Here, entry: str, wanted: EditsBody) -> WordInfo:
    """Change distributions of a word; shares are scaled to sum to one, and the old word is kept."""
    with _changing:
        changed = edited(learned_words(studio), entry, _plain(wanted.edits))
        folder = words_folder(studio)
        keep_version(folder, f"before {entry} was changed by hand")
        save_lexicon(changed, folder, load_annotator(folder), overwrite=True)
    return word_info(changed, entry)


@router.post("/words/{entry}/compare", status_code=202)
def compare_word(studio: Here, entry: str, wanted: CompareBody) -> JobInfo:
    """Score the library's sentences with a word before and after a change, in a job."""
    edits = _plain(wanted.edits)
    edited(learned_words(studio), entry, edits)  # says at once what is wrong
    if wanted.version is not None:
        load_version(words_folder(studio), wanted.version)
    return JobInfo.of(studio.begin("compare", entry=entry, edits=edits, version=wanted.version))


@router.get("/versions")
def show_versions(studio: Here) -> list[Version]:
    """List the earlier lexicons, the latest first."""
    return list_versions(words_folder(studio))


@router.post("/versions/{number}/restore")
def restore(studio: Here, number: Number) -> Version:
    """Go back to an earlier lexicon; the one of now is kept as a version."""
    with _changing:
        restore_version(words_folder(studio), number)
    return list_versions(words_folder(studio))[0]


def _plain(edits: list[Edit]) -> list[dict[str, object]]:
    return [edit.model_dump() for edit in edits]
