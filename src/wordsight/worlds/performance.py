"""Performing: natural timing, acts in short steps of time, hands, and physics of what they grip."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import pymunk

from wordsight.worlds.painter import Colour, Floats, mix, shade
from wordsight.worlds.sketch import Point, Sketch

__all__ = [
    "FINGERS",
    "Act",
    "Activity",
    "Clock",
    "FingerStyle",
    "GripPhysics",
    "HandJoints",
    "HandLook",
    "Stage",
    "cruise",
    "cruise_time",
    "glide",
    "idle",
    "overshoot",
    "smooth",
]

_JERK_PEAK = 1.875  # peak speed of a smooth movement, as a multiple of its mean speed
_GRAVITY = -9.81  # metres per second squared
_TICKS_PER_SECOND = 240  # joints that hold things, and stacks, need short steps

Clock = Callable[[float], Iterator[float]]
"""Counts the steps of some seconds: yields the time since the beginning, after each step."""

Actor = TypeVar("Actor")


def smooth(u: float) -> float:
    """Go from 0 to 1 while ``u`` does, with speed and acceleration 0 at both ends.

    The minimum-jerk curve that reaching hands follow; its top speed is 1.875 times the mean.
    """
    u = min(max(u, 0.0), 1.0)
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


def glide(time: float, start: float, end: float, begin: float, goal: float) -> float:
    """Move smoothly from ``begin`` at time ``start`` to ``goal`` at time ``end``."""
    return begin + (goal - begin) * smooth((time - start) / max(end - start, 1e-9))


def overshoot(u: float, amount: float) -> float:
    """Go from 0 to 1 while ``u`` does, passing 1 by about ``amount`` shortly before the end."""
    late = min(max((u - 0.55) / 0.45, 0.0), 1.0)
    return smooth(u / 0.8) + amount * float(np.sin(np.pi * late)) ** 2


def cruise_time(distance: float, speed: float, acceleration: float) -> float:
    """Return the seconds to go ``distance`` at top ``speed`` or less, from standing to standing."""
    distance = abs(distance)
    ramp = _JERK_PEAK * speed / acceleration
    if distance >= speed * ramp:
        return distance / speed + ramp
    return 2.0 * float(np.sqrt(distance * _JERK_PEAK / acceleration)) if distance else 0.0


def cruise(time: float, distance: float, speed: float, acceleration: float) -> float:
    """Return how far one has come at ``time`` on a walk that speeds up, goes steadily and stops.

    Args:
        time: Seconds since the start.
        distance: How far the walk leads, in metres; its sign is kept.
        speed: Steady speed; short walks stay below it.
        acceleration: Peak acceleration while speeding up and slowing down.
    """
    total = cruise_time(distance, speed, acceleration)
    if total <= 0.0:
        return 0.0
    ramp = min(_JERK_PEAK * speed / acceleration, total / 2.0)
    top = abs(distance) / (total - ramp)
    time = min(max(time, 0.0), total)
    done = _ramped(min(time, ramp), ramp, top) + top * max(min(time, total - ramp) - ramp, 0.0)
    if time > total - ramp:
        done += _ramped(ramp, ramp, top) - _ramped(total - time, ramp, top)
    return float(np.copysign(done, distance))


def _ramped(time: float, ramp: float, top: float) -> float:
    # The integral of top * smooth(t / ramp): half the ramp's length at top speed in the end.
    u = time / ramp
    return top * ramp * u**4 * (2.5 + u * (u - 3.0))


@dataclass(frozen=True)
class Act(Generic[Actor]):
    """Something a person or a hand does for a while."""

    name: str  # in the log of the film
    thing: str | None  # name of what it is done to, if anything
    perform: Callable[[Actor, Clock], Iterator[None]]
    """Moves the actor a little before each ``yield``; one step of time passes at each."""


def idle(seconds: float) -> Callable[[object, Clock], Iterator[None]]:
    """Return what performs an act that does nothing for some seconds."""

    def perform(actor: object, clock: Clock) -> Iterator[None]:
        for _ in clock(seconds):
            yield

    return perform


@dataclass(frozen=True)
class Activity:
    """One act that was performed."""

    agent: str
    name: str  # of the act, such as walk
    thing: str | None  # what it was done to, if anything
    first: int  # frame in which it began
    last: int  # frame in which it ended


class Stage:
    """Time and the log of activities while acts are performed with physics.

    Args:
        frame_rate: Frames per second.

    Attributes:
        frame: Number of the frame that is performed.
        activities: The acts so far, in the order they ended.
        per_frame: Short steps in a frame.
        tick: Seconds of such a step.
    """

    def __init__(self, frame_rate: float) -> None:
        self.frame_rate = frame_rate
        self.frame = 0
        self.activities: list[Activity] = []
        self.per_frame = max(round(_TICKS_PER_SECOND / frame_rate), 1)
        self.tick = 1.0 / (frame_rate * self.per_frame)

    def clock(self, seconds: float) -> Iterator[float]:
        """Count the steps of some seconds."""
        for step in range(1, max(round(seconds / self.tick), 1) + 1):
            yield min(step * self.tick, seconds)

    def script(
        self, agent: str, actor: Actor, acts: Iterable[Act[Actor]], *, ends_before: int = 0
    ) -> Generator[None]:
        """Perform acts one after the other and log them under the name of the agent.

        The last frame of an act is the present one, or ``ends_before`` frames earlier.
        """
        for act in acts:
            first = self.frame
            try:
                yield from act.perform(actor, self.clock)
            finally:  # also when the film ends in the middle of it
                last = max(self.frame - ends_before, first)
                self.activities.append(Activity(agent, act.name, act.thing, first, last))


class GripPhysics:
    """Bodies that rest, fall and are held.

    Args:
        slop: Metres by which resting bodies may overlap; the engine's default is meant for pixels.

    Attributes:
        holders: Name of the hand that holds each thing, for the things that are held.
    """

    def __init__(self, slop: float) -> None:
        self._space = pymunk.Space()
        self._space.gravity = (0.0, _GRAVITY)
        self._space.collision_slop = slop
        self._bodies: dict[str, pymunk.Body] = {}
        self._hands: dict[str, pymunk.Body] = {}
        self._joints: dict[str, list[pymunk.Constraint]] = {}
        self.holders: dict[str, str] = {}

    def _add_floor(self, half_width: float, thickness: float, friction: float) -> pymunk.Segment:
        ends = (-half_width, -thickness), (half_width, -thickness)
        floor = pymunk.Segment(self._space.static_body, *ends, thickness)
        floor.friction = friction
        self._space.add(floor)
        return floor

    def _add_hands(self, names: Iterable[str]) -> None:
        for name in names:
            self._hands[name] = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
            self._space.add(self._hands[name])

    def _hold(
        self, hand: str, thing: str, pivot: pymunk.PivotJoint, spring: tuple[float, float, float]
    ) -> None:
        """Join a thing to a hand: a pivot carries it, a spring keeps it upright.

        The spring has an angle of rest, a stiffness and a damping.
        """
        bodies = self._hands[hand], self._bodies[thing]
        self._joints[thing] = [pivot, pymunk.DampedRotarySpring(*bodies, *spring)]
        self._space.add(*self._joints[thing])
        self.holders[thing] = hand

    def release(self, thing: str) -> None:
        """Let go of a thing; it falls."""
        self._space.remove(*self._joints.pop(thing))
        del self.holders[thing]

    def place_hand(self, name: str, position: Point) -> None:
        """Put a hand somewhere at once, before the film begins."""
        self._hands[name].position = position

    def step(self, hands: Mapping[str, Point], seconds: float) -> None:
        """Let time pass while hands move to the given places."""
        for name, goal in hands.items():
            hand = self._hands[name]
            # Held things are pulled by the hand's speed, so it must arrive by moving.
            hand.velocity = (pymunk.Vec2d(*goal) - hand.position) / seconds
        self._space.step(seconds)

    def place(self, name: str) -> tuple[float, float, float]:
        """Return x and y of a thing's origin and its angle in radians."""
        body = self._bodies[name]
        return float(body.position.x), float(body.position.y), float(body.angle)

    def places(self) -> Floats:
        """Return ``(M, 3)`` x, y and angle of all things, in order."""
        return np.array([self.place(name) for name in self._bodies])


FINGERS = ("thumb", "index", "middle", "ring", "little")
"""The fingers, the thumb first."""

HandJoints = dict[str, Floats]
"""For each of `FINGERS` ``(4, 2)`` metres from knuckle to tip, and chains of palm and arm."""


@dataclass(frozen=True)
class HandLook:
    """What the hands of one person look like."""

    skin: Colour  # of the gloves if there are any
    sleeve: Colour
    cuff: Colour = (238, 236, 230)
    left: bool = False  # whether the arm comes from the left
    size: float = 1.0  # 1 for an average adult
    gloves: bool = False


@dataclass(frozen=True)
class FingerStyle:
    """How the fingers of one world are drawn; widths in metres from the knuckle to the tip."""

    finger: tuple[float, ...]
    thumb: tuple[float, ...]
    layers: tuple[tuple[float, float, float], ...]  # extra width, brightness and shift to the light
    nail: tuple[float, float]  # length and width in metres
    nail_white: float  # share of white in its colour

    def paint_finger(
        self,
        sketch: Sketch,
        chain: Floats,
        colour: Colour,
        *,
        thumb: bool = False,
        size: float = 1.0,
    ) -> None:
        """Draw one finger: a darker rim keeps fingers apart, a lighter core makes them round."""
        widths = [width * size for width in (self.thumb if thumb else self.finger)]
        scale, pixels = sketch.scale, sketch.view.pixels(chain)
        for extra, factor, shift in self.layers:
            moved = pixels + np.array((np.sign(sketch.light) * shift, -shift)) * scale
            thick = [(width + extra) * scale for width in widths]
            sketch.limb_pixels(moved, thick, shade(colour, factor))

    def paint_nail(
        self, sketch: Sketch, chain: Floats, colour: Colour, *, size: float = 1.0
    ) -> None:
        """Draw the nail at the tip of a finger."""
        along = (chain[3] - chain[2]) / max(float(np.hypot(*(chain[3] - chain[2]))), 1e-9)
        degrees = float(np.degrees(np.arctan2(-along[1], along[0])))
        nail = mix(colour, (255, 236, 228), self.nail_white)
        axes = (self.nail[0] * size, self.nail[1] * size)
        sketch.ellipse(chain[3] + along * 0.001, axes, nail, degrees)

    def extent_of(
        self, joints: Mapping[str, Floats], palm: Sequence[float], size: float = 1.0
    ) -> Floats:
        """Return ``(2, 2)`` lower left and upper right corner in metres, from tips to palm.

        Args:
            joints: The fingers and the ``palm``, a chain of points.
            palm: Width of the palm at each of its points.
            size: Size of the hand.
        """
        chains: Iterable[str] = (*FINGERS, "palm")
        widths = [self.thumb, *[self.finger] * 4, palm]
        points = np.concatenate([joints[name] for name in chains])
        radii = np.concatenate(widths)[:, None] * size / 2
        return np.array([(points - radii).min(axis=0), (points + radii).max(axis=0)])
