"""`HandPoints`: the joints of a hand near a palm, by a published network that is fetched once."""

from functools import cached_property
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.perception.detectors.network_process import IsolatedNetwork, open_network
from wordsight.perception.detectors.network_session import LocalNetwork

__all__ = ["HandPoints"]

_SIDE = 224
# As published: the square to look at, in sides of the palm, and how far along the hand it lies.
_SCALE, _SHIFT = 2.6, 0.5
_MARGIN = 0.1  # of flesh around the joints, in sides of their box
Array = NDArray[np.float64]


class HandPoints:
    """Joints of hands, whose outermost are the sides of a hand's box.

    Args:
        path: The network.
        device: ``cpu`` or ``cuda``.
    """

    def __init__(self, path: Path, device: str) -> None:
        self._path, self._device = path, device

    def look(
        self, image: NDArray[np.uint8], centre: Array, side: float, along: Array
    ) -> tuple[Array, float]:
        """Return the box of a hand, and how sure it is that there is one.

        Args:
            image: The picture.
            centre: ``(2,)`` middle of the palm in pixels.
            side: Side of the palm in pixels.
            along: ``(2,)`` the direction from the wrist to the fingers, of length 1.
        """
        to_picture = self._square(centre + _SHIFT * side * along, _SCALE * side, along)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        part = cv2.warpAffine(image, to_picture, (_SIDE, _SIDE), flags=flags)
        picture = part.transpose(2, 0, 1)[None].astype(np.float32) / 255
        outputs = list(self._network.run({self._network.inputs[0].name: picture}).values())
        # Joints in pixels of the square; that it is a hand; right or left; joints in metres.
        joints = outputs[0].reshape(-1, 3)[:, :2].astype(np.float64)
        joints = joints @ to_picture[:, :2].T + to_picture[:, 2]
        low, high = joints.min(axis=0), joints.max(axis=0)
        margin = _MARGIN * np.sqrt(np.prod(high - low))
        return np.concatenate([low - margin, high + margin]), float(outputs[1].item())

    @staticmethod
    def _square(centre: Array, side: float, up: Array) -> Array:
        """Return ``(2, 3)`` what maps the network's picture, fingers up, to a square."""
        scale = side / _SIDE
        turn = scale * np.array([[-up[1], -up[0]], [up[0], -up[1]]])
        return np.column_stack([turn, centre - turn @ [_SIDE / 2, _SIDE / 2]])

    @cached_property
    def _network(self) -> LocalNetwork | IsolatedNetwork:
        return open_network(self._path, 1, self._device, None)
