"""`ListedNetwork`: any network that the catalogue of another package lists, by its name."""

from typing import ClassVar

from wordsight.perception.detectors.onnx import Onnx
from wordsight.perception.networks.catalog import fetched_network, find_network

__all__ = ["ListedNetwork", "listed_class"]


class ListedNetwork(Onnx):
    """A detection network that `wordsight detectors get` fetches.

    How pictures are given to it is found out as for any ONNX file.

    Args:
        style: One of those of the detector ``onnx``; recognised if None.
        confidence: Least score of reported objects.
        overlap: Largest intersection over union of two objects of one class.
        max_boxes: Largest number of objects in a frame.
        threads: Number of CPU threads; 0 for onnxruntime's default.
        device: ``cpu`` or ``cuda``.
        memory: Gigabytes of memory the network may use; ``None`` for no limit.

    Raises:
        DetectorError: If the network was not fetched yet, or an option is out of range.
    """

    name: ClassVar[str]

    def __init__(
        self,
        *,
        style: str | None = None,
        confidence: float = 0.25,
        overlap: float = 0.5,
        max_boxes: int = 50,
        threads: int = 1,
        device: str = "cpu",
        memory: float | None = 4.0,
    ) -> None:
        super().__init__(
            fetched_network(self.name),
            find_network(self.name).classes,
            style=style,
            confidence=confidence,
            overlap=overlap,
            max_boxes=max_boxes,
            threads=threads,
            device=device,
            memory=memory,
        )

    def explain_nothing(self) -> str:
        """Say why nothing may have been found."""
        return self._explain_scores()


def listed_class(name: str) -> type[ListedNetwork]:
    """Return the class of the detector that runs the network listed under a name."""
    title = find_network(name).title
    return type("ListedNetwork", (ListedNetwork,), {"name": name, "__doc__": title})
