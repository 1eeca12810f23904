"""Align a text with its videos, and judge whether a text belongs to a video at all.

A model that is fitted without labels explains any video with any text: EM gives foreign nouns
whatever meaning suits. So the pair in question is left out. Models learn from other videos with
their texts, and the pair is judged by how much better its text explains its video than the clock
alone does. Where there is nothing to learn from, only the names of things can speak.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.constraints import allowed_lines, check_constraints
from wordsight.alignment.errors import AlignmentError
from wordsight.alignment.models import HSMM, MODELS, AlignmentModel, Ensemble
from wordsight.alignment.models.decoding import reject_short_steps, restore_lines
from wordsight.alignment.models.encoding import Pair
from wordsight.alignment.models.ensemble import hsmm_members
from wordsight.alignment.models.hsmm import StepGain
from wordsight.alignment.records import (
    Alignment,
    Constraint,
    Instructions,
    LineSpan,
    Observed,
)
from wordsight.alignment.text.tagging import can_name_thing, plain_name
from wordsight.progress import Progress, report

__all__ = [
    "AlignmentResult",
    "Belonging",
    "BelongingJudge",
    "ComparedModel",
    "absent_lines",
    "align_together",
    "compare_models",
    "judge_belonging",
    "mistake_tolerant_model",
    "name_overlap",
]


@dataclass(frozen=True, eq=False)
class AlignmentResult:
    """A text aligned with its videos.

    Attributes:
        instructions: The text.
        alignments: One per video, in the order given.
        aligner: The fitted model, with its dictionary.
    """

    instructions: Instructions
    alignments: tuple[Alignment, ...]
    aligner: AlignmentModel


def align_together(
    instructions: Instructions,
    observed: Sequence[Observed],
    *,
    constraints: Mapping[str, Sequence[Constraint]] | None = None,
    aligner: AlignmentModel | None = None,
    fit: bool = True,
    mistakes: bool = False,
    known: Sequence[Pair] = (),
    labels: Mapping[str, Sequence[LineSpan]] | None = None,
    belonging: Mapping[str, "Belonging"] | None = None,
    progress: Progress | None = None,
) -> AlignmentResult:
    """Align a text with all its videos by one model that learns from all of them.

    Args:
        instructions: The text.
        observed: What was observed in each video; more videos of one text improve all alignments.
        constraints: User constraints by video.
        aligner: The model; by default an :class:`Ensemble`, or with ``mistakes`` the
            :func:`mistake_tolerant_model`.
        fit: Whether to fit the model on these videos; false to use a fitted model unchanged.
        mistakes: Whether to expect steps that were skipped, repeated or swapped.
        known: Videos with texts of their own to learn from, too.
        labels: By video when the lines of its text happen, for videos of which that is known.
        belonging: By video the verdict of :func:`judge_belonging`. Steps that do not seem to happen
            are left out, and the others are aligned without them; lines with constraints stay.
        progress: Called during the fit with the amount done, the total and a description.

    Raises:
        AlignmentError: If there is no video, or the model cannot align one.
        ConstraintError: If constraints contradict each other or a video.
        PoorEvidenceError: If too little was observed.
    """
    if not observed:
        raise AlignmentError("there is no video to align; give at least one.")
    pins = dict(constraints or {})
    for video in observed:
        own = pins.get(video.video_id, ())
        check_constraints(own, instructions, video.duration)
        allowed_lines(own, instructions, video)  # contradictions are better said before learning
    if aligner is None:
        aligner = mistake_tolerant_model() if mistakes else Ensemble()
    if fit:
        pairs = [*((instructions, video) for video in observed), *known]
        aligner.fit(pairs, labels=labels, progress=progress)
    alignments = []
    for video in observed:
        verdict = (belonging or {}).get(video.video_id)
        happens = np.ones(len(instructions.lines)) if verdict is None else verdict.happens
        own = pins.get(video.video_id, ())
        text, kept, own = _without_absent(instructions, happens, own)
        found = aligner.align(text, video, constraints=own)
        found = reject_short_steps(found, text) if mistakes else found
        alignments.append(restore_lines(found, instructions, kept, 1.0 - happens))
    return AlignmentResult(instructions, tuple(alignments), aligner)


def _without_absent(
    instructions: Instructions, happens: NDArray[np.float64], pins: Sequence[Constraint]
) -> tuple[Instructions, NDArray[np.int64], list[Constraint]]:
    """Return the text without lines that do not seem to happen, which lines remain, and the pins.

    Pinned lines happen; and where no line seems to, nothing is left out.
    """
    absent = absent_lines(happens)
    absent[[pin.line for pin in pins]] = False
    if absent.all():
        absent[:] = False
    kept = np.flatnonzero(~absent)
    places = {int(line): place for place, line in enumerate(kept)}
    text = replace(instructions, lines=tuple(instructions.lines[line] for line in kept))
    return text, kept, [replace(pin, line=places[pin.line]) for pin in pins]


@dataclass(frozen=True, eq=False)
class ComparedModel:
    """What one model makes of one video.

    Attributes:
        video_id: The video.
        model: The name of the model.
        starts: When each step begins, in seconds; ``None`` for a step that was not found.
        confidence: Probability of the best step, averaged over the chunks.
        agreement: Share of chunks to which the first model gives the same step.
        error: Why the model cannot align this video; the others are empty then.
    """

    video_id: str
    model: str
    starts: tuple[float | None, ...] = ()
    confidence: float | None = None
    agreement: float | None = None
    error: str | None = None


def compare_models(
    instructions: Instructions,
    observed: Sequence[Observed],
    *,
    known: Sequence[Pair] = (),
    progress: Progress | None = None,
) -> tuple[ComparedModel, ...]:
    """Align a text with its videos by every model, each learned in the same way.

    Args:
        instructions: The text.
        observed: What was observed in each video.
        known: Videos with texts of their own to learn from, too.
        progress: Called with the number of models done.

    Returns:
        For each model in the order of :data:`MODELS` one row per video.
    """
    rows: list[ComparedModel] = []
    first: dict[str, NDArray[np.int64]] = {}
    numbers, steps = np.unique(instructions.steps, return_inverse=True)
    for name, model in report(MODELS.items(), progress, "comparing", len(MODELS)):
        try:
            fitted = model().fit([*((instructions, video) for video in observed), *known])
        except AlignmentError as error:
            rows += [ComparedModel(v.video_id, name, error=str(error)) for v in observed]
            continue
        for video in observed:
            posterior = fitted.posterior(instructions, video)
            by_step = np.stack([posterior[:, steps == k].sum(axis=1) for k in range(len(numbers))])
            lines = fitted.predict(instructions, video)
            best = np.where(lines >= 0, steps[lines], -1)
            same = first.setdefault(video.video_id, best)
            starts = [video.times[best == k, 0] for k in range(len(numbers))]
            rows.append(
                ComparedModel(
                    video.video_id,
                    name,
                    tuple(float(times[0]) if times.size else None for times in starts),
                    float(by_step.max(axis=0).mean()),
                    float((best == same).mean()),
                )
            )
    return tuple(rows)


def mistake_tolerant_model() -> HSMM:
    """Return a model that expects steps to be left out, repeated or swapped.

    It relies less on the usual duration of steps and more on what is observed, so it needs reliable
    observations and preferably several videos.
    """
    return HSMM(
        concentration=1.2,
        temperature=0.7,
        dependence=0.55,
        null=0.05,
        disorder=0.8,
        skip=0.15,
        back=0.15,
    )


Array = NDArray[np.float64]
Verdict = Literal["belongs", "doubtful", "does not belong", "cannot tell"]

_MEMBERS = 3
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
# Log odds that a step happens, from the evidence for it and from how certainly a tolerant model
# goes through it: fitted on 42 workbench films (seeds 30, 31, 34, 35 and 38 to 40) with steps left
# out and inserted, a part of them with touches missing and wrong.
_HAPPENS, _PER_EVIDENCE, _PER_VISIT = -1.12, 1.03, 0.52
_ABSENT = 0.5  # probability below which a line is said not to happen
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
        happens: ``(N,)`` probability that the step of each line happens in the video; 1 where other
            videos cannot judge it.
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
    """Return ``(N,)`` which lines do not seem to happen, given the probabilities that they do."""
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
            self._models = [m.fit_tolerantly(known) for m in hsmm_members(_MEMBERS, random_state)]

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
        happens = np.ones(len(instructions.lines))
        return Belonging(observed.video_id, verdict, None, None, None, names, happens, f"{named}.")

    def _by_gain(
        self, instructions: Instructions, observed: Observed, names: float, named: str
    ) -> Belonging:
        gains = [model.gain(instructions, observed) for model in self._models]
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
        happens = self._happens(instructions, gains)
        return Belonging(
            observed.video_id, verdict, probability, gain, order, names, happens, reason
        )

    def _happens(self, instructions: Instructions, gains: Sequence[StepGain]) -> Array:
        """Return ``(N,)`` the probability that the step of each line happens."""
        evidence = np.mean([np.sign(g.evidence) * np.log1p(abs(g.evidence)) for g in gains], axis=0)
        shares = [np.clip(g.visits, _LEAST_VISIT, 1.0 - _LEAST_VISIT) for g in gains]
        visits = np.mean([np.log(share / (1.0 - share)) for share in shares], axis=0)
        odds = _HAPPENS + _PER_EVIDENCE * evidence + _PER_VISIT * visits
        _, places = np.unique(instructions.steps, return_inverse=True)
        happens = (1.0 / (1.0 + np.exp(-odds)))[places]
        known = [bool(set(line.nouns) & self._nouns) for line in instructions.lines]
        spoken = np.bincount(places, known) > 0  # steps of which no noun is known may be anything
        return np.where(spoken[places], happens, 1.0)

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
            for model in self._models
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
