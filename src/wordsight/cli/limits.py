"""The options that keep less of a clip's explanations, and what to say of what that loses."""

from typing import Annotated

import typer

from wordsight.cli.output import Output

__all__ = ["BeamOption", "PruneOption", "tell_lost"]

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
