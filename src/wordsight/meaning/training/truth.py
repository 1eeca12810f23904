"""Fitting when sentences are true: the belief in single words, and the threshold of scores.

Every clip is judged by the words as they would be without it, so that the fit holds for new clips.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.evaluation import best_threshold, separating_threshold
from wordsight.language import PartOfSpeech
from wordsight.meaning.model.calibration import NUM_ASSIGNMENTS, Belief, log_sigmoid
from wordsight.meaning.model.word import WordModel
from wordsight.meaning.scoring.evidence import NUM_EVIDENCE, is_judged_in_event, num_evidence
from wordsight.meaning.training.corpus import Corpus
from wordsight.meaning.training.em import map_chunks
from wordsight.meaning.training.leave_one_out import LeaveOneOut
from wordsight.records import Sentence

__all__ = ["fit_belief", "fit_threshold"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
_Row = tuple[Array, list[str], bool]  # evidence, words, whether the sentence is true

_MOST_PAIRS = 6000  # of clips and sentences, where objects are tracks
_MOST_LATTICES = 600  # where they are not, and every sentence is a lattice of its own
_NUM_OTHERS = 20  # sentences of other clips that compete in each clip
_SLOPE = 4.0  # prior slope of a word with one feature; features and kinds of evidence share it
_OFFSET = -1.0  # prior log odds of a word without evidence
# Strength of the priors of slopes, offsets and verb offsets, in pairs.
_SLOPE_PRIOR, _OFFSET_PRIOR, _VERB_OFFSET_PRIOR = 0.3, 0.1, 1.0
_CERTAIN = -1e-9  # upper bound of log probabilities, so that one mistake has a finite cost


@dataclass(frozen=True)
class _Parameters:
    """The words and pairs of words that parameters belong to.

    Attributes:
        words: The words.
        pairs: Each verb with each word that may qualify it.
    """

    words: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, models: Mapping[str, WordModel], unseen: Collection[str]) -> "_Parameters":
        verbs = [name for name, word in models.items() if word.part is PartOfSpeech.VERB]
        others = [name for name, word in models.items() if is_judged_in_event(word)]
        judged = tuple(name for name in models if name not in unseen)
        return cls(judged, tuple((verb, name) for verb in verbs for name in others))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of slopes, offsets and verb offsets."""
        return NUM_EVIDENCE * len(self.words), len(self.words), len(self.pairs)

    def split(self, values: Array) -> tuple[Array, Array, Array]:
        """Return ``(W, NUM_EVIDENCE)`` slopes, ``(W,)`` offsets, and verb offsets."""
        logs, offsets, verb_offsets = np.split(values, np.cumsum(self.sizes)[:-1])
        return np.exp(logs).reshape(-1, NUM_EVIDENCE), offsets, verb_offsets


@dataclass(frozen=True)
class _Pairs:
    """N pairs of a clip and a sentence with C assignments and L words, padded.

    Attributes:
        evidence: ``(N, C, L, NUM_EVIDENCE)`` log ratios per frame.
        valid: ``(N, C)`` which assignments there are.
        words: ``(N, L)`` index of each word, -1 where there is none.
        verb_pairs: ``(N, L)`` index of each word with its verb, -1 where it qualifies none.
        true: ``(N,)`` whether the sentence is true of the clip.
    """

    evidence: Array
    valid: NDArray[np.bool_]
    words: Ints
    verb_pairs: Ints
    true: NDArray[np.bool_]


def fit_belief(
    held_out: LeaveOneOut, corpus: Corpus, *, threads: int = 1, random_state: int = 0
) -> Belief | None:
    """Fit slopes and offsets so that true sentences are likely and others are not.

    Args:
        held_out: The words, and what each clip changed in them.
        corpus: Clips with sentences and near misses; sentences of other clips compete, too.
        threads: Number of clips to work on at once.
        random_state: Seed of the choice of competing sentences.

    Returns:
        The belief, or None where there are no false sentences.
    """
    parameters = _Parameters.of(held_out.lexicon.words, corpus.unseen_nouns)
    rivals = _rivals(corpus, np.random.default_rng(random_state))
    if not any(rivals):
        return None

    def work(numbers: Sequence[int]) -> list[_Row]:
        return [row for n in numbers for row in _evidence_rows(held_out, corpus, n, rivals[n])]

    parts = map_chunks(range(len(corpus.examples)), work, threads)
    pairs = _padded([row for part in parts for row in part], parameters)
    return _fitted(pairs, parameters, held_out.lexicon.words)


def _rivals(corpus: Corpus, rng: np.random.Generator) -> list[list[Sentence]]:
    """Return per clip sentences that are not true of it."""
    tracked = all(example.observation.tracked for example in corpus.examples)
    total = _MOST_PAIRS if tracked else _MOST_LATTICES
    most = max(4, total // len(corpus.examples))
    pool = {s.words: s for example in corpus.examples for s in example.sentences}
    rivals = []
    for example in corpus.examples:
        true = {sentence.words for sentence in example.sentences}
        near = {s.words: s for s in example.candidates if s.words not in true}
        far = [s for words, s in pool.items() if words not in true and words not in near]
        rivals.append(_drawn([*near.values(), *_drawn(far, _NUM_OTHERS, rng)], most, rng))
    return rivals


def _drawn(sentences: list[Sentence], most: int, rng: np.random.Generator) -> list[Sentence]:
    if len(sentences) <= most:
        return sentences
    return [sentences[n] for n in np.sort(rng.choice(len(sentences), most, replace=False))]


def _evidence_rows(
    held_out: LeaveOneOut, corpus: Corpus, number: int, rivals: Sequence[Sentence]
) -> list[_Row]:
    example = corpus.examples[number]
    scorer = held_out.without(number).scorer(example.observation)
    return [
        (
            scorer.evidence(sentence, NUM_ASSIGNMENTS),
            [word.entry for word in sentence.words],
            place < len(example.sentences),
        )
        for place, sentence in enumerate((*example.sentences, *rivals))
    ]


def _padded(rows: Sequence[_Row], parameters: _Parameters) -> _Pairs:
    count, longest = len(rows), max((len(words) for _, words, _ in rows), default=0)
    evidence = np.zeros((count, NUM_ASSIGNMENTS, longest, NUM_EVIDENCE))
    valid = np.zeros((count, NUM_ASSIGNMENTS), dtype=np.bool_)
    indices, verb_pairs = np.full((2, count, longest), -1, dtype=np.int64)
    word_index = {name: number for number, name in enumerate(parameters.words)}
    pair_index = {pair: number for number, pair in enumerate(parameters.pairs)}
    verbs = {verb for verb, _ in parameters.pairs}
    for n, (own, words, _) in enumerate(rows):
        evidence[n, : len(own), : len(words)] = own
        valid[n, : len(own)] = True
        indices[n, : len(words)] = [word_index.get(word, -1) for word in words]
        verb = next((word for word in words if word in verbs), "")
        verb_pairs[n, : len(words)] = [pair_index.get((verb, word), -1) for word in words]
    true = np.array([true for _, _, true in rows], dtype=np.bool_)
    return _Pairs(evidence, valid, indices, verb_pairs, true)


def _fitted(
    pairs: _Pairs, parameters: _Parameters, words: Mapping[str, WordModel]
) -> Belief | None:
    if pairs.true.all() or not pairs.true.any():
        return None
    start, strength = _prior(parameters, words)

    def loss(values: Array) -> tuple[float, Array]:
        value, slope = _loss(pairs, values, parameters)
        deviation = values - start
        return value + float(strength @ deviation**2), slope + 2 * strength * deviation

    from scipy.optimize import minimize  # slow to import

    # Slopes stay within a factor of e^4 of the prior: without counterexamples they would diverge.
    slopes = parameters.sizes[0]
    bounds = [(s - 4, s + 4) for s in start[:slopes]] + [(-30.0, 30.0)] * (len(start) - slopes)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return _belief(found.x, parameters, words)


def _prior(parameters: _Parameters, words: Mapping[str, WordModel]) -> tuple[Array, Array]:
    """Return means and strengths of the priors of all parameters."""
    shares = np.array(
        [max(1, len(words[n].slots)) * num_evidence(words[n]) for n in parameters.words]
    )
    start = np.concatenate(
        [
            np.repeat(np.log(_SLOPE / shares), NUM_EVIDENCE),
            np.full(parameters.sizes[1], _OFFSET),
            np.zeros(parameters.sizes[2]),
        ]
    )
    strengths = [_SLOPE_PRIOR, _OFFSET_PRIOR, _VERB_OFFSET_PRIOR]
    return start, np.repeat(strengths, parameters.sizes)


def _belief(values: Array, parameters: _Parameters, words: Mapping[str, WordModel]) -> Belief:
    slopes, offsets, added = parameters.split(values)
    verb_offsets: dict[str, dict[str, float]] = {}
    for (verb, word), value in zip(parameters.pairs, added.tolist(), strict=True):
        verb_offsets.setdefault(verb, {})[word] = value
    return Belief(
        {
            name: tuple(row[: num_evidence(words[name])])
            for name, row in zip(parameters.words, slopes.tolist(), strict=True)
        },
        dict(zip(parameters.words, offsets.tolist(), strict=True)),
        verb_offsets,
    )


def _loss(pairs: _Pairs, values: Array, parameters: _Parameters) -> tuple[float, Array]:
    """Return minus the log likelihood of which sentences are true, and its gradient."""
    slopes, offsets, verb_offsets = parameters.split(values)
    real, qualifies = pairs.words >= 0, pairs.verb_pairs >= 0
    added = offsets[pairs.words]
    added[qualifies] += verb_offsets[pairs.verb_pairs[qualifies]]
    odds = (pairs.evidence * slopes[pairs.words][:, None]).sum(axis=3) + added[:, None]
    totals = np.where(pairs.valid, (log_sigmoid(odds) * real[:, None]).sum(axis=2), -np.inf)
    rows, best = np.arange(len(totals)), totals.argmax(axis=1)
    log_true = np.minimum(totals[rows, best], _CERTAIN)
    log_false = np.log(-np.expm1(log_true))
    pull = np.where(pairs.true, -1.0, np.exp(log_true - log_false))
    own = pull[:, None] * np.exp(log_sigmoid(-odds[rows, best]))
    by_slope = own[..., None] * slopes[pairs.words] * pairs.evidence[rows, best]
    slope_gradient = np.zeros_like(slopes)
    np.add.at(slope_gradient, pairs.words[real], by_slope[real])
    offset_gradient = np.bincount(pairs.words[real], own[real], len(offsets))
    verb_gradient = np.bincount(pairs.verb_pairs[qualifies], own[qualifies], len(verb_offsets))
    gradient = np.concatenate([slope_gradient.ravel(), offset_gradient, verb_gradient])
    return -float(np.where(pairs.true, log_true, log_false).sum()), gradient


def fit_threshold(held_out: LeaveOneOut, corpus: Corpus, *, threads: int = 1) -> float:
    """Return the score from which on a sentence is held true.

    It has the best F1 over all candidates of all training clips where these are known to be false.
    Near misses, of which some are true, would make it too strict: with these it parts the shares
    of both best. Without false candidates it is 0: the sentence explains the clip better than the
    background does.
    """

    def work(numbers: Sequence[int]) -> tuple[list[float], list[bool]]:
        scores: list[float] = []
        truth: list[bool] = []
        for number in numbers:
            example = corpus.examples[number]
            own = held_out.without(number).scores(example.observation, example.candidates)
            scores += np.maximum(own, -1e9).tolist()
            truth += [place in example.truths for place in range(len(own))]
        return scores, truth

    parts = map_chunks(range(len(corpus.examples)), work, threads)
    scores = [score for part, _ in parts for score in part]
    truth = [one for _, part in parts for one in part]
    if all(truth) or not any(truth):
        return 0.0
    return (
        best_threshold(scores, truth)[0] if corpus.judged else separating_threshold(scores, truth)
    )
