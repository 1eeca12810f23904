"""Windows of a long observation: features are measured once, windows are cut out of them."""

from dataclasses import replace

import numpy as np

from wordsight.meaning.features.observation import Observation

__all__ = ["cut_window"]


def cut_window(
    seen: Observation,
    first: int,
    end: int,
    *,
    least_seen: float = 0.25,
    most: int | None = None,
) -> Observation:
    """Return the frames from ``first`` to ``end`` (exclusive) with the things seen in them.

    Args:
        seen: The whole.
        first: First frame of the window.
        end: One past its last frame.
        least_seen: Tracks in sight for a smaller share of the window are left out.
        most: Keep at most this many things, those seen longest and surest.
    """
    view, rows = seen.view, slice(first, end)
    present = view.present[rows]
    share = present.mean(axis=0) if end > first else np.zeros(present.shape[1])
    kept = np.flatnonzero(share >= least_seen if view.tracked else share > 0)
    kept = kept[kept < present.shape[1] - 1]
    if most is not None and len(kept) > most:
        weight = (present * np.maximum(view.scores[rows], 1e-3)).mean(axis=0)
        kept = np.sort(kept[np.argsort(-weight[kept], kind="stable")[:most]])
    kept = np.append(kept, present.shape[1] - 1)
    named = ("places", "present", "boxes", "labels", "scores", "velocity", "growth")
    parts = {name: getattr(view, name)[rows][:, kept] for name in named}
    context = ("frames", "hands", "hand_velocity", "heads")
    parts |= {name: getattr(view, name)[rows] for name in context}
    times = view.times
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    lasting = float(times[end - 1] - times[first]) + step if end > first else 0.0
    return Observation(
        replace(view, **parts),
        seen.singles[:, rows][:, :, kept],
        seen.pairs[:, rows][:, :, kept][:, :, :, kept],
        lasting,
    )
