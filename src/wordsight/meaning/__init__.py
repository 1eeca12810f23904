"""Learning word meanings from clips described with sentences, and applying them to clips."""

from wordsight.errors import MeaningError, MeaningWarning
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.meaning.model.lexicon import LearnedLexicon, ViewSettings
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.scoring.scorer import TrackPrior
from wordsight.meaning.tasks.describe import describe_moments
from wordsight.meaning.tasks.results import (
    Description,
    SentenceExplanation,
    SentenceHit,
    SentenceScore,
    TrackedSentence,
    WordTime,
)
from wordsight.meaning.tasks.search import Windows, best_moment, is_long_video
from wordsight.meaning.training.learner import WordLearner
from wordsight.meaning.training.settings import (
    FAITHFUL,
    ON_CUT_CLIPS,
    ON_FILM,
    GradientSettings,
    GrowthSettings,
    TrainingSettings,
    WordSmoothing,
)

__all__ = [
    "FAITHFUL",
    "ON_CUT_CLIPS",
    "ON_FILM",
    "Description",
    "GradientSettings",
    "GrowthSettings",
    "LearnedLexicon",
    "MeaningError",
    "MeaningWarning",
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
