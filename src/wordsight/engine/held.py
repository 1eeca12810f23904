"""Data that stays where the work is, so that only small things travel from round to round.

Learning goes over the same clips again and again with words that change a little. An engine holds
the clips in parts; each round sends the words out and brings every part's sums back, in the order
of the parts, so that adding them up gives the same digits wherever and however many did the work.
"""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from wordsight.closing import Closing

__all__ = ["Held", "HeldHere"]

Part = TypeVar("Part")
Result = TypeVar("Result")


class Held(Protocol):
    """Parts of a whole, held by whoever works on them. To be used in a ``with`` block."""

    def map(self, function: Callable[[Any, Any], Result], argument: Any) -> list[Result]:
        """Return ``function(part, argument)`` of every part, in order.

        Args:
            function: What to do with one part; importable by name.
            argument: What the parts do not hold, such as the words of this round.

        Raises:
            EngineError: If a part cannot be worked on although it was tried again.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class HeldHere(Closing, Generic[Part]):
    """Parts held in this very process."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = list(parts)

    def map(self, function: Callable[[Part, Any], Result], argument: Any) -> list[Result]:
        """Work on one part after the other."""
        return [function(part, argument) for part in self._parts]

    def close(self) -> None:
        """Let the parts go."""
        self._parts.clear()
