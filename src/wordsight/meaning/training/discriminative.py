r"""Discriminative training: raise the probability of the true sentence among candidates.

By gradient: the logits of emissions are optimised by Adam, an L2 penalty holds them near the
maximum-likelihood start, and the calibration is trained along with them.

By growth transformations, as in Yu & Siskind (AAAI 2015): a probability :math:`\lambda` of a
distribution i moves to :math:`\lambda(\partial O/\partial\lambda + C_i)/D_i`, which raises the
objective if the damping :math:`C_i` is large enough. After a success the damping is the least that
keeps all positive; after a failure the step is discarded and the damping multiplied.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.model.calibration import Calibration, Durations
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.training.conditional import (
    ConditionalGradient,
    EngineGradients,
    conditional_gradient,
)
from wordsight.meaning.training.corpus import TrainingExample, with_rivals
from wordsight.meaning.training.settings import GradientSettings, GrowthSettings

__all__ = ["GradientTraining", "train_by_growth"]

Array = NDArray[np.float64]

_FLOOR = 1e-6  # of a probability: smaller ones could not grow again
_BETA1, _BETA2, _EPSILON = 0.9, 0.99, 1e-4  # of Adam
_PENALTIES = {"scales": 1e-2, "biases": 1e-3, "durations": 3e-2, "duration_weight": 0.0}
"""L2 penalty of each kind of calibration parameter, per clip."""


class GradientTraining:
    """Words and calibration under gradient steps.

    Args:
        start: The maximum-likelihood lexicon, calibrated.
        settings: Settings of the gradient.
    """

    def __init__(self, start: LearnedLexicon, settings: GradientSettings) -> None:
        self.start = start
        self.settings = settings
        self.verbs = sorted(start.calibration.scales)
        self.values = self._initial()
        self.anchors = {name: value.copy() for name, value in self.values.items()}
        self.first = {name: np.zeros_like(value) for name, value in self.values.items()}
        self.second = {name: np.zeros_like(value) for name, value in self.values.items()}
        self.steps = 0

    def epoch(
        self,
        examples: Sequence[TrainingExample],
        rng: np.random.Generator,
        *,
        threads: int = 1,
        held: EngineGradients | None = None,
    ) -> float:
        """Pass over the examples once in random order.

        Args:
            examples: The clips.
            rng: Chooses the order.
            threads: Number of clips to work on at once in this process.
            held: The same clips on an engine, which then computes the gradients.

        Returns:
            The mean log probability of the true sentence, each computed just before its step.
        """
        usable = with_rivals(examples)
        order = rng.permutation(len(usable))
        total = 0.0
        for first in range(0, len(order), self.settings.batch):
            places = order[first : first + self.settings.batch].tolist()
            batch = [usable[place] for place in places]
            lexicon = self.lexicon()
            gradient = _gradient(lexicon, batch, threads=threads, held=held, places=places)
            total += gradient.value
            self._step(self._parameter_gradient(gradient, lexicon, len(batch)))
        return total / max(1, sum(len(example.truths) for example in usable))

    def lexicon(self) -> LearnedLexicon:
        """Return the current words and calibration."""
        words = {
            entry: replace(
                word,
                emissions=tuple(
                    _softmax(self.values[_slot_name(word, number)])
                    for number in range(len(word.emissions))
                ),
            )
            for entry, word in self.start.words.items()
        }
        return replace(self.start, words=words, calibration=self._calibration())

    def state(self) -> dict[str, Array]:
        """Return everything that is needed to resume."""
        groups = {"value": self.values, "first": self.first, "second": self.second}
        arrays = {f"{g}:{n}": array for g, group in groups.items() for n, array in group.items()}
        return arrays | {"steps": np.array(self.steps)}

    def restore(self, arrays: dict[str, Array]) -> None:
        """Undo :meth:`state`."""
        groups = {"value": self.values, "first": self.first, "second": self.second}
        for group, target in groups.items():
            target.update({name: arrays[f"{group}:{name}"].copy() for name in target})
        self.steps = int(arrays["steps"])

    def _initial(self) -> dict[str, Array]:
        calibration = self.start.calibration
        values = {
            _slot_name(word, number): np.log(table + _FLOOR)
            for word in self.start.words.values()
            for number, table in enumerate(word.emissions)
        }
        scales = [calibration.scales[verb] for verb in self.verbs]
        width = len(calibration.durations.edges) + 1
        rows = [calibration.durations.ratios.get(verb, np.zeros(width)) for verb in self.verbs]
        values["scales"] = np.log(np.array(scales))
        values["biases"] = np.array([calibration.biases.get(verb, 0.0) for verb in self.verbs])
        values["durations"] = np.array(rows).reshape(len(rows), width)
        values["duration_weight"] = np.array([calibration.durations.weight])
        return values

    def _calibration(self) -> Calibration:
        old = self.start.calibration
        scales, biases = np.exp(self.values["scales"]).tolist(), self.values["biases"].tolist()
        ratios = dict(old.durations.ratios)  # those of verbs that are not compared stay
        for number, verb in enumerate(self.verbs):
            if verb in ratios:
                ratios[verb] = self.values["durations"][number]
        weight = float(np.clip(self.values["duration_weight"][0], 0.0, 1.0))
        return replace(
            old,
            scales=dict(zip(self.verbs, scales, strict=True)),
            biases=dict(zip(self.verbs, biases, strict=True)),
            durations=Durations(old.durations.edges, ratios, weight),
            other_scale=float(np.median(scales)) if scales else old.other_scale,
        )

    def _parameter_gradient(
        self, gradient: ConditionalGradient, lexicon: LearnedLexicon, clips: int
    ) -> dict[str, Array]:
        slopes: dict[str, Array] = {}
        for entry, word in lexicon.words.items():
            table = lexicon.tables[entry]
            for number, counts in enumerate(table.emission_counts(gradient.counts[entry])):
                name = _slot_name(word, number)
                # Gradient of a softmax: what one bin gains, all others lose.
                free = counts - word.emissions[number] * counts.sum(axis=1, keepdims=True)
                free *= lexicon.features.parts[word.part].weight(word.slots[number].feature)
                held = self.settings.penalty * (self.values[name] - self.anchors[name])
                slopes[name] = free / clips - held
        width = self.values["durations"].shape[1]
        rows = [gradient.durations.get(verb, np.zeros(width)) for verb in self.verbs]
        slopes["scales"] = np.array([gradient.scales.get(verb, 0.0) for verb in self.verbs])
        slopes["biases"] = np.array([gradient.biases.get(verb, 0.0) for verb in self.verbs])
        slopes["durations"] = np.array(rows).reshape(len(rows), width)
        slopes["duration_weight"] = np.array([gradient.duration_weight])
        for name, penalty in _PENALTIES.items():
            slopes[name] = slopes[name] / clips - penalty * self._deviation(name)
        return slopes

    def _deviation(self, name: str) -> Array:
        """Return the difference of a calibration parameter from the mean of its prior."""
        value = self.values[name]
        if name == "scales":
            return np.asarray(value - value.mean()) if len(value) else value
        return value if name == "biases" else value - self.anchors[name]

    def _step(self, slopes: dict[str, Array]) -> None:
        self.steps += 1
        for name, slope in slopes.items():
            self.first[name] = _BETA1 * self.first[name] + (1 - _BETA1) * slope
            self.second[name] = _BETA2 * self.second[name] + (1 - _BETA2) * slope**2
            mean = self.first[name] / (1 - _BETA1**self.steps)
            size = np.sqrt(self.second[name] / (1 - _BETA2**self.steps))
            self.values[name] = self.values[name] + self.settings.rate * mean / (size + _EPSILON)


def _slot_name(word: WordModel, number: int) -> str:
    return f"{word.entry}/{number}"


def _softmax(logits: Array) -> Array:
    values = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


def _gradient(
    lexicon: LearnedLexicon,
    examples: Sequence[TrainingExample],
    *,
    posterior: bool = True,
    threads: int = 1,
    held: EngineGradients | None = None,
    places: Sequence[int] | None = None,
) -> ConditionalGradient:
    if held is not None:
        prior, calibration = lexicon.track_prior, lexicon.calibration
        return held.gradient(lexicon.tables, prior, calibration, posterior=posterior, places=places)
    return conditional_gradient(
        examples,
        lexicon.tables,
        lexicon.track_prior,
        lexicon.calibration,
        posterior=posterior,
        threads=threads,
    )


def train_by_growth(
    start: LearnedLexicon,
    examples: Sequence[TrainingExample],
    settings: GrowthSettings | None = None,
    *,
    threads: int = 1,
    held: EngineGradients | None = None,
) -> tuple[LearnedLexicon, list[float]]:
    """Raise the conditional objective by growth transformations of all emissions.

    Args:
        start: The maximum-likelihood lexicon, calibrated.
        examples: Clips with candidates.
        settings: Settings of the growth.
        threads: Number of clips to work on at once in this process.
        held: The same clips on an engine, which then computes the gradients.

    Returns:
        The lexicon, and the objective after every accepted step: it never falls.
    """
    chosen = settings or GrowthSettings()
    current = start
    how: dict[str, Any] = {"posterior": chosen.posterior, "threads": threads, "held": held}
    gradient = _gradient(start, examples, **how)
    history = [gradient.value]
    dampings = _least_dampings(current, gradient, chosen)
    for _ in range(chosen.iterations):
        grown = _grown(current, gradient, dampings, chosen)
        new = _gradient(grown, examples, **how)
        if new.value < history[-1]:
            dampings = {
                name: chosen.damping * np.maximum(chosen.least, damping)
                for name, damping in dampings.items()
            }
            continue
        rise = new.value - history[-1]
        current, gradient = grown, new
        history.append(new.value)
        if rise < chosen.tolerance:
            break
        dampings = _least_dampings(current, gradient, chosen)
    return current, history


def _least_dampings(
    lexicon: LearnedLexicon, gradient: ConditionalGradient, settings: GrowthSettings
) -> dict[str, Array]:
    """Return per distribution the least damping that keeps its probabilities positive."""
    dampings = {}
    for entry, word in lexicon.words.items():
        counts = lexicon.tables[entry].emission_counts(gradient.counts[entry])
        for number, (table, own) in enumerate(zip(word.emissions, counts, strict=True)):
            steepest = (own / np.maximum(table, settings.least)).min(axis=1)
            dampings[_slot_name(word, number)] = np.maximum(0.0, -steepest + settings.least)
    return dampings


def _grown(
    lexicon: LearnedLexicon,
    gradient: ConditionalGradient,
    dampings: dict[str, Array],
    settings: GrowthSettings,
) -> LearnedLexicon:
    words: dict[str, WordModel] = {}
    for entry, word in lexicon.words.items():
        emissions = []
        counts = lexicon.tables[entry].emission_counts(gradient.counts[entry])
        for number, (table, own) in enumerate(zip(word.emissions, counts, strict=True)):
            damping = dampings[_slot_name(word, number)][:, None]
            # Distributions without a gradient stay as they are.
            raised = np.maximum(own + damping * table, 0.0)
            mass = raised.sum(axis=1, keepdims=True)
            moved = np.where(mass > 0, raised / np.maximum(mass, 1e-300), table)
            moved = np.maximum(moved, settings.least * 1e-3)
            emissions.append(moved / moved.sum(axis=1, keepdims=True))
        words[entry] = replace(word, emissions=tuple(emissions))
    return lexicon.with_words(words)
