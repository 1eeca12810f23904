"""Which attribute does a word name? Pictures and single words in, all words for a picture out."""

from wordsight.attributes.cca import CCA
from wordsight.attributes.errors import SoundError, SoundWarning, TeachingError
from wordsight.attributes.generalised_cca import GeneralisedCCA
from wordsight.attributes.kernel_cca import KernelCCA
from wordsight.attributes.learner import AttributeLearner
from wordsight.attributes.lessons import Lessons, describe_pictures, make_lessons
from wordsight.attributes.linear_mixture import LinearMaps, LinearMixture
from wordsight.attributes.picture_features import (
    Autocorrelation,
    Colours,
    Frequencies,
    Gradients,
    PictureFeature,
)
from wordsight.attributes.results import LearnedWord, NamedAttribute, Naming
from wordsight.attributes.settings import ANNEALED, FAITHFUL, RECOMMENDED, AttributeSettings
from wordsight.attributes.sounds import Sound, join_sounds, read_sound, write_sound
from wordsight.attributes.speech_features import SpeechFeatures
from wordsight.attributes.utterances import Said, Utterance

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
    "GeneralisedCCA",
    "Gradients",
    "KernelCCA",
    "LearnedWord",
    "Lessons",
    "LinearMaps",
    "LinearMixture",
    "NamedAttribute",
    "Naming",
    "PictureFeature",
    "Said",
    "Sound",
    "SoundError",
    "SoundWarning",
    "SpeechFeatures",
    "TeachingError",
    "Utterance",
    "describe_pictures",
    "join_sounds",
    "make_lessons",
    "read_sound",
    "write_sound",
]
