"""Fifty cooking videos: the ordered list of steps aligned with what a network said of every frame.

Run with ``python -m experiments.salads --data DIR [--json]``. DIR holds files
``COLLECTION_KIND_NETWORK.npz`` with arrays ``splitK_i_scores`` (frames by classes) and
``splitK_i_truth`` (the class of each frame). The text of a video is the true sequence of its
classes; when they happen is used for the score only: the share of frames on the right step, mean
over videos. Every file is learned by itself, all its videos together, without labels.

Rows: ``uniform`` gives every step as many frames; ``viterbi`` is the best path through the list by
the scores alone; ``ours`` is :class:`wordsight.alignment.models.scored_steps.ScoredSteps`.
``inserted`` and ``swapped`` repeat ``viterbi`` and ``ours`` with a list in which one step in ten is
one that does not happen, or trades places with the next; ours then allows for both.
The settings were chosen on the three files of splits 1 to 3 of 50 Salads, so figures on these are
development figures.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.data.reading import reading
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.alignment.models.scored_steps import ScoredPair, ScoredSteps
from wordsight.errors import FormatError, WordsightError

__all__ = ["main", "measure", "read_scored"]

Labels = NDArray[np.int64]
_RATE = 0.1  # of steps inserted or swapped
_MISTAKES = {"skip": 0.1, "back": 0.05}


def read_scored(path: Path) -> list[tuple[ScoredPair, Labels]]:
    """Read a file of scores; returns videos with the true step of each frame.

    Scores that are not probabilities are passed through a softmax.

    Raises:
        FormatError: If the file is not as expected.
    """
    with reading(path, "a file of scores and truths"), np.load(path) as arrays:
        names = sorted(name for name in arrays.files if name.endswith("_scores"))
        rows = [(arrays[n], arrays[n.removesuffix("scores") + "truth"]) for n in names]
    if not rows:
        raise FormatError(f"{path} holds no array whose name ends in _scores.")
    return [
        _scored(*_checked(f"{path}: {name}", scores, truth.squeeze()))
        for name, (scores, truth) in zip(names, rows, strict=True)
    ]


def _has_scores(path: Path) -> bool:
    with reading(path, "a file of scores and truths"), np.load(path) as arrays:
        return any(name.endswith("_scores") for name in arrays.files)


def _checked(
    what: str, scores: NDArray[Any], truth: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return frames by classes, and the class of each frame.

    Raises:
        FormatError: If they are something else.
    """
    if scores.ndim == 2 and truth.shape == scores.shape[1:] != scores.shape[:1]:
        scores = scores.T
    if scores.ndim != 2 or truth.shape != scores.shape[:1] or not len(truth):
        raise FormatError(
            f"{what} has the shape {scores.shape} and its truth {truth.shape}; "
            "expected frames by classes, and a class for each frame."
        )
    if not (np.isfinite(scores).all() and ((truth >= 0) & (truth < scores.shape[1])).all()):
        raise FormatError(
            f"{what} must be finite, and the truth classes 0 to {scores.shape[1] - 1}; got "
            f"{np.unique(truth)[[0, -1]].tolist()} as the lowest and highest class."
        )
    return scores, truth


def _scored(scores: NDArray[Any], truth: NDArray[Any]) -> tuple[ScoredPair, Labels]:
    scores = scores.astype(np.float64)
    if scores.min() < 0 or not np.allclose(scores.sum(axis=1), 1.0, atol=0.05):
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
    changes = np.flatnonzero(np.diff(truth)) + 1
    steps = truth[np.concatenate([[0], changes])].astype(np.int64)
    places = np.searchsorted(changes, np.arange(len(truth)), side="right")
    return ScoredPair(steps, scores), places


def measure(data: Path) -> dict[str, dict[str, float]]:
    """Align the videos of every file in every way.

    Returns:
        By file, without the name of the collection where that is not needed, the rows.
    """
    files = sorted(data.glob("*.npz"))
    found = {path: read_scored(path) for path in files if len(files) == 1 or _has_scores(path)}
    if not found:
        raise WordsightError(f"{data} holds no .npz file of scores.")
    for path in sorted({*files} - {*found}):
        say(f"{path} is left out: it holds no array whose name ends in _scores.")
    results = {}
    short = [path.stem.partition("_")[2] or path.stem for path in found]
    for (path, videos), name in zip(found.items(), short, strict=True):
        name = name if short.count(name) == 1 else path.stem
        rows = {"uniform": _score(videos, [_uniform(pair) for pair, _ in videos])}
        rows |= _rows(videos, {})
        for change, make in {"inserted": _inserted, "swapped": _swapped}.items():
            random = np.random.default_rng(0)
            changed = [make(pair, places, random) for pair, places in videos]
            rows |= {f"{change}_{row}": v for row, v in _rows(changed, _MISTAKES).items()}
        results[name] = rows
        say(f"{name}: " + ", ".join(f"{row} {value:.3f}" for row, value in rows.items()))
    return results


def _rows(
    videos: Sequence[tuple[ScoredPair, Labels]], mistakes: dict[str, float]
) -> dict[str, float]:
    pairs = [pair for pair, _ in videos]
    model = ScoredSteps(**mistakes).fit(pairs)
    return {
        "viterbi": _score(videos, [_viterbi(pair) for pair in pairs]),
        "ours": _score(videos, [model.predict(pair) for pair in pairs]),
    }


def _score(videos: Sequence[tuple[ScoredPair, Labels]], found: Sequence[Labels]) -> float:
    shares = [(lines == truth).mean() for (_, truth), lines in zip(videos, found, strict=True)]
    return round(float(np.mean(shares)), 4)


def _uniform(pair: ScoredPair) -> Labels:
    return np.arange(len(pair.scores)) * len(pair.steps) // len(pair.scores)


def _viterbi(pair: ScoredPair) -> Labels:
    """Return the best path through the steps in order, each for at least one frame."""
    logs = np.log(pair.scores[:, pair.steps] + 1e-12)
    frames, steps = logs.shape
    score = np.full(steps, -np.inf)
    score[0] = logs[0, 0]
    moved = np.zeros((frames, steps), dtype=bool)
    for t in range(1, frames):
        before = np.concatenate([[-np.inf], score[:-1]])
        moved[t] = before > score
        score = np.maximum(score, before) + logs[t]
    path = np.full(frames, steps - 1)
    for t in range(frames - 1, 0, -1):
        path[t - 1] = path[t] - moved[t, path[t]]
    return path


def _inserted(
    pair: ScoredPair, places: Labels, random: np.random.Generator
) -> tuple[ScoredPair, Labels]:
    """Insert steps that do not happen."""
    count = max(1, round(_RATE * len(pair.steps)))
    at = np.sort(random.choice(len(pair.steps) + 1, count, replace=False))
    foreign = random.integers(0, pair.scores.shape[1], count)
    moved = places + np.searchsorted(at, places, side="right")
    return ScoredPair(np.insert(pair.steps, at, foreign), pair.scores), moved


def _swapped(
    pair: ScoredPair, places: Labels, random: np.random.Generator
) -> tuple[ScoredPair, Labels]:
    """Swap steps of the list with the next one."""
    order = np.arange(len(pair.steps))
    count = max(1, round(_RATE * len(order)))
    for first in 2 * random.choice(len(order) // 2, min(count, len(order) // 2), replace=False):
        order[first], order[first + 1] = order[first + 1], order[first]
    return ScoredPair(pair.steps[order], pair.scores), np.argsort(order)[places]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or one JSON object."""
    parser = report_parser("experiments.salads", __doc__ or "", "folder of the files of scores")
    options = parser.parse_args(arguments)
    results = measure(options.data)
    rows = [{"file": name} | row for name, row in results.items()]
    columns = [Column("file", "file", justify="left")]
    columns += [Column(name, name.replace("_", " "), ".3f") for name in rows[0] if name != "file"]
    print_report(
        results,
        as_json=options.json,
        title="Lists of steps aligned with scores of frames: share of frames on the right step",
        columns=columns,
        rows=rows,
    )


if __name__ == "__main__":
    run_main(main)
