"""Boosted discovery: short conjunctions found one by one, each where the others still err.

Each round finds the conjunction of conditions that a step in log-odds explains best. A step for the
predicate becomes a rule ``conditions -> p``, one against it the rule ``conditions, p -> false``,
and the step its weight. Support is counted in videos, not frames, because frames of one video are
strongly dependent; several bags of videos may be averaged.

Many of those rules say nearly the same. Few of them are got by backward elimination: time and again
the rule goes whose loss changes the log-odds of the samples least, after the others have made up
for it as well as they can by least squares, weighted by how undecided samples are: that a certain
one becomes a little less certain changes no state. In the end the weights of those that are left
are fitted to the labels together, near what the elimination made of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import StateError
from wordsight.states.discovery.samples import (
    BinCondition,
    SampleSettings,
    SampleTable,
)
from wordsight.states.rules.rule import Rule

__all__ = ["BoostingSettings", "boost_predicate"]

Body = tuple[BinCondition, ...]

_RIDGE = 100.0  # samples; how firmly the weights of rules that are left keep to what they were
_DECIDED = 0.1  # weight of samples without doubt, beside their variance, which is .25 at most
_NEWTON_STEPS, _LONGEST, _TINY, _LEAST_CURVE = 30, 2.0, 1e-4, 1e-4
_LEAST_IMPROVEMENT = 1.02  # a further condition must raise the gain by this factor


@dataclass(frozen=True)
class BoostingSettings(SampleSettings):
    """Settings of boosted discovery, besides those of the samples.

    Attributes:
        rounds: Number of steps per bag.
        most_rules: Most rules of a predicate, ``None`` for all; others are eliminated.
        bags: Number of bootstrap samples of the videos that are averaged; 1 uses all videos.
        most_conditions: Most conditions of a rule.
        step: Share of the optimal step that is taken.
        ridge: Shrinkage of steps towards zero, in units of undecided samples.
        least_support: Least weight of undecided samples that a rule must cover.
        least_videos: Least number of videos in which it must apply.
    """

    rounds: int = 240
    most_rules: int | None = None
    bags: int = 1
    most_conditions: int = 3
    step: float = 0.2
    ridge: float = 5.0
    least_support: float = 5.0
    least_videos: int = 4

    def __post_init__(self) -> None:
        positive = (self.rounds, self.bags, self.most_conditions, self.num_thresholds)
        if min(positive) < 1 or not 0 < self.step <= 1 or self.num_thresholds > 250:
            raise StateError(
                "rounds, bags, conditions and thresholds (at most 250) must be 1 or more and the "
                f"step in (0, 1], got {self}."
            )
        if self.most_rules is not None and self.most_rules < 2:
            raise StateError(
                f"most_rules must be 2 or more, for the base rate and one condition, got {self}."
            )


def boost_predicate(
    samples: SampleTable, settings: BoostingSettings, random: np.random.Generator
) -> list[Rule]:
    """Discover the rules of one predicate by decreasing weight, after one of its base rate."""
    steps: dict[Body, float] = {}
    base = 0.0
    for _ in range(settings.bags):
        weights = _bag(samples, settings, random)
        base += _Round(samples, settings, weights, steps).run() / settings.bags
    if settings.most_rules is not None:
        steps, base = _eliminated(samples, steps, base, settings.most_rules - 1)
    rules = [_rule(samples, body, step) for body, step in steps.items() if abs(step) >= 1e-4]
    rules.sort(key=lambda rule: -rule.weight)
    return [_rule(samples, (), base), *rules]


def _bag(
    samples: SampleTable, settings: BoostingSettings, random: np.random.Generator
) -> NDArray[np.float64]:
    """Return ``(N,)`` weights of samples; videos are drawn with replacement."""
    if settings.bags == 1:
        return samples.weight
    videos = np.unique(samples.video)
    drawn = random.choice(videos, len(videos))
    return np.bincount(drawn, minlength=videos[-1] + 1)[samples.video] * samples.weight


class _Round:
    """Boosting on one bag."""

    def __init__(
        self,
        samples: SampleTable,
        settings: BoostingSettings,
        weights: NDArray[np.float64],
        steps: dict[Body, float],
    ):
        self._samples, self._settings, self._weights = samples, settings, weights
        self._steps, self._rows = steps, np.flatnonzero(weights)

    def run(self) -> float:
        """Add the steps of all rounds; return the log-odds that boosting starts from."""
        truth, weights = self._samples.truth.astype(np.float64), self._weights
        total = weights.sum()
        # Half a sample of each kind, because events that were never observed are possible.
        base = np.log(((weights * truth).sum() + 0.5) / (total - (weights * truth).sum() + 0.5))
        odds = np.full(len(truth), base)
        for _ in range(self._settings.rounds):
            share = 1.0 / (1.0 + np.exp(-odds))
            push, curve = weights * (truth - share), weights * share * (1.0 - share)
            _, body = max(self._grown(push, curve, sign) for sign in (1, -1))
            if not body:
                break
            covered = _covered(self._samples, body)
            whole = curve[covered].sum() + self._settings.ridge
            step = self._settings.step * push[covered].sum() / whole
            odds[covered] += step
            self._steps[body] = self._steps.get(body, 0.0) + step / self._settings.bags
        return float(base)

    def _grown(
        self, push: NDArray[np.float64], curve: NDArray[np.float64], sign: int
    ) -> tuple[float, Body]:
        """Return the gain and conditions of a conjunction grown greedily."""
        from wordsight.states.kernels.loops import best_condition

        samples, settings = self._samples, self._settings
        rows, body, gain = self._rows, [], 0.0
        for _ in range(settings.most_conditions):
            better, column, level, above = best_condition(
                samples.bins,
                rows,
                push,
                curve,
                samples.levels,
                settings.ridge,
                settings.least_support,
                sign,
            )
            if column < 0 or better <= gain * _LEAST_IMPROVEMENT:
                break
            left = rows[samples.holds(column, level, above)[rows]]
            if len(np.unique(samples.video[left])) < settings.least_videos:
                break
            rows, gain = left, better
            body.append((column, level, above))
        return gain, tuple(sorted(body))


def _covered(samples: SampleTable, body: Body) -> NDArray[np.bool_]:
    covered = np.ones(len(samples), dtype=np.bool_)
    for condition in body:
        covered &= samples.holds(*condition)
    return covered


def _eliminated(
    samples: SampleTable, steps: dict[Body, float], base: float, count: int
) -> tuple[dict[Body, float], float]:
    """Return so many of the steps, and the base rate, that come nearest to all of them."""
    bodies = list(steps)
    covers = np.ones((len(samples), len(bodies) + 1))
    for k, body in enumerate(bodies):
        covers[:, k] = _covered(samples, body)
    values = np.array([*steps.values(), base])
    share = 1.0 / (1.0 + np.exp(-(covers @ values)))
    weighed = covers * (samples.weight * (share * (1.0 - share) + _DECIDED))[:, None]
    # Removing one of the unknowns of least squares is a step of rank one on the inverse.
    inverse = np.linalg.inv(weighed.T @ covers + _RIDGE * np.eye(len(values)))
    kept = np.ones(len(values), dtype=np.bool_)
    for _ in range(len(bodies) - count):
        loss = np.where(kept, values**2 / np.diag(inverse), np.inf)
        loss[-1] = np.inf  # the base rate stays
        gone = int(np.argmin(loss))
        kept[gone] = False
        column, pivot = inverse[:, gone].copy(), inverse[gone, gone]
        values = np.where(kept, values - column * values[gone] / pivot, 0.0)
        inverse -= np.outer(column, column) / pivot
        inverse[gone, gone] = 1.0
    values[kept] = _corrected(samples, covers[:, kept], values[kept])
    left = np.flatnonzero(kept[:-1]).tolist()
    return {bodies[k]: float(values[k]) for k in left}, float(values[-1])


def _corrected(
    samples: SampleTable, covers: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return values near some, all fitted together to the labels by logistic regression."""
    start, weights = values, samples.weight
    for _ in range(_NEWTON_STEPS):
        share = 1.0 / (1.0 + np.exp(-(covers @ values)))
        push = covers.T @ (weights * (samples.truth - share)) - _RIDGE * (values - start)
        curve = weights * (share * (1.0 - share) + _LEAST_CURVE)
        bend = covers.T @ (covers * curve[:, None]) + _RIDGE * np.eye(len(values))
        step = np.linalg.solve(bend, push)
        values = values + step * min(1.0, _LONGEST / max(float(np.abs(step).max()), _TINY))
        if np.abs(step).max() < _TINY:
            break
    return values


def _rule(samples: SampleTable, body: Body, step: float) -> Rule:
    """Return a step in log-odds as a rule for or against the predicate."""
    step = float(f"{step:.4g}")  # further digits are not significant
    return samples.rule(body, abs(step), positive=step >= 0)
