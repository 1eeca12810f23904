"""HMM1, HMM2, LHMM1 and LHMM2: lines as the states of a hidden Markov chain.

The generative models of Naim et al. (AAAI 2014): the nouns of a line generate the things touched
while it is carried out (IBM model 1), and jumps from line to line have learned probabilities. In
LHMM1 and LHMM2 a noun may stay unrealised: "write the name on the label" mentions a name that no
hand touches.
"""

from dataclasses import dataclass
from typing import Literal

from wordsight.alignment.models.chain_em import (
    STEPS_AHEAD,
    STEPS_BOTH_WAYS,
    ChainModel,
    EMPhase,
)

__all__ = ["HMM1", "HMM2", "LHMM1", "LHMM2"]


@dataclass
class HMM1(ChainModel):
    """Each chunk stays at the line of the previous one or moves to the next.

    Needs at least as many chunks as lines.

    Args:
        iterations: Iterations of EM.

    Examples:
        >>> from wordsight.alignment import Chunk, Instructions, Line, Observed
        >>> text = Instructions("tea", (Line("Boil the kettle", 1, ("kettle",)),
        ...                             Line("Fill the cup", 2, ("cup",))))
        >>> seen = [Chunk(t, t + 1.0, frozenset({"K" if t < 3 else "C"})) for t in range(5)]
        >>> video = Observed("tea.mp4", tuple(seen), 5.0)
        >>> HMM1().fit([(text, video)]).predict(text, video).tolist()
        [0, 0, 0, 1, 1]
    """

    iterations: int = 50

    def phases(self) -> tuple[EMPhase, ...]:
        """Return the phases of a fit."""
        return (EMPhase(STEPS_AHEAD, self.iterations),)


@dataclass
class HMM2(ChainModel):
    """Each chunk may move up to two lines forward or back.

    Args:
        warm_up: Iterations of HMM1 to start from.
        iterations: Iterations of EM with all jumps.
        opening: How the jump to the first line is counted: "exact", or as in the "published"
            program, whose update is not exactly EM.
    """

    warm_up: int = 10
    iterations: int = 40
    opening: Literal["exact", "published"] = "exact"

    def phases(self) -> tuple[EMPhase, ...]:
        """Return the phases of a fit."""
        return (EMPhase(STEPS_AHEAD, self.warm_up), EMPhase(STEPS_BOTH_WAYS, self.iterations))


@dataclass
class LHMM1(ChainModel):
    """HMM1 with unrealised nouns.

    Args:
        warm_up: Iterations of HMM1 to start from.
        iterations: Iterations of EM with unrealised nouns.
    """

    warm_up: int = 50
    iterations: int = 50

    def phases(self) -> tuple[EMPhase, ...]:
        """Return the phases of a fit."""
        return (
            EMPhase(STEPS_AHEAD, self.warm_up),
            EMPhase(STEPS_AHEAD, self.iterations, latent=True),
        )


@dataclass
class LHMM2(ChainModel):
    """HMM2 with unrealised nouns.

    Args:
        warm_up: Iterations of HMM1 to start from, then of HMM2.
        iterations: Iterations of EM with unrealised nouns.
        opening: How the jump to the first line is counted, see :class:`HMM2`.
    """

    warm_up: tuple[int, int] = (15, 35)
    iterations: int = 50
    opening: Literal["exact", "published"] = "exact"

    def phases(self) -> tuple[EMPhase, ...]:
        """Return the phases of a fit."""
        ahead, both = self.warm_up
        return (
            EMPhase(STEPS_AHEAD, ahead),
            EMPhase(STEPS_BOTH_WAYS, both),
            EMPhase(STEPS_BOTH_WAYS, self.iterations, latent=True),
        )
