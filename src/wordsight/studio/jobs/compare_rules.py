"""A set of rules beside the rules in use: which differ, and what each says of labelled films."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wordsight.studio.jobs.task import JobContext

if TYPE_CHECKING:
    from wordsight.states import Rule, StateSequence
    from wordsight.studio.states import RuleBook

__all__ = ["compare_rules"]


def compare_rules(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Compare a set with the rules in use.

    Args:
        arguments: ``name`` of the set.
        workplace: Where to work.

    Returns:
        ``rules``, each with its weight in use and in the set, ``None`` where it is not in one;
        ``films``, where the set was learned from labelled ones: whether the sequence of states is
        right and which share of facts, with the rules in use and with the set.
    """
    from wordsight.states import parse_rules
    from wordsight.studio.rule_sets import read_set
    from wordsight.studio.states import read_rules

    now, other = read_rules(workplace.folder), read_set(workplace.folder, arguments["name"])
    rules = _beside(parse_rules(now.rules), parse_rules(other.book.rules))
    films: dict[str, dict[str, Any]] = {}
    if other.learned:
        for which, book in (("now", now), ("set", other.book)):
            for name, found in _judged(other.learned, workplace, book).items():
                films.setdefault(name, {"film": name})[which] = found
    return {
        "set": other.name,
        "costs": [now.cost, other.book.cost],
        "rules": rules,
        "films": list(films.values()),
    }


def _beside(now: tuple["Rule", ...], other: tuple["Rule", ...]) -> list[dict[str, Any]]:
    """Pair rules that say the same, whatever their weights."""
    weights: dict[str, list[str | None]] = {}
    for place, rules in enumerate((now, other)):
        for rule in rules:
            weight, _, said = str(rule).partition(": ")
            weights.setdefault(said, [None, None])[place] = weight
    return [{"rule": said, "now": one[0], "set": one[1]} for said, one in weights.items()]


def _judged(
    lesson: Mapping[str, Any], workplace: JobContext, book: "RuleBook"
) -> dict[str, dict[str, Any]]:
    from wordsight.studio.jobs.learn_rules import labelled_request
    from wordsight.workflows.reporter import RecordingReporter
    from wordsight.workflows.states import observe_labelled

    labelled = observe_labelled(labelled_request(lesson, workplace, book), RecordingReporter())
    pairs = list(zip(labelled.observations, labelled.truth, strict=True))
    model, found = book.model(), {}
    for done, (one, told) in enumerate(pairs, start=1):
        said = model.predict(one)
        share = _facts_right(said, told)
        found[one.video_id] = {"right": said.states() == told.states(), "facts": share}
        workplace.progress(done, len(pairs), one.video_id)
    return found


def _facts_right(said: "StateSequence", told: "StateSequence") -> float:
    """Return the share of moments at which both agree on the facts that ever hold in either."""
    import numpy as np

    values = [dict(zip(map(str, one.facts), one.values.T, strict=True)) for one in (said, told)]
    nothing = np.zeros(len(told.times), dtype=bool)
    ever = sorted({name for one in values for name, holds in one.items() if holds.any()})
    same = [np.mean(values[0].get(n, nothing) == values[1].get(n, nothing)) for n in ever]
    return float(np.mean(same)) if same else 1.0
