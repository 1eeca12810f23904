"""Where every individual of a film is in the picture, from the geometry of bodies and things."""

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.framing import visible
from wordsight.worlds.sketch import turned
from wordsight.worlds.street.people.figure import extent_of
from wordsight.worlds.street.places.place import SIZE
from wordsight.worlds.street.recording import Recording
from wordsight.worlds.view import View

__all__ = ["boxes_of"]


def boxes_of(recording: Recording, offsets: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return ``(T, 4)`` pixel boxes x1, y1, x2, y2 by name; NaN while out of the picture.

    Args:
        recording: What happened.
        offsets: ``(T, 2)`` pixels by which the camera's shake moves each frame.
    """
    view = recording.scenario.place.view
    boxes = {}
    for part, joints in zip(recording.scenario.parts, recording.joints, strict=True):
        boxes[part.person.name] = extent_of(joints, part.person.look)
    for prop, places in zip(recording.scenario.props, recording.places, strict=True):
        corners = np.concatenate(prop.solids())
        moved = np.stack([turned(corners, place[2]) + place[:2] for place in places])
        boxes[prop.name] = np.concatenate([moved.min(axis=1), moved.max(axis=1)], axis=1)
    shift = np.tile(offsets, 2)
    return {name: visible(_in_pixels(view, box) + shift, SIZE) for name, box in boxes.items()}


def _in_pixels(view: View, boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = view.pixels(boxes[:, :2]), view.pixels(boxes[:, 2:])
    # Rows grow downwards: the top of the scene is the small row.
    return np.stack([low[:, 0], high[:, 1], high[:, 0], low[:, 1]], axis=1)
