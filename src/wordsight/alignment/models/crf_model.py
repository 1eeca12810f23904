"""What the discriminative aligners share: features, a generative start, and how weights are used.

LCRF, the latent structured perceptron and the latent structural SVM differ only in what they make
of the difference between the right observations and the ones they would rather have seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.encoding import Encoded, Vocabulary
from wordsight.alignment.errors import AlignmentError
from wordsight.alignment.models.base import Bias, Model
from wordsight.alignment.models.crf_scene import (
    CrfScene,
    CrfWeights,
    crf_scene,
    longest_jump,
    pair_mask,
)
from wordsight.alignment.models.crf_start import generative_start
from wordsight.alignment.records import Instructions, Observed
from wordsight.inference.chains.jumps import jump_counts

__all__ = ["CrfModel", "Feature"]

Array = NDArray[np.float64]
Feature = Callable[[Instructions, Observed], Array]
"""A feature of the user's: ``(T, N)`` values from a text and a video."""

_RARE = 2.0  # nats by which a jump never learned is less likely than the rarest learned


@dataclass
class CrfModel(Model):
    """Weights of overlapping features on chunks and lines.

    Args:
        offsets: How many lines a jump may move; longer ones are added where a video is too short.
        growth: How the time of a step grows with its lines, 0 to 1.
        shape: How being late is measured, see :func:`wordsight.alignment.clock.lateness`.
        verbs: Whether verbs are paired with things.
        clock: Weight of being on time to start from.
        warm_up: Iterations of the generative start.
        null: Probability in the start that a thing is named by no word.
        smoothing: Pseudo-counts in the start.
        scale: How much of the start's log ratios become weights.
        features: Further features, each with one weight to learn.
    """

    offsets: tuple[int, ...] = (0, 1, 2)
    growth: float = 0.75
    shape: Literal["centre", "outside", "widths"] = "centre"
    verbs: bool = False
    clock: float = 5.0
    warm_up: int = 15
    null: float = 0.15
    smoothing: float = 0.3
    scale: float = 0.4
    features: tuple[Feature, ...] = ()

    def state(self) -> dict[str, Array]:
        """Return all learned arrays by name, for storage."""
        weights = self.weights_
        return super().state() | {
            "pairs": weights.pairs,
            "tokens": weights.tokens,
            "jumps": weights.jumps,
            "linear": weights.linear,
            "offsets": np.array(self.offsets_, dtype=np.float64),
        }

    def restore(self, vocabulary: Vocabulary, arrays: dict[str, Array]) -> None:
        """Take learned values from storage."""
        super().restore(vocabulary, arrays)
        self.weights_ = CrfWeights(
            arrays["pairs"], arrays["tokens"], arrays["jumps"], arrays["linear"]
        )
        self.offsets_ = tuple(int(offset) for offset in arrays["offsets"])

    def _fit(self, pairs: list[Encoded]) -> None:
        longest = max(longest_jump(pair) for pair in pairs)
        self.offsets_ = tuple(sorted({*self.offsets, *range(1, longest + 1)}))
        scenes = [self._scene(pair, self.offsets_) for pair in pairs]
        mask = pair_mask(pairs[0], self.verbs)
        start = generative_start(
            scenes,
            mask,
            iterations=self.warm_up,
            null=self.null,
            smoothing=self.smoothing,
            clock=self.clock,
            scale=self.scale,
        )
        self.weights_ = self._train(scenes, start, mask)
        self.table_ = self._dictionary_table(pairs[0])

    def _train(self, scenes: Sequence[CrfScene], start: CrfWeights, mask: Array) -> CrfWeights:
        raise NotImplementedError

    def _posterior(self, encoded: Encoded, bias: Bias) -> Array:
        scene, weights = self._fitting(encoded)
        logs = scene.tokens @ scene.scores(weights).T + scene.timing(weights) + bias
        counts = jump_counts(logs, scene.chain(weights))
        if counts.log_likelihood == -np.inf:
            raise AlignmentError(
                f"there is no way through {encoded.num_lines} lines in {encoded.num_chunks} "
                "chunks; cut the video into shorter chunks."
            )
        return counts.states

    def _fitting(self, encoded: Encoded) -> tuple[CrfScene, CrfWeights]:
        """Return a scene, and weights with jumps long enough to get through it."""
        weights, offsets = self.weights_, self.offsets_
        further = tuple(j for j in range(1, longest_jump(encoded) + 1) if j not in offsets)
        if further:
            rare = np.full(len(further), weights.jumps.min() - _RARE)
            weights = replace(weights, jumps=np.concatenate([weights.jumps, rare]))
        return self._scene(encoded, offsets + further), weights

    def _scene(self, encoded: Encoded, offsets: tuple[int, ...]) -> CrfScene:
        return crf_scene(encoded, offsets=offsets, growth=self.growth, shape=self.shape)

    def _encode(self, instructions: Instructions, observed: Observed) -> Encoded:
        encoded = super()._encode(instructions, observed)
        shape = (encoded.num_chunks, encoded.num_lines)
        extra = tuple(np.asarray(f(instructions, observed), float) for f in self.features)
        for feature, values in zip(self.features, extra, strict=True):
            if values.shape != shape or not np.isfinite(values).all():
                name = getattr(feature, "__name__", "a feature")
                raise AlignmentError(
                    f"{name} must return finite numbers of shape {shape}, got {values.shape}."
                )
        return replace(encoded, extra=extra)

    def _dictionary_table(self, encoded: Encoded) -> Array:
        """Turn weights into the probability of each thing given each noun."""
        nouns, things = encoded.things.words.shape[1], encoded.things.tokens.shape[1]
        weights = self.weights_
        logs = (weights.pairs + weights.tokens)[:nouns, :things]
        table = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(table / table.sum(axis=1, keepdims=True))
