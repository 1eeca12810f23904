"""How learning grows beyond one process: in this process, in processes and on a Dask cluster.

Run ``python -m benchmarks.scale [--clips 10000] [--workers 2] [--training] [--shots 1000000]
[--json]``. Clips are the true boxes of rendered street films, shaken a little, with their
sentences. Measured by the clock: one EM iteration once the clips are where the work is, the fastest
of three; with ``--training`` one pass of training against false sentences instead, likewise.
``efficiency`` is the serial time divided by workers times the parallel one, and wants as many free
cores. ``cpu_seconds`` is what all processes together computed in that iteration, which other work
beside changes little. ``setup_seconds``: starting workers, bringing the clips there, and a first
iteration. ``gap`` is the largest difference from the serial run's objective, relative. ``--shots``
also searches an index of so many made-up shots, as ``benchmarks.retrieval`` does, and by its shards
with as many workers: ``sharded`` is by the clock, with the memory of the largest worker.
"""

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.street_corpus import true_clip
from wordsight.engine import Engine, EngineError, Serial, open_engine
from wordsight.language import default_lexicon
from wordsight.meaning import LearnedLexicon, TrainingSettings
from wordsight.meaning.model.calibration import Calibration
from wordsight.meaning.training.conditional import EngineGradients
from wordsight.meaning.training.corpus import Corpus
from wordsight.meaning.training.discriminative import GradientTraining
from wordsight.meaning.training.learner import prepare_training
from wordsight.meaning.training.trainer import Trainer
from wordsight.records import Clip
from wordsight.worlds import street

__all__ = ["main", "measure"]

_FILMS = 120
_EXACT = 3  # pictures that are compared with every shot, by shards too
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


def measure(count: int, workers: int, *, training: bool = False) -> dict[str, Any]:
    """Time an EM iteration, or a pass of discriminative training, with every engine."""
    clips, said = clips_with_sentences(count)
    say(f"{count} clips, {sum(map(len, said))} sentences")
    corpus, blank = prepare_training(clips, said, default_lexicon(), _SETTINGS)
    work = _iterations
    if training:
        blank, work = _briefly_learned(corpus, blank), _training
    report: dict[str, Any] = {"clips": count, "workers": workers, "training": training}
    serial, objective = work(Serial(), corpus, blank)
    report["serial"] = {**serial, "efficiency": 1.0, "gap": 0.0}
    for name in ("processes", "dask"):
        say(f"{name}, after serial took {serial['seconds']:.2f} s")
        try:
            with open_engine(f"{name}:{workers}") as engine:
                measured, found = work(engine or Serial(), corpus, blank)
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
    training = Trainer(corpus, blank, _SETTINGS, engine=engine)
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


def _briefly_learned(corpus: Corpus, blank: LearnedLexicon) -> LearnedLexicon:
    """Return words after an iteration of EM over some of the clips, for training to begin with."""
    some = replace(corpus, examples=corpus.examples[:_FILMS])
    trainer = Trainer(some, blank, replace(_SETTINGS, calibrated=False))
    trainer.step()
    verbs = {verb for example in corpus.examples for verb in example.verbs}
    return replace(trainer.current, calibration=Calibration(dict.fromkeys(sorted(verbs), 1.0)))


def _training(
    engine: Engine, corpus: Corpus, learned: LearnedLexicon
) -> tuple[dict[str, float], float]:
    """Return what the fastest of three passes against false sentences took, and its objective."""
    start = time.perf_counter()
    held = None if isinstance(engine, Serial) else EngineGradients(engine, corpus.examples)
    try:
        few = corpus.examples[: _SETTINGS.gradient.batch]
        # A step that is not kept: workers have their clips and compiled code afterwards.
        GradientTraining(learned, _SETTINGS.gradient).epoch(
            few, np.random.default_rng(0), held=held
        )
        setup = time.perf_counter() - start
        best, objective = (np.inf, np.inf), np.nan
        for _ in range(3):
            gradient = GradientTraining(learned, _SETTINGS.gradient)
            computed, start = _computed(), time.perf_counter()
            objective = gradient.epoch(corpus.examples, np.random.default_rng(0), held=held)
            best = min(best, (time.perf_counter() - start, _computed() - computed))
        told = {"seconds": best[0], "cpu_seconds": best[1], "setup_seconds": setup}
        return told, objective
    finally:
        if held is not None:
            held.close()


def _computed() -> float:
    """Return the processor seconds that this process and those it started have taken."""
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


def measure_search(shots: int, workers: int, queries: int = 20) -> dict[str, float]:
    """Search an index of made-up shots in one process, and by shards with some workers."""
    from benchmarks.retrieval import ask_in_process, make_index

    with tempfile.TemporaryDirectory() as folder:
        make_index(Path(folder), shots, words=8)
        say(f"{shots:,} shots made")
        report = ask_in_process(Path(folder), queries, min(queries, max(8, 200_000 // shots)))
        say(", ".join(f"{name} {value:.3g}" for name, value in report.items()))
        with open_engine(f"processes:{workers}") as engine:
            return report | _by_shards(Path(folder), engine or Serial(), queries)


def _by_shards(folder: Path, engine: Engine, queries: int) -> dict[str, float]:
    """Time searches by words and by pictures, the latter also with every shot compared."""
    from benchmarks.retrieval import SAMPLES
    from wordsight.retrieval import Index, JointQuery, ShardedSearch
    from wordsight.retrieval.visual import Samples

    index, random = Index(folder), np.random.default_rng(4)
    models = [index.visual.model(int(random.integers(len(index)))) for _ in range(queries)]
    drawn = [model.draw(0, SAMPLES, random)[0] for model in models]
    pictures = [JointQuery(None, Samples(values, np.zeros((SAMPLES, 4)))) for values in drawn]
    with ShardedSearch(index, engine) as search:
        rare = random.integers(2, 2000, (queries, 2)).tolist()
        words = [JointQuery(search.text.query(f"word{a} word{b}")) for a, b in rare]
        told, _ = _asked(search, "sharded_words", words)
    with ShardedSearch(index, engine, exact=False) as search:
        few, found = _asked(search, "sharded_two_stage", pictures)
        children = psutil.Process().children(recursive=True)
        told["sharded_worker_mb"] = max(c.memory_info().rss for c in children) / 2**20
    with ShardedSearch(index, engine, exact=True) as search:
        every, best = _asked(search, "sharded_exact", pictures[:_EXACT])
    shared = [len(one & other) / len(one) for one, other in zip(best, found, strict=False)]
    return told | few | every | {"sharded_recall_at_10": float(np.mean(shared))}


def _asked(search: Any, name: str, queries: list[Any]) -> tuple[dict[str, float], list[set[int]]]:
    """Return the times of queries by the clock, and what each found."""
    search.search(queries[0])  # workers open their shards
    times, found = [], []
    for query in queries:
        start = time.perf_counter()
        found.append({hit.position for hit in search.search(query)})
        times.append(time.perf_counter() - start)
    return {f"{name}_p{p}_s": float(np.percentile(times, p)) for p in (50, 95)}, found


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = report_parser("benchmarks.scale", __doc__ or "")
    parser.add_argument("--clips", type=int, default=10_000, help="0: none")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--training", action="store_true", help="a pass against false sentences instead of EM"
    )
    parser.add_argument("--shots", type=int, help="also search an index of so many shots")
    options = parser.parse_args(arguments)
    report = (
        measure(options.clips, options.workers, training=options.training) if options.clips else {}
    )
    rows = [{"engine": name, **row} for name, row in report.items() if isinstance(row, dict)]
    if options.shots:
        report["search"] = measure_search(options.shots, options.workers)
        say(", ".join(f"{name} {value:.3g}" for name, value in report["search"].items()))
    print_report(
        report,
        as_json=options.json,
        title=f"One {'pass of training' if options.training else 'EM iteration'} over "
        f"{options.clips} clips",
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
    run_main(main)
