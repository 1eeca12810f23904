"""Small texts and alignments made by hand, for tests of what is done with them."""

import numpy as np

from wordsight.alignment import Alignment, LineBoundary, LineSpan
from wordsight.alignment.text import instructions_from_text

TEA = instructions_from_text(
    "1. Fill the kettle with water.\n"
    "2. Put a bag into the cup. Pour the water.\n"
    "3. Drink < 2 cups & rest.",
    "tea",
)


def tea_alignment(**changes):
    """Return an alignment in which line 2 never happens and line 1 comes twice."""
    posterior = np.full((6, 4), 0.02)
    best = np.array([0, 0, 2, 0, 3, 3])
    posterior[np.arange(6), best] = 0.9
    fields = {
        "video_id": "film",
        "times": np.array([[0, 1], [1, 2], [3, 4], [4, 5], [5, 6], [6, 7.5]], dtype=float),
        "posterior": posterior,
        "best": best,
        "spans": (
            LineSpan(0, 0.0, 2.0, 0.95),
            LineSpan(0, 4.0, 5.0, 0.7),
            LineSpan(1, 2.0, 2.0, 0.8, happened=False),
            LineSpan(2, 3.0, 4.0, 0.9),
            LineSpan(3, 5.0, 7.5004, 0.99),
        ),
        "boundaries": (LineBoundary(2.0, 0, -1, 0.9), LineBoundary(3.0, -1, 2, 0.8)),
        "steps": TEA.steps,
    }
    return Alignment(**(fields | changes))
