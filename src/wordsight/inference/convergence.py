"""Watching an EM loop: the history of its objective, when to stop, and whether it ever falls."""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from wordsight.errors import WordsightError

__all__ = ["ConvergenceMonitor", "ObjectiveFellError", "ObjectiveFellWarning"]


class ObjectiveFellWarning(UserWarning):
    """An objective that should never fall did."""


class ObjectiveFellError(WordsightError):
    """An objective that should never fall did, and the monitor was set to stop then."""


@dataclass
class ConvergenceMonitor:
    """Decides when an iterative fit has converged, and notices when it goes wrong.

    Attributes:
        tolerance: Stop when the objective rises by less than this in one iteration.
        max_iterations: Stop after this many iterations in any case.
        falling: What to do when the objective falls by more than rounding: "raise", "warn" or
            "ignore" (for objectives that are not monotone, such as those under a temperature).
        slack: Fall, as a share of the objective's size, that counts as rounding.
        history: The objective after every iteration so far; give an earlier one to go on.

    Examples:
        >>> monitor = ConvergenceMonitor(tolerance=0.1)
        >>> for objective in (-10.0, -5.0, -4.99):
        ...     if monitor.update(objective):
        ...         break
        >>> monitor.num_iterations, monitor.converged
        (3, True)
    """

    tolerance: float = 1e-3
    max_iterations: int = 100
    falling: Literal["raise", "warn", "ignore"] = "raise"
    slack: float = 1e-9
    history: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.max_iterations < 1 or self.tolerance < 0:
            raise ValueError(
                "a monitor needs max_iterations of 1 or more and a tolerance of 0 or more, got "
                f"{self.max_iterations} and {self.tolerance}."
            )
        self.history = [float(value) for value in self.history]

    @property
    def num_iterations(self) -> int:
        """How many iterations have been reported."""
        return len(self.history)

    @property
    def rise(self) -> float:
        """How much the objective rose in the last iteration; infinite before the second."""
        return self.history[-1] - self.history[-2] if len(self.history) > 1 else math.inf

    @property
    def converged(self) -> bool:
        """Whether the last iteration changed the objective by less than the tolerance."""
        return abs(self.rise) < self.tolerance

    @property
    def finished(self) -> bool:
        """Whether to stop: converged or out of iterations."""
        return self.converged or self.num_iterations >= self.max_iterations

    def update(self, objective: float) -> bool:
        """Report the objective of an iteration.

        Args:
            objective: Its value; may be ``-inf`` while nothing is possible, but not NaN.

        Returns:
            Whether to stop.

        Raises:
            ObjectiveFellError: If the objective fell and ``falling`` is "raise".
            ValueError: If the objective is not a number.
        """
        if math.isnan(objective):
            raise ValueError(
                f"the objective is not a number after {self.num_iterations} iterations; look for "
                "NaN in the data or zeros in the parameters."
            )
        before = self.history[-1] if self.history else -math.inf
        self.history.append(float(objective))
        if objective < before - self.slack * max(1.0, abs(before)):
            self._report_fall(before, objective)
        return self.finished

    def restart(self, history: Iterable[float] = ()) -> None:
        """Forget everything, or go on from the history of an interrupted fit."""
        self.history = [float(value) for value in history]

    def _report_fall(self, before: float, now: float) -> None:
        message = (
            f"the objective fell from {before:.10g} to {now:.10g} in iteration "
            f"{self.num_iterations}; it should only rise. Smoothing or another prior inside the "
            "update can cause this; otherwise it is a fault worth reporting."
        )
        if self.falling == "raise":
            raise ObjectiveFellError(message)
        if self.falling == "warn":
            warnings.warn(message, ObjectiveFellWarning, stacklevel=3)
