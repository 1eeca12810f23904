"""What is believed of a video: the probability of every fact at every moment, and of every event.

Where neither yes nor no is probable enough, the answer is that it is unsure. How far to trust the
probabilities is measured by calibration: of all that is said with 70 %, 70 % should be true.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.files import atomic_path
from wordsight.states.events.definitions import EventDefinition
from wordsight.states.events.find import StateEvent, find_events
from wordsight.states.rules.facts import Fact, FactInterval, StateSequence

if TYPE_CHECKING:
    from wordsight.states.search.beliefs import StatePosterior

__all__ = [
    "UNSURE",
    "BeliefCalibration",
    "FactBelief",
    "StateBeliefs",
    "calibration",
    "draw_reliability",
]

Array = NDArray[np.float64]
Answer = Literal["yes", "unsure"]

UNSURE = (0.2, 0.8)
"""Between these probabilities neither yes nor no is answered."""

_DRAWS = 200  # sequences in which events are looked for; a share is then known to about 3 %
_AROUND = 0.5  # seconds by which an event may begin earlier or later and still be the same


@dataclass(frozen=True)
class FactBelief(FactInterval):
    """When a fact holds, or may hold.

    Attributes:
        probability: Mean over the interval.
        answer: ``yes``, or ``unsure`` where the probability is too low for that.
    """

    probability: float
    answer: Answer


@dataclass(frozen=True, eq=False)
class StateBeliefs:
    """The probabilities of the facts of a video, and its cheapest states.

    Attributes:
        sequence: The cheapest states.
        probabilities: ``(T, F)`` of its facts, 0 where an object is not visible.
        posterior: Probabilities of whole states, their facts in the same order.
        visible: ``(T, F)`` whether all objects of a fact are visible.
        calibrated: Whether the temperature was fitted to videos held out.
    """

    sequence: StateSequence
    probabilities: Array
    posterior: "StatePosterior"
    visible: NDArray[np.bool_]
    calibrated: bool

    def rows(self, *, doubts: bool = False) -> tuple[FactBelief, ...]:
        """Return when facts hold, with their probability, by start, then fact.

        Args:
            doubts: Whether to add when facts of the cheapest states that do not hold may do so
                after all: where they are unsure.
        """
        rows = [self._row(interval) for interval in self.sequence.intervals()]
        if doubts:
            low, high = UNSURE
            perhaps = (self.probabilities > low) & (self.probabilities < high)
            doubtful = self._with(perhaps & ~self.sequence.values)
            rows += [self._row(interval, "unsure") for interval in doubtful.intervals()]
        return tuple(sorted(rows, key=lambda row: (row.start, row.fact)))

    def _with(self, values: NDArray[np.bool_]) -> StateSequence:
        known = self.sequence
        return StateSequence(known.video_id, known.times, known.facts, values, known.end)

    def _row(self, interval: FactInterval, answer: Answer | None = None) -> FactBelief:
        times, column = self.sequence.times, self.sequence.facts.index(interval.fact)
        inside = (times >= interval.start - 1e-9) & (times < interval.end - 1e-9)
        mean = float(self.probabilities[inside, column].mean())
        told = answer or ("yes" if mean >= UNSURE[1] else "unsure")
        return FactBelief(
            interval.video_id, interval.start, interval.end, interval.fact, round(mean, 4), told
        )

    def moments(
        self, fact: Fact, start: float = -np.inf, end: float = np.inf
    ) -> list[tuple[float, float]]:
        """Return times and probabilities of a fact from start to end, where they change by .01."""
        times, column = self.sequence.times, self.sequence.facts.index(fact)
        inside = np.flatnonzero((times >= start - 1e-9) & (times < end - 1e-9))
        shares = np.round(self.probabilities[inside, column], 2)
        kept = np.flatnonzero(np.diff(shares, prepend=-1.0))
        return [(round(float(times[inside[k]]), 4), float(shares[k])) for k in kept]

    def event_probabilities(
        self,
        events: Sequence[StateEvent],
        definitions: Sequence[EventDefinition],
        *,
        random_state: int = 0,
    ) -> list[float]:
        """Return the probability of each event.

        Sequences of states are drawn by their probability, and the share in which the same event
        happens to the same objects at about the same time is the answer.

        Args:
            events: Events of the cheapest states.
            definitions: The definitions they were found with.
            random_state: Seed of the draws.
        """
        if not events:
            return []
        counts = np.zeros(len(events))
        for drawn in self.posterior.draw(_DRAWS, random_state):
            one = self._with(drawn & self.visible)
            found: dict[str, list[StateEvent]] = {}
            for event in find_events(one.compress(), definitions):
                found.setdefault(str(event), []).append(event)
            counts += [
                any(
                    other.start <= event.end + _AROUND and event.start <= other.end + _AROUND
                    for other in found.get(str(event), ())
                )
                for event in events
            ]
        return [round(float(share), 4) for share in counts / _DRAWS]


@dataclass(frozen=True)
class BeliefCalibration:
    """How far probabilities are those of the truth.

    Attributes:
        error: Expected calibration error: mean distance of said and true shares, weighted by how
            often each was said.
        log_loss: Mean negative logarithm of what was said of the truth.
        bins: Per bin how many facts at how many moments, their mean probability, and the share
            that is true; empty bins are left out.
        unsure: Share of all that is neither yes nor no.
    """

    error: float
    log_loss: float
    bins: tuple[tuple[int, float, float], ...]
    unsure: float


def calibration(
    probabilities: Array, truth: NDArray[np.bool_], num_bins: int = 10
) -> BeliefCalibration:
    """Compare probabilities ``(N,)`` with what is true ``(N,)``.

    Examples:
        >>> calibration(np.array([0.5, 0.5, 1.0]), np.array([True, False, True])).error
        0.0
    """
    if probabilities.shape != truth.shape or not probabilities.size:
        raise StateError(
            f"there must be as many truths as probabilities, and one or more; got {truth.shape} "
            f"and {probabilities.shape}."
        )
    said, true = probabilities.ravel(), truth.ravel()
    which = np.minimum((said * num_bins).astype(np.int64), num_bins - 1)
    counts = np.bincount(which, minlength=num_bins)
    means = np.bincount(which, said, num_bins) / np.maximum(counts, 1)
    shares = np.bincount(which, true, num_bins) / np.maximum(counts, 1)
    safe = np.clip(said, 1e-6, 1 - 1e-6)
    return BeliefCalibration(
        float((counts * np.abs(means - shares)).sum() / counts.sum()),
        float(-np.log(np.where(true, safe, 1 - safe)).mean()),
        tuple(
            (int(counts[k]), round(float(means[k]), 4), round(float(shares[k]), 4))
            for k in np.flatnonzero(counts)
        ),
        float(((said > UNSURE[0]) & (said < UNSURE[1])).mean()),
    )


def draw_reliability(
    path: str | PathLike[str], measured: BeliefCalibration, *, heading: str, overwrite: bool = False
) -> None:
    """Draw the share that is true over the probability said into a PNG, SVG or PDF file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="#999999", lw=1)
    said, true = [row[1] for row in measured.bins], [row[2] for row in measured.bins]
    axes.plot(said, true, marker="o", color="#0072b2")
    for count, x, y in measured.bins:
        axes.annotate(f"{count:,}", (x, y), (4, -10), textcoords="offset points", fontsize=7)
    axes.set(xlabel="probability said", ylabel="share that is true", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(f"{heading}: error {measured.error:.3f}", loc="left", fontsize=9)
    with atomic_path(path, overwrite=overwrite) as temporary:
        figure.savefig(temporary, dpi=130)
