"""Words as the pages and the API tell of them: their tables, and where they are surest."""

import numpy as np
from pydantic import BaseModel

from wordsight.meaning import LearnedLexicon, WordModel
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.studio import Studio
from wordsight.studio.words import learned_words, words_stamp

__all__ = [
    "FeatureTable",
    "WordExample",
    "WordExamples",
    "WordInfo",
    "WordName",
    "examples_of",
    "word_info",
    "word_name",
]


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


class WordExample(BaseModel):
    """A video and how well a word fits one of the sentences said of it."""

    video_id: str
    name: str
    sentence: str
    fit: float


class WordExamples(BaseModel):
    """Where a word fits best and worst, once the job has looked."""

    job: JobInfo
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


def examples_of(studio: Studio, entry: str, top: int) -> WordExamples:
    """Find where a word that is said of a video fits best and worst, in a job."""
    learned_words(studio)[entry]  # says what is near where there is no such word
    job = studio.begin_once("examples", entry=entry, top=top, stamp=words_stamp(studio))
    result = job.result or {}
    return WordExamples(
        job=JobInfo.of(job),
        surest=[WordExample(**one) for one in result.get("surest", ())],
        least=[WordExample(**one) for one in result.get("least", ())],
    )


def word_name(word: WordModel) -> WordName:
    """Return what a word is called and how large it is."""
    return WordName(entry=word.entry, part=str(word.part), arity=word.arity, states=word.num_states)
