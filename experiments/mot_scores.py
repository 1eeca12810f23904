"""CLEAR MOT and identity scores by motmetrics, as its own ``eval_motchallenge`` computes them."""

import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from wordsight.errors import WordsightError
from wordsight.perception.formats import write_boxes
from wordsight.records import Detections

__all__ = ["score_tracks"]

LEAST_OVERLAP = 0.5
"""Intersection over union from which a box counts as found."""

_MEASURES = {
    "mota": "mota",
    "idf1": "idf1",
    "motp": "motp",
    "id_switches": "num_switches",
    "false_positives": "num_false_positives",
    "misses": "num_misses",
    "fragments": "num_fragmentations",
    "objects": "num_objects",
}
_PERCENT = ("mota", "idf1", "motp")


def score_tracks(truth: Path, tracked: Detections) -> dict[str, Any]:
    """Compare tracks with the ground truth of a sequence.

    Args:
        truth: A ``gt.txt``; rows whose confidence is below 1 are not to be considered.
        tracked: Boxes with identities, one row per frame from the first frame on.

    Returns:
        MOTA, IDF1 and MOTP (mean overlap of the boxes found) in percent, and counts.
    """
    motmetrics = _motmetrics()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # of pandas, about the way motmetrics uses it
        written = Path(folder) / "tracks.txt"
        write_boxes(written, tracked)
        # Through a file, so that what is scored is what anybody could score again.
        expected = motmetrics.io.loadtxt(truth, fmt="mot15-2D", min_confidence=1)
        found = _loaded(written)
        events = _compare(expected, found)
        summary = motmetrics.metrics.create().compute(events, metrics=list(_MEASURES.values()))
    values = {ours: float(summary[theirs].iloc[0]) for ours, theirs in _MEASURES.items()}
    values["motp"] = 1.0 - values["motp"]  # motmetrics gives a distance, everybody else an overlap
    return {
        name: _percent(value) if name in _PERCENT else int(value) for name, value in values.items()
    }


def _motmetrics() -> Any:
    try:
        return import_module("motmetrics")
    except ImportError as error:
        raise WordsightError(
            "scores need motmetrics, which is not installed: pip install 'wordsight[dev]'."
        ) from error


def _percent(share: float) -> float | None:
    return round(100.0 * share, 2) if np.isfinite(share) else None


def _loaded(path: Path) -> Any:
    motmetrics, pandas = _motmetrics(), import_module("pandas")
    if path.stat().st_size:
        return motmetrics.io.loadtxt(path, fmt="mot15-2D")
    nothing = pandas.MultiIndex.from_arrays([[], []], names=["FrameId", "Id"])
    return pandas.DataFrame(columns=["X", "Y", "Width", "Height"], index=nothing, dtype=float)


def _compare(expected: Any, found: Any) -> Any:
    """Match boxes frame by frame, like motmetrics' ``compare_to_groundtruth``.

    That function calls one that numpy 2 no longer has; its pieces work.
    """
    motmetrics = _motmetrics()
    events = motmetrics.MOTAccumulator()
    sides = ["X", "Y", "Width", "Height"]
    true_frames = dict(iter(expected[sides].groupby(level=0)))
    found_frames = dict(iter(found[sides].groupby(level=0)))
    for frame in sorted(set(true_frames) | set(found_frames)):
        true, here = true_frames.get(frame), found_frames.get(frame)
        true_ids = [] if true is None else true.index.get_level_values(1)
        ids = [] if here is None else here.index.get_level_values(1)
        distances = np.empty((len(true_ids), len(ids)))
        if true is not None and here is not None:
            boxes, others = true.to_numpy(float), here.to_numpy(float)
            distances = 1.0 - motmetrics.distances.boxiou(boxes[:, None], others[None, :])
            distances = np.where(distances > 1.0 - LEAST_OVERLAP, np.nan, distances)
        events.update(true_ids, ids, distances, frameid=frame)
    return events
