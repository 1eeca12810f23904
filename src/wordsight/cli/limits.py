"""The option that keeps fewer detections of a clip, and what to say of what that loses."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from wordsight.cli.output import Output

__all__ = ["PruneOption", "keeping", "tell_lost"]

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


@contextmanager
def keeping(most: int | None) -> Iterator[None]:
    """Keep at most so many detections for the time of a block; all that fit if ``None``."""
    if most is None:
        yield
        return
    from wordsight.inference import Limits, within

    with within(Limits(most_detections=most)):
        yield


def tell_lost(output: Output, lost_mass: float, asked: int | None) -> None:
    """Say how much was left out at most, where anything was, or might be expected to be."""
    if asked is not None and not lost_mass:
        output.note("Nothing was left out: there is not more, or the tracks are given.")
    if lost_mass > 0:
        output.note(
            f"Not every detection was followed: at most {lost_mass:.2g} of the weight of all "
            "explanations is left out."
        )
