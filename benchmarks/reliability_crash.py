"""The crash matrix: commands killed at random points, and what is left of a library then."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.reliability_cases import (
    CASES,
    Case,
    Content,
    content_of,
    in_next_release,
    leftovers,
    lost,
    must,
)
from benchmarks.reliability_places import Place
from benchmarks.reliability_process import KillPoint, call_command, run

__all__ = ["Trial", "crash", "row"]


@dataclass(frozen=True)
class Undisturbed:
    """What a command does when nobody kills it.

    Attributes:
        before: What is there when it begins.
        done: What is there when it is over.
        answers: What is answered then.
        seconds: Processor time it takes.
        operations: How many operations it makes.
    """

    before: Content
    done: Content
    answers: list[str]
    seconds: float
    operations: int


@dataclass
class Trial:
    """One kill and what came of it.

    Attributes:
        point: When it was to be killed.
        killed: Whether that was before its end.
        problems: By check that failed, what was seen.
        left: Unfinished files after the second run.
    """

    point: KillPoint
    killed: bool = False
    problems: dict[str, str] = field(default_factory=dict)
    left: int = 0


def crash(
    place: Place, case: Case, films: Path, runs: int, seed: int, say: Callable[[str], None]
) -> list[Trial]:
    """Kill one command at many points; the state before is made anew each time."""
    place.clear()
    case.prepare(place, films)
    place.keep(case.name)
    calm = _undisturbed(place, case, films)
    chance = random.Random(f"{seed} {case.name} {place.name}")
    trials = []
    for turn, point in enumerate(_points(calm, runs, chance), start=1):
        place.set_back(case.name)
        trial = _try(place, case, films, calm, point)
        trials.append(trial)
        said = "; ".join(f"{check}: {what}" for check, what in trial.problems.items())
        say(f"{case.name} on {place.name} {turn}/{runs}: {point} {said or 'fine'}")
    return trials


def row(place: str, case: str, trials: Sequence[Trial]) -> dict[str, Any]:
    """Sum up the trials of one command on one kind of database."""

    def without(check: str) -> int:
        return sum(check not in trial.problems for trial in trials)

    return {
        "command": case,
        "database": place,
        "runs": len(trials),
        "killed": sum(trial.killed for trial in trials),
        "by_time": sum(t.killed and t.point.seconds is not None for t in trials),
        "by_operation": sum(t.killed and t.point.operation is not None for t in trials),
        "lost": len(trials) - without("lost"),
        "verify_clean": without("verify"),
        "resumed_equal": without("resumed"),
        "leftover_files": sum(trial.left for trial in trials),
        "problems": [f"{t.point}: {t.problems}" for t in trials if t.problems],
    }


def _points(calm: Undisturbed, runs: int, chance: random.Random) -> list[KillPoint]:
    """Spread the kills evenly, each at random within its share: half by time, half by operation."""
    by_time = (runs + 1) // 2
    times = [(n + chance.random()) / by_time * calm.seconds for n in range(by_time)]
    rest = runs - by_time
    steps = [1 + int((n + chance.random()) / rest * calm.operations) for n in range(rest)]
    points = [KillPoint(seconds=round(t, 4)) for t in times]
    points += [KillPoint(operation=number) for number in steps]
    chance.shuffle(points)
    return points


def _undisturbed(place: Place, case: Case, films: Path) -> Undisturbed:
    before = content_of(place)
    ending = must(place, case.command(place, films))
    done = content_of(place)
    answers = [must(place, call).said for call in case.finished(place, films)]
    place.set_back(case.name)
    again = must(place, case.command(place, films))  # the first one also filled caches
    return Undisturbed(before, done, answers, min(ending.seconds, again.seconds), again.operations)


def _try(place: Place, case: Case, films: Path, calm: Undisturbed, point: KillPoint) -> Trial:
    command = case.command(place, films)
    ending = run(command, place.work, kill=point)
    trial = Trial(point, killed=ending.killed)
    if ending.hung or (not ending.killed and ending.status):
        trial.problems["killed"] = f"status {ending.status}, hung {ending.hung}: {ending.said}"
    gone = _guarded(trial, "lost", lambda: lost(calm.before, content_of(place), calm.done))
    if gone:
        trial.problems["lost"] = "; ".join(gone[:3])
    _check_verify(place, case, trial, complete=False)
    again = run(command, place.work)
    if again.status:
        trial.problems["resumed"] = f"status {again.status}: {again.said[-500:]}"
    else:
        _check_resumed(place, case, films, calm, trial)
    _check_verify(place, case, trial, complete=True)
    trial.left = len(leftovers(place))
    return trial


def _guarded(trial: Trial, check: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # what cannot be read at all has failed the check
        trial.problems[check] = f"{type(error).__name__}: {error}"
        return None


def _check_verify(place: Place, case: Case, trial: Trial, *, complete: bool) -> None:
    call = call_command("verify", "--json", "--library", place.library)
    ending = run(_by_release(place, case, call), place.work)
    try:
        told = json.loads(ending.said)
        # Right after the kill, files that were put in place but not entered yet are told of as
        # unknown; the next run takes them over.
        fine = told["ok"] and not (complete and told["orphans"])
    except (ValueError, KeyError, TypeError):
        fine = False
    if ending.status or not fine:
        trial.problems["verify"] = ending.said[-500:]


def _by_release(place: Place, case: Case, call: Callable[[], None]) -> Callable[[], None]:
    return in_next_release(call, place.home / "migrations") if case.name == "migrate" else call


def _check_resumed(place: Place, case: Case, films: Path, calm: Undisturbed, trial: Trial) -> None:
    now = _guarded(trial, "resumed", lambda: content_of(place))
    if now is None:
        return
    if now != calm.done:
        trial.problems["resumed"] = _difference(now, calm.done)
    answers = [run(call, place.work).said for call in case.finished(place, films)]
    if answers != calm.answers:
        trial.problems["resumed"] = f"answers differ: {answers} instead of {calm.answers}"


def _difference(now: Content, done: Content) -> str:
    for name, found in vars(now).items():
        wanted = getattr(done, name)
        if found != wanted:
            keys = [key for key in {*found, *wanted} if found.get(key) != wanted.get(key)]
            return f"{name} differ in {sorted(keys)[:3]}"
    return ""


def cases(names: Sequence[str] | None) -> list[Case]:
    """Return the cases of these names, or all."""
    return [case for case in CASES if not names or case.name in names]
