"""`Actor`: a person on the stage, as acts move it."""

import math
from collections.abc import Mapping

from wordsight.worlds.street.people.body import Pose
from wordsight.worlds.street.things.thing import Prop

__all__ = ["REACH", "Actor"]

REACH = 0.46  # metres before the body at which things are taken and put down
_CARRYING = 0.38  # metres before the body at which things are carried
_LIFT = 0.45  # metres by which a thing is lifted
_HANGING = 0.5  # swing from which one hand is enough


class Actor:
    """The changing state of one person.

    Args:
        name: Who.
        x: Where they stand, metres.
        facing: 1 looks right, -1 left.
        props: All things of the film by name.

    Attributes:
        x: As above.
        facing: As above; between -1 and 1 while turning.
        crouch: 0 upright, 1 bent down.
        phase: Cycles of the gait.
        stride: Metres of a cycle at the moment, 0 while standing.
        speed: Metres per second.
        reach: Where the near hand wants to be.
        reaching: 0 hands hang or swing, 1 the hand is at ``reach``.
        both_hands: Whether the far hand reaches, too.
        holding: Name of the thing in the hands, or None.
    """

    def __init__(self, name: str, x: float, facing: float, props: Mapping[str, Prop]) -> None:
        self.name = name
        self.x = x
        self.facing = facing
        self._props = props
        self.crouch = self.phase = self.stride = self.speed = self.reaching = 0.0
        self.reach = (x, 0.0)
        self.both_hands = False
        self.holding: str | None = None

    def needs_both_hands(self, thing: str) -> bool:
        """Whether a thing is carried with two hands; what swings hangs from one."""
        return self._props[thing].thing.swing < _HANGING

    def take(self, thing: str) -> None:
        """Have a thing in the hands from now on."""
        self.holding, self.reaching = thing, 1.0
        self.both_hands = self.needs_both_hands(thing)

    def let_go(self) -> None:
        """Have nothing in the hands from now on."""
        self.holding = None

    def carrying_point(self) -> tuple[float, float]:
        """Return where the hand carries what it holds, swaying a little with the steps."""
        grip = self._props[self.holding].grip if self.holding else 0.0
        sway = 0.02 * math.cos(4 * math.pi * self.phase) * min(self.stride, 1.0)
        return self.x + self.facing * _CARRYING, grip + _LIFT + sway

    def ground_point(self, thing: str, above: float) -> tuple[float, float]:
        """Return where the hand is when ``thing`` is ``above`` the ground before the feet."""
        return self.x + self.facing * REACH, self._props[thing].grip + above

    def settle(self) -> None:
        """Keep what is carried with the body; called after every act's step."""
        if self.holding and self.crouch == 0.0:
            self.reach = self.carrying_point()

    def pose(self) -> Pose:
        """Return the pose of the moment."""
        return Pose(
            self.x,
            self.facing,
            self.crouch,
            self.phase,
            self.stride,
            self.speed,
            self.reach,
            self.reaching,
            self.both_hands,
        )
