"""How fast texts are aligned: beside plain Python, and on a two-hour video.

Run with ``python -m benchmarks.alignment [--json] [--data DIR]``.

- ``ratio_reference``: processor time of an iteration of HMM1 written in plain Python with
  dictionaries (``benchmarks.alignment_reference``), divided by ours, on the same texts and videos.
  They are made up in the sizes of the wet-lab data, or that data itself with ``--data``. The
  learned tables are compared, too; compilation is not counted.
- ``two_hours``: the default model learns and aligns a video of two hours, 7,200 chunks of one
  second, with a text of 200 lines, each a step of its own, in a process of its own: processor time
  and wall time, compilation left out, and its greatest memory, numpy and all included.
"""

import multiprocessing
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.alignment_reference import ReferenceHMM1
from experiments.report import Column, print_report, report_parser, run_main
from wordsight.alignment import Chunk, Instructions, Line, Observed
from wordsight.alignment.models import HMM1, Ensemble

__all__ = ["made_up", "main", "measure"]

Pair = tuple[Instructions, Observed]
SIZES = ((34, 497), (34, 404), (12, 118), (12, 121), (25, 192), (25, 274))
"""Lines and chunks of the wet-lab videos."""

GOALS = {"ratio_reference": 50.0, "seconds": 10.0, "megabytes": 500.0}
_TURNS = 5


def measure(data: Path | None = None) -> dict[str, Any]:
    """Measure both."""
    pairs = _real(data) if data is not None else [made_up(*size, seed) for seed, size in _sizes()]
    return {"training": _training(pairs), "two_hours": _two_hours(), "goals": GOALS}


def made_up(lines: int, chunks: int, seed: int, *, lines_per_step: int = 3) -> Pair:
    """Make up a text and a video that follows it roughly: things of the line, and others."""
    chance = np.random.default_rng(seed)
    nouns = [f"noun{number}" for number in range(max(8, lines // 2))]
    text = tuple(
        Line(f"line {n}", 1 + n // lines_per_step, tuple(chance.choice(nouns, 3, replace=False)))
        for n in range(lines)
    )
    seen, now = [], 0.0
    while len(seen) < chunks:
        line = text[min(len(seen) * lines // chunks, lines - 1)]
        things = frozenset(
            f"thing of {chance.choice(line.nouns if chance.random() < 0.8 else nouns)}"
            for _ in range(1 + int(chance.integers(0, 2)))
        )
        for _ in range(min(1 + int(chance.integers(0, 4)), chunks - len(seen))):
            seen.append(Chunk(now, now + 1.0, things))
            now += 1.0
    return Instructions(f"text {seed}", text), Observed(f"video {seed}", tuple(seen), now)


def _sizes() -> list[tuple[int, tuple[int, int]]]:
    return list(enumerate(SIZES))


def _real(data: Path) -> list[Pair]:
    from experiments.data.wetlab import read_recordings

    return [(r.instructions, r.observed) for r in read_recordings(data)["anvil"]]


def _training(pairs: Sequence[Pair]) -> dict[str, Any]:
    HMM1(1).fit(pairs)  # compiles, or loads what was compiled
    ours, theirs = [], []
    for _ in range(_TURNS):
        ours.append(_seconds(lambda: HMM1(21).fit(pairs)) - _seconds(lambda: HMM1(1).fit(pairs)))
        theirs.append(_seconds(lambda: ReferenceHMM1(1).fit(pairs)))
    fast, slow = HMM1(2).fit(pairs), ReferenceHMM1(2).fit(pairs)
    known = fast.vocabulary_
    difference = max(
        abs(fast.table_[row, column] - slow.table[noun][thing])
        for row, noun in enumerate(known.nouns)
        for column, thing in enumerate(known.things)
    )
    return {
        "reference_seconds": min(theirs),
        "seconds": min(ours) / 20,
        "ratio_reference": 20 * min(theirs) / min(ours),
        "largest_difference": float(difference),
    }


def _two_hours() -> dict[str, float]:
    """Align in a fresh process, so that its greatest memory is its own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_align_long)


def _align_long() -> dict[str, float]:
    small = made_up(6, 60, 1)
    # Compiles; so short a video would be refused for lack of evidence.
    Ensemble(hsmm=2, lcrf=2, least_evidence=None).fit([small]).align(*small)
    text, video = made_up(200, 7200, 0, lines_per_step=1)
    model = Ensemble()
    wall, processor = time.perf_counter(), time.process_time()
    found = model.fit([(text, video)]).align(text, video)
    truth = np.minimum(np.arange(7200) * 200 // 7200, 199)
    return {
        "seconds": time.process_time() - processor,
        "wall_seconds": time.perf_counter() - wall,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "members": float(len(model.members_)),
        "accuracy": float((found.best == truth).mean()),
    }


def _seconds(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or one JSON object."""
    parser = report_parser("benchmarks.alignment", __doc__ or "")
    parser.add_argument("--data", type=Path, help="folder of the wet-lab data, to train on that")
    options = parser.parse_args(arguments)
    results = measure(options.data)
    training, long = results["training"], results["two_hours"]
    rows = [
        {"what": "training, plain Python / ours", "value": training["ratio_reference"], "goal": 50},
        {"what": "two hours, 200 lines: processor seconds", "value": long["seconds"], "goal": 10},
        {"what": "two hours, 200 lines: MB", "value": long["megabytes"], "goal": 500},
    ]
    columns = [
        Column("what", "what", justify="left"),
        Column("value", "measured", ".1f"),
        Column("goal", "goal"),
    ]
    print_report(results, as_json=options.json, title="Alignment", columns=columns, rows=rows)


if __name__ == "__main__":
    run_main(main)
