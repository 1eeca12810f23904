"""Ensemble: the averaged posteriors of many models; the default aligner.

Which settings suit a video cannot be known without labels, and the likelihood does not tell either;
the average over settings is nearly as good as the best of them. Settings are spread evenly over
wide ranges by a randomly shifted Halton sequence, whose first few points cover the ranges as well
as many do.

A model fitted without labels is always confident of something, even where hands touch things at
random. The ensemble therefore refuses videos in which touches do not depend on time more than the
same touches in random order would.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.errors import PoorEvidenceError
from wordsight.alignment.models.base import AlignmentModel, Bias
from wordsight.alignment.models.change_points import find_change_points
from wordsight.alignment.models.decoding import step_posterior
from wordsight.alignment.models.encoding import AlignmentVocabulary, Encoded, Pair
from wordsight.alignment.models.hsmm import HSMM
from wordsight.alignment.models.lcrf import LCRF
from wordsight.alignment.models.links import learn_links
from wordsight.alignment.records import Alignment, Constraint, Instructions, Observed
from wordsight.alignment.text.tagging import can_name_thing

__all__ = ["Ensemble", "hsmm_members", "lcrf_members", "touch_evidence"]

Array = NDArray[np.float64]


_SHUFFLES = 200


def touch_evidence(encoded: Encoded, random_state: int = 0) -> float:
    """Return by how many standard deviations touches depend on time more than by chance.

    The video is divided into as many equal parts as the text has steps, and the mutual information
    of parts and things is compared with that of the same touches in random orders.

    Args:
        encoded: The text and the video.
        random_state: Decides the random orders.

    Returns:
        About 0 for touches in no order, several for most procedures; 0 if all touches are alike.
    """
    edges = find_change_points(encoded, most=encoded.num_chunks)
    tokens = encoded.things.tokens[edges.first]
    widths = np.diff(edges.moments)
    middles = edges.moments[:-1] + widths / 2
    parts = np.minimum((middles * encoded.num_steps).astype(np.int64), encoded.num_steps - 1)
    place = np.eye(encoded.num_steps)[parts]
    seconds = np.add.reduceat(encoded.times[:, 1] - encoded.times[:, 0], edges.first)
    shown = tokens * np.maximum(seconds, 1e-6)[:, None]
    chance = np.random.default_rng(random_state)
    real = _information(place.T @ shown)
    others = [
        _information(place.T @ shown[chance.permutation(len(shown))]) for _ in range(_SHUFFLES)
    ]
    spread = float(np.std(others))
    return (real - float(np.mean(others))) / spread if spread > 1e-9 else 0.0


def _information(joint: Array) -> float:
    """Return the mutual information of rows and columns of a table of weights, in nats."""
    total = joint.sum()
    if total <= 0:
        return 0.0
    shares = joint / total
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    seen = shares > 0
    return float((shares[seen] * np.log(shares[seen] / expected[seen])).sum())


_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
_JUMPS = ((0, 1), (0, 1, 2), (0, 1, 2, 3))


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
    members = []
    for number, row in enumerate(_spread(count, 6, random_state + 1).tolist()):
        members.append(
            LCRF(
                # Every third one alike in jumps, in shapes after three times as many.
                offsets=_JUMPS[number % 3],
                shape=("centre", "outside", "widths")[number // 3 % 3],
                sets=("all", "nonempty", 3)[(number + number // 3) % 3],
                growth=0.5 + 0.5 * row[0],
                clock=_between(row[1], 2.0, 15.0),
                null=0.05 + 0.25 * row[2],
                smoothing=_between(row[3], 0.1, 1.0),
                scale=_between(row[4], 0.2, 0.6),
                penalty=_between(row[5], 0.03, 1.0),
            )
        )
    return members


def _between(share: float, low: float, high: float) -> float:
    """Return a value between two, evenly in its logarithm."""
    return float(low * (high / low) ** share)


def _spread(count: int, dimensions: int, random_state: int) -> NDArray[np.float64]:
    """Return ``(count, dimensions)`` points spread evenly in the unit cube."""
    shifts = np.random.default_rng(random_state).random(dimensions)
    columns = [
        [_radical_inverse(number + 1, prime) for number in range(count)]
        for prime in _PRIMES[:dimensions]
    ]
    points = (np.array(columns).reshape(dimensions, count).T + shifts) % 1.0
    return np.asarray(points)


def _radical_inverse(number: int, base: int) -> float:
    value, scale = 0.0, 1.0 / base
    while number:
        number, digit = divmod(number, base)
        value += digit * scale
        scale /= base
    return value


Progress = Callable[[int, int, str], None]

# Chunks times lines up to which all members are used; beyond, fewer, so that two hours of film and
# two hundred lines take seconds. Conditional fields cost more and are left out before.
_CELLS = {"hsmm": 1.2e5, "lcrf": 1e5}
_FEWEST = 2
_ENOUGH_TOUCHES = 12  # fewer say too little about chance
_DOUBT = 1e-3  # probability left to what a kind of model rules out
# Conditional fields have a weight for every noun and thing and trust a handful of videos too much;
# they get a full vote from this many videos on, less in proportion before.
_FULL_VOTE = 6


@dataclass
class Ensemble(AlignmentModel):
    """Semi-Markov models and conditional random fields with many settings, averaged.

    Within a kind posteriors are averaged, because one setting is right and it is not known which.
    Between kinds their logarithms are, because the kinds look at different evidence, durations
    and edges here, the order of lines there, and both should agree; of few videos conditional
    fields learn less, and count less. Inputs: chunks, lines and steps, clock time.

    Args:
        hsmm: How many semi-Markov models; fewer where texts and videos are long.
        lcrf: How many conditional random fields; fewer likewise.
        least_evidence: Refuse to align where touches depend on time by fewer standard deviations
            more than touches in random order would; asked of videos with a dozen touches or more
            and without constraints. ``None`` never asks.
        least_confidence: Refuse to align where the probability of the best step, averaged over the
            video, is lower; 0 never refuses.
        random_state: Decides which settings of their ranges are averaged.

    Attributes:
        members_: The fitted models.
        votes_: ``(2,)`` how much semi-Markov models and conditional random fields count.
        links_: ``(X, V)`` how strongly nouns and things are linked, likely in both directions;
            ``table_`` is the same with rows that sum to one. Units and other nouns that name
            nothing a hand could touch have rows of zeros.
    """

    hsmm: int = 24
    lcrf: int = 12
    least_evidence: float | None = 1.0
    least_confidence: float = 0.3
    random_state: int = 0

    def fit(self, pairs: Sequence[Pair], *, progress: Progress | None = None) -> Self:
        """Learn from texts with their videos; several videos may share a text.

        Args:
            pairs: The texts and videos.
            progress: Called with how many members are done, how many there are, and what is done.
        """
        self._progress = progress
        super().fit(pairs)
        self._progress = None
        return self

    def state(self) -> dict[str, Array]:
        """Return all learned arrays by name, for storage."""
        arrays = super().state() | {"links": self.links_, "votes": self.votes_}
        for number, member in enumerate(self.members_):
            arrays |= {f"{number}.{name}": array for name, array in member.state().items()}
        return arrays

    def restore(self, vocabulary: AlignmentVocabulary, arrays: dict[str, Array]) -> None:
        """Take learned values from storage; earlier versions kept no links and no votes."""
        super().restore(vocabulary, arrays)
        self.links_ = arrays.get("links", self.table_)
        self.votes_ = arrays.get("votes", np.ones(2))

    def align(
        self,
        instructions: Instructions,
        observed: Observed,
        *,
        constraints: Sequence[Constraint] = (),
    ) -> Alignment:
        """Return which moment belongs to which line, or refuse where that is a guess."""
        if not constraints and self.least_evidence is not None:
            encoded, _ = self._prepared(instructions, observed, ())
            self._check_touches(encoded, observed.video_id)
        found = super().align(instructions, observed, constraints=constraints)
        sure = float(step_posterior(found.posterior, found.steps).max(axis=1).mean())
        if sure < self.least_confidence:
            raise PoorEvidenceError(
                f"what is touched in {observed.video_id} hardly tells the steps of "
                f"{instructions.name} apart: the best step has a probability of {sure:.2f} on "
                f"average, {self.least_confidence:.2f} is asked for. Add videos of the same text, "
                "give constraints, or ask for less confidence."
            )
        return found

    def _check_touches(self, encoded: Encoded, name: str) -> None:
        units = len(find_change_points(encoded, most=encoded.num_chunks).first)
        alike = (encoded.things.tokens == encoded.things.tokens[0]).all()
        if encoded.num_steps < 2 or (units < _ENOUGH_TOUCHES and not alike):
            return
        found = touch_evidence(encoded)
        if self.least_evidence is not None and found < self.least_evidence:
            raise PoorEvidenceError(
                f"what is touched in {name} does not depend on when: {found:.1f} standard "
                f"deviations beyond chance, {self.least_evidence:.1f} are asked for. Any alignment "
                "would be a guess by the clock. Observe the video in another way, give "
                "constraints, or ask for less evidence."
            )

    def _fit(self, pairs: list[Encoded]) -> None:
        cells = sum(pair.num_chunks * pair.num_lines for pair in pairs)
        hsmm = max(int(self.hsmm * min(1.0, _CELLS["hsmm"] / cells)), min(self.hsmm, _FEWEST))
        lcrf = int(self.lcrf * min(1.0, _CELLS["lcrf"] / cells))
        members: list[AlignmentModel] = [
            *hsmm_members(hsmm, self.random_state),
            *lcrf_members(max(lcrf, int(hsmm == 0)), self.random_state),
        ]
        for number, member in enumerate(members):
            member.vocabulary_ = self.vocabulary_
            member._fit(pairs)
            if self._progress is not None:
                self._progress(number + 1, len(members), "learning")
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


def _pooled(parts: list[Array], votes: Array) -> Array:
    """Return the normalised geometric mean of posteriors ``(T, N)``; none's share is averaged."""
    logs = np.average([np.log(part + _DOUBT) for part in parts], axis=0, weights=votes)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    sums = [part.sum(axis=1, keepdims=True) for part in parts]
    kept = np.average(sums, axis=0, weights=votes)
    return np.asarray(kept * weights / weights.sum(axis=1, keepdims=True))
