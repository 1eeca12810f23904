"""The lexicon: every word's tables, where it is surest, editing it by hand, and learning anew."""

import json
from dataclasses import replace
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from wordsight.desk.clips import whole_clip
from wordsight.errors import WordsightError
from wordsight.meaning import LearnedLexicon, WordModel
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.tasks.learn import HISTORY
from wordsight.studio.words import learned_words, words_folder

__all__ = ["Example", "FeatureTable", "WordInfo", "examples_of", "router", "word_info"]

router = APIRouter(prefix="/lexicon", tags=["lexicon"])
Here = Annotated[Studio, Depends(studio_of)]
_MOST_VIDEOS = 60  # looked at for examples of a word


class WordName(BaseModel):
    """A word of the lexicon."""

    entry: str
    part: str
    arity: int
    states: int


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


class Example(BaseModel):
    """A video and how well a word fits one of the sentences said of it."""

    video_id: str
    name: str
    sentence: str
    fit: float


class Edit(BaseModel):
    """A new distribution for one state and one feature of a word."""

    feature: str = Field(max_length=100)
    roles: list[int] = Field(max_length=4)
    state: int = Field(ge=0, le=50)
    shares: list[float] = Field(min_length=1, max_length=500)


class Learning(BaseModel):
    """How to learn."""

    restarts: int = Field(default=2, ge=1, le=20)
    quick: bool = True
    seed: int = Field(default=0, ge=0, le=2**31)


@router.get("")
def list_words(studio: Here) -> list[WordName]:
    """List the words that were learned."""
    lexicon = learned_words(studio)
    return [_name(lexicon[entry]) for entry in sorted(lexicon.words)]


@router.get("/history")
def show_history(studio: Here) -> list[list[float]]:
    """Return, per restart, the objective after every iteration of the last learning."""
    path = studio.folder / HISTORY
    if not path.is_file():
        return []
    runs: list[list[float]] = json.loads(path.read_text(encoding="utf-8"))
    return runs


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
) -> dict[str, list[Example]]:
    """Show the videos where a word said of them fits best, and worst."""
    return examples_of(studio, entry, top)


@router.put("/words/{entry}")
def edit_word(studio: Here, entry: str, edit: Edit) -> WordInfo:
    """Change one distribution of a word; the shares are scaled to sum to one."""
    lexicon = learned_words(studio)
    word = lexicon[entry]
    places = [(slot.feature, list(slot.roles)) for slot in word.slots]
    if (edit.feature, edit.roles) not in places or edit.state >= word.num_states:
        raise WordsightError(f"{entry} has no state {edit.state + 1} or no feature {edit.feature}.")
    number = places.index((edit.feature, edit.roles))
    shares = np.asarray(edit.shares, dtype=np.float64)
    table = word.emissions[number].copy()
    if shares.shape != table[edit.state].shape or not (shares >= 0).all() or shares.sum() <= 0:
        raise WordsightError(
            f"{edit.feature} needs {table.shape[1]} shares of 0 or more that are not all 0, got "
            f"{len(shares)}."
        )
    table[edit.state] = np.maximum(shares / shares.sum(), 1e-6)
    table[edit.state] /= table[edit.state].sum()
    emissions = (*word.emissions[:number], table, *word.emissions[number + 1 :])
    changed = lexicon.with_words({**lexicon.words, entry: replace(word, emissions=emissions)})
    changed.save(words_folder(studio), overwrite=True)
    return word_info(changed, entry)


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
        **_name(word).model_dump(),
        initial=np.round(word.initial, 5).tolist(),
        transition=np.round(word.transition, 5).tolist(),
        features=tables,
        page=lexicon.page(entry),
    )


def examples_of(studio: Studio, entry: str, top: int) -> dict[str, list[Example]]:
    """Find where a word that is said of a video fits best and worst."""
    lexicon = learned_words(studio)
    lexicon[entry]  # says what is near where there is no such word
    found: list[Example] = []
    said = [s for s in studio.library.sentences() if entry.replace("-", " ") in _plain(s.text)]
    for sentence in said[:_MOST_VIDEOS]:
        clip = whole_clip(studio.library, sentence.video_id)
        try:
            explained = lexicon.explain(clip, sentence.text)
        except WordsightError:
            continue  # a sentence the lexicon cannot read is no example of anything
        fits = [word.fit for word in explained.words if word.word.split("(")[0] == entry]
        if fits:
            name = studio.library.video(sentence.video_id).name
            fit = float(np.nan_to_num(max(fits)))
            found.append(
                Example(video_id=sentence.video_id, name=name, sentence=sentence.text, fit=fit)
            )
    found.sort(key=lambda one: -one.fit)
    return {"surest": found[:top], "least": found[::-1][:top]}


def _plain(text: str) -> str:
    return text.lower().replace("-", " ")


def _name(word: WordModel) -> WordName:
    return WordName(entry=word.entry, part=str(word.part), arity=word.arity, states=word.num_states)
