"""Discriminative training by gradient: raise the probability of the true sentence among candidates.

Words stay proper distributions (their logits are what moves), an L2 penalty holds them near the
maximum-likelihood start, and the calibration is trained along with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.model.calibration import Calibration, Durations
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.training.conditional import (
    ConditionalGradient,
    conditional_gradient,
    with_rivals,
)
from wordsight.meaning.training.corpus import TrainingExample

__all__ = ["GradientSettings", "GradientTraining", "GrowthSettings", "train_by_growth"]


Array = NDArray[np.float64]

_FLOOR = 1e-6  # of a probability: logits below would never come back
_MOMENTUM, _SPREAD, _CAREFUL = 0.9, 0.99, 1e-4  # Adam's constants


@dataclass(frozen=True)
class GradientSettings:
    """How discriminative training goes.

    Attributes:
        epochs: Passes over the training clips.
        rate: Step size of Adam.
        batch: Clips per step.
        penalty: L2 penalty of logits towards the start, per clip.
    """

    epochs: int = 15
    rate: float = 0.03
    batch: int = 64
    penalty: float = 1e-3


# Per clip: how firmly each kind of calibration parameter is held.
_PENALTIES = {"scales": 1e-2, "biases": 1e-3, "durations": 3e-2, "duration_weight": 0.0}


class GradientTraining:
    """Words and calibration under gradient steps.

    Args:
        start: The maximum-likelihood lexicon, calibrated.
        settings: How training goes.
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
        self, examples: Sequence[TrainingExample], rng: np.random.Generator, *, threads: int = 1
    ) -> float:
        """Pass over the examples once in random order.

        Returns:
            The mean log probability of the true sentence, each taken just before its step.
        """
        posed = with_rivals(examples)
        order = rng.permutation(len(posed))
        total = 0.0
        for first in range(0, len(order), self.settings.batch):
            batch = [posed[place] for place in order[first : first + self.settings.batch]]
            lexicon = self.lexicon()
            found = conditional_gradient(
                batch, lexicon.tables, lexicon.looking.sight, lexicon.calibration, threads=threads
            )
            total += found.value
            self._step(self._gradient(found, lexicon, len(batch)))
        return total / max(1, sum(len(example.truths) for example in posed))

    def lexicon(self) -> LearnedLexicon:
        """Return the words and the calibration as they stand."""
        words = {entry: self._word(word) for entry, word in self.start.words.items()}
        return replace(self.start, words=words, calibration=self._calibration())

    def state(self) -> dict[str, Array]:
        """Return everything a later process needs to go on."""
        groups = {"value": self.values, "first": self.first, "second": self.second}
        arrays = {f"{g}:{n}": array for g, group in groups.items() for n, array in group.items()}
        return arrays | {"steps": np.array(self.steps)}

    def restore(self, arrays: dict[str, Array]) -> None:
        """Undo :meth:`state`."""
        for group, target in (
            ("value", self.values),
            ("first", self.first),
            ("second", self.second),
        ):
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

    def _word(self, word: WordModel) -> WordModel:
        emissions = tuple(
            _softmax(self.values[_slot_name(word, number)]) for number in range(len(word.emissions))
        )
        return replace(word, emissions=emissions)

    def _calibration(self) -> Calibration:
        old = self.start.calibration
        scales = np.exp(self.values["scales"])
        ratios = {
            verb: self.values["durations"][number]
            for number, verb in enumerate(self.verbs)
            if verb in old.durations.ratios
        }
        weight = float(self.values["duration_weight"][0])
        return Calibration(
            {verb: float(value) for verb, value in zip(self.verbs, scales, strict=True)},
            {v: float(b) for v, b in zip(self.verbs, self.values["biases"], strict=True)},
            Durations(old.durations.edges, ratios, weight),
            old.other_scale,
            old.habits,
        )

    def _gradient(
        self, found: ConditionalGradient, lexicon: LearnedLexicon, clips: int
    ) -> dict[str, Array]:
        slopes: dict[str, Array] = {}
        for entry, word in lexicon.words.items():
            table = lexicon.tables[entry]
            for number, counts in enumerate(table.emission_counts(found.counts[entry])):
                name = _slot_name(word, number)
                # Logits of distributions: what one bin gains, all others lose.
                free = counts - word.emissions[number] * counts.sum(axis=1, keepdims=True)
                held = self.settings.penalty * (self.values[name] - self.anchors[name])
                slopes[name] = free / clips - held
        width = self.values["durations"].shape[1]
        rows = [found.durations.get(verb, np.zeros(width)) for verb in self.verbs]
        slopes["scales"] = np.array([found.scales.get(verb, 0.0) for verb in self.verbs])
        slopes["biases"] = np.array([found.biases.get(verb, 0.0) for verb in self.verbs])
        slopes["durations"] = np.array(rows).reshape(len(rows), width)
        slopes["duration_weight"] = np.array([found.duration_weight])
        for name, penalty in _PENALTIES.items():
            slopes[name] = slopes[name] / clips - penalty * self._strayed(name)
        return slopes

    def _strayed(self, name: str) -> Array:
        """Return how far a calibration parameter is from where its prior wants it."""
        value = self.values[name]
        if name == "scales":
            return np.asarray(value - value.mean()) if len(value) else value
        return value if name == "biases" else value - self.anchors[name]

    def _step(self, slopes: dict[str, Array]) -> None:
        self.steps += 1
        for name, slope in slopes.items():
            self.first[name] = _MOMENTUM * self.first[name] + (1 - _MOMENTUM) * slope
            self.second[name] = _SPREAD * self.second[name] + (1 - _SPREAD) * slope**2
            mean = self.first[name] / (1 - _MOMENTUM**self.steps)
            size = np.sqrt(self.second[name] / (1 - _SPREAD**self.steps))
            self.values[name] = self.values[name] + self.settings.rate * mean / (size + _CAREFUL)


def _slot_name(word: WordModel, number: int) -> str:
    return f"{word.entry}/{number}"


def _softmax(logits: Array) -> Array:
    values = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


# Discriminative training by growth transformations, as in Yu & Siskind (AAAI 2015).
#
# A probability :math:`\lambda` of a distribution i moves to
# :math:`\lambda(\partial O/\partial\lambda + C_i)/D_i`, which raises the objective if the damping
# :math:`C_i` is large enough. After a success the damping is the least that keeps all positive;
# after a failure the step is discarded and the damping multiplied.


@dataclass(frozen=True)
class GrowthSettings:
    """How growth goes.

    Attributes:
        iterations: Most steps that are tried; the paper needs 20 to 30.
        tolerance: Stop when the objective rises by less than this.
        damping: What the damping is multiplied by after a failure.
        least: The least damping, and the least probability.
        posterior: Whether the true sentence takes part in the competition: safer, bounded by 0.
    """

    iterations: int = 30
    tolerance: float = 1e-3
    damping: float = 2.0
    least: float = 1e-3
    posterior: bool = True


def train_by_growth(
    start: LearnedLexicon,
    examples: Sequence[TrainingExample],
    settings: GrowthSettings | None = None,
    *,
    threads: int = 1,
) -> tuple[LearnedLexicon, list[float]]:
    """Raise the conditional objective by growth transformations of all emissions.

    Returns:
        The lexicon, and the objective after every accepted step: it never falls.
    """
    chosen = settings or GrowthSettings()
    current, slopes = start, _slopes(start, examples, chosen, threads)
    history = [slopes.value]
    dampings = _dampings(current, slopes, chosen)
    for _ in range(chosen.iterations):
        grown = _grown(current, slopes, dampings, chosen)
        found = _slopes(grown, examples, chosen, threads)
        if found.value < history[-1]:
            dampings = {
                name: chosen.damping * np.maximum(chosen.least, damping)
                for name, damping in dampings.items()
            }
            continue
        rise = found.value - history[-1]
        current, slopes = grown, found
        history.append(found.value)
        if rise < chosen.tolerance:
            break
        dampings = _dampings(current, slopes, chosen)
    return current, history


def _slopes(
    lexicon: LearnedLexicon,
    examples: Sequence[TrainingExample],
    settings: GrowthSettings,
    threads: int,
) -> ConditionalGradient:
    return conditional_gradient(
        examples,
        lexicon.tables,
        lexicon.looking.sight,
        lexicon.calibration,
        posterior=settings.posterior,
        threads=threads,
    )


def _emission_slopes(
    lexicon: LearnedLexicon, slopes: ConditionalGradient
) -> dict[str, tuple[tuple[Array, Array], ...]]:
    """Return per word and slot the emissions and the slopes with respect to their logs."""
    return {
        entry: tuple(
            zip(
                word.emissions,
                lexicon.tables[entry].emission_counts(slopes.counts[entry]),
                strict=True,
            )
        )
        for entry, word in lexicon.words.items()
    }


def _dampings(
    lexicon: LearnedLexicon, slopes: ConditionalGradient, settings: GrowthSettings
) -> dict[str, Array]:
    """Return per distribution the least damping that keeps its probabilities positive."""
    dampings = {}
    for entry, pairs in _emission_slopes(lexicon, slopes).items():
        for number, (table, counts) in enumerate(pairs):
            steepest = (counts / np.maximum(table, settings.least)).min(axis=1)
            dampings[f"{entry}/{number}"] = np.maximum(0.0, -steepest + settings.least)
    return dampings


def _grown(
    lexicon: LearnedLexicon,
    slopes: ConditionalGradient,
    dampings: dict[str, Array],
    settings: GrowthSettings,
) -> LearnedLexicon:
    words: dict[str, WordModel] = {}
    for entry, pairs in _emission_slopes(lexicon, slopes).items():
        emissions = []
        for number, (table, counts) in enumerate(pairs):
            damping = dampings[f"{entry}/{number}"][:, None]
            # Distributions that nothing pulls at stay as they are.
            raised = np.maximum(counts + damping * table, 0.0)
            mass = raised.sum(axis=1, keepdims=True)
            moved = np.where(mass > 0, raised / np.maximum(mass, 1e-300), table)
            moved = np.maximum(moved, settings.least * 1e-3)
            emissions.append(moved / moved.sum(axis=1, keepdims=True))
        words[entry] = replace(lexicon.words[entry], emissions=tuple(emissions))
    return lexicon.with_words(words)
