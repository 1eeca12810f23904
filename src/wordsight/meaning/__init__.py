"""Learning what words mean from clips described with sentences, and reading clips with them."""

from wordsight.meaning.errors import MeaningError, MeaningWarning
from wordsight.meaning.hand import hand_lexicon
from wordsight.meaning.learner import WordLearner
from wordsight.meaning.lexicon import LearnedLexicon, Looking
from wordsight.meaning.long_films import best_moment, describe_moments, is_long
from wordsight.meaning.maximisation import Smoothing
from wordsight.meaning.naming import NamedThing, NounLearner
from wordsight.meaning.reading import Sight
from wordsight.meaning.results import (
    Description,
    Explanation,
    Hit,
    SentenceScore,
    TrackedSentence,
    WordTime,
)
from wordsight.meaning.settings import FAITHFUL, ON_FILM, TrainingSettings
from wordsight.meaning.windows import Windows
from wordsight.meaning.word import WordModel

__all__ = [
    "FAITHFUL",
    "ON_FILM",
    "Description",
    "Explanation",
    "Hit",
    "LearnedLexicon",
    "Looking",
    "MeaningError",
    "MeaningWarning",
    "NamedThing",
    "NounLearner",
    "SentenceScore",
    "Sight",
    "Smoothing",
    "TrackedSentence",
    "TrainingSettings",
    "Windows",
    "WordLearner",
    "WordModel",
    "WordTime",
    "best_moment",
    "describe_moments",
    "hand_lexicon",
    "is_long",
]
