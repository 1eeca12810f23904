"""Who meets whom: a relation of people learned from positions and activities (CAVIAR, set 1).

Run with ``python -m experiments.caviar --data DIR [--test DIR2] [--json]``. A folder holds
``tracks.csv.gz`` (time_ms, fold, video_offset_ms, person, x, y, activity) and ``meeting.csv``
(time_ms, a, b). Without ``--test`` one fold after the other is left out; with it everything is
learned from DIR and judged on DIR2. Unbroken stretches of a fold are films.

Rules are clauses over distances and activities, few of which are selected together with the cost
of a change by cross-validation over the training folds; nothing is chosen on what is judged. The
features were chosen on folds 0 to 6. ``f1`` is over moments and unordered pairs of people, all
folds pooled; ``yardstick`` is one rule by hand, both active or inactive and at most 25 pixels
apart; ``rules`` is the greatest number of rules of a fold.

The folds cut films where meetings begin and end, so that a high cost of a change, which decides
most films as a whole, is favoured; ``no_time`` is what the same rules reach frame by frame.
"""

import csv
import gzip
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data.reading import reading
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.errors import WordsightError
from wordsight.states import (
    Fact,
    ObjectFeature,
    Predicate,
    StateModel,
    StateObservations,
    StateSequence,
    StateVocabulary,
    TrackedObject,
    TrackSmoothing,
)
from wordsight.states.methods import FEW

__all__ = ["Meeting", "load_films", "main", "measure"]

ACTIVITIES = ("walking", "active", "inactive", "running", "abrupt")
STEP = 40
"""Milliseconds from frame to frame."""

_FEATURES = tuple(f for f in StateVocabulary().features if f.name == "distance")
VOCABULARY = StateVocabulary(
    (Predicate("meeting", ("person", "person")),),
    (*_FEATURES, *(ObjectFeature(name, ("person",)) for name in ACTIVITIES)),
)
LEARNING = FEW
"""As ``wordsight states learn --method few`` does it."""

_POINT = 0.01  # half the side of the box around a position, pixels
_NEAR = 25.0  # pixels, of the rule by hand
_RAW = TrackSmoothing(median_frames=1, fill_seconds=0.0)


@dataclass(frozen=True, eq=False)
class Meeting:
    """A film: its fold, the people in it, and who meets whom."""

    fold: str
    seen: StateObservations
    truth: StateSequence


def load_films(folder: Path) -> list[Meeting]:
    """Read the unbroken stretches of all folds in which there are two people or more."""
    tracks, meetings = folder / "tracks.csv.gz", folder / "meeting.csv"
    for path in (tracks, meetings):
        if not path.is_file():
            raise WordsightError(f"there is no {path}; expected tracks.csv.gz and meeting.csv.")
    pairs: dict[int, list[tuple[str, str]]] = defaultdict(list)
    with (
        reading(meetings, "a table of time_ms, a and b"),
        meetings.open(encoding="utf-8", newline="") as lines,
    ):
        for row in csv.DictReader(lines):
            pairs[int(row["time_ms"])].append((row["a"], row["b"]))
    videos: dict[tuple[str, int], dict[int, dict[str, tuple[float, float, str]]]] = {}
    columns = "a table of time_ms, fold, video_offset_ms, person, x, y and activity"
    with reading(tracks, columns), gzip.open(tracks, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            frames = videos.setdefault((row["fold"], int(row["video_offset_ms"])), {})
            people = frames.setdefault(int(row["time_ms"]), {})
            people[str(int(row["person"]))] = (float(row["x"]), float(row["y"]), row["activity"])
    films = []
    for (fold, _), frames in sorted(videos.items()):
        times = sorted(frames)
        cuts = [k for k in range(1, len(times)) if times[k] - times[k - 1] > STEP]
        for begin, end in zip([0, *cuts], [*cuts, len(times)], strict=True):
            stretch = times[begin:end]
            people = sorted({name for t in stretch for name in frames[t]}, key=int)
            if len(people) > 1:
                films.append(_film(fold, stretch, people, [frames[t] for t in stretch], pairs))
    return films


def _film(
    fold: str,
    times: list[int],
    people: list[str],
    frames: list[dict[str, tuple[float, float, str]]],
    pairs: dict[int, list[tuple[str, str]]],
) -> Meeting:
    place = {name: k for k, name in enumerate(people)}
    boxes = np.full((len(times), len(people), 4), np.nan)
    acts = {name: np.full((len(times), len(people)), np.nan) for name in ACTIVITIES}
    for t, frame in enumerate(frames):
        for name, (x, y, activity) in frame.items():
            boxes[t, place[name]] = (x - _POINT, y - _POINT, x + _POINT, y + _POINT)
            for known, values in acts.items():
                values[t, place[name]] = known == activity
    seconds, video_id = np.array(times) / 1000, f"{fold}-{times[0]}"
    things = [TrackedObject(name, "person") for name in people]
    seen = StateObservations.from_boxes(video_id, seconds, things, boxes, smoothing=_RAW)
    for name, values in acts.items():
        seen = seen.with_feature(name, values)
    # Meeting has no order: both are told, and discovery finds that each implies the other.
    facts = [Fact("meeting", (a, b)) for a in people for b in people if a != b]
    met = [{p for a, b in pairs[t] for p in ((a, b), (b, a))} for t in times]
    holds = np.array([[fact.arguments in row for fact in facts] for row in met], dtype=np.bool_)
    return Meeting(fold, seen, StateSequence(video_id, seconds, tuple(facts), holds))


def measure(data: Path, test: Path | None) -> dict[str, Any]:
    """Learn and judge, fold by fold, or on a test folder."""
    films = load_films(data)
    splits = [("test", films, load_films(test))] if test is not None else _left_out(films)
    rows = []
    for name, train, judged in splits:
        model = StateModel(vocabulary=VOCABULARY, learning=LEARNING).fit(
            [film.seen for film in train],
            [film.truth for film in train],
            groups=[film.fold for film in train],
        )
        timeless = StateModel(model.rules_, 0.0, model.vocabulary_)
        rows.append(
            {
                "fold": name,
                "counts": _counted(judged, [model.predict(film.seen) for film in judged]),
                "timeless": _counted(judged, [timeless.predict(film.seen) for film in judged]),
                "yardstick": _counted(judged, [_by_hand(film) for film in judged]),
                "transition_cost": model.transition_cost_,
                "rules": [str(rule) for rule in model.rules_],
            }
        )
        say(f"fold {name}: {_scores(rows[-1]['counts'])}, {len(model.rules_)} rules")
    totals = {
        key: np.sum([row[key] for row in rows], axis=0)
        for key in ("counts", "timeless", "yardstick")
    }
    return {
        **_scores(totals["counts"]),
        "yardstick": _scores(totals["yardstick"])["f1"],
        "no_time": _scores(totals["timeless"])["f1"],
        "rules": max(len(row["rules"]) for row in rows),
        "folds": [
            row | {key: _scores(row[key]) for key in totals} | {"counts": row["counts"].tolist()}
            for row in rows
        ],
    }


def _left_out(films: Sequence[Meeting]) -> list[tuple[str, list[Meeting], list[Meeting]]]:
    folds = sorted({film.fold for film in films})
    if len(folds) < 3:
        raise WordsightError("leaving one fold out needs three folds or more; give --test DIR2.")
    return [
        (fold, [f for f in films if f.fold != fold], [f for f in films if f.fold == fold])
        for fold in folds
    ]


def _by_hand(film: Meeting) -> StateSequence:
    """Both are active or inactive, and near: the one rule that a person would write."""
    seen = film.seen
    calm = seen.features["active"] + seen.features["inactive"] > 0
    near = seen.features["distance"] <= _NEAR
    names = [thing.name for thing in seen.objects]
    columns = [tuple(names.index(name) for name in fact.arguments) for fact in film.truth.facts]
    holds = [calm[:, a] & calm[:, b] & near[:, a, b] for a, b in columns]
    return StateSequence(seen.video_id, seen.times, film.truth.facts, np.stack(holds, axis=1))


def _counted(films: Sequence[Meeting], found: Sequence[StateSequence]) -> np.ndarray:
    """Return right, wrong and missed moments of unordered pairs."""
    counts = np.zeros(3, dtype=np.int64)
    for film, states in zip(films, found, strict=True):
        facts = [f for f in film.truth.facts if int(f.arguments[0]) < int(f.arguments[1])]
        told, true = states.table(facts), film.truth.table(facts)
        counts += [(told & true).sum(), (told & ~true).sum(), (true & ~told).sum()]
    return counts


def _scores(counts: np.ndarray) -> dict[str, float]:
    hits, wrong, missed = counts.tolist()
    return {
        "f1": round(2 * hits / max(1, 2 * hits + wrong + missed), 4),
        "precision": round(hits / max(1, hits + wrong), 4),
        "recall": round(hits / max(1, hits + missed), 4),
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.caviar", __doc__ or "", "tracks.csv.gz and meeting.csv")
    parser.add_argument("--test", type=Path, metavar="DIR2", help="folder of held-out data")
    options = parser.parse_args(arguments)
    results = measure(options.data, options.test)
    print_report(
        results,
        as_json=options.json,
        title="CAVIAR, meeting: F1 over moments and pairs",
        columns=[
            Column("fold", "fold", justify="left"),
            Column("right", "right", ".0f"),
            Column("wrong", "wrong", ".0f"),
            Column("missed", "missed", ".0f"),
            Column("cost", "K"),
            Column("rules", "rules", justify="left"),
        ],
        rows=[
            dict(zip(("right", "wrong", "missed"), row["counts"], strict=True))
            | {"fold": row["fold"], "cost": row["transition_cost"]}
            | {"rules": "; ".join(row["rules"])}
            for row in results["folds"]
        ],
        notes=[
            f"F1 {results['f1']:.3f}, precision {results['precision']:.3f}, recall "
            f"{results['recall']:.3f}; by hand {results['yardstick']:.3f}; the same rules frame by "
            f"frame {results['no_time']:.3f}; at most {results['rules']} rules"
        ],
    )


if __name__ == "__main__":
    run_main(main)
