"""Learning when words are true, from sentences that were said of clips and others that were not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from wordsight.meaning.belief import CASTS, Belief, log_sigmoid
from wordsight.meaning.corpus import Corpus, Example
from wordsight.meaning.expectation import in_chunks
from wordsight.meaning.lexicon import LearnedLexicon
from wordsight.records import Sentence

__all__ = ["learn_belief"]

Array = NDArray[np.float64]
_Row = tuple[Array, list[str], bool]  # evidence, words, whether they were said

_MOST_PAIRS = 6000  # of clips and sentences, where things are tracks
_MOST_LATTICES = 600  # where they are not, and every sentence is a lattice of its own
_OTHERS = 20  # sentences said of other clips that compete in each clip
_SLOPE = 4.0  # prior slope of a word with one feature; dependent features share it
_OFFSET = -1.0  # prior log odds of a word whose evidence is nil
_SLOPE_PRIOR, _OFFSET_PRIOR = 0.3, 0.1  # how firmly both are held, in pairs
_CERTAIN = -1e-9  # no sentence is believed more than this, so that one mistake is no catastrophe


@dataclass(frozen=True)
class _Pairs:
    """N pairs of a clip and a sentence with C choices of things and L words, padded.

    Attributes:
        evidence: ``(N, C, L)`` log ratios per frame.
        there: ``(N, C)`` which choices there are.
        words: ``(N, L)`` number of each word, -1 where there is none.
        said: ``(N,)`` whether the sentence was said of the clip.
    """

    evidence: Array
    there: NDArray[np.bool_]
    words: NDArray[np.int64]
    said: NDArray[np.bool_]


def learn_belief(
    lexicon: LearnedLexicon, corpus: Corpus, *, threads: int = 1, random_state: int = 0
) -> Belief | None:
    """Fit slopes and offsets so that what was said is believed and other sentences are not.

    Args:
        lexicon: The words.
        corpus: Clips with sentences and near misses; sentences of other clips compete, too.
        threads: How many clips to work on at once.
        random_state: Seed of which sentences compete.

    Returns:
        The belief, or None where nothing but true sentences can be told.
    """
    names = tuple(lexicon.words)
    rivals = _rivals(corpus, np.random.default_rng(random_state))
    if not any(rivals):
        return None
    asked = list(zip(corpus.examples, rivals, strict=True))

    def work(chunk: Sequence[tuple[Example, list[Sentence]]]) -> list[_Row]:
        return [row for example, others in chunk for row in _looked(lexicon, example, others)]

    rows = [row for part in in_chunks(asked, work, threads) for row in part]
    return _fitted(_padded(rows, names), names, lexicon)


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


def _looked(lexicon: LearnedLexicon, example: Example, rivals: Sequence[Sentence]) -> list[_Row]:
    reading, frames = lexicon.read(example.seen), max(1, example.seen.num_frames)
    rows = []
    for number, sentence in enumerate((*example.sentences, *rivals)):
        evidence = reading.evidence(sentence, CASTS) / frames
        words = [word.entry for word in sentence.words]
        rows.append((evidence, words, number < len(example.sentences)))
    return rows


def _padded(rows: Sequence[_Row], names: tuple[str, ...]) -> _Pairs:
    count, longest = len(rows), max((len(words) for _, words, _ in rows), default=0)
    evidence = np.zeros((count, CASTS, longest))
    there = np.zeros((count, CASTS), dtype=np.bool_)
    places = {name: number for number, name in enumerate(names)}
    numbers = np.full((count, longest), -1, dtype=np.int64)
    for n, (found, words, _) in enumerate(rows):
        evidence[n, : len(found), : len(words)] = found
        there[n, : len(found)] = True
        numbers[n, : len(words)] = [places[word] for word in words]
    return _Pairs(evidence, there, numbers, np.array([said for _, _, said in rows], dtype=np.bool_))


def _fitted(pairs: _Pairs, names: tuple[str, ...], lexicon: LearnedLexicon) -> Belief | None:
    if pairs.said.all() or not pairs.said.any():
        return None
    features = np.array([max(1, len(lexicon.words[name].slots)) for name in names])
    start = np.concatenate([np.log(_SLOPE / features), np.full(len(names), _OFFSET)])
    hold = np.repeat([_SLOPE_PRIOR, _OFFSET_PRIOR], len(names))

    def loss(values: Array) -> tuple[float, Array]:
        value, slope = _misfit(pairs, values, len(names))
        strayed = values - start
        return value + float(hold @ strayed**2), slope + 2 * hold * strayed

    # Slopes stay within a factor of e^4 of the prior's: a word nobody doubts must not run away.
    bounds = [(s - 4, s + 4) for s in start[: len(names)]] + [(-30.0, 30.0)] * len(names)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    slopes, offsets = np.exp(found.x[: len(names)]), found.x[len(names) :]
    return Belief(
        dict(zip(names, slopes.tolist(), strict=True)),
        dict(zip(names, offsets.tolist(), strict=True)),
    )


def _misfit(pairs: _Pairs, values: Array, count: int) -> tuple[float, Array]:
    """Return minus the log likelihood of what was said and what was not, and its gradient."""
    slopes, offsets = np.exp(values[:count]), values[count:]
    real = pairs.words >= 0
    odds = slopes[pairs.words][:, None] * pairs.evidence + offsets[pairs.words][:, None]
    totals = np.where(pairs.there, (log_sigmoid(odds) * real[:, None]).sum(axis=2), -np.inf)
    rows, best = np.arange(len(totals)), totals.argmax(axis=1)
    sure = np.minimum(totals[rows, best], _CERTAIN)
    doubt = np.log(-np.expm1(sure))
    pull = np.where(pairs.said, -1.0, np.exp(sure - doubt))
    own = pull[:, None] * np.exp(log_sigmoid(-odds[rows, best]))
    gradient = np.zeros(2 * count)
    moved = own * slopes[pairs.words] * pairs.evidence[rows, best]
    np.add.at(gradient, pairs.words[real], moved[real])
    np.add.at(gradient, count + pairs.words[real], own[real])
    return -float(np.where(pairs.said, sure, doubt).sum()), gradient
