"""Ensemble: the averaged posteriors of many models; the default aligner.

Which settings suit a video cannot be known without labels, and the likelihood does not show it; the
average over settings is nearly as good as the best of them. Settings are spread evenly over wide
ranges by a randomly shifted Halton sequence, whose first few points already cover the ranges well.

A model fitted without labels is always confident of something, even where hands touch things at
random. The ensemble therefore refuses videos in which touches do not depend on time more than the
same touches in random order would.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.base import AlignmentModel, Bias
from wordsight.alignment.models.clock import find_change_points
from wordsight.alignment.models.decoding import step_posterior
from wordsight.alignment.models.encoding import AlignmentVocabulary, Encoded
from wordsight.alignment.models.hsmm import HSMM
from wordsight.alignment.models.latent import LCRF
from wordsight.alignment.models.motion import MotionHSMM, names_followed
from wordsight.alignment.records import Alignment
from wordsight.alignment.text.tagging import can_name_thing
from wordsight.errors import PoorEvidenceError
from wordsight.inference.chains.segments import JumpChain, jump_counts
from wordsight.progress import Progress, report

__all__ = ["Ensemble", "hsmm_members", "lcrf_members", "learn_links", "touch_evidence"]

Array = NDArray[np.float64]

# Chosen on rendered workbench videos, whose things have names. Halving or doubling each one costs
# .01 of F1 or less there, except for the exponent, where 1 costs .015.
_EXPONENT = 3.0  # of links while they compete; 1 does not sharpen them
_COMPETING = 19  # iterations, followed by one without competition
_NULL = 0.1  # share of things that no noun names, and of nouns that no thing shows
_SMOOTHING = 0.3  # pseudo-counts of each noun and of each thing
_STAY = 0.5  # probability that the next chunk belongs to the same line
_FARTHER = 0.4  # ratio of the probabilities of neighbouring lines ahead
_FARTHEST = 6  # lines ahead
_LEAST = 0.05  # least probability of a step for a chunk to count for it
_UNSEEN = 0.1  # pseudo-counts in the background


@dataclass(frozen=True, eq=False)
class _Passage:
    """One step of one video: the chunks that may belong to it, and its lines.

    Attributes:
        tokens: ``(C, V)`` things in the chunks.
        words: ``(L, X)`` nouns of the lines.
        shares: ``(C,)`` probability that each chunk belongs to the step.
        chain: Transitions between lines.
    """

    tokens: Array
    words: Array
    shares: Array
    chain: JumpChain

    def lines(self, rates: Array) -> Array:
        """Return ``(C, L)`` the probability that each chunk belongs to each line.

        Args:
            rates: ``(L, V)`` expected count of each thing in a chunk of each line. Counts, not
                shares, so that a line with many nouns is not penalised.
        """
        if len(rates) == 1:
            return self.shares[:, None]
        logs = self.tokens @ np.log(rates).T - rates.sum(axis=1)
        counts = jump_counts(logs * self.shares[:, None], self.chain)
        return counts.states * self.shares[:, None]


@dataclass(frozen=True, eq=False)
class _Background:
    """Mean counts per chunk of things ``(V,)`` and nouns ``(X,)``, independent of the step."""

    things: Array
    nouns: Array


def learn_links(
    pairs: Sequence[Encoded],
    posteriors: Sequence[Array],
    naming: NDArray[np.bool_] | None = None,
) -> Array:
    """Return ``(X, V)`` the strength of the link between each noun and each thing, 0 to 1.

    It is the geometric mean of the probability of the thing given the noun and of the noun given
    the thing.

    Args:
        pairs: Texts with videos.
        posteriors: ``(T, N)`` posteriors of lines, one per pair; only their steps are used.
        naming: ``(X,)`` which nouns may name a thing; by default all. Others get no link.
    """
    things = pairs[0].things
    able = np.ones(things.words.shape[1], dtype=bool) if naming is None else naming
    passages = [
        passage
        for pair, posterior in zip(pairs, posteriors, strict=True)
        for passage in _passages(pair, posterior, able)
    ]
    background = _background(pairs, passages, int(able.sum()))
    links = np.ones((int(able.sum()), things.tokens.shape[1]))
    pace = background.things.sum() / 4  # things per noun and chunk; learned from here on
    for exponent in [*[_EXPONENT] * _COMPETING, 1.0]:
        links, pace = _relinked(passages, links**exponent, pace, background)
    table = np.zeros((len(able), links.shape[1]))
    table[able] = links
    return table


def _passages(pair: Encoded, posterior: Array, able: NDArray[np.bool_]) -> list[_Passage]:
    steps = step_posterior(posterior, pair.steps)
    passages = []
    for step in range(pair.num_steps):
        chunks = np.flatnonzero(steps[:, step] > _LEAST)
        words = pair.things.words[pair.steps == step][:, able]
        if len(chunks):
            shares, chain = steps[chunks, step], _chain(len(words))
            passages.append(_Passage(pair.things.tokens[chunks], words, shares, chain))
    return passages


def _chain(lines: int) -> JumpChain:
    """Return a chain that starts and ends anywhere and never goes back."""
    offsets = np.arange(min(_FARTHEST, lines - 1) + 1, dtype=np.int64)
    ahead = _FARTHER ** np.arange(len(offsets) - 1)
    jumps = np.concatenate([[_STAY], (1.0 - _STAY) * ahead / max(ahead.sum(), 1.0)])
    return JumpChain(offsets, np.log(jumps), np.zeros(lines), np.zeros(lines))


def _background(pairs: Sequence[Encoded], passages: Sequence[_Passage], nouns: int) -> _Background:
    chunks = max(sum(pair.num_chunks for pair in pairs), 1)
    things = np.sum([pair.things.tokens.sum(axis=0) for pair in pairs], axis=0)
    said = np.zeros(nouns)
    for passage in passages:
        said += passage.shares.sum() * passage.words.mean(axis=0)
    return _Background((things + _UNSEEN) / chunks, (said + _UNSEEN) / chunks)


def _relinked(
    passages: Sequence[_Passage], links: Array, pace: float, background: _Background
) -> tuple[Array, float]:
    """Return updated links and pace: one step of EM in either direction."""
    by_noun, by_thing = _scaled(links), _scaled(links.T)
    things, nouns = np.zeros_like(by_noun), np.zeros_like(by_thing)
    said = 0.0
    null = background.nouns / max(background.nouns.sum(), _UNSEEN)
    for passage in passages:
        rates = pace * (passage.words @ by_noun) + _NULL * background.things
        lines = passage.lines(rates)
        shown = (lines.T @ passage.tokens) / rates
        things += pace * by_noun * (passage.words.T @ shown)
        said += float((lines @ passage.words).sum())
        mix = _scaled(passage.tokens)
        heard = (1.0 - _NULL) * (mix @ by_thing) + _NULL * null
        nouns += (1.0 - _NULL) * by_thing * (mix.T @ ((lines @ passage.words) / heard))
    pace = float(things.sum()) / max(said, _UNSEEN)
    smooth = [table + _SMOOTHING / max(table.shape[1], 1) for table in (things, nouns)]
    return np.sqrt(_scaled(smooth[0]) * _scaled(smooth[1]).T), pace


def _scaled(table: Array) -> Array:
    """Return a table with rows that sum to one, or to zero where they did."""
    return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300))


# Chunks times lines up to which all members are used. Beyond, there are fewer, so that two hours of
# video and two hundred lines take seconds; conditional fields cost more and are reduced earlier.
_CELLS = {"hsmm": 1.2e5, "lcrf": 1e5}
_FEWEST = 2
_FOLLOWING = 4  # models of motion; each costs as much as four others, and they differ little
_ENOUGH_TOUCHES = 12  # fewer cannot be compared with chance
_DOUBT = 1e-3  # probability left to what a kind of model rules out
# Conditional fields have a weight for every noun and thing and overfit a handful of videos; they
# get a full vote from this many videos on, and less in proportion before.
_FULL_VOTE = 6
_SHUFFLES = 200
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
_JUMPS = ((0, 1), (0, 1, 2), (0, 1, 2, 3))


@dataclass
class Ensemble(AlignmentModel):
    """Semi-Markov models and conditional random fields with many settings, averaged.

    Within a kind of model posteriors are averaged, because one setting is right and it is not known
    which. Between kinds their logarithms are averaged, because the kinds use different evidence
    (durations and change points, or the order of lines) and both should agree. Conditional fields
    learn less from few videos and then have less weight.

    Args:
        hsmm: Number of semi-Markov models; reduced for long texts and videos.
        lcrf: Number of conditional random fields; reduced likewise.
        least_evidence: Least dependence of touches on time, in standard deviations above that of
            touches in random order; videos below it are refused. Checked for videos with a dozen
            touches or more and without constraints. ``None`` turns the check off.
        least_confidence: Least probability of the best step, averaged over the video; alignments
            below it are refused. 0 turns the check off.
        random_state: Seed of the settings of the members.

    Attributes:
        members_: The fitted models.
        votes_: ``(2,)`` weights of semi-Markov models and of conditional random fields.
        links_: ``(X, V)`` strength of the link between nouns and things in both directions;
            ``table_`` is the same with rows that sum to one. Units and other nouns that do not name
            a thing have rows of zeros.
    """

    hsmm: int = 24
    lcrf: int = 12
    least_evidence: float | None = 1.0
    least_confidence: float = 0.3
    random_state: int = 0

    def state(self) -> dict[str, Array]:
        """Return all learned arrays by name, for storage."""
        arrays = super().state() | {"links": self.links_, "votes": self.votes_}
        for number, member in enumerate(self.members_):
            arrays |= {f"{number}.{name}": array for name, array in member.state().items()}
        return arrays

    def restore(self, vocabulary: AlignmentVocabulary, arrays: dict[str, Array]) -> None:
        """Set all learned values from storage; earlier versions saved no links and no votes."""
        super().restore(vocabulary, arrays)
        self.links_ = arrays.get("links", self.table_)
        self.votes_ = arrays.get("votes", np.ones(2))

    def _fit(self, pairs: list[Encoded], progress: Progress | None) -> None:
        cells = sum(pair.num_chunks * pair.num_lines for pair in pairs)
        hsmm = max(int(self.hsmm * min(1.0, _CELLS["hsmm"] / cells)), min(self.hsmm, _FEWEST))
        lcrf = int(self.lcrf * min(1.0, _CELLS["lcrf"] / cells))
        members: list[AlignmentModel] = [
            *hsmm_members(hsmm, self.random_state),
            *lcrf_members(max(lcrf, int(hsmm == 0)), self.random_state),
        ]
        followed = sum(names_followed(pair) for pair in pairs)
        if hsmm and followed >= max(_FEWEST, len(pairs) / 2):
            members = [*motion_members(min(hsmm, _FOLLOWING), self.random_state)]
        for member in report(members, progress, "learning", len(members)):
            member.vocabulary_ = self.vocabulary_
            member._fit(pairs, None)
        self.members_ = members
        share = min(1.0, len(pairs) / _FULL_VOTE)
        self.votes_ = np.array([2.0 - share, share])
        naming = np.array([can_name_thing(noun) for noun in self.vocabulary_.nouns], dtype=bool)
        posteriors = [self._posterior(pair, 0.0) for pair in pairs]
        self.links_ = learn_links(pairs, posteriors, naming)
        self.table_ = self.links_ / np.maximum(self.links_.sum(axis=1, keepdims=True), 1e-300)

    def _posterior(self, encoded: Encoded, bias: Bias) -> Array:
        kinds: dict[type[AlignmentModel], list[AlignmentModel]] = {}
        for member in self.members_:
            kinds.setdefault(type(member), []).append(member)
        parts = [
            np.mean([member._posterior(encoded, bias) for member in group], axis=0)
            for group in kinds.values()
        ]
        return parts[0] if len(parts) == 1 else _pooled(parts, self.votes_)

    def _check_order(self, encoded: Encoded, video_id: str) -> None:
        if self.least_evidence is None or np.ndim(encoded.fits):  # words are evidence, too
            return
        units = len(find_change_points(encoded, most=encoded.num_chunks).first)
        alike = (encoded.things.tokens == encoded.things.tokens[0]).all()
        if encoded.num_steps < 2 or (units < _ENOUGH_TOUCHES and not alike):
            return
        evidence = touch_evidence(encoded)
        if evidence < self.least_evidence:
            raise PoorEvidenceError(
                f"the touches in {video_id} do not depend on time: {evidence:.1f} standard "
                f"deviations above chance, at least {self.least_evidence:.1f} are required. Any "
                "alignment would be a guess by the clock. Observe the video in another way, give "
                "constraints, or require less evidence."
            )

    def _check_confidence(self, alignment: Alignment, text_name: str) -> None:
        confidence = float(step_posterior(alignment.posterior, alignment.steps).max(axis=1).mean())
        if confidence < self.least_confidence:
            raise PoorEvidenceError(
                f"the touches in {alignment.video_id} hardly distinguish the steps of {text_name}: "
                f"the best step has a mean probability of {confidence:.2f}, at least "
                f"{self.least_confidence:.2f} is required. Add videos of the same text, give "
                "constraints, or require less confidence."
            )


def motion_members(count: int, random_state: int = 0) -> list[MotionHSMM]:
    """Return unfitted models of motion with the settings of :func:`hsmm_members`."""
    return [MotionHSMM(**one.settings()) for one in hsmm_members(count, random_state)]


def hsmm_members(count: int, random_state: int = 0) -> list[HSMM]:
    """Return unfitted semi-Markov models with settings spread over their ranges."""
    return [
        HSMM(
            concentration=_between(row[0], 2.0, 10.0),
            growth=0.5 + 0.5 * row[1],
            temperature=_between(row[2], 0.2, 1.0),
            dependence=0.25 + 0.75 * row[3],
            smoothing=_between(row[4], 0.1, 0.5),
            null=0.05 + 0.15 * row[5],
        )
        for row in _spread(count, 6, random_state).tolist()
    ]


def lcrf_members(count: int, random_state: int = 0) -> list[LCRF]:
    """Return unfitted conditional random fields with settings spread over their ranges."""
    return [
        LCRF(
            # All combinations of jumps and shapes occur within nine members.
            offsets=_JUMPS[number % 3],
            shape=("centre", "outside", "widths")[number // 3 % 3],
            sets=("auto", "auto", 3)[(number + number // 3) % 3],
            growth=0.5 + 0.5 * row[0],
            clock=_between(row[1], 2.0, 15.0),
            null=0.05 + 0.25 * row[2],
            smoothing=_between(row[3], 0.1, 1.0),
            scale=_between(row[4], 0.2, 0.6),
            penalty=_between(row[5], 0.03, 1.0),
        )
        for number, row in enumerate(_spread(count, 6, random_state + 1).tolist())
    ]


def touch_evidence(encoded: Encoded, random_state: int = 0) -> float:
    """Return how much touches depend on time, in standard deviations above chance.

    The video is divided into as many equal parts as the text has steps, and the mutual information
    of parts and things is compared with that of the same touches in random orders.

    Args:
        encoded: The text and the video.
        random_state: Seed of the random orders.

    Returns:
        About 0 for touches without order, several for most procedures; 0 if all touches are alike.
    """
    points = find_change_points(encoded, most=encoded.num_chunks)
    tokens = encoded.things.tokens[points.first]
    widths = np.diff(points.moments)
    middles = points.moments[:-1] + widths / 2
    parts = np.minimum((middles * encoded.num_steps).astype(np.int64), encoded.num_steps - 1)
    place = np.eye(encoded.num_steps)[parts]
    seconds = np.add.reduceat(encoded.times[:, 1] - encoded.times[:, 0], points.first)
    shown = tokens * np.maximum(seconds, 1e-6)[:, None]
    random = np.random.default_rng(random_state)
    actual = _mutual_information(place.T @ shown)
    shuffled = [
        _mutual_information(place.T @ shown[random.permutation(len(shown))])
        for _ in range(_SHUFFLES)
    ]
    deviation = float(np.std(shuffled))
    return (actual - float(np.mean(shuffled))) / deviation if deviation > 1e-9 else 0.0


def _mutual_information(joint: Array) -> float:
    """Return the mutual information of rows and columns of a table of weights, in nats."""
    total = joint.sum()
    if total <= 0:
        return 0.0
    shares = joint / total
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    positive = shares > 0
    return float((shares[positive] * np.log(shares[positive] / expected[positive])).sum())


def _pooled(parts: list[Array], votes: Array) -> Array:
    """Return the normalised geometric mean of posteriors ``(T, N)``, keeping the mean row sums."""
    logs = np.average([np.log(part + _DOUBT) for part in parts], axis=0, weights=votes)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    sums = [part.sum(axis=1, keepdims=True) for part in parts]
    kept = np.average(sums, axis=0, weights=votes)
    return np.asarray(kept * weights / weights.sum(axis=1, keepdims=True))


def _between(share: float, low: float, high: float) -> float:
    """Return a value between two, spread evenly in its logarithm."""
    return float(low * (high / low) ** share)


def _spread(count: int, dimensions: int, random_state: int) -> Array:
    """Return ``(count, dimensions)`` points of a randomly shifted Halton sequence."""
    shifts = np.random.default_rng(random_state).random(dimensions)
    columns = [
        [_radical_inverse(number + 1, prime) for number in range(count)]
        for prime in _PRIMES[:dimensions]
    ]
    return np.asarray((np.array(columns).reshape(dimensions, count).T + shifts) % 1.0)


def _radical_inverse(number: int, base: int) -> float:
    value, scale = 0.0, 1.0 / base
    while number:
        number, digit = divmod(number, base)
        value += digit * scale
        scale /= base
    return value
