"""Compute options of workflows: engines, devices, and how much of every clip is tracked."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wordsight.workflows.reporter import Reporter
from wordsight.workflows.settings import setting

if TYPE_CHECKING:
    from wordsight.engine import Engine

__all__ = [
    "device_setting",
    "engine_setting",
    "prune_setting",
    "pruning",
    "report_lost",
    "usable_device",
    "using_engine",
]


def engine_setting() -> Any:
    """Declare the setting that chooses who computes."""
    return setting(
        None,
        "Where the work is done: in this process, in processes of this machine (processes:4), or "
        "on a Dask cluster (dask:4, or its address); changes no result.",
        metavar="serial|processes|dask|tcp://…",
        label="Work is done",
        default_text="in this process",
    )


def device_setting(what: str = "similarity of pictures") -> Any:
    """Declare the setting that chooses a device for ``what``."""
    return setting(
        None,
        f"Compute {what} on this device; the processor is used where there is none.",
        metavar="cuda",
        label="Device",
        default_text="the processor",
    )


def prune_setting() -> Any:
    """Declare the setting that follows only so many detections."""
    return setting(
        None,
        "Follow the J best detections per participant and frame; the share of all explanations "
        "that this loses at most is reported. By default all that fit into memory.",
        metavar="J",
        label="Boxes followed per participant and frame",
        default_text="all that fit",
        ge=1,
        le=1000,
    )


@contextmanager
def using_engine(name: str | None, reporter: Reporter) -> Iterator["Engine | None"]:
    """Give the engine of a name for the time of a block, and report where it can be watched."""
    from wordsight.engine import open_engine

    with open_engine(name) as engine:
        dashboard = getattr(engine, "dashboard", None)
        if dashboard:
            reporter.note(f"The cluster can be watched at {dashboard}")
        yield engine


def usable_device(name: str | None, reporter: Reporter) -> str | None:
    """Return the name of a device if it is there; otherwise warn why not and return ``None``."""
    if name is None:
        return None
    from wordsight.inference.gpu import DeviceWarning, find_device

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DeviceWarning)
        device = find_device(name)
    for warning in caught:
        reporter.warn(str(warning.message))
    return None if device is None else name


@contextmanager
def pruning(most: int | None) -> Iterator[list[float]]:
    """Follow at most so many detections for the time of a block.

    Args:
        most: Detections per participant and frame; all that fit if ``None``.

    Yields:
        The shares lost at most, of what is computed in the block and not part of its results.
    """
    from wordsight.inference import Limits, collect_losses, using_limits

    with using_limits(Limits(most_detections=most)), collect_losses() as losses:
        yield losses


def report_lost(
    reporter: Reporter, lost_mass: float, asked: int | None, usual: float | None = None
) -> None:
    """Report how much was left out at most, where anything was or might be expected to be.

    Args:
        reporter: Takes the note.
        lost_mass: The largest share.
        asked: The value of ``prune``, if it was given.
        usual: The median share, where there are many.
    """
    if asked is not None and not lost_mass:
        reporter.note("Pruning left nothing out that counts: there was no more to follow.")
    if lost_mass > 0:
        reporter.note(
            f"Not every detection was followed: at most {lost_mass:.2g} of the weight of all "
            "explanations is left out"
            + (f", {usual:.2g} in the median." if usual is not None else ".")
            + ("" if asked is not None else " (--prune J chooses how many are followed.)")
        )
