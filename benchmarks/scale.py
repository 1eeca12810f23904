"""How learning grows beyond one process: EM iterations here, in processes and on a Dask cluster.

Run ``python -m benchmarks.scale [--clips 10000] [--workers 2] [--shots 1000000] [--json]``. Clips
are the true boxes of rendered street films, shaken a little, with their sentences. Measured by the
clock: one EM iteration once the clips are where the work is, the fastest of three; ``efficiency``
is the serial time divided by workers times the parallel one, and wants as many free cores.
``cpu_seconds`` is what all processes together computed in that iteration, which other work beside
changes little. ``setup_seconds``: starting workers, bringing the clips there, and a first
iteration. ``gap`` is the largest difference from the serial run's objective, relative. ``--shots``
also searches an index of so many made-up shots, as ``benchmarks.retrieval`` does.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import psutil

from experiments.report import Column, print_report, report_parser, say
from experiments.street_corpus import true_clip
from wordsight.engine import Engine, EngineError, Serial, working_with
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
    serial, objective = _iterations(Serial(), corpus, blank)
    report["serial"] = {**serial, "efficiency": 1.0, "gap": 0.0}
    for name in ("processes", "dask"):
        say(f"{name}, after serial took {serial['seconds']:.2f} s")
        try:
            with working_with(f"{name}:{workers}") as engine:
                measured, found = _iterations(engine or Serial(), corpus, blank)
        except EngineError as error:
            say(f"{name} is left out: {error}")
            continue
        report[name] = {
            **measured,
            "efficiency": serial["seconds"] / (workers * measured["seconds"]),
            "gap": abs(found - objective) / abs(objective),
        }
    return report


def _iterations(engine: Engine, corpus: Any, blank: Any) -> tuple[dict[str, float], float]:
    """Return what the fastest of three iterations took, and the objective after them."""
    training = Training(corpus, blank, _SETTINGS, engine=engine)
    start = time.perf_counter()
    try:
        training.step()  # brings the clips to where the work is
        setup = time.perf_counter() - start
        best = (np.inf, np.inf)
        for _ in range(3):
            computed, start = _computed(), time.perf_counter()
            training.step()
            best = min(best, (time.perf_counter() - start, _computed() - computed))
        told = {"seconds": best[0], "cpu_seconds": best[1], "setup_seconds": setup}
        return told, training.state.histories[0][-1]
    finally:
        training.close()


def _computed() -> float:
    """Return the processor seconds that this process and those it started have taken."""
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = report_parser("benchmarks.scale", __doc__ or "")
    parser.add_argument("--clips", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--shots", type=int, help="also search an index of so many shots")
    options = parser.parse_args(arguments)
    report = measure(options.clips, options.workers)
    rows = [{"engine": name, **row} for name, row in report.items() if isinstance(row, dict)]
    if options.shots:
        from benchmarks.retrieval import measure_growth

        report["search"] = measure_growth([options.shots], 20)[str(options.shots)]
        say(", ".join(f"{name} {value:.3g}" for name, value in report["search"].items()))
    print_report(
        report,
        as_json=options.json,
        title=f"One EM iteration over {options.clips} clips",
        columns=[
            Column("engine", "engine", justify="left"),
            Column("seconds", "seconds", ".2f"),
            Column("efficiency", "efficiency", ".2f"),
            Column("cpu_seconds", "cpu_seconds", ".2f"),
            Column("setup_seconds", "setup_seconds", ".1f"),
            Column("gap", "gap", ".1e"),
        ],
        rows=rows,
    )


if __name__ == "__main__":
    main()
