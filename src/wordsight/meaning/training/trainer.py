"""Training as a row of small steps with a state between them, so that it can stop and go on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.engine import Engine, Serial
from wordsight.inference import ConvergenceMonitor
from wordsight.language import PartOfSpeech
from wordsight.meaning.model.calibration import (
    Calibration,
    fit_calibration,
    fit_durations,
    fit_role_prior_weight,
)
from wordsight.meaning.model.lexicon import LearnedLexicon, verb_of
from wordsight.meaning.model.word import words_from_arrays, words_to_arrays
from wordsight.meaning.scoring.scorer import CountsByWord, TrackPrior
from wordsight.meaning.scoring.tables import WordTables
from wordsight.meaning.training.conditional import make_questions
from wordsight.meaning.training.corpus import Corpus, TrainingExample, initial_words
from wordsight.meaning.training.discriminative import GradientTraining, train_by_growth
from wordsight.meaning.training.em import EngineExamples, expected_counts, log_prior, m_step
from wordsight.meaning.training.settings import TrainingSettings

__all__ = ["Trainer"]

Stage = Literal["em", "sharpen", "done"]

_HARDLY = 1e-6


@dataclass
class _State:
    """Where training stands.

    Attributes:
        stage: EM, discriminative training, or done.
        restart: Which restart of EM.
        iteration: Iterations of this restart, or epochs of discriminative training, done.
        histories: Objective after every iteration, per restart.
        sharpened: Objective after every discriminative epoch.
        best: The best restart's number and value, once there is one.
    """

    stage: Stage = "em"
    restart: int = 0
    iteration: int = 0
    histories: list[list[float]] = field(default_factory=lambda: [[]])
    sharpened: list[float] = field(default_factory=list)
    best: tuple[int, float] | None = None


class Trainer:
    """EM from several starts, the best one calibrated and trained against false sentences.

    Args:
        corpus: The training material.
        blank: The lexicon to be filled: bins, background and how clips are looked at.
        settings: How to train.
        threads: How many clips to work on at once; the result does not depend on it.
        engine: Who does the E-step; threads of this process if left out.
        device: Where the E-step's lattices are computed, in single precision.
    """

    def __init__(
        self,
        corpus: Corpus,
        blank: LearnedLexicon,
        settings: TrainingSettings,
        *,
        threads: int = 1,
        engine: Engine | None = None,
        device: str | None = None,
    ) -> None:
        self.corpus = corpus
        self.settings = settings
        self.threads = threads
        self.state = _State()
        self.current = blank.with_words(self._start(blank, 0))
        self.chosen = self.current
        self.calibrated = self.current
        self.gradient: GradientTraining | None = None
        self._engine = Serial() if engine is None and device is not None else engine
        self._device = device
        self._held: dict[bool, EngineExamples] = {}

    def close(self) -> None:
        """Let go of what the engine holds."""
        for held in self._held.values():
            held.close()
        self._held.clear()

    @property
    def done(self) -> bool:
        """Whether training has finished."""
        return self.state.stage == "done"

    @property
    def num_steps(self) -> int:
        """How many steps training takes at most."""
        chosen = self.settings
        sharpening = {"gradient": chosen.gradient.epochs, "growth": 1, None: 0}
        per_restart = chosen.tempered_iterations + chosen.iterations
        return chosen.restarts * per_restart + sharpening[chosen.discriminative]

    @property
    def steps_done(self) -> int:
        """How many of them have been taken."""
        chosen, state = self.settings, self.state
        per_restart = chosen.tempered_iterations + chosen.iterations
        if state.stage == "em":
            return state.restart * per_restart + state.iteration
        return chosen.restarts * per_restart + state.iteration

    def step(self) -> str:
        """Take one step and say in a few words what it was."""
        return self._em_step() if self.state.stage == "em" else self._sharpen()

    def result(self) -> LearnedLexicon:
        """Return the lexicon as it stands."""
        return self.chosen

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the tables a later process needs to go on."""
        arrays = words_to_arrays(self.current.words, "current.")
        arrays |= words_to_arrays(self.chosen.words, "chosen.")
        if self.calibrated is not self.chosen:
            arrays |= words_to_arrays(self.calibrated.words, "calibrated.")
        if self.gradient is not None:
            arrays |= {f"gradient.{name}": a for name, a in self.gradient.state().items()}
        return arrays

    def values(self) -> dict[str, Any]:
        """Return the rest of what a later process needs, as JSON can hold it."""
        state = self.state
        return {
            "stage": state.stage,
            "restart": state.restart,
            "iteration": state.iteration,
            "histories": state.histories,
            "sharpened": state.sharpened,
            "best": list(state.best) if state.best else None,
            "calibration": self.chosen.calibration.to_json(),
            "before_sharpening": self.calibrated.calibration.to_json()
            if self.calibrated is not self.chosen
            else None,
        }

    def resume(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Go on from what :meth:`arrays` and :meth:`values` gave."""
        words = words_from_arrays(self.current.words, arrays, "current.")
        self.current = self.current.with_words(words)
        self.chosen = self._restored(arrays, "chosen.", values["calibration"])
        self.calibrated, before = self.chosen, values.get("before_sharpening")
        if before is not None:
            self.calibrated = self._restored(arrays, "calibrated.", before)
        best = values["best"]
        self.state = _State(
            values["stage"],
            int(values["restart"]),
            int(values["iteration"]),
            [list(history) for history in values["histories"]],
            list(values["sharpened"]),
            (int(best[0]), float(best[1])) if best else None,
        )
        gradient = {
            name.removeprefix("gradient."): np.asarray(array)
            for name, array in arrays.items()
            if name.startswith("gradient.")
        }
        if gradient:
            self.gradient = GradientTraining(self.chosen, self.settings.gradient)
            self.gradient.restore(gradient)

    def _restored(
        self, arrays: Mapping[str, NDArray[Any]], prefix: str, calibration: dict[str, Any]
    ) -> LearnedLexicon:
        words = words_from_arrays(self.current.words, arrays, prefix)
        return replace(
            self.current.with_words(words), calibration=Calibration.from_json(calibration)
        )

    def _rng(self, *parts: int) -> np.random.Generator:
        # A generator of its own for every restart and epoch: nothing random need be saved.
        return np.random.default_rng([self.settings.random_state, *parts])

    def _start(self, blank: LearnedLexicon, restart: int) -> Any:
        return initial_words(
            self.corpus,
            blank.features,
            blank.vocabulary,
            self._rng(restart, 0),
            forced_end=self.settings.forced_end,
            forward=self.settings.left_to_right,
            presence=self.settings.presence,
        )

    def _em_step(self) -> str:
        chosen, state = self.settings, self.state
        tempered = state.iteration < chosen.tempered_iterations
        temper = chosen.temper if tempered else 1.0
        history = state.histories[state.restart]
        tables = self.current.tables_at(temper)
        value, counts = self._expected(tables, tempered)
        background = self.current.background
        value += log_prior(self.current.words, background, chosen.smoothing, temper=temper)
        before, planned = (
            (0, chosen.tempered_iterations)
            if tempered
            else (chosen.tempered_iterations, chosen.iterations)
        )
        # A phase that stopped early has less history than was planned: count from the end.
        phase = history[len(history) - (state.iteration - before) :]
        monitor = ConvergenceMonitor(
            tolerance=chosen.tolerance or 0.0,
            max_iterations=max(1, planned),
            falling="warn",
            history=phase,
        )
        finished = monitor.update(value)
        history.append(value)
        words = m_step(tables, counts, background, chosen.smoothing)
        self.current = self.current.with_words(words)
        state.iteration += 1
        step = f"restart {state.restart + 1}, iteration {state.iteration}"
        if finished:  # the iterations that are left out count as done
            state.iteration = before + planned
        if state.iteration >= chosen.tempered_iterations + chosen.iterations:
            self._finish_restart(value)
        return step

    def _expected(
        self, tables: Mapping[str, WordTables], tempered: bool
    ) -> tuple[float, CountsByWord]:
        sight, noise = self._sight(tempered), self.settings.noise
        if self._engine is None:
            told = self._told(tempered)
            return expected_counts(told, tables, sight, noise=noise, threads=self.threads)
        # Both phases may be told the same sentences; then what is held serves both.
        phase = tempered and self.settings.two_phase
        if phase not in self._held:
            told = self._told(tempered)
            self._held[phase] = EngineExamples(self._engine, told, device=self._device)
        return self._held[phase].expected(tables, sight, noise=noise)

    def _sight(self, tempered: bool) -> TrackPrior:
        """Return how things are weighed in this phase of EM.

        Words that know nothing yet fit whatever is seen worse than the corpus does, so that all
        participants would be explained as unseen, for good.
        """
        sight = self.current.looking.sight
        return replace(sight, unseen=_HARDLY * sight.unseen) if tempered else sight

    def _told(self, tempered: bool) -> tuple[TrainingExample, ...]:
        """Return the examples of this phase of EM."""
        if not (tempered and self.settings.two_phase):
            return self.corpus.examples
        simple = {PartOfSpeech.NOUN, PartOfSpeech.VERB}
        told = []
        for example in self.corpus.examples:
            kept = tuple(
                sentence
                for sentence in example.sentences
                if {self.corpus.lexicon[word.entry].part for word in sentence.words} <= simple
            )
            told += [replace(example, sentences=kept)] if kept else []
        return tuple(told) or self.corpus.examples

    def _finish_restart(self, likelihood: float) -> None:
        state, chosen = self.state, self.settings
        found = replace(self.current, calibration=Calibration())
        value = likelihood
        if chosen.calibrated or chosen.choose_by == "conditional":
            calibration, contrast = self._calibrated(found)
            # Without any false sentence, as for a single clip, likelihood must decide.
            asked = chosen.choose_by == "conditional" and np.isfinite(contrast)
            value = contrast if asked else likelihood
            if chosen.calibrated:
                found = replace(found, calibration=calibration)
        if state.best is None or value > state.best[1]:
            state.best = (state.restart, float(value))
            self.chosen = self.calibrated = found
        state.iteration = 0
        if state.restart + 1 < chosen.restarts:
            state.restart += 1
            state.histories.append([])
            self.current = self.current.with_words(self._start(self.current, state.restart))
        else:
            state.stage = "sharpen" if chosen.discriminative else "done"

    def _calibrated(self, found: LearnedLexicon) -> tuple[Calibration, float]:
        asked = make_questions(
            self.corpus.examples, found.tables, found.looking.sight, threads=self.threads
        )
        said = [
            (example.seen.duration, verb_of(sentence, self.corpus.lexicon))
            for example in self.corpus.examples
            for sentence in example.sentences
        ]
        seconds, verbs = zip(*said, strict=True)
        durations = fit_durations(seconds if self.settings.durations else (), verbs)
        if not self.settings.durations:
            durations = replace(durations, ratios={}, weight=0.0)
        calibration, value = fit_calibration(asked, durations)
        # Fitted after the rest, and no word is trained with it: words shall say what they see.
        weight = fit_role_prior_weight(asked, calibration)
        habits = replace(self.corpus.habits, weight=weight)
        return replace(calibration, habits=habits), value

    def _sharpen(self) -> str:
        state, chosen = self.state, self.settings
        if chosen.discriminative == "growth":
            self.chosen, state.sharpened = train_by_growth(
                self.chosen, self.corpus.examples, chosen.growth, threads=self.threads
            )
            state.stage = "done"
            return "growth"
        if self.gradient is None:
            self.gradient = GradientTraining(self.chosen, chosen.gradient)
        if state.iteration < chosen.gradient.epochs:
            rng = self._rng(10_000 + state.iteration)
            value = self.gradient.epoch(self.corpus.examples, rng, threads=self.threads)
            state.sharpened.append(value)
            state.iteration += 1
        if state.iteration >= chosen.gradient.epochs:
            self.chosen = self.gradient.lexicon()
            state.stage = "done"
        return f"epoch {state.iteration}"
