"""Judge whether a text belongs to a video at all, and which of its lines happen there.

A model that is fitted without labels explains any video with any text: EM gives foreign nouns
whatever meaning suits. So the pair in question is left out. Models learn from other videos with
their texts, and the pair is judged by how much better its text explains its video than the clock
alone does. Where there is nothing to learn from, only the names of things can speak.

A line that names something that is seen, but not here, did not happen. Of a line that names only
what is never seen, such as water from a tap, it cannot be said.
"""

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models import HSMM
from wordsight.alignment.models.encoding import Pair, encode
from wordsight.alignment.models.ensemble import hsmm_members, learn_links
from wordsight.alignment.models.hsmm import StepGain
from wordsight.alignment.records import Instructions, Observed
from wordsight.alignment.text.tagging import can_name_thing, plain_name
from wordsight.errors import AlignmentError
from wordsight.progress import Progress, report

__all__ = [
    "Belonging",
    "BelongingJudge",
    "absent_lines",
    "judge_belonging",
    "name_overlap",
]

Array = NDArray[np.float64]
Verdict = Literal["belongs", "doubtful", "does not belong", "cannot tell"]

_MEMBERS = 3  # models that judge a text
_LINE_MEMBERS = 5  # models that judge its lines, the same ones among them
_SHUFFLES = 4
_FOLDS = 10
_LEAST_KNOWN = 0.5  # share of the nouns that other texts must have for their videos to speak
# Log odds that a text belongs, from its gain over the clock: fitted on CAD-120 texts paired with
# videos of the same and of other activities, left out of learning, both kinds weighted alike.
_AT_ZERO, _PER_NAT = -2.04, 3.47
_REFUSED, _ACCEPTED = 0.42, 0.7  # probabilities
# Where all other videos have the same text, a model cannot learn what other texts would show, and
# gains are smaller on both sides: hardly anything is refused then.
_REFUSED_ALONE, _ACCEPTED_ALONE = 0.0, 0.5  # nats per observation
_MANY_NAMES = 0.5  # share of the nouns that name something seen, for names alone to suffice
# Log odds that a step happens, from the evidence for it, from how certainly tolerant models go
# through it, and from how strongly its nouns are linked with things, compared with the others of
# the text: fitted on 168 workbench films (seeds 1006 to 1033) with steps left out and inserted,
# most of them with things that are never seen and with touches missing and wrong.
_HAPPENS, _PER_EVIDENCE, _PER_VISIT, _PER_LINK = -1.22, 0.97, 0.59, -3.56
# Of the nouns of these films whose things are seen, nine in ten have a stronger link.
_LINKED = 0.45
# Below this probability a line is said not to happen: of those that do, 3 % are where touches are
# worst there, and 2 % over all. A line that is left out in error costs more than one that stays.
_ABSENT = 0.38
_LEAST_VISIT = 1e-3


@dataclass(frozen=True, eq=False)
class Belonging:
    """Whether a text belongs to a video, with the evidence.

    Attributes:
        video_id: The video.
        verdict: "belongs", "doubtful", "does not belong" or "cannot tell".
        probability: Probability that it belongs, of texts that do and do not equally often;
            ``None`` unless videos of other texts were learned from.
        gain: Nats per observation by which the text explains the video better than the clock
            alone, with this pair left out of learning; ``None`` if there was nothing to learn from.
        order: The same in comparison with the steps in random orders.
        names: Share of the text's nouns that name a thing seen.
        happens: ``(N,)`` probability that the step of each line happens in the video; NaN where
            the other videos cannot tell.
        reason: The evidence in words.
    """

    video_id: str
    verdict: Verdict
    probability: float | None
    gain: float | None
    order: float | None
    names: float
    happens: Array
    reason: str


def absent_lines(happens: Array) -> NDArray[np.bool_]:
    """Return ``(N,)`` which lines do not seem to happen, given the probabilities that they do.

    Lines of which it is unknown, NaN, are not among them.
    """
    return np.asarray(happens < _ABSENT)


class BelongingJudge:
    """Judges pairs by models fitted on other pairs.

    Args:
        known: Texts with their videos, none of which will be judged.
        random_state: Seed of the settings of the models and of random orders.
    """

    def __init__(self, known: Sequence[Pair], random_state: int = 0) -> None:
        self._random_state = random_state
        self._nouns = {noun for text, _ in known for noun in _naming_nouns(text)}
        self._texts = {text.lines for text, _ in known}
        self._models: list[HSMM] = []
        if known:
            # The other texts may be wrong in places, too.
            members = hsmm_members(_LINE_MEMBERS, random_state)
            self._models = [member.fit_tolerantly(known) for member in members]
            self._link(known)

    def _link(self, known: Sequence[Pair]) -> None:
        """Learn which nouns name things that are seen, and models whose nouns name these.

        Links compete, so a noun whose thing is never seen is left with weak ones.
        """
        vocabulary = self._models[0].vocabulary_
        pairs = [encode(*pair, vocabulary) for pair in known]
        posteriors = [
            np.mean([model.tolerant_posterior(pair) for model in self._models], axis=0)
            for pair in pairs
        ]
        naming = np.array([can_name_thing(noun) for noun in vocabulary.nouns], dtype=bool)
        links = learn_links(pairs, posteriors, naming)
        strongest = links.max(axis=1, initial=0.0)
        self._links = {n: s for n, s in zip(vocabulary.nouns, strongest.tolist(), strict=True) if s}
        table = links / np.maximum(links.sum(axis=1, keepdims=True), 1e-300)
        self._linked = [copy.copy(model) for model in self._models]
        for model in self._linked:
            model.table_ = np.where(naming[:, None], table, model.table_)

    def judge(self, instructions: Instructions, observed: Observed) -> Belonging:
        """Return whether a text belongs to a video."""
        names = name_overlap(instructions, observed)
        nouns = _naming_nouns(instructions)
        known = len(nouns & self._nouns) / max(len(nouns), 1)
        named = f"{round(names * len(nouns))} of {len(nouns)} nouns name something seen"
        if self._models and known >= _LEAST_KNOWN:
            try:
                return self._by_gain(instructions, observed, names, named)
            except AlignmentError as error:
                named = f"{named}; the other videos cannot judge it: {error}"
        elif self._models:
            named = f"{named}; other texts have only {known:.0%} of its nouns"
        else:
            named = f"{named}; there is no other video to learn from"
        verdict: Verdict = "cannot tell"
        if names > 0:
            verdict = "belongs" if names >= _MANY_NAMES else "doubtful"
        happens = np.full(len(instructions.lines), np.nan)
        return Belonging(observed.video_id, verdict, None, None, None, names, happens, f"{named}.")

    def _by_gain(
        self, instructions: Instructions, observed: Observed, names: float, named: str
    ) -> Belonging:
        gains = [model.gain(instructions, observed) for model in self._models[:_MEMBERS]]
        gain = float(np.mean([one.over_clock for one in gains]))
        order = self._order(instructions, observed, [one.log_likelihood for one in gains])
        probability, refused, accepted = None, gain < _REFUSED_ALONE, gain >= _ACCEPTED_ALONE
        if self._texts - {instructions.lines}:
            probability = float(1.0 / (1.0 + np.exp(-(_AT_ZERO + _PER_NAT * gain))))
            refused, accepted = probability < _REFUSED, probability >= _ACCEPTED
        verdict: Verdict = "does not belong" if refused else "doubtful"
        if accepted:
            verdict = "belongs"
        reason = (
            f"by what other videos taught, the text explains this one "
            f"{abs(gain):.2f} nats per observation {'better' if gain > 0 else 'worse'} than the "
            f"clock alone; {named}."
        )
        happens = self._happens(instructions, observed, gains)
        return Belonging(
            observed.video_id, verdict, probability, gain, order, names, happens, reason
        )

    def _happens(
        self, instructions: Instructions, observed: Observed, gains: Sequence[StepGain]
    ) -> Array:
        """Return ``(N,)`` the probability that the step of each line happens; NaN if unknown.

        Args:
            instructions: The text.
            observed: The video.
            gains: What the first models say of both.
        """
        others = [*self._models[len(gains) :], *self._linked]
        gains = [*gains, *(model.gain(instructions, observed) for model in others)]
        evidence = np.mean([np.sign(g.evidence) * np.log1p(abs(g.evidence)) for g in gains], axis=0)
        shares = [np.clip(g.visits, _LEAST_VISIT, 1.0 - _LEAST_VISIT) for g in gains]
        visits = np.mean([np.log(share / (1.0 - share)) for share in shares], axis=0)
        numbers, places = np.unique(instructions.steps, return_inverse=True)
        links: list[list[float]] = [[] for _ in numbers]
        for place, line in zip(places, instructions.lines, strict=True):
            links[place] += [self._links[noun] for noun in line.nouns if noun in self._links]
        means = np.array([np.mean(step or [0.0]) for step in links])
        means -= means[places].mean()
        odds = _HAPPENS + _PER_EVIDENCE * evidence + _PER_VISIT * visits + _PER_LINK * means
        told = np.array([max(step, default=0.0) >= _LINKED for step in links])
        return np.where(told, 1.0 / (1.0 + np.exp(-odds)), np.nan)[places]

    def _order(
        self, instructions: Instructions, observed: Observed, actual: list[float]
    ) -> float | None:
        """Return the gain over the same steps in random orders; ``None`` for a single step."""
        if len(np.unique(instructions.steps)) < 2:
            return None
        random = np.random.default_rng(self._random_state)
        orders = [_shuffled(instructions, random) for _ in range(_SHUFFLES)]
        mean = [
            np.mean([model.gain(order, observed).log_likelihood for order in orders])
            for model in self._models[:_MEMBERS]
        ]
        return float(np.mean(np.subtract(actual, mean)))


def judge_belonging(
    pairs: Sequence[Pair],
    known: Sequence[Pair] = (),
    *,
    random_state: int = 0,
    progress: Progress | None = None,
) -> list[Belonging]:
    """Judge every pair by models fitted on the others.

    Args:
        pairs: Texts with the videos that they may belong to.
        known: Further pairs to learn from that are not judged.
        random_state: Seed of the settings of the models.
        progress: Called with the number of groups of pairs that were judged.

    Returns:
        One verdict per pair. At most ten groups of pairs are left out in turn.
    """
    groups = min(len(pairs), _FOLDS)
    verdicts: dict[int, Belonging] = {}
    for group in report(range(groups), progress, "comparing text and video", groups):
        rest = [pair for number, pair in enumerate(pairs) if number % groups != group]
        judge = BelongingJudge([*rest, *known], random_state)
        for number in range(group, len(pairs), groups):
            verdicts[number] = judge.judge(*pairs[number])
    return [verdicts[number] for number in range(len(pairs))]


def name_overlap(instructions: Instructions, observed: Observed) -> float:
    """Return the share of the text's nouns that are names of things seen, or a word of one."""
    nouns = {plain_name(noun) for noun in _naming_nouns(instructions)}
    names = {
        plain_name(word)
        for chunk in observed.chunks
        for thing in chunk.things
        for word in re.split(r"[^A-Za-z]+", thing)
        if word
    }
    return len(nouns & names) / max(len(nouns), 1)


def _naming_nouns(instructions: Instructions) -> set[str]:
    return {noun for line in instructions.lines for noun in line.nouns if can_name_thing(noun)}


def _shuffled(instructions: Instructions, random: np.random.Generator) -> Instructions:
    """Return the same steps in a random order."""
    steps = random.permutation(np.unique(instructions.steps))
    lines = [
        replace(line, step=place)
        for place, step in enumerate(steps.tolist())
        for line in instructions.lines
        if line.step == step
    ]
    return replace(instructions, lines=tuple(lines))
