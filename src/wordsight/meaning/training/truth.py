"""Learning when words are true, from sentences that were said of clips and others that were not.

Every clip is judged by the words as they would be without it, so that what is learned here holds
for clips that are new.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from wordsight.evaluation import best_threshold
from wordsight.language import PartOfSpeech
from wordsight.meaning.model.belief import NUM_ASSIGNMENTS, Belief, log_sigmoid
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.scoring.evidence import NUM_EVIDENCE, is_judged_in_event, num_evidence
from wordsight.meaning.training.corpus import Corpus
from wordsight.meaning.training.em import map_chunks
from wordsight.meaning.training.leave_one_out import LeaveOneOut
from wordsight.records import Sentence

__all__ = ["fit_belief", "fit_threshold"]


Array = NDArray[np.float64]
Ints = NDArray[np.int64]
_Row = tuple[Array, list[str], bool]  # evidence, words, whether they were said

_MOST_PAIRS = 6000  # of clips and sentences, where things are tracks
_MOST_LATTICES = 600  # where they are not, and every sentence is a lattice of its own
_OTHERS = 20  # sentences said of other clips that compete in each clip
_SLOPE = 4.0  # prior slope of a word with one feature; dependent features and traits share it
_OFFSET = -1.0  # prior log odds of a word whose evidence is nil
# How firmly slopes, offsets, and offsets of words beside a verb are held, in pairs.
_SLOPE_PRIOR, _OFFSET_PRIOR, _BESIDE_PRIOR = 0.3, 0.1, 1.0
_CERTAIN = -1e-9  # no sentence is believed more than this, so that one mistake is no catastrophe


@dataclass(frozen=True)
class _Names:
    """What the parameters belong to.

    Attributes:
        words: The words.
        beside: Each verb with each word that may be said beside it.
    """

    words: tuple[str, ...]
    beside: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, models: Mapping[str, WordModel]) -> "_Names":
        verbs = [name for name, word in models.items() if word.part is PartOfSpeech.VERB]
        others = [name for name, word in models.items() if is_judged_in_event(word)]
        return cls(tuple(models), tuple((verb, name) for verb in verbs for name in others))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """How many slopes, offsets, and offsets beside verbs there are."""
        return NUM_EVIDENCE * len(self.words), len(self.words), len(self.beside)


@dataclass(frozen=True)
class _Pairs:
    """N pairs of a clip and a sentence with C choices of things and L words, padded.

    Attributes:
        evidence: ``(N, C, L, TRAITS)`` log ratios per frame.
        there: ``(N, C)`` which choices there are.
        words: ``(N, L)`` number of each word, -1 where there is none.
        beside: ``(N, L)`` number of each word beside its verb, -1 where it goes with none.
        said: ``(N,)`` whether the sentence was said of the clip.
    """

    evidence: Array
    there: NDArray[np.bool_]
    words: Ints
    beside: Ints
    said: NDArray[np.bool_]


def fit_belief(
    apart: LeaveOneOut, corpus: Corpus, *, threads: int = 1, random_state: int = 0
) -> Belief | None:
    """Fit slopes and offsets so that what was said is believed and other sentences are not.

    Args:
        apart: The words, and what each clip changed in them.
        corpus: Clips with sentences and near misses; sentences of other clips compete, too.
        threads: How many clips to work on at once.
        random_state: Seed of which sentences compete.

    Returns:
        The belief, or None where nothing but true sentences can be told.
    """
    names = _Names.of(apart.lexicon.words)
    rivals = _rivals(corpus, np.random.default_rng(random_state))
    if not any(rivals):
        return None

    def work(numbers: Sequence[int]) -> list[_Row]:
        return [row for n in numbers for row in _looked(apart, corpus, n, rivals[n])]

    parts = map_chunks(range(len(corpus.examples)), work, threads)
    pairs = _padded([row for part in parts for row in part], names)
    return _fitted(pairs, names, apart.lexicon.words)


def _rivals(corpus: Corpus, rng: np.random.Generator) -> list[list[Sentence]]:
    """Return per clip sentences that were not said of it."""
    tracked = all(example.seen.tracked for example in corpus.examples)
    total = _MOST_PAIRS if tracked else _MOST_LATTICES
    most = max(4, total // len(corpus.examples))
    pool = {s.words: s for example in corpus.examples for s in example.sentences}
    found = []
    for example in corpus.examples:
        said = {sentence.words for sentence in example.sentences}
        near = {s.words: s for s in example.candidates if s.words not in said}
        far = [s for words, s in pool.items() if words not in said and words not in near]
        chosen = [*near.values(), *_drawn(far, _OTHERS, rng)]
        found.append(_drawn(chosen, most, rng))
    return found


def _drawn(sentences: list[Sentence], most: int, rng: np.random.Generator) -> list[Sentence]:
    if len(sentences) <= most:
        return sentences
    return [sentences[n] for n in np.sort(rng.choice(len(sentences), most, replace=False))]


def _looked(
    apart: LeaveOneOut, corpus: Corpus, number: int, rivals: Sequence[Sentence]
) -> list[_Row]:
    example = corpus.examples[number]
    reading = apart.without(number).read(example.seen)
    return [
        (
            reading.evidence(sentence, NUM_ASSIGNMENTS),
            [word.entry for word in sentence.words],
            place < len(example.sentences),
        )
        for place, sentence in enumerate((*example.sentences, *rivals))
    ]


def _padded(rows: Sequence[_Row], names: _Names) -> _Pairs:
    count, longest = len(rows), max((len(words) for _, words, _ in rows), default=0)
    evidence = np.zeros((count, NUM_ASSIGNMENTS, longest, NUM_EVIDENCE))
    there = np.zeros((count, NUM_ASSIGNMENTS), dtype=np.bool_)
    numbers, beside = np.full((2, count, longest), -1, dtype=np.int64)
    places = {name: number for number, name in enumerate(names.words)}
    couples = {couple: number for number, couple in enumerate(names.beside)}
    verbs = {verb for verb, _ in names.beside}
    for n, (found, words, _) in enumerate(rows):
        evidence[n, : len(found), : len(words)] = found
        there[n, : len(found)] = True
        numbers[n, : len(words)] = [places[word] for word in words]
        verb = next((word for word in words if word in verbs), "")
        beside[n, : len(words)] = [couples.get((verb, word), -1) for word in words]
    said = np.array([said for _, _, said in rows], dtype=np.bool_)
    return _Pairs(evidence, there, numbers, beside, said)


def _fitted(pairs: _Pairs, names: _Names, words: Mapping[str, WordModel]) -> Belief | None:
    if pairs.said.all() or not pairs.said.any():
        return None
    start, hold = _prior(names, words)

    def loss(values: Array) -> tuple[float, Array]:
        value, slope = _misfit(pairs, values, names)
        strayed = values - start
        return value + float(hold @ strayed**2), slope + 2 * hold * strayed

    # Slopes stay within a factor of e^4 of the prior's: a word nobody doubts must not run away.
    slopes = names.sizes[0]
    bounds = [(s - 4, s + 4) for s in start[:slopes]] + [(-30.0, 30.0)] * (len(start) - slopes)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return _belief(found.x, names, words)


def _prior(names: _Names, words: Mapping[str, WordModel]) -> tuple[Array, Array]:
    """Return where parameters start and are held, and how firmly."""
    shares = np.array([max(1, len(words[n].slots)) * num_evidence(words[n]) for n in names.words])
    start = np.concatenate(
        [
            np.repeat(np.log(_SLOPE / shares), NUM_EVIDENCE),
            np.full(names.sizes[1], _OFFSET),
            np.zeros(names.sizes[2]),
        ]
    )
    return start, np.repeat([_SLOPE_PRIOR, _OFFSET_PRIOR, _BESIDE_PRIOR], names.sizes)


def _parted(values: Array, names: _Names) -> tuple[Array, Array, Array]:
    """Return ``(W, TRAITS)`` slopes, ``(W,)`` offsets, and those beside verbs."""
    logs, offsets, beside = np.split(values, np.cumsum(names.sizes)[:-1])
    return np.exp(logs).reshape(-1, NUM_EVIDENCE), offsets, beside


def _belief(values: Array, names: _Names, words: Mapping[str, WordModel]) -> Belief:
    slopes, offsets, added = _parted(values, names)
    beside: dict[str, dict[str, float]] = {}
    for (verb, word), value in zip(names.beside, added.tolist(), strict=True):
        beside.setdefault(verb, {})[word] = value
    return Belief(
        {
            name: tuple(row[: num_evidence(words[name])])
            for name, row in zip(names.words, slopes.tolist(), strict=True)
        },
        dict(zip(names.words, offsets.tolist(), strict=True)),
        beside,
    )


def _misfit(pairs: _Pairs, values: Array, names: _Names) -> tuple[float, Array]:
    """Return minus the log likelihood of what was said and what was not, and its gradient."""
    slopes, offsets, beside = _parted(values, names)
    real, led = pairs.words >= 0, pairs.beside >= 0
    added = offsets[pairs.words]
    added[led] += beside[pairs.beside[led]]
    odds = (pairs.evidence * slopes[pairs.words][:, None]).sum(axis=3) + added[:, None]
    totals = np.where(pairs.there, (log_sigmoid(odds) * real[:, None]).sum(axis=2), -np.inf)
    rows, best = np.arange(len(totals)), totals.argmax(axis=1)
    sure = np.minimum(totals[rows, best], _CERTAIN)
    doubt = np.log(-np.expm1(sure))
    pull = np.where(pairs.said, -1.0, np.exp(sure - doubt))
    own = pull[:, None] * np.exp(log_sigmoid(-odds[rows, best]))
    moved = own[..., None] * slopes[pairs.words] * pairs.evidence[rows, best]
    steep = np.zeros_like(slopes)
    np.add.at(steep, pairs.words[real], moved[real])
    flat = np.bincount(pairs.words[real], own[real], len(offsets))
    aside = np.bincount(pairs.beside[led], own[led], len(beside))
    gradient = np.concatenate([steep.ravel(), flat, aside])
    return -float(np.where(pairs.said, sure, doubt).sum()), gradient


# When a sentence is true of a clip: the score that separates true from false ones best.


def fit_threshold(apart: LeaveOneOut, corpus: Corpus, *, threads: int = 1) -> float:
    """Return the score with the best F1 over all candidates of all training clips.

    Every clip is judged by the words as they would be without it. Without false candidates the
    threshold is 0: the sentence explains the clip better than the corpus does.
    """

    def work(numbers: Sequence[int]) -> tuple[list[float], list[bool]]:
        scores: list[float] = []
        truth: list[bool] = []
        for number in numbers:
            example = corpus.examples[number]
            found = apart.without(number).scores(example.seen, example.candidates)
            scores += np.maximum(found, -1e9).tolist()
            truth += [place in example.truths for place in range(len(found))]
        return scores, truth

    parts = map_chunks(range(len(corpus.examples)), work, threads)
    scores = [score for part, _ in parts for score in part]
    truth = [one for _, part in parts for one in part]
    if all(truth) or not any(truth):
        return 0.0
    return best_threshold(scores, truth)[0]
