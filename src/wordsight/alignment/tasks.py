"""One call from a text and its observed videos to an alignment of each video."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wordsight.alignment.errors import AlignmentError
from wordsight.alignment.models import HSMM, AlignmentModel, Ensemble
from wordsight.alignment.models.decoding import reject_short_steps
from wordsight.alignment.records import Alignment, Constraint, Instructions, Observed
from wordsight.alignment.text.constraint_text import check_constraints
from wordsight.progress import Progress

__all__ = ["AlignmentResult", "align_together", "mistake_tolerant_model"]


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
        progress: Called during the fit with the amount done, the total and a description.

    Raises:
        AlignmentError: If there is no video, or the model cannot align one.
        ConstraintError: If constraints contradict each other or a video.
        PoorEvidenceError: If too little was observed.
    """
    if not observed:
        raise AlignmentError("there is no video to align; give at least one.")
    known = dict(constraints or {})
    for video in observed:
        check_constraints(known.get(video.video_id, ()), instructions, video.duration)
    if aligner is None:
        aligner = mistake_tolerant_model() if mistakes else Ensemble()
    if fit:
        aligner.fit([(instructions, video) for video in observed], progress=progress)
    alignments = tuple(
        aligner.align(instructions, video, constraints=known.get(video.video_id, ()))
        for video in observed
    )
    if mistakes:
        alignments = tuple(reject_short_steps(one, instructions) for one in alignments)
    return AlignmentResult(instructions, alignments, aligner)


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
