"""All alignment models by name, for the command line and for files."""

from wordsight.alignment.errors import AlignmentError
from wordsight.alignment.models.base import Model
from wordsight.alignment.models.dropdtw import DropDTW
from wordsight.alignment.models.ensemble import Ensemble
from wordsight.alignment.models.hmm import HMM1, HMM2
from wordsight.alignment.models.hsmm import HSMM
from wordsight.alignment.models.lcrf import LCRF
from wordsight.alignment.models.lhmm import LHMM1, LHMM2
from wordsight.alignment.models.lsp import LatentPerceptron
from wordsight.alignment.models.lssvm import LatentSVM

__all__ = ["MODELS", "model_named"]

MODELS: dict[str, type[Model]] = {
    model.__name__: model
    for model in (
        Ensemble,
        HSMM,
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
"""Every model by the name of its class; the first is the one to use."""


def model_named(name: str) -> type[Model]:
    """Return a model's class; upper and lower case are the same.

    Raises:
        AlignmentError: If there is none of that name.
    """
    for key, model in MODELS.items():
        if key.lower() == name.lower():
            return model
    raise AlignmentError(f"there is no alignment model {name!r}; there are {', '.join(MODELS)}.")
