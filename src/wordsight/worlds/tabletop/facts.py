"""Facts about the tabletop: who holds what, what touches what, what stands on the table.

Two things touch from the first frame in which the physics engine has them push each other until
their outlines are more than 1.5 mm apart; contacts and gaps shorter than 0.1 s are wiped out,
because blocks that settle and blocks that are let go bounce by fractions of a millimetre.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.tabletop.events import AGENT
from wordsight.worlds.tabletop.physics import TABLE
from wordsight.worlds.tabletop.recording import Recording

__all__ = ["attached", "compress", "contacts", "facts_of", "grounded", "settled"]

_APART = 0.0015  # metres
_FLICKER = 0.1  # seconds

State = TypeVar("State")


def attached(block: str) -> str:
    """Write that the hand holds a block."""
    return f"attached({AGENT},{block})"


def contacts(one: str, other: str) -> str:
    """Write that two blocks touch; the order of the two does not matter."""
    first, second = sorted((one, other))
    return f"contacts({first},{second})"


def grounded(block: str) -> str:
    """Write that a block stands on the table."""
    return f"grounded({block})"


def facts_of(recording: Recording) -> tuple[frozenset[str], ...]:
    """Return the facts that hold in every frame."""
    frames: list[set[str]] = [
        {attached(block)} if block is not None else set() for block in recording.held
    ]
    shortest = max(round(_FLICKER * recording.frame_rate), 1)
    for number, (one, other) in enumerate(recording.pairs):
        fact = grounded(one) if other == TABLE else contacts(one, other)
        touching = settled(recording.pushed[number], recording.distances[number], shortest)
        for frame in np.flatnonzero(touching):
            frames[frame].add(fact)
    return tuple(frozenset(facts) for facts in frames)


def settled(
    pushed: NDArray[np.bool_], distances: NDArray[np.float64], shortest: int
) -> NDArray[np.bool_]:
    """Decide in which frames two things touch.

    Args:
        pushed: ``(T,)`` whether the physics engine had them push each other.
        distances: ``(T,)`` metres between their outlines.
        shortest: Frames that a contact or a gap must last; shorter ones are wiped out.

    Returns:
        ``(T,)`` whether they touch.
    """
    touching = np.zeros(len(pushed), dtype=np.bool_)
    now = False
    for frame, (push, distance) in enumerate(zip(pushed, distances, strict=True)):
        now = bool(push) or (now and distance <= _APART)
        touching[frame] = now
    # Gaps first: a block that bounces has arrived with the first bounce.
    for value in (False, True):
        _wipe_out(touching, value, shortest)
    return touching


def compress(states: Iterable[State]) -> list[State]:
    """Leave out every state that equals the one before it.

    Example:
        >>> compress("aabbba")
        ['a', 'b', 'a']
    """
    kept: list[State] = []
    for state in states:
        if not kept or state != kept[-1]:
            kept.append(state)
    return kept


def _wipe_out(touching: NDArray[np.bool_], value: bool, shortest: int) -> None:
    """Turn runs of ``value`` inside the film that are too short into what surrounds them."""
    edges = (np.flatnonzero(np.diff(touching.astype(np.int8))) + 1).tolist()
    for first, end in pairwise(edges):  # the first and the last run of the film stay
        if touching[first] == value and end - first < shortest:
            touching[first:end] = not value
