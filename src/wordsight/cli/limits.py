"""The options that keep less of a clip's explanations, and what to say of what that loses."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from wordsight.cli.output import Output
from wordsight.errors import WordsightError

__all__ = ["BeamOption", "PruneOption", "keeping", "tell_lost"]

PruneOption = Annotated[
    int | None,
    typer.Option(
        "--prune",
        metavar="J",
        min=1,
        help="Keep the J best detections per participant and frame; how much of all explanations "
        "that loses at most is said. By default all that fit the memory.",
        show_default=False,
    ),
]
BeamOption = Annotated[
    float | None,
    typer.Option(
        "--beam",
        metavar="SHARE",
        help="Follow only what matters, so that at most this share of all explanations is lost, "
        "such as 1e-6; one frame must fit the memory.",
        show_default=False,
    ),
]


@contextmanager
def keeping(most: int | None, loss: float | None = None) -> Iterator[list[float]]:
    """Keep at most so many detections, or lose at most a share, for the time of a block.

    Args:
        most: Detections per participant and frame; all that fit if ``None``.
        loss: Share of the explanations that a beam may lose; no beam if ``None``.

    Yields:
        The shares lost at most, of what is computed in the block and not told of by its results.
    """
    if most is not None and loss is not None:
        raise WordsightError("--prune and --beam are two ways to keep less; choose one of them.")
    if loss is not None and not 0 < loss < 1:
        raise WordsightError(f"--beam takes a share above 0 and under 1, such as 1e-6, got {loss}.")
    from wordsight.inference import Limits, noting_losses, within

    with within(Limits(most_detections=most, beam_loss=loss)), noting_losses() as losses:
        yield losses


def tell_lost(
    output: Output, lost_mass: float, asked: float | None, usual: float | None = None
) -> None:
    """Say how much was left out at most, where anything was, or might be expected to be.

    Args:
        output: Told.
        lost_mass: The largest share.
        asked: What somebody asked to keep, if anybody did.
        usual: The share in the middle, where there are many.
    """
    if asked is not None and not lost_mass:
        output.note(
            "Nothing that counts was left out: there was no more to follow, or it is no better."
        )
    if lost_mass > 0:
        output.note(
            f"Not every detection was followed: at most {lost_mass:.2g} of the weight of all "
            "explanations is left out"
            + (f", {usual:.2g} in the middle case." if usual is not None else ".")
            + ("" if asked is not None else " (--prune J chooses how many are.)")
        )
