"""Words with two senses: the states of a verb split where held-out likelihood says so.

A verb such as "handled" may be said of events that have little in common. One chain of states then
means what is left of all of them. With two senses it has two chains, of which a clip follows one:
the states of a word are those of both, and no step leads from one to the other, so that inference
sums over senses as it sums over states.

Whether a verb has two senses is asked of clips that its states were not learned from: both
variants are learned without each part of the clips, all other words being the same, and explain
what is said of that part.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.language import PartOfSpeech
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.scoring.scorer import CountsByWord
from wordsight.meaning.training.corpus import Corpus, TrainingExample
from wordsight.meaning.training.em import expected_counts, m_step, map_chunks
from wordsight.meaning.training.leave_one_out import leave_one_out
from wordsight.meaning.training.settings import TrainingSettings

__all__ = ["SenseTest", "split_senses", "with_senses"]

Array = NDArray[np.float64]

_LEAST_CLIPS = 10
"""Verbs of fewer clips are not split: no part of them would show both senses."""
_PARTS = 4
"""Parts of the clips, each judged by what was learned from the others."""
_DIRECTIONS = 3
"""Ways to divide the clips of a verb from which its senses start; the likeliest is taken."""
_ITERATIONS = 8
_OWN_SENSE = 0.9
"""Share of a clip's counts that start the sense it is given to."""
_STANDARD_ERRORS = 2.0
"""By how many of them two senses must be better: several verbs are asked about."""


@dataclass(frozen=True)
class SenseTest:
    """Whether a verb has two senses.

    Attributes:
        verb: The verb.
        gain: What a second sense adds to the log ratio per frame of what is said of a clip that was
            not learned from, on average over clips.
        error: The standard error of that.
    """

    verb: str
    gain: float
    error: float

    def __str__(self) -> str:
        decided = "kept" if self.is_split else "not kept"
        return f"{self.verb} {self.gain:+.2f} ± {self.error:.2f} per frame, {decided}"

    @property
    def is_split(self) -> bool:
        """Whether two senses are better, beyond what chance explains."""
        return self.gain > _STANDARD_ERRORS * self.error


def with_senses(word: WordModel, emissions: Sequence[Sequence[Array]]) -> WordModel:
    """Return a word of one sense with several, which begin alike but for their emissions.

    Args:
        word: The word.
        emissions: Per sense the emissions of its states.
    """
    several = np.eye(len(emissions))
    return replace(
        word,
        initial=np.tile(word.initial, len(emissions)) / len(emissions),
        transition=np.asarray(np.kron(several, word.transition), dtype=np.float64),
        final=np.tile(word.final, len(emissions)),
        emissions=tuple(np.concatenate(tables) for tables in zip(*emissions, strict=True)),
        senses=len(emissions),
    )


def split_senses(
    learned: LearnedLexicon, corpus: Corpus, settings: TrainingSettings, *, threads: int = 1
) -> tuple[dict[str, WordModel], list[SenseTest]]:
    """Ask of every verb that is said often enough whether it has two senses.

    Args:
        learned: The words, each with one sense.
        corpus: What they were learned from.
        settings: Settings of training.
        threads: Number of clips to work on at once.

    Returns:
        The verbs that have two, and what was found of each verb that was asked about.
    """
    asking = _Asking(learned, corpus, settings, threads)
    split: dict[str, WordModel] = {}
    tests = []
    for verb in asking.verbs():
        tests.append(asking.test(verb))
        if tests[-1].is_split:
            split[verb] = asking.two_senses(verb, asking.said_of[verb])
    return split, tests


class _Asking:
    """Learns verbs with one sense and with two, all other words being given."""

    def __init__(
        self, learned: LearnedLexicon, corpus: Corpus, settings: TrainingSettings, threads: int
    ) -> None:
        self.learned, self.corpus = learned, corpus
        self.settings, self.threads = settings, threads
        self.said_of: dict[str, list[int]] = {
            verb.name: [] for verb in corpus.lexicon.of_part(PartOfSpeech.VERB)
        }
        for number, example in enumerate(corpus.examples):
            for verb in {word.entry for one in example.sentences for word in one.words}:
                if verb in self.said_of:
                    self.said_of[verb].append(number)
        self.held_out = leave_one_out(
            learned, corpus, settings.smoothing, noise=settings.noise, threads=threads
        )
        rng = np.random.default_rng([settings.random_state, 20_000])
        self.part = rng.permutation(len(corpus.examples)) % _PARTS

    def verbs(self) -> Iterator[str]:
        for verb, numbers in self.said_of.items():
            word = self.learned.words.get(verb)
            if word is not None and word.num_states > 1 and len(numbers) >= _LEAST_CLIPS:
                yield verb

    def test(self, verb: str) -> SenseTest:
        """Compare both variants where each clip is explained by what was learned without it."""
        gains: list[float] = []
        for part in range(_PARTS):
            numbers = self.said_of[verb]
            kept = [number for number in numbers if self.part[number] != part]
            left_out = [number for number in numbers if self.part[number] == part]
            one = self._log_ratios(self._refit(self.learned[verb], kept)[0], left_out)
            two = self._log_ratios(self.two_senses(verb, kept), left_out)
            gains += [after - before for before, after in zip(one, two, strict=True)]
        error = float(np.std(gains, ddof=1) / np.sqrt(len(gains)))
        return SenseTest(verb, float(np.mean(gains)), error)

    def two_senses(self, verb: str, numbers: Sequence[int]) -> WordModel:
        """Learn a verb with two senses from some clips."""
        found = [self._refit(start, numbers) for start in self._starts(verb, numbers)]
        return max(found, key=lambda pair: pair[1])[0]

    def _starts(self, verb: str, numbers: Sequence[int]) -> Iterator[WordModel]:
        """Divide clips by what differs most in how they show the verb, in a few ways."""
        table, word = self.learned.tables[verb], self.learned[verb]

        def shown(chunk: Sequence[TrainingExample]) -> list[tuple[Array, ...]]:
            found = []
            for example in chunk:
                _, counts = self._counts([example], self.learned)
                found.append(table.emission_counts(counts[verb]))
            return found

        examples = [self.corpus.examples[number] for number in numbers]
        clips = [one for part in map_chunks(examples, shown, self.threads) for one in part]
        totals = [np.sum(tables, axis=0) for tables in zip(*clips, strict=True)]
        rows = np.array([np.concatenate([_shares(one).ravel() for one in clip]) for clip in clips])
        directions = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[0].T
        pseudo = self.settings.smoothing.of(word)
        for direction in directions[:_DIRECTIONS]:
            first = np.where(direction > np.median(direction), _OWN_SENSE, 1 - _OWN_SENSE)
            senses = []
            for weights in (first, 1 - first):
                own = [
                    sum(w * table for w, table in zip(weights, tables, strict=True))
                    for tables in zip(*clips, strict=True)
                ]
                # What few clips leave open is as for all of them.
                senses.append(
                    [
                        _shares(counted + pseudo * _shares(total + 1e-3))
                        for counted, total in zip(own, totals, strict=True)
                    ]
                )
            yield with_senses(word, senses)

    def _refit(self, start: WordModel, numbers: Sequence[int]) -> tuple[WordModel, float]:
        """Iterate EM for one word on some clips; return it and the log likelihood before."""
        examples = [self.corpus.examples[number] for number in numbers]
        word, value = start, -np.inf
        for _ in range(_ITERATIONS):
            lexicon = self.learned.with_words({**self.learned.words, start.entry: word})
            value, counts = self._counts(examples, lexicon)
            words = m_step(
                {start.entry: lexicon.tables[start.entry]},
                counts,
                lexicon.background,
                self.settings.smoothing,
            )
            word = words[start.entry]
        return word, value

    def _log_ratios(self, word: WordModel, numbers: Sequence[int]) -> list[float]:
        """Return per clip the mean log ratio per frame of the sentences that have a word."""
        ratios = []
        for number in numbers:
            example = self.corpus.examples[number]
            others = {**self.learned.words, **self.held_out.changed[number]}
            lexicon = self.learned.with_words({**others, word.entry: word})
            said = [
                one for one in example.sentences if any(w.entry == word.entry for w in one.words)
            ]
            values = lexicon.scorer(example.observation).log_ratios(said)
            ratios.append(float(np.mean(values)) / max(1, example.observation.num_frames))
        return ratios

    def _counts(
        self, examples: Sequence[TrainingExample], lexicon: LearnedLexicon
    ) -> tuple[float, CountsByWord]:
        prior, noise = lexicon.track_prior, self.settings.noise
        return expected_counts(examples, lexicon.tables, prior, noise=noise, threads=self.threads)


def _shares(counts: Array) -> Array:
    """Return distributions of counts; without any, none is likelier than another."""
    known = counts + 1e-9
    return np.asarray(known / known.sum(axis=-1, keepdims=True))
