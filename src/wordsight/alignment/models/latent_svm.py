"""Latent structural SVM by subgradient steps, after Naim et al. (NAACL 2015)."""

from dataclasses import dataclass

from wordsight.alignment.models.crf import CrfModel, CrfTraining, CrfWeights
from wordsight.alignment.models.latent_perceptron import averaged_updates

__all__ = ["LatentSVM"]


@dataclass
class LatentSVM(CrfModel):
    """The latent structural SVM with Hamming loss.

    Args:
        margin: Loss of each wrong token.
        penalty: Weight of the squared distance from the start.
        rounds: Passes through all videos.
        rate: First step, as a share of one chunk; falls with the square root of the rounds.
        random_state: Seed of the order of videos.

    Attributes:
        losses_: Hinge loss of all videos in each round.
    """

    margin: float = 1.0
    penalty: float = 0.2
    rounds: int = 20
    rate: float = 0.1
    random_state: int = 0

    def _train(self, task: CrfTraining) -> CrfWeights:
        weights, self.losses_ = averaged_updates(
            task,
            rounds=self.rounds,
            rate=self.rate,
            random_state=self.random_state,
            margin=self.margin,
            penalty=self.penalty,
            decay=True,
        )
        return weights
