"""One call from a text and its observed videos to an alignment of each video."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordsight.alignment.errors import AlignmentError
from wordsight.alignment.models.decoding import reject_short_steps
from wordsight.alignment.records import Aligner, Alignment, Constraint, Instructions, Observed
from wordsight.alignment.text.constraint_text import check_constraints

if TYPE_CHECKING:
    from wordsight.alignment.models import HSMM

__all__ = ["AlignmentResult", "align_together", "mistake_tolerant_model"]


@dataclass(frozen=True, eq=False)
class AlignmentResult:
    """A text timed against its videos.

    Attributes:
        instructions: The text.
        alignments: One per video, in the order they were given.
        aligner: The model, with its dictionary.
    """

    instructions: Instructions
    alignments: tuple[Alignment, ...]
    aligner: Aligner


def align_together(
    instructions: Instructions,
    observed: Sequence[Observed],
    *,
    constraints: Mapping[str, Sequence[Constraint]] | None = None,
    aligner: Aligner | None = None,
    fit: bool = True,
    mistakes: bool = False,
) -> AlignmentResult:
    """Time a text against all its videos, learned together.

    Args:
        instructions: The text.
        observed: What was observed in each video; more videos of one text help all of them.
        constraints: What the user knows, by video.
        aligner: The model; the ensemble if left out, or that of :func:`mistake_tolerant_model`.
        fit: Whether to learn from these videos; false to use a fitted model as it is.
        mistakes: Whether to expect steps that were skipped, repeated or swapped.

    Returns:
        The timed text.

    Raises:
        AlignmentError: If there is no video, or the model cannot align one.
        ConstraintError: If constraints contradict each other or a video.
        PoorEvidenceError: If too little was seen.
    """
    if not observed:
        raise AlignmentError("there is no video to align; name at least one.")
    known = dict(constraints or {})
    for one in observed:
        check_constraints(known.get(one.video_id, ()), instructions, one.duration)
    if aligner is None:
        # Models compile what they need; whoever only reads texts need not wait for it.
        from wordsight.alignment.models.ensemble import Ensemble

        aligner = mistake_tolerant_model() if mistakes else Ensemble()
    if fit:
        aligner.fit([(instructions, one) for one in observed])
    found = tuple(
        aligner.align(instructions, one, constraints=known.get(one.video_id, ()))
        for one in observed
    )
    if mistakes:
        found = tuple(reject_short_steps(one, instructions) for one in found)
    return AlignmentResult(instructions, found, aligner)


def mistake_tolerant_model() -> "HSMM":
    """Return a model that expects steps to be left out, repeated or swapped.

    It holds less to how long steps usually last, and more to what is seen; so it needs things that
    are seen well, and by preference several videos.
    """
    from wordsight.alignment.models.hsmm import HSMM

    return HSMM(
        concentration=1.2,
        temperature=0.7,
        dependence=0.55,
        null=0.05,
        disorder=0.8,
        skip=0.15,
        back=0.15,
    )
