"""`Recording`: everything that happened at the workbench, frame by frame, before it is painted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.workbench.hands import HandLook, HandPose
from wordsight.worlds.workbench.order import Order
from wordsight.worlds.workbench.protocol import Protocol
from wordsight.worlds.workbench.state import Stream
from wordsight.worlds.workbench.things import Look

__all__ = ["HANDS", "Moment", "Recording"]

HANDS = ("left_hand", "right_hand")
"""Names of the hands, in the order of all arrays."""


@dataclass(frozen=True)
class Moment:
    """A sentence that was carried out.

    Attributes:
        step: Number of the step, counting from 0.
        sentence: Number of the sentence in the whole protocol, counting from 0.
        first: First frame.
        last: Last frame.
    """

    step: int
    sentence: int
    first: int
    last: int


@dataclass(frozen=True)
class Recording:
    """What was done in T frames with M things.

    Attributes:
        protocol: What was to be done.
        order: In which order the steps were done, and what went wrong.
        frame_rate: Frames per second.
        things: Names of the things, in the order of the arrays.
        places: ``(M, T, 3)`` x, depth and height of the origins, metres.
        angles: ``(M, T)`` radians.
        stands_on: ``(M, T)`` number of the thing that each stands on, -1 for the bench.
        looks: For every frame what each thing looks like.
        poses: For every frame what the left hand and the right hand do.
        streams: For every frame what falls from one thing into another.
        moments: The sentences in the order they were carried out.
        hand_look: What the hands look like.
    """

    protocol: Protocol
    order: Order
    frame_rate: float
    things: tuple[str, ...]
    places: NDArray[np.float64]
    angles: NDArray[np.float64]
    stands_on: NDArray[np.int64]
    looks: tuple[tuple[Look, ...], ...]
    poses: tuple[tuple[HandPose, HandPose], ...]
    streams: tuple[tuple[Stream, ...], ...]
    moments: tuple[Moment, ...]
    hand_look: HandLook

    @property
    def num_frames(self) -> int:
        """How many frames there are."""
        return len(self.poses)

    def touched(self) -> NDArray[np.bool_]:
        """Return ``(M, T)`` whether a hand touches the thing in the frame."""
        touched = np.zeros((len(self.things), self.num_frames), dtype=np.bool_)
        numbers = {name: number for number, name in enumerate(self.things)}
        for frame, poses in enumerate(self.poses):
            for pose in poses:
                if pose.touching is not None:
                    touched[numbers[pose.touching], frame] = True
        return touched
