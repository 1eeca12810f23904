"""The training corpus: clips with true sentences and false candidates, and initial words."""

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError, MeaningWarning
from wordsight.language import Lexicon, PartOfSpeech, near_misses
from wordsight.language.english.verbs import sense_of
from wordsight.meaning.features import (
    LABEL,
    FeatureSet,
    FeatureVocabulary,
    Observation,
    taught_meaning,
)
from wordsight.meaning.features.observation import Layout
from wordsight.meaning.model.calibration import FilledRole, RolePriors, filled_roles
from wordsight.meaning.model.lexicon import verb_of
from wordsight.meaning.model.word import WordModel, uniform_word
from wordsight.records import Sentence

__all__ = [
    "IMPOSSIBLE",
    "Corpus",
    "RolePriorCounts",
    "TrainingExample",
    "background_distributions",
    "build_corpus",
    "initial_nouns",
    "initial_words",
    "with_rivals",
]

Array = NDArray[np.float64]

_ANY_NOUN = ""
_PSEUDO_COUNT = 3.0  # questions behind every noun of a role, answered as often as the role's others

_JITTER = 0.1
"""Spread of the logarithms of a verb's initial emissions: enough to break ties between states."""

_PRESENCE_POWER = 6.0
"""How sharply a noun used in every clip prefers labels that are always visible."""

IMPOSSIBLE = 1e-9
"""Share of a label that a noun may not have."""

_UNIFORM_SHARE = 0.02  # of a noun's initial emissions that is uniform whatever its presence


@dataclass(frozen=True)
class TrainingExample:
    """One clip with its sentences.

    Attributes:
        observation: The clip.
        sentences: The true sentences.
        candidates: Sentences to choose among, true ones included; empty if there is no choice.
        truths: Indices of the true candidates.
        verbs: The verb of each candidate.
        role_ratios: Log ratio of each candidate by the role priors of all other clips; empty if
            role priors are not used.
    """

    observation: Observation
    sentences: tuple[Sentence, ...]
    candidates: tuple[Sentence, ...] = ()
    truths: tuple[int, ...] = ()
    verbs: tuple[str, ...] = ()
    role_ratios: tuple[float, ...] = ()


def with_rivals(examples: Sequence[TrainingExample]) -> list[TrainingExample]:
    """Return the examples that have both true and false candidates."""
    return [e for e in examples if 0 < len(e.truths) < len(e.candidates)]


@dataclass(frozen=True)
class Corpus:
    """All examples, and the lexicon of their sentences.

    Attributes:
        examples: Clips with sentences.
        lexicon: The grammar.
        role_priors: Which nouns fill the roles of verbs.
        noun_labels: Which labels a noun may have, where not all; see
            :mod:`~wordsight.meaning.training.naming`.
        unseen_nouns: Nouns whose things the detector misses, so that they are no evidence of truth.
        judged: Whether it is known which candidates are false; near misses may be true as well.
    """

    examples: tuple[TrainingExample, ...]
    lexicon: Lexicon
    role_priors: RolePriors = field(default_factory=RolePriors)
    noun_labels: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    unseen_nouns: frozenset[str] = frozenset()
    judged: bool = False

    @property
    def entries(self) -> tuple[str, ...]:
        """All words that occur in sentences or candidates, in the order of the lexicon."""
        used = _words_of(
            sentence
            for example in self.examples
            for sentence in (*example.sentences, *example.candidates)
        )
        return tuple(entry.name for entry in self.lexicon if entry.name in used)

    @property
    def num_pairs(self) -> int:
        """Number of pairs of a clip and a true sentence."""
        return sum(len(example.sentences) for example in self.examples)


def build_corpus(
    observations: Sequence[Observation],
    sentences: Sequence[Sequence[Sentence]],
    lexicon: Lexicon,
    *,
    candidates: Sequence[Sequence[Sentence]] | None = None,
    max_candidates: int = 40,
    role_priors: bool = True,
    random_state: int = 0,
    noun_labels: Mapping[str, NDArray[np.bool_]] | None = None,
) -> Corpus:
    """Build a corpus; clips without detections are left out with a warning.

    Args:
        observations: The clips.
        sentences: Per clip its true sentences.
        lexicon: The grammar.
        candidates: Per clip the sentences to choose among; near misses of the true ones if not
            given.
        max_candidates: Number of near misses to keep per clip, drawn at random.
        role_priors: Whether to count which nouns fill the roles of verbs.
        random_state: Seed of that draw.
        noun_labels: Which labels a noun may have; a rival with another noun of the same labels, or
            another verb of the same sense, is not known to be false and is left out.
    """
    rng = np.random.default_rng(random_state)
    examples: list[TrainingExample] = []
    empty: list[Sequence[Sentence]] = []
    for number, (observation, true) in enumerate(zip(observations, sentences, strict=True)):
        if not true or not observation.view.present.any():
            empty += [true] if true else []
            continue
        if candidates is None:
            rivals: Sequence[Sentence] = _near_misses(
                true, lexicon, max_candidates, rng, noun_labels or {}
            )
        else:
            rivals = _known_false(candidates[number], true, lexicon, noun_labels or {})
        examples.append(_example(observation, true, rivals, lexicon))
    if empty:
        warnings.warn(
            f"{len(empty)} of {len(observations)} clips are left out of training: nothing was "
            f"detected in them that could be followed.{_unlearned_words(empty, examples)}",
            MeaningWarning,
            stacklevel=3,
        )
    if not examples:
        raise MeaningError(
            "there is nothing to learn from: no clip has both a detection and a sentence. Check "
            "that detections were made and that clips and sentences belong together."
        )
    judged = candidates is not None
    corpus = Corpus(tuple(examples), lexicon, noun_labels=noun_labels or {}, judged=judged)
    return _with_role_priors(corpus, _same_things(noun_labels or {})) if role_priors else corpus


def _same_things(noun_labels: Mapping[str, NDArray[np.bool_]]) -> dict[str, str]:
    """Return for each noun the first one that may have the same labels."""
    first: dict[bytes, str] = {}
    return {noun: first.setdefault(may.tobytes(), noun) for noun, may in noun_labels.items()}


def _unlearned_words(
    empty: Sequence[Sequence[Sentence]], examples: Sequence[TrainingExample]
) -> str:
    """Name the words that occur with clips without detections only."""
    learned = _words_of(sentence for example in examples for sentence in example.sentences)
    lost = sorted(_words_of(sentence for several in empty for sentence in several) - learned)
    return f" Nothing can be learned of: {', '.join(lost)}." if lost else ""


def _words_of(sentences: Iterable[Sentence]) -> set[str]:
    return {word.entry for sentence in sentences for word in sentence.words}


def _example(
    observation: Observation,
    true: Sequence[Sentence],
    rivals: Sequence[Sentence],
    lexicon: Lexicon,
) -> TrainingExample:
    # Several texts with the same meaning are one candidate.
    by_meaning = {sentence.words: sentence for sentence in (*true, *rivals)}
    meanings = {sentence.words for sentence in true}
    kept = tuple(by_meaning.values())
    return TrainingExample(
        observation,
        tuple(true),
        kept,
        tuple(number for number, sentence in enumerate(kept) if sentence.words in meanings),
        tuple(verb_of(sentence, lexicon) for sentence in kept),
    )


def _near_misses(
    true: Sequence[Sentence],
    lexicon: Lexicon,
    most: int,
    rng: np.random.Generator,
    noun_labels: Mapping[str, NDArray[np.bool_]],
) -> list[Sentence]:
    by_meaning = {miss.words: miss for sentence in true for miss in near_misses(sentence, lexicon)}
    misses = _known_false(by_meaning.values(), true, lexicon, noun_labels)
    if len(misses) <= most:
        return misses
    return [misses[place] for place in np.sort(rng.choice(len(misses), most, replace=False))]


def _known_false(
    rivals: Iterable[Sentence],
    true: Sequence[Sentence],
    lexicon: Lexicon,
    noun_labels: Mapping[str, NDArray[np.bool_]],
) -> list[Sentence]:
    """Leave out rivals that say the same with another noun or verb."""

    def appearance(sentence: Sentence) -> frozenset[tuple[object, tuple[int, ...]]]:
        return frozenset(
            (_look(w.entry, lexicon, noun_labels), w.participants) for w in sentence.words
        )

    known = set(map(appearance, true))
    return [one for one in rivals if appearance(one) not in known]


def _look(entry: str, lexicon: Lexicon, noun_labels: Mapping[str, NDArray[np.bool_]]) -> object:
    """Return what nouns of the same labels and verbs of the same sense have in common."""
    if entry in noun_labels:
        return noun_labels[entry].tobytes()
    return sense_of(lexicon[entry]) if lexicon[entry].part is PartOfSpeech.VERB else entry


def _with_role_priors(corpus: Corpus, alike: Mapping[str, str]) -> Corpus:
    """Count role priors; every example has those of all others, so their weight can be fitted."""
    counts = RolePriorCounts(corpus.lexicon, alike)
    for example in corpus.examples:
        counts.add(example.candidates, example.truths)
    examples = tuple(
        replace(example, role_ratios=counts.without(example.candidates, example.truths))
        for example in corpus.examples
    )
    return replace(corpus, examples=examples, role_priors=counts.role_priors())


class RolePriorCounts:
    """How often each noun was a candidate, and was true, in each role of each verb.

    Args:
        lexicon: The grammar.
        alike: Nouns of the same things, each with the one they are counted as.
    """

    def __init__(self, lexicon: Lexicon, alike: Mapping[str, str] | None = None) -> None:
        self._lexicon = lexicon
        self._alike = alike or {}
        # Of single nouns, and under an empty name of all nouns in a role together.
        self._asked: Counter[FilledRole] = Counter()
        self._true: Counter[FilledRole] = Counter()

    def add(self, candidates: Sequence[Sentence], truths: Iterable[int], times: int = 1) -> None:
        """Count candidates, and which of them are true; ``times=-1`` undoes it."""
        true = set(truths)
        for number, sentence in enumerate(candidates):
            for verb, place, noun in self._roles(sentence):
                for name in (noun, _ANY_NOUN):
                    self._asked[verb, place, name] += times
                    self._true[verb, place, name] += times * (number in true)

    def without(self, candidates: Sequence[Sentence], truths: Iterable[int]) -> tuple[float, ...]:
        """Return the log ratio of each candidate by all other questions."""
        true = tuple(truths)
        self.add(candidates, true, times=-1)
        values = [sum(map(self._ratio, self._roles(one))) for one in candidates]
        self.add(candidates, true)
        return tuple(values)

    def role_priors(self) -> RolePriors:
        """Return the log ratios, with weight 1."""
        ratios: dict[str, tuple[dict[str, float], ...]] = {}
        for verb, place, noun in self._asked:
            if noun != _ANY_NOUN:
                rows = ratios.setdefault(verb, tuple({} for _ in self._lexicon[verb].roles))
                rows[place][noun] = self._ratio((verb, place, noun))
        for row in (row for rows in ratios.values() for row in rows):
            row |= {noun: row[first] for noun, first in self._alike.items() if first in row}
        return RolePriors(ratios, 1.0)

    def _roles(self, sentence: Sentence) -> Iterator[FilledRole]:
        for verb, place, noun in filled_roles(sentence, self._lexicon):
            yield verb, place, self._alike.get(noun, noun)

    def _ratio(self, role: FilledRole) -> float:
        whole = (*role[:2], _ANY_NOUN)
        if self._true[whole] <= 0:
            return 0.0
        mean = self._true[whole] / self._asked[whole]
        rate = (self._true[role] + _PSEUDO_COUNT * mean) / (self._asked[role] + _PSEUDO_COUNT)
        return float(np.log(rate / mean))


def background_distributions(
    observations: Sequence[Observation], vocabulary: FeatureVocabulary, *, uniform: bool = False
) -> dict[str, Array]:
    """Return the distribution of the bins of each feature over a corpus.

    Args:
        observations: The clips.
        vocabulary: The bins.
        uniform: Whether to take all bins as equally frequent, as Eq. 10 of the paper does.
    """
    if uniform:
        return {name: np.full(len(bins), 1 / len(bins)) for name, bins in vocabulary.bins.items()}
    result = {}
    for names, kind in ((vocabulary.singles, "singles"), (vocabulary.pairs, "pairs")):
        layout = Layout.of(names, vocabulary)
        counts = np.zeros(layout.length)
        for observation in observations:
            counts += np.bincount(getattr(observation, kind).ravel(), minlength=layout.length)
        for name in names:
            # A thousandth of a count for every bin: none is impossible.
            own = counts[layout.place(name)] + 1e-3
            result[name] = own / own.sum()
    return result


def initial_words(
    corpus: Corpus,
    features: FeatureSet,
    vocabulary: FeatureVocabulary,
    rng: np.random.Generator,
    *,
    forced_end: bool = True,
    forward: bool = True,
    skips: bool = False,
    presence: bool = True,
) -> dict[str, WordModel]:
    """Return the words EM starts from: near uniform, but for nouns and what was taught.

    Args:
        corpus: The training corpus.
        features: The features of each part of speech.
        vocabulary: The bins.
        rng: Random numbers, by which restarts differ.
        forced_end: Whether the last state must be reached when the clip ends.
        forward: Whether states follow each other from left to right.
        skips: Whether any of them may then come first, and states be left out.
        presence: Whether nouns start as :func:`initial_nouns` returns them.
    """
    nouns = initial_nouns(corpus, vocabulary) if presence else {}
    words = {}
    for name in corpus.entries:
        entry = corpus.lexicon[name]
        word = uniform_word(
            entry, features, vocabulary, forced_end=forced_end, forward=forward, skips=skips
        )
        emissions = []
        for slot, table in zip(word.slots, word.emissions, strict=True):
            known = nouns.get(name) if slot.feature == LABEL else taught_meaning(slot.feature, name)
            emissions.append(_jittered(table, rng) if known is None else known[None])
        words[name] = replace(word, emissions=tuple(emissions))
    return words


def initial_nouns(corpus: Corpus, vocabulary: FeatureVocabulary) -> dict[str, Array]:
    """Return the initial ``(labels,)`` distribution of every noun.

    A noun that occurs with every clip ("person") has no contrast to learn from, and likelihood
    alone would let it settle on rare objects. What it refers to must be visible whenever it is
    used, so the more often a noun is used, the more it prefers labels that always are.
    """
    presence = np.stack([_label_presence(e.observation, vocabulary) for e in corpus.examples])
    mean = presence.mean(axis=0)
    initial = {}
    for entry in corpus.lexicon.of_part(PartOfSpeech.NOUN):
        used = np.array([entry.name in _words_of(e.sentences) for e in corpus.examples])
        visible = (presence[used].sum(axis=0) + mean) / (used.sum() + 1) + 1e-3
        shares = visible ** (_PRESENCE_POWER * used.mean() ** 2)
        shares = (1 - _UNIFORM_SHARE) * shares / shares.sum() + _UNIFORM_SHARE / len(shares)
        may = corpus.noun_labels.get(entry.name, True)
        shares = np.where(may, shares, IMPOSSIBLE)
        initial[entry.name] = shares / shares.sum()
    return initial


def _label_presence(observation: Observation, vocabulary: FeatureVocabulary) -> Array:
    """Return ``(labels,)`` the share of frames in which an object of each label is visible."""
    layout = Layout.of(vocabulary.singles, vocabulary)
    labels = observation.singles[0] - layout.place(vocabulary.singles[0]).start
    shares = [(labels == label).any(axis=1).mean() for label in range(len(vocabulary.labels))]
    return np.array(shares, dtype=np.float64)


def _jittered(table: Array, rng: np.random.Generator) -> Array:
    values = table * np.exp(_JITTER * rng.standard_normal(table.shape))
    return np.asarray(values / values.sum(axis=-1, keepdims=True))
