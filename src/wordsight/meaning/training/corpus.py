"""Training material: clips with true sentences, and the false ones they compete with."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.language import Lexicon, PartOfSpeech, near_misses
from wordsight.meaning.errors import MeaningError, MeaningWarning
from wordsight.meaning.features import LABEL, FeatureSet, FeatureVocabulary, Observation
from wordsight.meaning.features.observation import Layout
from wordsight.meaning.model.lexicon import verb_of
from wordsight.meaning.model.role_priors import RolePriorCounts, RolePriors
from wordsight.meaning.model.word import WordModel, uniform_word
from wordsight.records import Sentence

__all__ = [
    "Corpus",
    "TrainingExample",
    "background_distributions",
    "build_corpus",
    "initial_nouns",
    "initial_words",
    "label_presence",
]


Array = NDArray[np.float64]


@dataclass(frozen=True)
class TrainingExample:
    """One clip with all that is said of it.

    Attributes:
        seen: The clip.
        sentences: The true sentences.
        candidates: Sentences to choose among, true ones included; empty if there is no choice.
        truths: Which candidates are true.
        verbs: The verb of each candidate.
        usual: How usual each candidate is by all other clips; empty if that does not count.
    """

    seen: Observation
    sentences: tuple[Sentence, ...]
    candidates: tuple[Sentence, ...] = ()
    truths: tuple[int, ...] = ()
    verbs: tuple[str, ...] = ()
    usual: tuple[float, ...] = ()


@dataclass(frozen=True)
class Corpus:
    """All examples, and the words they are told in.

    Attributes:
        examples: Clips with sentences.
        lexicon: How the words combine.
        habits: What is usually said of them.
    """

    examples: tuple[TrainingExample, ...]
    lexicon: Lexicon
    habits: RolePriors = field(default_factory=RolePriors)

    @property
    def entries(self) -> tuple[str, ...]:
        """All words that occur in sentences or candidates, in the order of the lexicon."""
        used = {
            word.entry
            for example in self.examples
            for sentence in (*example.sentences, *example.candidates)
            for word in sentence.words
        }
        return tuple(entry.name for entry in self.lexicon if entry.name in used)

    @property
    def num_pairs(self) -> int:
        """How many pairs of a clip and a true sentence there are."""
        return sum(len(example.sentences) for example in self.examples)


def build_corpus(
    observations: Sequence[Observation],
    sentences: Sequence[Sequence[Sentence]],
    lexicon: Lexicon,
    *,
    candidates: Sequence[Sequence[Sentence]] | None = None,
    most_candidates: int = 40,
    habits: bool = True,
    random_state: int = 0,
) -> Corpus:
    """Gather clips and sentences; clips in which nothing was seen are left out with a warning.

    Args:
        observations: The clips.
        sentences: Per clip its true sentences.
        lexicon: How the words combine.
        candidates: Per clip the sentences to choose among; near misses of the true ones if not
            given.
        most_candidates: How many near misses to keep per clip, drawn at random.
        habits: Whether to learn what is usually said, and of whom.
        random_state: Seed of that draw.
    """
    rng = np.random.default_rng(random_state)
    examples: list[TrainingExample] = []
    empty: list[Sequence[Sentence]] = []
    for number, (seen, said) in enumerate(zip(observations, sentences, strict=True)):
        if not said or not seen.view.present.any():
            empty += [said] if said else []
            continue
        rivals = candidates[number] if candidates is not None else ()
        if candidates is None:
            rivals = _near_misses(said, lexicon, most_candidates, rng)
        examples.append(_example(seen, said, rivals, lexicon))
    if empty:
        warnings.warn(
            f"{len(empty)} of {len(observations)} clips are left out of training: nothing was "
            f"detected in them.{_unlearned_words(empty, examples)}",
            MeaningWarning,
            stacklevel=3,
        )
    if not examples:
        raise MeaningError(
            "there is nothing to learn from: no clip has both a detection and a sentence. Check "
            "that detections were made and that clips and sentences belong together."
        )
    corpus = Corpus(tuple(examples), lexicon)
    return _with_role_priors(corpus) if habits else corpus


def _unlearned_words(
    empty: Sequence[Sequence[Sentence]], examples: Sequence[TrainingExample]
) -> str:
    """Name the words that were said of clips without detections only."""
    heard = _words_of(sentence for example in examples for sentence in example.sentences)
    lost = sorted(_words_of(sentence for said in empty for sentence in said) - heard)
    return f" Nothing can be learned of: {', '.join(lost)}." if lost else ""


def _words_of(sentences: Iterable[Sentence]) -> set[str]:
    return {word.entry for sentence in sentences for word in sentence.words}


def _with_role_priors(corpus: Corpus) -> Corpus:
    """Learn what is usually said; every example is told what the others make of it."""
    counts = RolePriorCounts(corpus.lexicon)
    for example in corpus.examples:
        counts.add(example.candidates, example.truths)
    told = tuple(
        replace(example, usual=counts.without(example.candidates, example.truths))
        for example in corpus.examples
    )
    return replace(corpus, examples=told, habits=counts.habits())


def _example(
    seen: Observation, said: Sequence[Sentence], rivals: Sequence[Sentence], lexicon: Lexicon
) -> TrainingExample:
    # The same meaning said in other words is one candidate.
    by_meaning = {sentence.words: sentence for sentence in (*said, *rivals)}
    true = {sentence.words for sentence in said}
    kept = tuple(by_meaning.values())
    return TrainingExample(
        seen,
        tuple(said),
        kept,
        tuple(number for number, sentence in enumerate(kept) if sentence.words in true),
        tuple(verb_of(sentence, lexicon) for sentence in kept),
    )


def _near_misses(
    said: Sequence[Sentence], lexicon: Lexicon, most: int, rng: np.random.Generator
) -> list[Sentence]:
    found = {miss.words: miss for sentence in said for miss in near_misses(sentence, lexicon)}
    misses = list(found.values())
    if len(misses) <= most:
        return misses
    return [misses[place] for place in np.sort(rng.choice(len(misses), most, replace=False))]


def background_distributions(
    observations: Sequence[Observation], vocabulary: FeatureVocabulary, *, uniform: bool = False
) -> dict[str, Array]:
    """Return how the bins of each feature are distributed over everything seen in a corpus.

    Args:
        observations: The clips.
        vocabulary: The bins.
        uniform: Whether to take all bins as equally frequent, as the paper's Eq. 10 does.
    """
    if uniform:
        return {name: np.full(len(bins), 1 / len(bins)) for name, bins in vocabulary.bins.items()}
    result = {}
    for names, kind in ((vocabulary.singles, "singles"), (vocabulary.pairs, "pairs")):
        layout = Layout.of(names, vocabulary)
        counts = np.zeros(layout.length)
        for seen in observations:
            counts += np.bincount(getattr(seen, kind).ravel(), minlength=layout.length)
        for name in names:
            # A thousandth of a sight for every bin: none is impossible.
            mine = counts[layout.place(name)] + 1e-3
            result[name] = mine / mine.sum()
    return result


def label_presence(seen: Observation, vocabulary: FeatureVocabulary) -> Array:
    """Return ``(labels,)`` in which share of the frames a thing of each label is in sight."""
    layout = Layout.of(vocabulary.singles, vocabulary)
    start = layout.place(vocabulary.singles[0]).start
    labels = seen.singles[0] - start
    shares = [(labels == label).any(axis=1).mean() for label in range(len(vocabulary.labels))]
    return np.array(shares, dtype=np.float64)


# Where EM starts: verbs near uniform, nouns uniform unless they are said of nearly every clip.
#
# A noun said everywhere ("person") has no contrast to learn from, and likelihood alone would let it
# settle on rare things that happen to cover the corpus. What it speaks of must be in sight whenever
# it is said, so the more often a noun is said, the more its start prefers labels that always are.


_JITTER = 0.1
"""Spread of the logarithms of a verb's start: enough to break ties between its states."""

_PRESENCE_POWER = 6.0
"""How sharply a noun said of every clip prefers labels that are always in sight."""

_ESCAPE = 0.02  # share of a noun's start that is uniform whatever its presence


def initial_words(
    corpus: Corpus,
    features: FeatureSet,
    vocabulary: FeatureVocabulary,
    rng: np.random.Generator,
    *,
    forced_end: bool = True,
    forward: bool = True,
    presence: bool = True,
) -> dict[str, WordModel]:
    """Return the words EM starts from.

    Args:
        corpus: The training material.
        features: What parts of speech look at.
        vocabulary: The bins.
        rng: Chance; restarts differ in it.
        forced_end: Whether an event must have ended with its clip.
        forward: Whether states are gone through from left to right.
        presence: Whether frequent nouns start at labels that are in sight whenever they are said.
    """
    nouns = initial_nouns(corpus, vocabulary) if presence else {}
    words = {}
    for entry in corpus.entries:
        found = corpus.lexicon[entry]
        word = uniform_word(found, features, vocabulary, forced_end=forced_end, forward=forward)
        emissions = tuple(
            nouns[entry][None]
            if entry in nouns and slot.feature == LABEL
            else _jittered(table, rng)
            for slot, table in zip(word.slots, word.emissions, strict=True)
        )
        words[entry] = replace(word, emissions=emissions)
    return words


def initial_nouns(corpus: Corpus, vocabulary: FeatureVocabulary) -> dict[str, Array]:
    """Return the ``(labels,)`` distribution every noun starts from."""
    presence = np.stack([label_presence(e.seen, vocabulary) for e in corpus.examples])
    usual = presence.mean(axis=0)
    starts = {}
    for entry in corpus.lexicon.of_part(PartOfSpeech.NOUN):
        said = np.array([_says(example.sentences, entry.name) for example in corpus.examples])
        seen = (presence[said].sum(axis=0) + usual) / (said.sum() + 1) + 1e-3
        start = seen ** (_PRESENCE_POWER * said.mean() ** 2)
        starts[entry.name] = (1 - _ESCAPE) * start / start.sum() + _ESCAPE / len(start)
    return starts


def _says(sentences: tuple[Sentence, ...], entry: str) -> bool:
    return any(word.entry == entry for sentence in sentences for word in sentence.words)


def _jittered(table: Array, rng: np.random.Generator) -> Array:
    values = table * np.exp(_JITTER * rng.standard_normal(table.shape))
    return np.asarray(values / values.sum(axis=-1, keepdims=True))
