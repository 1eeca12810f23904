"""How learning grows beyond one process: EM iterations here, in processes and on a Dask cluster.

Run ``python -m benchmarks.scale [--clips 10000] [--workers 2] [--json]``. Clips are the true boxes
of rendered street films, shaken a little, with their sentences. Measured by the clock: one EM
iteration once the clips are where the work is; ``efficiency`` is the serial time divided by workers
times the parallel one, on as many free cores. ``gap`` is the largest difference from the serial
run's objective, relative.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.report import Column, print_report, report_parser, say
from experiments.street_corpus import true_clip
from wordsight.engine import Engine, Processes, Serial
from wordsight.language import default_lexicon
from wordsight.meaning import TrainingSettings, WordLearner
from wordsight.meaning.training import Training
from wordsight.records import Clip
from wordsight.worlds import street

__all__ = ["main", "measure"]

_FILMS = 120
_SETTINGS = TrainingSettings(restarts=1, tempered_iterations=1, iterations=20, discriminative=None)


def clips_with_sentences(count: int) -> tuple[list[Clip], list[tuple[str, ...]]]:
    """Return so many clips: rendered tracks, shaken differently each time they come up."""
    films = list(street(min(count, _FILMS), 500))
    seen = [true_clip(film) for film in films]
    rng = np.random.default_rng(0)
    clips, said = [], []
    for number in range(count):
        clip, film = seen[number % len(seen)], films[number % len(films)]
        boxes = clip.detections.boxes + rng.normal(0, 1.0, clip.detections.boxes.shape)
        low, high = boxes[..., :2], np.maximum(boxes[..., 2:], boxes[..., :2] + 1)
        shaken = replace(clip.detections, boxes=np.concatenate([low, high], axis=-1))
        clips.append(replace(clip, video_id=f"{clip.video_id}-{number}", detections=shaken))
        said.append(film.sentences)
    return clips, said


def measure(count: int, workers: int) -> dict[str, Any]:
    """Time an EM iteration with every engine."""
    clips, said = clips_with_sentences(count)
    say(f"{count} clips, {sum(map(len, said))} sentences")
    learner = WordLearner(_SETTINGS)
    learner.inferred_ = None
    corpus, blank = learner._prepared(clips, [list(row) for row in said], None, default_lexicon())
    report: dict[str, Any] = {"clips": count, "workers": workers}
    serial, objective = _iteration(Serial(), corpus, blank)
    report["serial"] = {"seconds": serial, "efficiency": 1.0, "gap": 0.0}
    for name, engine in _engines(workers):
        seconds, found = _iteration(engine, corpus, blank)
        report[name] = {
            "seconds": seconds,
            "efficiency": serial / (workers * seconds),
            "gap": abs(found - objective) / abs(objective),
        }
        close = getattr(engine, "close", None)
        if close is not None:
            close()
    return report


def _engines(workers: int) -> list[tuple[str, Engine]]:
    engines: list[tuple[str, Engine]] = [("processes", Processes(workers))]
    try:
        from wordsight.engine.cluster import Cluster

        engines.append(("dask", Cluster(workers=workers)))
    except ImportError:
        say("Dask is not installed; its row is left out")
    return engines


def _iteration(engine: Engine, corpus: Any, blank: Any) -> tuple[float, float]:
    """Return the seconds of the fastest of three iterations, and the objective after them."""
    training = Training(corpus, blank, _SETTINGS, engine=engine)
    try:
        training.step()  # brings the clips to where the work is
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            training.step()
            best = min(best, time.perf_counter() - start)
        return float(best), training.state.histories[0][-1]
    finally:
        training.close()


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = report_parser("benchmarks.scale", __doc__ or "")
    parser.add_argument("--clips", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    report = measure(options.clips, options.workers)
    print_report(
        report,
        as_json=options.json,
        title=f"One EM iteration over {options.clips} clips",
        columns=[
            Column("engine", "engine", justify="left"),
            Column("seconds", "seconds", ".2f"),
            Column("efficiency", "efficiency", ".2f"),
            Column("gap", "gap", ".1e"),
        ],
        rows=[{"engine": name, **row} for name, row in report.items() if isinstance(row, dict)],
    )


if __name__ == "__main__":
    main()
