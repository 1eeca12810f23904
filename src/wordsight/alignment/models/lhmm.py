"""LHMM1 and LHMM2: as HMM1 and HMM2, but a noun of a line may stay unrealised.

"Write the name on the label" mentions a name that no hand touches: each noun has a probability of
being seen at all, learned together with what it names (Naim et al., AAAI 2014).
"""

from dataclasses import dataclass
from typing import Literal

from wordsight.alignment.models.chain_em import (
    STEPS_AHEAD,
    STEPS_BOTH_WAYS,
    ChainModel,
    Phase,
)

__all__ = ["LHMM1", "LHMM2"]


@dataclass
class LHMM1(ChainModel):
    """HMM1 with unrealised nouns.

    Args:
        warm_up: Iterations of HMM1 to start from.
        iterations: Of EM with unrealised nouns.
    """

    warm_up: int = 50
    iterations: int = 50

    def phases(self) -> tuple[Phase, ...]:
        """Return the phases of a fit."""
        return (Phase(STEPS_AHEAD, self.warm_up), Phase(STEPS_AHEAD, self.iterations, latent=True))


@dataclass
class LHMM2(ChainModel):
    """HMM2 with unrealised nouns.

    Args:
        warm_up: Iterations of HMM1 to start from, then of HMM2.
        iterations: Of EM with unrealised nouns.
        opening: How the jump to the first line is counted, see :class:`HMM2`.
    """

    warm_up: tuple[int, int] = (15, 35)
    iterations: int = 50
    opening: Literal["exact", "published"] = "exact"

    def phases(self) -> tuple[Phase, ...]:
        """Return the phases of a fit."""
        ahead, both = self.warm_up
        return (
            Phase(STEPS_AHEAD, ahead),
            Phase(STEPS_BOTH_WAYS, both),
            Phase(STEPS_BOTH_WAYS, self.iterations, latent=True),
        )
