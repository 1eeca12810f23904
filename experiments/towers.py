"""Towers whose upper blocks are hidden while they are carried: rules that chain, and units.

Run with ``python -m experiments.towers [--films 40] [--seed 0] [--json]``. Each film shows a tower
of three or four blocks, another block, and a hand that grips one block of the tower, lifts it with
all that stands on it, and sets it down elsewhere. In most films the blocks above the gripped one
go behind a screen before the grip and come out at the end, or never: then nothing is measured of
them. They are carried all the same, for what stands on a carried block is carried. In others the
hand takes the block beside the tower, and what is behind the screen rests.

Facts: ``attached(hand,x)``, ``on(x,y)``: x stands on y, ``carried(x)``. An error is a film whose
sequence of states is not exactly right. ``chained`` learns clauses with facts in their bodies and a
further object, ``units`` the same without these; all other settings are equal, none was chosen on
the films tested (settings were settled on films of other seeds). ``boosted`` is the default
method, which has no chained rules either. ``fps`` are frames a second of processor time, from
features to states, by number of objects; ``tau`` is the error of the chained rules by the published
search with bounds 0, 10 and 100.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.states import (
    BoostingSettings,
    ClausalSettings,
    Fact,
    InferenceSettings,
    Predicate,
    SelectionSettings,
    StateLearningSettings,
    StateModel,
    StateObservations,
    StateSequence,
    StateVocabulary,
    TrackedObject,
    TrackSmoothing,
)
from wordsight.states.methods import with_bound

__all__ = ["TowerFilm", "main", "measure", "tower_films"]

_FEATURES = ("speed", "dash", "dash_next", "distance", "vertical_gap", "overlap", "relative_speed")
VOCABULARY = StateVocabulary(
    (
        Predicate("attached", ("hand", "block")),
        Predicate("on", ("block", "block")),
        Predicate("carried", ("block",)),
    ),
    tuple(f for f in StateVocabulary().features if f.name in _FEATURES),
)
CHAINED = ClausalSettings(
    accuracy=0.95,
    coverage=0.05,
    least_videos=4,
    num_thresholds=16,
    most_rows=4000,
    most_conditions=2,
    most_rules=4,
    diverse=True,
    around_changes=0.3,
    state_atoms=True,
    new_variables=True,
    linked=True,
)
UNITS = replace(CHAINED, state_atoms=False, new_variables=False, linked=False)
_RATE = 15.0  # frames per second
_SIZE = 30.0  # of a block, pixels
_TABLE = 300.0  # row of the table
_SMOOTHING = TrackSmoothing(median_frames=3, fill_seconds=0.0)


@dataclass(frozen=True, eq=False)
class TowerFilm:
    """One film: what is seen, what is true, and whether a carried block is hidden."""

    seen: StateObservations
    truth: StateSequence
    hidden: bool


def tower_films(
    count: int, random_state: int, *, blocks: Sequence[int] = (3, 4)
) -> list[TowerFilm]:
    """Make films of towers.

    Args:
        count: How many.
        random_state: Seed.
        blocks: How high towers are, in turn.
    """
    random = np.random.default_rng(random_state)
    return [_film(f"tower-{k:03d}", blocks[k % len(blocks)], random) for k in range(count)]


def _film(name: str, height: int, random: np.random.Generator) -> TowerFilm:
    taken = int(random.integers(0, height - 1))  # counted from below; something stands on it
    decoy = random.random() < 0.25  # the block beside the tower is taken instead
    screened = random.random() < 0.85
    rest, screen, grip, lift, hold, after = (
        int(random.integers(low, high))
        for low, high in ((12, 20), (8, 14), (6, 10), (24, 34), (6, 10), (12, 18))
    )
    starts = np.cumsum([0, rest, screen, grip, lift, hold, after])
    frames = int(starts[-1])
    grip_at, lift_at, down_at, free_at = starts[2], starts[3], starts[4], starts[5]
    left, beside = random.uniform(60, 90), random.uniform(190, 220)
    place = np.zeros((frames, height + 1, 2))  # middle of the lower edge
    for k in range(height):
        place[:, k] = left, _TABLE - k * _SIZE
    place[:, height] = beside, _TABLE
    moved = [height] if decoy else list(range(taken, height))
    target = random.uniform(300, 340)
    share = np.clip((np.arange(frames) - lift_at) / (down_at - lift_at), 0, 1)
    first = place[0, moved[0]].copy()
    way = np.stack([share * (target - first[0]), -70 * np.sin(np.pi * share)], axis=1)
    way[:, 1] += share * (_TABLE - first[1])
    for k in moved:
        place[:, k] += way
    reach = np.clip((grip_at - np.arange(frames)) / max(grip_at, 1), 0, 1)
    reach = reach + np.clip((np.arange(frames) - free_at) / max(after, 1), 0, 1)
    hand = place[:, moved[0]] + [0.0, -_SIZE / 2] + reach[:, None] * [-60.0, -140.0]
    boxes = np.zeros((frames, height + 2, 4))
    boxes[:, 0] = np.concatenate([hand - [26, 8], hand - [10, -8]], axis=1)
    boxes[:, 1:] = np.concatenate([place - [_SIZE / 2, _SIZE], place - [-_SIZE / 2, 0]], axis=2)
    boxes += random.normal(0, 0.8, boxes.shape)
    upper = list(range(taken + 1, height))
    if screened:
        comes_out = free_at + after // 2 if random.random() < 0.5 else frames
        boxes[starts[1] : comes_out, [k + 1 for k in upper]] = np.nan
    names = [f"b{k}" for k in random.permutation(height + 1)]
    truth = _truth(name, names, moved, decoy, taken, frames, (grip_at, lift_at, down_at, free_at))
    things = [TrackedObject("hand", "hand"), *(TrackedObject(one, "block") for one in names)]
    seen = StateObservations.from_boxes(
        name, np.arange(frames) / _RATE, things, boxes, smoothing=_SMOOTHING
    )
    # What is behind the screen is there all the same, though nothing is measured of it.
    seen = replace(seen, present=np.ones_like(seen.present))
    return TowerFilm(seen, truth, screened and not decoy)


def _truth(
    name: str,
    names: Sequence[str],
    moved: Sequence[int],
    decoy: bool,
    taken: int,
    frames: int,
    changes: tuple[int, int, int, int],
) -> StateSequence:
    grip_at, lift_at, down_at, free_at = changes
    height = len(names) - 1
    spans = {Fact("attached", ("hand", names[moved[0]])): (grip_at, free_at)}
    spans |= {Fact("carried", (names[k],)): (lift_at, down_at) for k in moved}
    for k in range(1, height):
        ends = lift_at if k == taken and not decoy else frames
        spans[Fact("on", (names[k], names[k - 1]))] = (0, ends)
    values = np.zeros((frames, len(spans)), dtype=np.bool_)
    for column, (begin, end) in enumerate(spans.values()):
        values[begin:end, column] = True
    return StateSequence(name, np.arange(frames) / _RATE, tuple(spans), values)


def measure(films: int, seed: int) -> dict[str, Any]:
    """Learn from some films and judge as many others."""
    train, tested = tower_films(films, 2 * seed + 1), tower_films(films, 2 * seed + 2)
    rows, models = {}, {}
    for name, discovery in (
        ("chained", CHAINED),
        ("units", UNITS),
        ("boosted", BoostingSettings(rounds=60)),
    ):
        learning = StateLearningSettings(discovery)
        if isinstance(discovery, ClausalSettings):
            selection = SelectionSettings(units_first=True)
            learning = StateLearningSettings(discovery, transition="given", selection=selection)
        inference = InferenceSettings(keep=True)
        model = StateModel(
            None, 5.0, VOCABULARY, learning=learning, inference=inference, random_state=seed
        )
        model.fit([film.seen for film in train], [film.truth for film in train])
        models[name] = model
        rows[name] = _judged(model, tested)
        say(f"{name}: {rows[name]}")
    chained = [str(rule) for rule in models["chained"].rules_ if _chains(str(rule))]
    bounds = {
        str(bound): _judged(with_bound(models["chained"], bound), tested)["error"]
        for bound in (0, 10, 100)
    }
    models["chained"].inference = models["units"].inference
    return {
        "chained": rows["chained"]["error"],
        "units": rows["units"]["error"],
        "boosted": rows["boosted"]["error"],
        "tau": bounds,
        "fps": {str(n): _speed(models["chained"], n - 2) for n in (4, 8)},
        "films": len(tested),
        "chained_rules": chained,
        "rows": rows,
    }


def _chains(rule: str) -> bool:
    body = rule.partition(": ")[2].partition(" -> ")[0]
    return any(f"{name}(" in body for name in ("carried", "on", "attached")) and "false" not in rule


def _judged(model: StateModel, films: Sequence[TowerFilm]) -> dict[str, Any]:
    wrong = [model.predict(film.seen).states() != film.truth.states() for film in films]
    hidden = [w for w, film in zip(wrong, films, strict=True) if film.hidden]
    return {
        "error": round(100 * float(np.mean(wrong)), 1),
        "hidden_error": round(100 * float(np.mean(hidden)), 1) if hidden else None,
        "rules": len(model.rules_),
        "transition_cost": round(model.transition_cost_, 2),
    }


def _speed(model: StateModel, height: int) -> int:
    films = tower_films(6, 99, blocks=(height,))
    model.predict(films[0].seen)
    begin = time.process_time()
    for film in films:
        model.predict(film.seen)
    seconds = time.process_time() - begin
    return round(sum(len(film.seen) for film in films) / max(seconds, 1e-9))


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.towers", __doc__ or "")
    parser.add_argument("--films", type=int, default=40, help="films to learn from, and to test")
    parser.add_argument("--seed", type=int, default=0, help="of films and learning (0)")
    options = parser.parse_args(arguments)
    results = measure(options.films, options.seed)
    print_report(
        results,
        as_json=options.json,
        title=f"Towers with hidden contacts, {results['films']} films",
        columns=[
            Column("row", "", justify="left"),
            Column("error", "error %"),
            Column("hidden_error", "of those with hidden blocks %"),
            Column("rules", "rules"),
            Column("transition_cost", "K"),
        ],
        rows=[{"row": name} | row for name, row in results["rows"].items()],
        notes=[f"frames/s by objects: {results['fps']}; by bound: {results['tau']} % wrong"],
    )


if __name__ == "__main__":
    run_main(main)
