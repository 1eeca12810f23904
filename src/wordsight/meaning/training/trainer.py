"""`Trainer`: training as a sequence of small steps with a state, so that it can be resumed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.engine import Engine, Serial
from wordsight.inference import ConvergenceMonitor
from wordsight.language import PartOfSpeech
from wordsight.meaning.features import NAME_PREFIX
from wordsight.meaning.model.calibration import Calibration, Sayings
from wordsight.meaning.model.lexicon import LearnedLexicon, verb_of
from wordsight.meaning.model.word import WordModel, words_from_arrays, words_to_arrays
from wordsight.meaning.scoring.scorer import CountsByWord, TrackPrior
from wordsight.meaning.scoring.tables import WordTables
from wordsight.meaning.training.calibration import (
    fit_calibration,
    fit_durations,
    fit_role_prior_weight,
    make_questions,
)
from wordsight.meaning.training.conditional import EngineGradients
from wordsight.meaning.training.corpus import Corpus, TrainingExample, initial_words
from wordsight.meaning.training.discriminative import GradientTraining, train_by_growth
from wordsight.meaning.training.em import (
    EngineExamples,
    expected_counts,
    log_prior,
    m_step,
    shared_distributions,
)
from wordsight.meaning.training.leave_one_out import leave_one_out
from wordsight.meaning.training.senses import SenseTest, split_senses, with_senses
from wordsight.meaning.training.settings import TrainingSettings

__all__ = ["Trainer"]

_NAME_WEIGHTS = (1.0, 0.3, 0.1, 0.03, 0.0)
"""Powers of the ratios of what things are called that are tried for nouns."""

_UNSEEN_FACTOR = 1e-6  # of the weight of the unseen object, in tempered iterations


@dataclass
class _State:
    """Progress of training.

    Attributes:
        stage: EM, discriminative training, or done.
        restart: Index of the current restart of EM.
        iteration: Iterations of this restart, or epochs of discriminative training, done.
        histories: Objective after every iteration, per restart.
        discriminative_history: Objective after every epoch of discriminative training.
        best: Index and value of the best restart, once there is one.
        senses: What was found of the senses of verbs, where that was asked.
    """

    stage: Literal["em", "sharpen", "done"] = "em"
    restart: int = 0
    iteration: int = 0
    histories: list[list[float]] = field(default_factory=lambda: [[]])
    discriminative_history: list[float] = field(default_factory=list)
    best: tuple[int, float] | None = None
    senses: list[SenseTest] = field(default_factory=list)


class Trainer:
    """EM from several starts, the best one calibrated and trained against false sentences.

    Where verbs may have two senses, EM goes on from the best start with those that have.

    Args:
        corpus: The training corpus.
        blank: The lexicon without words: bins, background and view settings.
        settings: Settings of training.
        threads: Number of clips to work on at once; the result does not depend on it.
        engine: Engine of the E-step and of gradients; threads of this process if not given.
        device: Device for the lattices of the E-step, in single precision.
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
        self.current = blank.with_words(self._initial_words(blank, 0))
        self.result = self.current
        self.calibrated = self.current
        self.gradient: GradientTraining | None = None
        self._engine = Serial() if engine is None and device is not None else engine
        self._device = device
        self._held: dict[bool, EngineExamples] = {}
        self._gradients: EngineGradients | None = None

    def close(self) -> None:
        """Release what the engine holds."""
        for held in self._held.values():
            held.close()
        self._held.clear()
        if self._gradients is not None:
            self._gradients.close()
            self._gradients = None

    @property
    def done(self) -> bool:
        """Whether training has finished."""
        return self.state.stage == "done"

    @property
    def num_steps(self) -> int:
        """Maximum number of steps."""
        chosen = self.settings
        epochs = {"gradient": chosen.gradient.epochs, "growth": 1, None: 0}
        return self._em_steps + epochs[chosen.discriminative]

    @property
    def steps_done(self) -> int:
        """Number of steps done, those that were skipped included."""
        state, chosen = self.state, self.settings
        if state.stage != "em":
            return self._em_steps + state.iteration
        split = state.restart == chosen.restarts
        skipped = chosen.tempered_iterations if split else 0
        return state.restart * self._iterations + state.iteration - skipped

    @property
    def _em_steps(self) -> int:
        """Maximum number of iterations of all restarts."""
        chosen = self.settings
        return chosen.restarts * self._iterations + chosen.senses * chosen.iterations

    @property
    def _iterations(self) -> int:
        """Maximum number of iterations of a restart."""
        return self.settings.tempered_iterations + self.settings.iterations

    def step(self) -> str:
        """Do one step and return its name."""
        return self._em_step() if self.state.stage == "em" else self._discriminative_step()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the tables that are needed to resume."""
        arrays = words_to_arrays(self.current.words, "current.")
        arrays |= words_to_arrays(self.result.words, "chosen.")
        if self.calibrated is not self.result:
            arrays |= words_to_arrays(self.calibrated.words, "calibrated.")
        if self.gradient is not None:
            arrays |= {f"gradient.{name}": a for name, a in self.gradient.state().items()}
        return arrays

    def values(self) -> dict[str, Any]:
        """Return the other values that are needed to resume, for JSON."""
        state = self.state
        return {
            "stage": state.stage,
            "restart": state.restart,
            "iteration": state.iteration,
            "histories": state.histories,
            "sharpened": state.discriminative_history,
            "best": list(state.best) if state.best else None,
            "senses": [asdict(test) for test in state.senses],
            "split": _split_words(self.current.words),
            "split_before": _split_words(self.result.words),
            "noun_weights": self.result.features.parts[PartOfSpeech.NOUN].weights,
            "calibration": self.result.calibration.to_json(),
            "before_sharpening": self.calibrated.calibration.to_json()
            if self.calibrated is not self.result
            else None,
        }

    def resume(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Restore the state that :meth:`arrays` and :meth:`values` returned."""
        blank, before = self.current, values.get("before_sharpening")
        weighed = blank
        for name, weight in values.get("noun_weights", ()):
            weighed = replace(weighed, features=weighed.features.with_noun_weight([name], weight))
        chosen = _with_split(weighed, values.get("split_before", {}))
        self.result = _restored(chosen, arrays, "chosen.", values["calibration"])
        self.calibrated = self.result
        if before is not None:
            self.calibrated = _restored(chosen, arrays, "calibrated.", before)
        splitting = int(values["restart"]) == self.settings.restarts
        current = _with_split(weighed if splitting else blank, values.get("split", {}))
        self.current = current.with_words(words_from_arrays(current.words, arrays, "current."))
        best = values["best"]
        self.state = _State(
            values["stage"],
            int(values["restart"]),
            int(values["iteration"]),
            [list(history) for history in values["histories"]],
            list(values["sharpened"]),
            (int(best[0]), float(best[1])) if best else None,
            [SenseTest(**test) for test in values.get("senses", [])],
        )
        gradient = {
            name.removeprefix("gradient."): np.asarray(array)
            for name, array in arrays.items()
            if name.startswith("gradient.")
        }
        if gradient:
            self.gradient = GradientTraining(self.result, self.settings.gradient)
            self.gradient.restore(gradient)

    def _rng(self, *parts: int) -> np.random.Generator:
        # A generator of its own for every restart and epoch: no generator need be saved.
        return np.random.default_rng([self.settings.random_state, *parts])

    def _initial_words(self, blank: LearnedLexicon, restart: int) -> dict[str, WordModel]:
        return initial_words(
            self.corpus,
            blank.features,
            blank.vocabulary,
            self._rng(restart, 0),
            forced_end=self.settings.forced_end,
            forward=self.settings.left_to_right,
            skips=self.settings.skips,
            presence=self.settings.presence,
        )

    def _em_step(self) -> str:
        chosen, state = self.settings, self.state
        tempered = state.iteration < chosen.tempered_iterations
        temper = chosen.temper if tempered else 1.0
        tables = self.current.tables_at(temper)
        value, counts = self._e_step(tables, tempered)
        background = self.current.background
        value += log_prior(
            self.current.words,
            background,
            chosen.smoothing,
            self.corpus.noun_labels,
            temper=temper,
            features=self.current.features,
        )
        phase_end, converged = self._monitor(value, tempered)
        fixed = background, chosen.smoothing, self.corpus.noun_labels
        words = m_step(tables, counts, *fixed)
        self.current = self.current.with_words(words)
        state.iteration += 1
        name = f"restart {state.restart + 1}, iteration {state.iteration}"
        if converged:  # the remaining iterations of the phase count as done
            state.iteration = phase_end
        if state.iteration >= self._iterations:
            shared = shared_distributions(tables, counts, background, chosen.smoothing)
            if shared:
                words = m_step(tables, counts, *fixed, shared=shared)
                self.current = self.current.with_words(words)
            self._finish_restart(value)
        return name

    def _monitor(self, value: float, tempered: bool) -> tuple[int, bool]:
        """Append an objective to the history of the restart.

        Returns:
            The iteration at which this phase of EM, tempered or not, ends at the latest, and
            whether it ends now.
        """
        chosen, history = self.settings, self.state.histories[self.state.restart]
        start = 0 if tempered else chosen.tempered_iterations
        planned = chosen.tempered_iterations if tempered else chosen.iterations
        # A phase that stopped early has less history than planned: count from the end.
        phase = history[len(history) - (self.state.iteration - start) :]
        monitor = ConvergenceMonitor(
            tolerance=chosen.tolerance or 0.0,
            max_iterations=max(1, planned),
            falling="warn",
            history=phase,
        )
        history.append(value)
        return start + planned, monitor.update(value)

    def _e_step(
        self, tables: Mapping[str, WordTables], tempered: bool
    ) -> tuple[float, CountsByWord]:
        prior, noise = self._track_prior(tempered), self.settings.noise
        if self._engine is None:
            examples = self._examples(tempered)
            return expected_counts(examples, tables, prior, noise=noise, threads=self.threads)
        # Unless the phases use different sentences, the engine holds one corpus for both.
        simple_only = tempered and self.settings.two_phase
        if simple_only not in self._held:
            examples = self._examples(tempered)
            self._held[simple_only] = EngineExamples(self._engine, examples, device=self._device)
        return self._held[simple_only].expected_counts(tables, prior, noise=noise)

    def _track_prior(self, tempered: bool) -> TrackPrior:
        """Return the track prior of this phase of EM.

        Untrained words fit any observation worse than the background does; all participants would
        be explained as unseen, for good.
        """
        prior = self.current.track_prior
        return replace(prior, unseen=_UNSEEN_FACTOR * prior.unseen) if tempered else prior

    def _examples(self, tempered: bool) -> tuple[TrainingExample, ...]:
        """Return the examples of this phase of EM."""
        if not (tempered and self.settings.two_phase):
            return self.corpus.examples
        simple = {PartOfSpeech.NOUN, PartOfSpeech.VERB}
        examples = []
        for example in self.corpus.examples:
            kept = tuple(
                sentence
                for sentence in example.sentences
                if {self.corpus.lexicon[word.entry].part for word in sentence.words} <= simple
            )
            examples += [replace(example, sentences=kept)] if kept else []
        return tuple(examples) or self.corpus.examples

    def _finish_restart(self, likelihood: float) -> None:
        state, chosen = self.state, self.settings
        learned = replace(self.current, calibration=Calibration())
        value = likelihood
        if chosen.calibrated or chosen.choose_by == "conditional":
            learned, calibration, conditional = self._weighed(learned)
            # Without any false sentence, as for a single clip, likelihood must decide.
            usable = chosen.choose_by == "conditional" and np.isfinite(conditional)
            value = conditional if usable else likelihood
            if chosen.calibrated:
                learned = replace(learned, calibration=calibration)
        if state.best is None or value > state.best[1]:
            state.best = (state.restart, float(value))
            self.result = self.calibrated = learned
        state.iteration = 0
        if state.restart + 1 < chosen.restarts:
            state.restart += 1
            state.histories.append([])
            words = self._initial_words(self.current, state.restart)
            self.current = self.current.with_words(words)
        elif not (chosen.senses and state.restart < chosen.restarts and self._split_senses()):
            state.stage = "sharpen" if chosen.discriminative else "done"

    def _split_senses(self) -> bool:
        """Begin another run of EM if verbs have several senses; whether they do."""
        state, chosen = self.state, self.settings
        split, state.senses = split_senses(self.result, self.corpus, chosen, threads=self.threads)
        if split:
            # Left-out clips have decided already: what follows replaces the best restart.
            state.best = None
            state.restart, state.iteration = chosen.restarts, chosen.tempered_iterations
            state.histories.append([])
            self.current = self.result.with_words({**self.result.words, **split})
        return bool(split)

    def _weighed(self, learned: LearnedLexicon) -> tuple[LearnedLexicon, Calibration, float]:
        """Calibrate words; what things are called counts for nouns as far as that helps.

        A thing has the same name in all of its frames, and what named it may be what the detector
        says of it, so that its name is less evidence than it seems.
        """
        nouns = learned.features.parts[PartOfSpeech.NOUN].single
        names = [name for name in nouns if name in learned.vocabulary.bins]
        names = [name for name in names if name.startswith(NAME_PREFIX)]
        tried = []
        for weight in _NAME_WEIGHTS if names else (1.0,):
            weighed = learned
            if names:
                features = learned.features.with_noun_weight(names, weight)
                weighed = replace(learned, features=features)
            tried.append((weighed, *self._fit_calibration(weighed)))
        return max(tried, key=lambda one: one[2])

    def _fit_calibration(self, learned: LearnedLexicon) -> tuple[Calibration, float]:
        chosen = self.settings
        held_out = leave_one_out(
            learned, self.corpus, chosen.smoothing, noise=chosen.noise, threads=self.threads
        )
        questions = make_questions(self.corpus.examples, held_out, threads=self.threads)
        seconds, verbs = zip(
            *(
                (example.observation.duration, verb_of(sentence, self.corpus.lexicon))
                for example in self.corpus.examples
                for sentence in example.sentences
            ),
            strict=True,
        )
        durations = fit_durations(seconds if self.settings.durations else (), verbs)
        if not self.settings.durations:
            durations = replace(durations, ratios={}, weight=0.0)
        calibration, value = fit_calibration(questions, durations)
        # Fitted after the rest, and no word is trained with it: words describe the video only.
        weight = fit_role_prior_weight(questions, calibration)
        priors = replace(self.corpus.role_priors, weight=weight)
        true = [sentence for example in self.corpus.examples for sentence in example.sentences]
        sayings = Sayings.of(true, self.corpus.lexicon)
        return replace(calibration, role_priors=priors, sayings=sayings), value

    def _discriminative_step(self) -> str:
        state, chosen = self.state, self.settings
        if self._gradients is None and not isinstance(self._engine, Serial | None):
            self._gradients = EngineGradients(self._engine, self.corpus.examples)
        how: dict[str, Any] = {"threads": self.threads, "held": self._gradients}
        if chosen.discriminative == "growth":
            self.result, state.discriminative_history = train_by_growth(
                self.result, self.corpus.examples, chosen.growth, **how
            )
            state.stage = "done"
            return "growth"
        if self.gradient is None:
            self.gradient = GradientTraining(self.result, chosen.gradient)
        if state.iteration < chosen.gradient.epochs:
            rng = self._rng(10_000 + state.iteration)
            value = self.gradient.epoch(self.corpus.examples, rng, **how)
            state.discriminative_history.append(value)
            state.iteration += 1
        if state.iteration >= chosen.gradient.epochs:
            self.result = self.gradient.lexicon()
            state.stage = "done"
        return f"epoch {state.iteration}"


def _split_words(words: Mapping[str, WordModel]) -> dict[str, int]:
    """Return the number of senses of the words that have several."""
    return {entry: word.senses for entry, word in words.items() if word.senses > 1}


def _with_split(lexicon: LearnedLexicon, senses: Mapping[str, int]) -> LearnedLexicon:
    """Return words with tables of the shape that several senses have."""
    words = {
        entry: with_senses(lexicon.words[entry], [lexicon.words[entry].emissions] * count)
        for entry, count in senses.items()
    }
    return lexicon.with_words({**lexicon.words, **words})


def _restored(
    blank: LearnedLexicon,
    arrays: Mapping[str, NDArray[Any]],
    prefix: str,
    calibration: dict[str, Any],
) -> LearnedLexicon:
    words = words_from_arrays(blank.words, arrays, prefix)
    return replace(blank.with_words(words), calibration=Calibration.from_json(calibration))
