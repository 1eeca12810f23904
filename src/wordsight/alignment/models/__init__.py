"""Alignment models, one file each; :class:`Ensemble` is the one to use."""

from wordsight.alignment.models.base import Model
from wordsight.alignment.models.catalogue import MODELS, model_named
from wordsight.alignment.models.crf_model import Feature
from wordsight.alignment.models.dropdtw import DropDTW
from wordsight.alignment.models.ensemble import Ensemble
from wordsight.alignment.models.hmm import HMM1, HMM2
from wordsight.alignment.models.hsmm import HSMM
from wordsight.alignment.models.lcrf import LCRF
from wordsight.alignment.models.lhmm import LHMM1, LHMM2
from wordsight.alignment.models.lsp import LatentPerceptron
from wordsight.alignment.models.lssvm import LatentSVM

__all__ = [
    "HMM1",
    "HMM2",
    "HSMM",
    "LCRF",
    "LHMM1",
    "LHMM2",
    "MODELS",
    "DropDTW",
    "Ensemble",
    "Feature",
    "LatentPerceptron",
    "LatentSVM",
    "Model",
    "model_named",
]
