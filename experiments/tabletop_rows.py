"""The rows of the tabletop experiment: each method learns from a training set and is judged."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from experiments.baselines.field import FieldFilm, field_results
from experiments.report import say
from experiments.tabletop_corpus import scenes
from experiments.tabletop_models import (
    Case,
    Score,
    at_bound,
    believed,
    cases,
    effort,
    fit_chained,
    fit_ours,
    fit_published,
    fit_walk,
    greedy_rows,
    judge,
    mistakes,
    per_fact,
    seven_rows,
)
from wordsight.states import EXACT

__all__ = ["BOUNDS", "METHODS", "Job", "run_job"]

BOUNDS = (0, 10, 100)
"""Bounds of the search for a segment's state: greed alone, small, large."""

METHODS: tuple[str, ...] = (
    "chained",
    "walkmaxsat",
    *(f"seven-{bound}" for bound in reversed(BOUNDS)),
    "fgm",
    "published",
    "ours",
    "field",
)
"""What is run, the slowest first, so that processes end together."""


@dataclass(frozen=True)
class Job:
    """One method on one training set, whose films a worker reads from the folder."""

    folder: Path
    films: int
    noise: float
    seed: int
    see: str
    training_set: str
    method: str


def run_job(job: Job) -> list[dict[str, Any]]:
    """Learn from a training set and judge the films for testing; return the rows."""
    seen = scenes(job.folder, job.films, noise=job.noise, random_state=job.seed, see=job.see)
    every, large, small = cases(seen), max(job.films // 3, 1), max(job.films // 6, 1)
    begin, end = (0, large) if job.training_set == "a" else (large, large + small)
    training = [case for case in every if begin <= case.number < end]
    tested = [case for case in every if case.number >= large + small]
    head = {"set": job.training_set, "training": len(training)}
    rows = []
    for row in _ROWS[job.method](training, tested, job.seed):
        rows.append(row if job.method == "field" else head | row)
        say(f"{job.method}, {job.training_set}: {row}")
    return rows


def _ours(training: Sequence[Case], tested: Sequence[Case], seed: int) -> Iterator[dict[str, Any]]:
    model = fit_ours(training, seed)
    judge(model.predict, tested[:1])  # compiles
    rules = len(model.rules_)
    exact = at_bound(model, EXACT)
    exact(tested[0].seen)
    chosen = {"rules": rules, "transition_cost": round(model.transition_cost_, 3)}
    yield {"model": "ours", **_score(judge(exact, tested)), **chosen}
    for line in mistakes(exact, tested):
        say(f"  wrong: {line}")
    by_facts = _score(judge(per_fact(model), tested))
    yield {"model": "ours, K for each fact that changes", **by_facts, "rules": rules}
    for bound in BOUNDS:
        infer = at_bound(model, bound)
        infer(tested[0].seen)
        cut, dearer = effort(model, bound, tested)
        yield {
            "model": "ours",
            "bound": bound,
            **_score(judge(infer, tested)),
            "rules": rules,
            "cut_off": round(cut, 1),
            "dearer": round(dearer, 1),
        }


def _clauses(
    name: str, training: Sequence[Case], tested: Sequence[Case], seed: int
) -> Iterator[dict[str, Any]]:
    model = {"published": fit_published, "chained": fit_chained}[name](training, seed)
    yield {
        "model": name,
        **_score(judge(model.predict, tested)),
        "rules": len(model.rules_),
        "transition_cost": round(model.transition_cost_, 3),
    }


def _fgm(training: Sequence[Case], tested: Sequence[Case], seed: int) -> Iterator[dict[str, Any]]:
    for name, count, patience, score in greedy_rows(training, tested):
        yield {"model": name, **_score(score), "rules": count, "patience": patience}


def _walk(training: Sequence[Case], tested: Sequence[Case], seed: int) -> Iterator[dict[str, Any]]:
    model = fit_ours(training, seed)
    score = _score(judge(fit_walk(model, training, seed).predict, tested))
    yield {"model": "walkmaxsat", **score, "rules": len(model.rules_)}


def _seven(
    bound: int, training: Sequence[Case], tested: Sequence[Case], seed: int
) -> Iterator[dict[str, Any]]:
    for iteration, right, transition, score in seven_rows(training, tested, bound, seed):
        yield {
            "model": "seven films",
            "bound": bound,
            "iteration": iteration,
            **_score(score),
            "training_right": round(right, 3),
            "transition_cost": round(transition, 3),
        }


def _field(training: Sequence[Case], tested: Sequence[Case], seed: int) -> Iterator[dict[str, Any]]:
    """Yield the other ways to infer from our rules, and how calibrated these are."""
    model = fit_ours(training, seed)
    found = field_results([FieldFilm(case.seen, case.truth, model) for case in tested])
    yield {**found, "calibration": asdict(believed(model, tested))}


_ROWS: dict[str, Callable[[Sequence[Case], Sequence[Case], int], Iterator[dict[str, Any]]]] = {
    "ours": _ours,
    "published": partial(_clauses, "published"),
    "chained": partial(_clauses, "chained"),
    "fgm": _fgm,
    "walkmaxsat": _walk,
    **{f"seven-{bound}": partial(_seven, bound) for bound in BOUNDS},
    "field": _field,
}


def _score(score: Score) -> dict[str, float]:
    return {name: round(value, 2) for name, value in asdict(score).items()}
