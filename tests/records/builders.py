"""Small records for tests, drawn by hypothesis."""

import numpy as np
from hypothesis import strategies as st

from wordsight.records import Detections

LABELS = ("person", "backpack", "chair")


@st.composite
def detections(draw, max_frames=6, max_boxes=4):
    """Any valid Detections, with and without the optional arrays."""
    frames = draw(st.integers(0, max_frames))
    places = draw(st.integers(0, max_boxes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    corners = rng.uniform(-20, 600, (frames, places, 2))
    sides = rng.uniform(0.5, 100, (frames, places, 2))
    optional = draw(st.booleans())
    return Detections(
        times=np.cumsum(rng.uniform(0.01, 0.2, frames)),
        boxes=np.concatenate([corners, corners + sides], axis=2),
        scores=rng.uniform(-3, 3, (frames, places)),
        labels=rng.integers(0, len(LABELS), (frames, places)),
        mask=rng.random((frames, places)) < 0.7,
        label_names=LABELS,
        frame_size=(640, 480),
        ids=rng.integers(-1, 9, (frames, places)) if optional else None,
        flow=rng.normal(0, 30, (frames, places, 2)) if optional else None,
        appearance=rng.random((frames, places, 5)) if optional else None,
    )
