"""Alignment models and their catalogue; :class:`Ensemble` is the default."""

from wordsight.alignment.models.base import AlignmentModel
from wordsight.alignment.models.drop_dtw import DropDTW
from wordsight.alignment.models.ensemble import Ensemble
from wordsight.alignment.models.hmm import HMM1, HMM2, LHMM1, LHMM2
from wordsight.alignment.models.hsmm import HSMM
from wordsight.alignment.models.latent import LCRF, LatentPerceptron, LatentSVM
from wordsight.alignment.models.motion import MotionHSMM
from wordsight.alignment.models.set_features import AlignmentFeature, FeatureGrid
from wordsight.errors import AlignmentError

__all__ = [
    "HMM1",
    "HMM2",
    "HSMM",
    "LCRF",
    "LHMM1",
    "LHMM2",
    "MODELS",
    "AlignmentFeature",
    "AlignmentModel",
    "DropDTW",
    "Ensemble",
    "FeatureGrid",
    "LatentPerceptron",
    "LatentSVM",
    "MotionHSMM",
    "model_by_name",
]


MODELS: dict[str, type[AlignmentModel]] = {
    model.__name__: model
    for model in (
        Ensemble,
        HSMM,
        MotionHSMM,
        LCRF,
        HMM1,
        HMM2,
        LHMM1,
        LHMM2,
        LatentPerceptron,
        LatentSVM,
        DropDTW,
    )
}
"""Every model by the name of its class; the first is the default."""


def model_by_name(name: str) -> type[AlignmentModel]:
    """Return the class of a model; case, hyphens and the word "latent" are ignored.

    Raises:
        AlignmentError: If there is no model of that name; the message lists the known ones.
    """
    wanted = name.lower().replace("-", "").replace("_", "")
    for key, model in MODELS.items():
        if wanted in (key.lower(), key.lower().removeprefix("latent")):
            return model
    raise AlignmentError(f"unknown alignment model {name!r}; known are {', '.join(MODELS)}.")
