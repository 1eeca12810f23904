"""`Recording`: everything that happened on the tabletop, frame by frame, before it is painted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.tabletop.hand import HandPose
from wordsight.worlds.tabletop.scenario import Scenario

__all__ = ["Activity", "Recording"]


@dataclass(frozen=True)
class Activity:
    """One act that was performed.

    Attributes:
        name: Which act, such as ``reach``.
        block: What it was done to, if anything.
        first: First frame in which it was under way.
        last: Last frame in which it was under way.
    """

    name: str
    block: str | None
    first: int
    last: int


@dataclass(frozen=True)
class Recording:
    """What physics and script did in T frames with M blocks.

    Attributes:
        scenario: What was planned.
        frame_rate: Frames per second.
        poses: What the hand did, T of them.
        places: ``(M, T, 3)`` x, y of the middle and angle of the blocks.
        held: For every frame the block in the hand, or None.
        pairs: The pairs of things; the table is called ``table`` and comes second.
        pushed: ``(P, T)`` whether the engine had the two push each other.
        distances: ``(P, T)`` metres between their outlines, at most 1 cm.
        activities: The acts in the order they began.
    """

    scenario: Scenario
    frame_rate: float
    poses: tuple[HandPose, ...]
    places: NDArray[np.float64]
    held: tuple[str | None, ...]
    pairs: tuple[tuple[str, str], ...]
    pushed: NDArray[np.bool_]
    distances: NDArray[np.float64]
    activities: tuple[Activity, ...]

    @property
    def num_frames(self) -> int:
        """How many frames there are."""
        return len(self.poses)

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks, in the order of the arrays."""
        return tuple(block.name for block in self.scenario.blocks)
