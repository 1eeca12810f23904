"""`TabletopTruth`: what is true of a film of the tabletop in every frame, and its event.

Facts say what the hand holds, what touches what, and what stands on the table. Two things touch
from the first frame in which the physics engine has them push each other until their outlines are
more than 1.5 mm apart; contacts and gaps shorter than 0.1 s are removed, because blocks that settle
and blocks that are let go bounce by fractions of a millimetre.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import groupby
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.checks import WorldError
from wordsight.worlds.painter import Floats
from wordsight.worlds.sketch import moved
from wordsight.worlds.tabletop.blocks import AGENT, TABLE
from wordsight.worlds.tabletop.events import SupportChange
from wordsight.worlds.tabletop.hand import extent_of, joints_of
from wordsight.worlds.tabletop.recording import TabletopRecording
from wordsight.worlds.tabletop.settings import VIEW
from wordsight.worlds.truth import FilmTruth, runs

__all__ = ["TabletopTruth", "compress", "settled"]

_APART = 0.0015  # metres
_FLICKER = 0.1  # seconds

State = TypeVar("State")


class TabletopTruth(FilmTruth[TabletopRecording]):
    """Ground truth of one film."""

    @cached_property
    def facts(self) -> tuple[frozenset[str], ...]:
        """For every frame the facts that hold, such as ``contacts(green,red)``."""
        return _facts_of(self.recording)

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
    def boxes(self) -> Mapping[str, Floats]:
        """For the hand and every block ``(T, 4)`` pixels x1, y1, x2, y2; NaN while out of sight.

        The hand reaches from the finger tips to the wrist. The boxes are whole: what something in
        front hides is part of them.
        """
        scenario, look = self.recording.scenario, self.recording.scenario.look
        hands = [extent_of(joints_of(pose, look), look) for pose in self.recording.poses]
        boxes = {AGENT: self._framed(VIEW, np.stack(hands))}
        for block, places in zip(scenario.blocks, self.recording.places, strict=True):
            boxes[block.name] = self._framed(VIEW, moved(block.outline, places))
        return MappingProxyType(boxes)

    @cached_property
    def polygons(self) -> Mapping[str, Floats]:
        """For every block ``(T, 4, 2)`` pixels: the corners of its front face."""
        blocks = zip(self.recording.scenario.blocks, self.recording.places, strict=True)
        shift = self._offsets[:, None]
        return MappingProxyType(
            {b.name: VIEW.pixels(moved(b.corners, places)) + shift for b, places in blocks}
        )

    def record(self) -> dict[str, Any]:
        """Return the truth for ``truth.jsonl``."""
        return {
            "setting": self.recording.scenario.setting,
            "effects": dict(vars(self._effects)),
            "event": self._event_record(),
            "sequence": [sorted(state) for state in self.sequence],
            "states": [
                {**self._span(first, last), "facts": sorted(facts)}
                for facts, first, last in runs(self.facts)
            ],
            "acts": [
                {"name": act.name, "block": act.thing, **self._span(act.first, act.last)}
                for act in self.recording.activities
            ],
            "boxes": self._boxes_record(),
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
        both = {_attached(block), _contacts(block, support)}
        frames = [frame for frame, facts in enumerate(self.facts) if both <= facts]
        if not frames:
            raise WorldError(f"no {part.name} of {block} and {support} happens in this film.")
        return frames[0], frames[-1]

    def _event_record(self) -> dict[str, Any]:
        scenario = self.recording.scenario
        event, cast = scenario.event, scenario.cast
        spans = [self.span(part) for part in event.parts]
        return {
            "text": self.event,
            "name": event.name,
            "roles": {"agent": AGENT, **cast},
            **self._span(spans[0][0], spans[-1][1]),
            "parts": [
                {
                    "name": part.name,
                    "arguments": [AGENT, cast[part.object], cast[part.support]],
                    **self._span(*span),
                }
                for part, span in zip(event.parts, spans, strict=True)
            ],
        }


def _attached(block: str) -> str:
    return f"attached({AGENT},{block})"


def _contacts(one: str, other: str) -> str:
    first, second = sorted((one, other))
    return f"contacts({first},{second})"


def _facts_of(recording: TabletopRecording) -> tuple[frozenset[str], ...]:
    """Return the facts that hold in every frame."""
    frames: list[set[str]] = [
        {_attached(block)} if block is not None else set() for block in recording.held
    ]
    shortest = max(round(_FLICKER * recording.frame_rate), 1)
    for number, (one, other) in enumerate(recording.pairs):
        fact = f"grounded({one})" if other == TABLE else _contacts(one, other)
        touching = settled(recording.pushed[number], recording.distances[number], shortest)
        for frame in np.flatnonzero(touching):
            frames[frame].add(fact)
    return tuple(frozenset(facts) for facts in frames)


def settled(pushed: NDArray[np.bool_], distances: Floats, shortest: int) -> NDArray[np.bool_]:
    """Decide in which frames two things touch, ``(T,)``.

    Args:
        pushed: ``(T,)`` whether the physics engine had them push each other.
        distances: ``(T,)`` metres between their outlines.
        shortest: Frames that a contact or a gap must last; shorter ones are removed.
    """
    touching = np.zeros(len(pushed), dtype=np.bool_)
    now = False
    for frame, (push, distance) in enumerate(zip(pushed, distances, strict=True)):
        now = bool(push) or (now and distance <= _APART)
        touching[frame] = now
    # Gaps first: a block that bounces has arrived with the first bounce.
    for removed in (False, True):
        inner = list(runs(touching.tolist()))[1:-1]  # the first and the last run stay
        for value, first, last in inner:
            if value == removed and last + 1 - first < shortest:
                touching[first : last + 1] = not removed
    return touching


def compress(states: Iterable[State]) -> list[State]:
    """Leave out every state that equals the one before it.

    Examples:
        >>> compress("aabbba")
        ['a', 'b', 'a']
    """
    return [state for state, _ in groupby(states)]
