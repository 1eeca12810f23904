"""What labelled videos must be like before anything is learned from them."""

from collections.abc import Sequence

import numpy as np

from wordsight.states.errors import StateError
from wordsight.states.facts import StateSequence
from wordsight.states.observations import Observations

__all__ = ["check_training"]


def check_training(
    observations: Sequence[Observations],
    states: Sequence[StateSequence],
    groups: Sequence[object] | None,
    *,
    timed: bool,
) -> None:
    """Refuse videos that nothing can be learned from.

    Args:
        observations: What is measured.
        states: What holds when.
        groups: Which videos belong together, or ``None``.
        timed: Whether every frame must be labelled.
    """
    if not len(observations):
        raise StateError("there is no video to learn from; give at least one with its states.")
    if len(observations) != len(states) or (groups is not None and len(groups) != len(states)):
        count = "" if groups is None else f" and {len(groups)} groups"
        raise StateError(
            f"every video needs its states: got {len(observations)} videos, {len(states)} label "
            f"sequences{count}."
        )
    for seen, told in zip(observations, states, strict=True):
        if seen.video_id != told.video_id:
            raise StateError(
                f"the labels of {told.video_id} stand beside the video {seen.video_id}; put both "
                "lists in the same order."
            )
        if not len(seen) or not len(told):
            raise StateError(f"{seen.video_id} has no frames or no labels; leave it out.")
        if timed and not (len(seen) == len(told) and np.array_equal(seen.times, told.times)):
            raise StateError(
                f"to discover rules every frame needs a label, but {seen.video_id} has "
                f"{len(seen)} frames and {len(told)} labels at other times; make them with "
                "StateSequence.from_segments(video_id, observations.times, ...)."
            )
    _check_twins(observations, states)


def _check_twins(observations: Sequence[Observations], states: Sequence[StateSequence]) -> None:
    """Refuse a video that comes twice with different labels."""
    known: dict[str, StateSequence] = {}
    for seen, told in zip(observations, states, strict=True):
        before = known.setdefault(seen.video_id, told)
        if before is not told and before.states() != told.states():
            raise StateError(
                f"{seen.video_id} comes twice, and its labels contradict each other; keep the "
                "right ones."
            )
