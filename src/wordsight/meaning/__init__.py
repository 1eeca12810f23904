"""Learning what words mean from clips described with sentences, and reading clips with them."""

from experiments.baselines.noun_learner import NamedThing, NounLearner
from wordsight.meaning.errors import MeaningError, MeaningWarning
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.meaning.model.lexicon import LearnedLexicon, ViewSettings
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.scoring.scorer import TrackPrior
from wordsight.meaning.tasks.long_videos import best_moment, describe_moments, is_long_video
from wordsight.meaning.tasks.results import (
    Description,
    SentenceExplanation,
    SentenceHit,
    SentenceScore,
    TrackedSentence,
    WordTime,
)
from wordsight.meaning.tasks.search import Windows
from wordsight.meaning.training.em import WordSmoothing
from wordsight.meaning.training.learner import WordLearner
from wordsight.meaning.training.settings import FAITHFUL, ON_FILM, TrainingSettings

__all__ = [
    "FAITHFUL",
    "ON_FILM",
    "Description",
    "LearnedLexicon",
    "MeaningError",
    "MeaningWarning",
    "NamedThing",
    "NounLearner",
    "SentenceExplanation",
    "SentenceHit",
    "SentenceScore",
    "TrackPrior",
    "TrackedSentence",
    "TrainingSettings",
    "ViewSettings",
    "Windows",
    "WordLearner",
    "WordModel",
    "WordSmoothing",
    "WordTime",
    "best_moment",
    "describe_moments",
    "hand_lexicon",
    "is_long_video",
]
