"""`TabletopTruth`: what is true of a film of the tabletop in every frame, and its event."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.camera import Effects
from wordsight.worlds.checks import WorldError
from wordsight.worlds.framing import rounded_boxes, span_of, visible
from wordsight.worlds.sketch import turned
from wordsight.worlds.tabletop.events import AGENT, SupportChange
from wordsight.worlds.tabletop.hand import joints_of
from wordsight.worlds.tabletop.hand_painter import extent_of
from wordsight.worlds.tabletop.physics import TABLE
from wordsight.worlds.tabletop.recording import TabletopRecording
from wordsight.worlds.tabletop.settings import SIZE, VIEW

__all__ = ["TabletopTruth", "attached", "compress", "contacts", "facts_of", "grounded", "settled"]


# MERGED FROM wordsight.worlds.tabletop.truth:
# Facts about the tabletop: who holds what, what touches what, what stands on the table.
#
# Two things touch from the first frame in which the physics engine has them push each other until
# their outlines are more than 1.5 mm apart; contacts and gaps shorter than 0.1 s are wiped out,
# because blocks that settle and blocks that are let go bounce by fractions of a millimetre.


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


def facts_of(recording: TabletopRecording) -> tuple[frozenset[str], ...]:
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

    Examples:
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


class TabletopTruth:
    """What is known about one film.

    Args:
        recording: What happened, from script and physics.
        effects: How the picture is spoiled; kept in the record.
        offsets: ``(T, 2)`` pixels by which the camera's shake moves each frame; none if not given.

    Attributes:
        recording: As above.
        facts: For every frame the facts that hold, such as ``contacts(green,red)``.
    """

    def __init__(
        self,
        recording: TabletopRecording,
        effects: Effects | None = None,
        offsets: NDArray[np.float64] | None = None,
    ) -> None:
        self.recording = recording
        self.facts = facts_of(recording)
        self._effects = Effects.at(0.0) if effects is None else effects
        still = np.zeros((recording.num_frames, 2))
        self._offsets = still if offsets is None else offsets

    @property
    def sequence(self) -> list[frozenset[str]]:
        """The states one after the other, each once as long as it lasts."""
        return compress(self.facts)

    @property
    def event(self) -> str:
        """The event with its arguments, such as ``stack(hand,red,green,blue)``."""
        scenario = self.recording.scenario
        blocks = [scenario.cast[role] for role in scenario.event.roles]
        return f"{scenario.event.name}({','.join([AGENT, *blocks])})"

    @cached_property
    def boxes(self) -> Mapping[str, NDArray[np.float64]]:
        """For the hand and every block ``(T, 4)`` pixels x1, y1, x2, y2; NaN while out of sight.

        The hand reaches from the finger tips to the wrist. The boxes are whole: what something in
        front hides is part of them.
        """
        scenario = self.recording.scenario
        hands = [
            extent_of(joints_of(p, scenario.look), scenario.look) for p in self.recording.poses
        ]
        boxes = {AGENT: self._framed(np.stack(hands))}
        for block, places in zip(scenario.blocks, self.recording.places, strict=True):
            boxes[block.name] = self._framed(_moved(block.outline, places))
        return MappingProxyType(boxes)

    @cached_property
    def polygons(self) -> Mapping[str, NDArray[np.float64]]:
        """For every block ``(T, 4, 2)`` pixels: the corners of its front face."""
        blocks = zip(self.recording.scenario.blocks, self.recording.places, strict=True)
        shift = self._offsets[:, None]
        return MappingProxyType(
            {b.name: VIEW.pixels(_moved(b.corners, places)) + shift for b, places in blocks}
        )

    def record(self) -> dict[str, Any]:
        """Return the truth as JSON can hold it; see the guide to worlds for the fields."""
        return {
            "setting": self.recording.scenario.setting,
            "effects": dict(vars(self._effects)),
            "event": self._event(),
            "sequence": [sorted(state) for state in self.sequence],
            "states": self._states(),
            "acts": self._acts(),
            "boxes": {name: rounded_boxes(boxes) for name, boxes in self.boxes.items()},
            "polygons": {
                name: np.round(corners, 1).tolist() for name, corners in self.polygons.items()
            },
        }

    def span(self, part: SupportChange) -> tuple[int, int]:
        """Return the first and the last frame in which a part of the event is under way.

        A pick-up lasts from the grip until the block is free of its support, a put-down from the
        first contact with the support until the hand lets go: the frames in which both hold it.
        """
        cast = self.recording.scenario.cast
        block, support = cast[part.object], cast[part.support]
        both = {attached(block), contacts(block, support)}
        frames = [frame for frame, facts in enumerate(self.facts) if both <= facts]
        if not frames:
            raise WorldError(f"no {part.name} of {block} and {support} happens in this film.")
        return frames[0], frames[-1]

    def _event(self) -> dict[str, Any]:
        scenario, rate = self.recording.scenario, self.recording.frame_rate
        spans = [self.span(part) for part in scenario.event.parts]
        parts = [
            {
                "name": part.name,
                "arguments": [AGENT, scenario.cast[part.object], scenario.cast[part.support]],
                **span_of(*span, rate),
            }
            for part, span in zip(scenario.event.parts, spans, strict=True)
        ]
        return {
            "text": self.event,
            "name": scenario.event.name,
            "roles": {"agent": AGENT, **scenario.cast},
            **span_of(spans[0][0], spans[-1][1], rate),
            "parts": parts,
        }

    def _states(self) -> list[dict[str, Any]]:
        states, first = [], 0
        for frame in range(1, len(self.facts) + 1):
            if frame == len(self.facts) or self.facts[frame] != self.facts[first]:
                span = span_of(first, frame - 1, self.recording.frame_rate)
                states.append({**span, "facts": sorted(self.facts[first])})
                first = frame
        return states

    def _acts(self) -> list[dict[str, Any]]:
        rate = self.recording.frame_rate
        return [
            {"name": act.name, "block": act.block, **span_of(act.first, act.last, rate)}
            for act in self.recording.activities
        ]

    def _framed(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn ``(T, N, 2)`` metres into ``(T, 4)`` visible boxes."""
        pixels = VIEW.pixels(points)
        boxes = np.concatenate([pixels.min(axis=1), pixels.max(axis=1)], axis=1)
        return visible(boxes + np.tile(self._offsets, 2), SIZE)


def _moved(corners: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``(T, N, 2)`` metres of corners that move and turn with ``(T, 3)`` places."""
    return np.stack([turned(corners, place[2]) + place[:2] for place in places])
