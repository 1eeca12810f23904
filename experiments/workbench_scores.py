"""How well steps were timed: step accuracy, boundary error, and who noticed what was left out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.workbench_films import Take
from wordsight.alignment import NO_LINE, Alignment, Observed

__all__ = ["Timing", "clock_split", "even_split", "score_alignment", "score_steps", "summed"]

_STEP = 0.5  # seconds between the moments scored


@dataclass(frozen=True)
class Timing:
    """The scores of one film.

    Attributes:
        accuracy: Share of the moments at which a step is under way that have the right one.
        boundary_errors: Per step that happened and was found, seconds between the moments it truly
            begins first and is found to begin.
        missed: Steps truly left out.
        said: Steps said to be left out.
        both: Steps of which both are true.
    """

    accuracy: float
    boundary_errors: tuple[float, ...]
    missed: int
    said: int
    both: int


def score_alignment(take: Take, observed: Observed, alignment: Alignment) -> Timing:
    """Score an alignment; a step is left out if none of its lines happened."""
    steps = np.where(
        alignment.best == NO_LINE, -1, take.instructions.steps[np.maximum(alignment.best, 0)]
    )
    happened = {
        int(take.instructions.steps[span.line]) for span in alignment.spans if span.happened
    }
    return score_steps(take, observed, steps, happened)


def score_steps(
    take: Take, observed: Observed, steps: NDArray[np.int64], happened: set[int] | None = None
) -> Timing:
    """Score a step per chunk.

    Args:
        take: The film with its truth.
        observed: Its chunks.
        steps: ``(T,)`` the step found for each chunk, -1 for none.
        happened: Steps found to have happened; by default those some chunk has.
    """
    times = np.arange(_STEP / 2, take.film.duration, _STEP)
    truth = take.steps[np.minimum((times * take.film.frame_rate).astype(int), len(take.steps) - 1)]
    middles = observed.times.mean(axis=1)
    found = steps[np.abs(times[:, None] - middles[None]).argmin(axis=1)]
    busy = truth >= 0
    every = set(range(int(take.instructions.steps[-1]) + 1))
    said = every - (set(steps.tolist()) if happened is None else happened)
    return Timing(
        float((found == truth)[busy].mean()),
        _boundary_errors(take, observed, steps),
        len(take.skipped),
        len(said),
        len(said & take.skipped),
    )


def even_split(take: Take, observed: Observed) -> NDArray[np.int64]:
    """Return ``(T,)`` the step of each chunk if lines shared the chunks evenly."""
    count, lines = len(observed.chunks), len(take.instructions.lines)
    return np.asarray(take.instructions.steps[np.arange(count) * lines // count])


def clock_split(take: Take, observed: Observed) -> NDArray[np.int64]:
    """Return ``(T,)`` the step of each chunk if lines shared the time evenly."""
    lines = len(take.instructions.lines)
    share = observed.times.mean(axis=1) / take.film.duration
    places = np.clip((share * lines).astype(int), 0, lines - 1)
    return np.asarray(take.instructions.steps[places])


def summed(timings: list[Timing]) -> dict[str, float | None]:
    """Return the mean accuracy, the median boundary error, and F1 of "did not happen"."""
    errors = [error for timing in timings for error in timing.boundary_errors]
    missed, said, both = (sum(getattr(t, k) for t in timings) for k in ("missed", "said", "both"))
    return {
        "accuracy": round(float(np.mean([timing.accuracy for timing in timings])), 4),
        "boundary_seconds": round(float(np.median(errors)), 2) if errors else None,
        "boundary_within_2s": round(float(np.mean([e <= 2.0 for e in errors])), 4)
        if errors
        else None,
        "skipped_f1": round(2 * both / (missed + said), 4) if missed + said else None,
        "skipped_precision": round(both / said, 4) if said else None,
        "skipped_recall": round(both / missed, 4) if missed else None,
        "skipped": missed,
        "said_skipped": said,
    }


def _boundary_errors(take: Take, observed: Observed, steps: NDArray[np.int64]) -> tuple[float, ...]:
    errors = []
    for step in range(int(take.instructions.steps[-1]) + 1):
        truly, found = np.flatnonzero(take.steps == step), np.flatnonzero(steps == step)
        if len(truly) and len(found):
            start = truly[0] / take.film.frame_rate
            errors.append(abs(float(observed.times[found[0], 0]) - start))
    return tuple(errors)
