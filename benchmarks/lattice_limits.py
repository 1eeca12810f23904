"""Lattices that do not fit into memory: what parts save, what pruning loses, and its bound.

Run ``python -m benchmarks.lattice_limits [--frames 100000] [--json]``.

- ``parts``: forward-backward of a long clip (two participants, six detections, a verb of three
  states) in parts: processor seconds, and the largest memory beside the given tables and the counts
  of the same size, beside what keeping all nodes would take;
- ``pruned``: clips of 20 frames with four lasting things among clutter, 10 detections, of which K
  are kept per participant: the share of the sum that is lost and the bound on it, and their ratio,
  in the middle and at worst of 40 clips.
"""

import argparse
import json
import time
import tracemalloc
from typing import Any

import numpy as np

from wordsight.inference import Lattice, WordChain, log_scores, prune, streamed_counts

__all__ = ["film", "main", "measure"]

_CLIPS = 40


def measure(frames: int) -> dict[str, Any]:
    """Measure everything."""
    report: dict[str, Any] = {"parts": _parts(frames)}
    report["pruned"] = {f"keep {most} of 10": _pruned(most) for most in (4, 5, 6, 7)}
    return report


def film(seed: int, frames: int = 20, things: int = 4, clutter: int = 6) -> Lattice:
    """Return a clip of a few things that last and clutter that comes and goes, and a sentence."""
    rng = np.random.default_rng(seed)
    seen = things + clutter
    where = rng.uniform(0, 10, (frames, seen))
    steps = 0.1 * rng.normal(size=(frames, things))
    where[:, :things] = rng.uniform(0, 10, things) + steps.cumsum(axis=0)
    lasting, passing = rng.uniform(0.7, 1.0, (frames, things)), rng.uniform(0.05, 0.4, seen)
    unary = np.concatenate([lasting, np.tile(passing[things:], (frames, 1))], axis=1)
    apart = np.abs(where[1:, None] - where[:-1, :, None])
    words = []
    for p in range(2):
        likes = np.exp(rng.normal(-2.0, 0.7, (frames, 1, seen)))
        likes[:, 0, p] = np.exp(rng.normal(0.0, 0.3, frames))
        words.append(WordChain((p,), np.ones(1), np.ones((1, 1)), likes / likes.max()))
    transition = np.triu(np.full((3, 3), 0.1)) + 0.8 * np.eye(3)
    verb = np.exp(rng.normal(-0.7, 0.4, (frames, 3, seen, seen)))
    words.append(
        WordChain(
            (0, 1),
            np.array([1.0, 0.0, 0.0]),
            transition / transition.sum(axis=1, keepdims=True),
            verb / verb.max(),
        )
    )
    return Lattice(2, unary, 1 / (1 + np.exp((apart - 1.0) / 0.2)), tuple(words))


def _parts(frames: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    verb = WordChain(
        (0, 1),
        np.array([1.0, 0.0, 0.0]),
        np.triu(np.full((3, 3), 0.3)) + 0.1 * np.eye(3),
        rng.random((frames, 3, 6, 6)),
    )
    lattice = Lattice(2, rng.random((frames, 6)), rng.random((frames - 1, 6, 6)), (verb,))
    streamed_counts(Lattice(2, lattice.unary[:1], lattice.coherence[:0], (_first(verb),)))
    tracemalloc.start()
    begun = time.process_time()
    streamed_counts(lattice)
    seconds = time.process_time() - begun
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "frames": frames,
        "seconds": seconds,
        "megabytes": (peak - verb.emission.nbytes) / 1e6,
        "all_nodes_megabytes": 8 * frames * lattice.num_nodes / 1e6,
    }


def _first(word: WordChain) -> WordChain:
    return WordChain(word.participants, word.initial, word.transition, word.emission[:1])


def _pruned(most: int) -> dict[str, float]:
    rows = []
    for seed in range(_CLIPS):
        lattice = film(seed)
        few = prune(lattice, most)
        exact, lower, upper = (s.log_joint for s in log_scores([lattice, few.kept, few.upper]))
        rows.append((1 - np.exp(lower - exact), 1 - np.exp(lower - upper)))
    return _summary(np.array(rows))


def _summary(rows: Any) -> dict[str, float]:
    ratio = rows[:, 1] / np.maximum(rows[:, 0], 1e-15)
    return {
        "lost": float(np.median(rows[:, 0])),
        "bound": float(np.median(rows[:, 1])),
        "worst_bound": float(rows[:, 1].max()),
        "ratio": float(np.median(ratio)),
        "worst_ratio": float(ratio.max()),
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lattice_limits",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    report = measure(options.frames)
    if options.json:
        print(json.dumps(report, indent=2))
        return
    print("parts        " + _line(report["parts"]))
    for name, row in report["pruned"].items():
        print(f"{name:12} " + _line(row))


def _line(row: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:,.3g}" for name, value in row.items())


if __name__ == "__main__":
    main()
