"""Align a text with its videos by one model, or by every model to compare them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.belonging import Belonging, absent_lines
from wordsight.alignment.constraints import allowed_lines, check_constraints
from wordsight.alignment.models import HSMM, MODELS, AlignmentModel, Ensemble
from wordsight.alignment.models.decoding import reject_short_steps, restore_lines
from wordsight.alignment.models.encoding import Pair
from wordsight.alignment.records import (
    Alignment,
    Constraint,
    Instructions,
    LineSpan,
    Observed,
)
from wordsight.errors import AlignmentError
from wordsight.progress import Progress, report

__all__ = [
    "AlignmentResult",
    "ComparedModel",
    "align_together",
    "compare_models",
    "mistake_tolerant_model",
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
    belonging: Mapping[str, Belonging] | None = None,
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
        happens = np.full(len(instructions.lines), np.nan) if verdict is None else verdict.happens
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
