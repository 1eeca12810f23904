"""`Objects`: everyday things by a published network that is fetched once."""

from typing import ClassVar

from wordsight.perception.detectors.onnx import Onnx
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.networks.catalog import installed_network

__all__ = ["Objects"]


class Objects(Onnx):
    """People and 80 kinds of everyday things, by a network that `wordsight detectors get` fetches.

    Args:
        confidence: Least score of what is reported.
        overlap: Boxes of one class that overlap more are one object.
        max_boxes: The most objects in a frame.
        threads: Processor threads of the network; 0 leaves it to onnxruntime.

    Raises:
        DetectorError: If the network was not fetched yet, or an option is out of range.
    """

    name: ClassVar[str] = "objects"

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        overlap: float = 0.5,
        max_boxes: int = 30,
        threads: int = 1,
    ) -> None:
        network = installed_network(self.name)
        if network is None:
            raise DetectorError(
                "the network of the detector 'objects' is not here yet; fetch it once with "
                "`wordsight detectors get objects` (67 MB, Apache-2.0)."
            )
        super().__init__(
            network,
            style="yolov8",
            confidence=confidence,
            overlap=overlap,
            max_boxes=max_boxes,
            letterbox=False,  # it was trained with stretched pictures
            threads=threads,
        )
