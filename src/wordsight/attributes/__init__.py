"""Which attribute does a word name? Pictures and single words in, all words for a picture out."""

from wordsight.attributes.features.pictures import (
    Autocorrelation,
    Colours,
    Frequencies,
    Gradients,
    PictureFeature,
)
from wordsight.attributes.features.sounds import Sound, join_sounds, read_sound, write_sound
from wordsight.attributes.features.speech import SpeechFeatures
from wordsight.attributes.grouping.cca import CCA
from wordsight.attributes.grouping.linear_mixture import LinearMaps, LinearMixture
from wordsight.attributes.learner import AttributeLearner
from wordsight.attributes.lessons import (
    Lessons,
    SpokenWord,
    Utterance,
    describe_pictures,
    make_lessons,
)
from wordsight.attributes.recall.answers import LearnedWord, NamedAttribute, Naming
from wordsight.attributes.settings import ANNEALED, FAITHFUL, RECOMMENDED, AttributeSettings
from wordsight.errors import SoundError, SoundWarning, TeachingError

__all__ = [
    "ANNEALED",
    "CCA",
    "FAITHFUL",
    "RECOMMENDED",
    "AttributeLearner",
    "AttributeSettings",
    "Autocorrelation",
    "Colours",
    "Frequencies",
    "Gradients",
    "LearnedWord",
    "Lessons",
    "LinearMaps",
    "LinearMixture",
    "NamedAttribute",
    "Naming",
    "PictureFeature",
    "Sound",
    "SoundError",
    "SoundWarning",
    "SpeechFeatures",
    "SpokenWord",
    "TeachingError",
    "Utterance",
    "describe_pictures",
    "join_sounds",
    "make_lessons",
    "read_sound",
    "write_sound",
]
