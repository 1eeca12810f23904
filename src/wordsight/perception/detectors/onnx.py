"""`Onnx`: any YOLO- or DETR-style detection network in an ONNX file, run on the CPU."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError
from wordsight.files import sha256_of
from wordsight.perception.detectors.network_input import InputFormat
from wordsight.perception.detectors.network_output import (
    STYLES,
    Candidates,
    decode,
    has_no_object_class,
    parse_names,
    read_labels,
    recognise,
)
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.detectors.suppression import suppress
from wordsight.records import FrameDetections
from wordsight.video import Frame

__all__ = ["Onnx", "open_session"]

_MOST_CANDIDATES = 1000  # for suppression; networks yield thousands of weak ones
_QUIET = 3  # onnxruntime reports errors only


class Onnx:
    """Objects found by a YOLO- or DETR-style network in an ONNX file.

    The family is recognised from the outputs and the input size is read from the model. Frames are
    letterboxed for YOLO networks and stretched for others.

    Args:
        model: The ``.onnx`` file.
        labels: Names of the classes: a text file with one per line, a JSON file, or the names
            themselves; by default from the model's metadata.
        style: One of ``yolov5``, ``yolov8``, ``yolov10``, ``detr``, ``boxes``; recognised if None.
        confidence: Least score of reported objects.
        overlap: Largest intersection over union of two objects of one class.
        max_boxes: Largest number of objects in a frame.
        letterbox: Whether to keep the frame's aspect ratio; by default as usual for the family.
        normalise: Whether to normalise by the ImageNet mean colour; by default as usual for the
            family.
        input_size: Side in pixels for a network with a variable input size.
        threads: Number of CPU threads; 0 for onnxruntime's default.

    Raises:
        DetectorError: If onnxruntime is not installed or an option is out of range.
        FormatError: If the file is not such a model, or its labels are missing.
    """

    name: ClassVar[str] = "onnx"

    def __init__(
        self,
        model: str | os.PathLike[str],
        labels: str | os.PathLike[str] | Sequence[str] | None = None,
        *,
        style: str | None = None,
        confidence: float = 0.25,
        overlap: float = 0.5,
        max_boxes: int = 50,
        letterbox: bool | None = None,
        normalise: bool | None = None,
        input_size: int | None = None,
        threads: int = 1,
    ) -> None:
        if style is not None and style not in STYLES:
            raise DetectorError(f"style must be one of {', '.join(STYLES)}, got {style!r}.")
        if not 0 <= confidence <= 1 or not 0 <= overlap <= 1 or max_boxes < 1:
            raise DetectorError(
                "confidence and overlap must lie between 0 and 1 and max_boxes be 1 or more, got "
                f"{confidence}, {overlap} and {max_boxes}."
            )
        self._path = Path(model)
        self._confidence, self._overlap, self._max_boxes = confidence, overlap, max_boxes
        self._session = open_session(self._path, threads)
        self.label_names: tuple[str, ...] = _labels(labels, self._session, self._path)
        image, *others = self._session.get_inputs()
        self._format = InputFormat.of(image, input_size)
        self._others = _other_inputs(others, self._format.size)
        self._style, softmax = self._try_out(style)
        is_yolo = self._style.startswith("yolo")
        self._letterbox = is_yolo if letterbox is None else bool(letterbox)
        self._normalise = softmax if normalise is None else bool(normalise)
        self._sha256 = sha256_of(self._path)

    def detect(self, frames: Iterable[Frame]) -> Iterator[FrameDetections]:
        """Yield the objects in each frame, in order."""
        for frame in frames:
            image, placement = self._format.prepare(
                frame, letterbox=self._letterbox, normalise=self._normalise
            )
            found = self._chosen(
                decode(self._style, self._run(image), len(self.label_names), self._format.size)
            )
            boxes = placement.to_frame(found.boxes, frame.size)
            visible = (boxes[:, 2:] - boxes[:, :2]).min(axis=1, initial=np.inf) > 0
            yield FrameDetections(
                frame.time, boxes[visible], found.scores[visible], found.labels[visible]
            )

    def settings(self) -> dict[str, Any]:
        """Return the model's file name and hash, and everything that affects the results."""
        return {
            "model": self._path.name,
            "sha256": self._sha256,
            "labels": list(self.label_names),
            "style": self._style,
            "confidence": self._confidence,
            "overlap": self._overlap,
            "max_boxes": self._max_boxes,
            "letterbox": self._letterbox,
            "normalise": self._normalise,
            "input_size": list(self._format.size),
        }

    def _run(self, image: NDArray[Any]) -> dict[str, NDArray[Any]]:
        names = [output.name for output in self._session.get_outputs()]
        inputs = {self._format.name: image, **self._others}
        try:
            arrays = self._session.run(names, inputs)
        except Exception as error:  # onnxruntime has its own exception classes
            raise DetectorError(f"the model {self._path.name} failed: {_brief(error)}.") from error
        return dict(zip(names, arrays, strict=True))

    def _try_out(self, style: str | None) -> tuple[str, bool]:
        """Run the model once, so that a wrong model, style or label file fails here."""
        width, height = self._format.size
        blank = Frame.from_array(np.full((height, width, 3), 114, np.uint8), 0.0)
        image, _ = self._format.prepare(blank, letterbox=False, normalise=False)
        outputs = self._run(image)
        count = len(self.label_names)
        style = style or recognise(outputs, count)
        decode(style, outputs, count, self._format.size)
        return style, style == "detr" and has_no_object_class(outputs, count)

    def _chosen(self, found: Candidates) -> Candidates:
        sure = np.flatnonzero(found.scores >= self._confidence)
        finite = np.isfinite(found.boxes[sure]).all(axis=1)
        best = sure[finite][np.argsort(-found.scores[sure[finite]], kind="stable")]
        best = best[:_MOST_CANDIDATES]
        boxes, scores, labels = found.boxes[best], found.scores[best], found.labels[best]
        if found.final:
            kept = np.arange(min(len(best), self._max_boxes))
        else:
            kept = suppress(boxes, scores, self._overlap, labels=labels, limit=self._max_boxes)
        return Candidates(boxes[kept], scores[kept], labels[kept], found.final)


def open_session(path: Path, threads: int) -> Any:
    """Open an ONNX model with onnxruntime.

    Raises:
        DetectorError: If onnxruntime is not installed.
        FormatError: If the file is not a model that can be run.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise DetectorError(
            "the detector 'onnx' needs onnxruntime: pip install onnxruntime."
        ) from error
    if not path.is_file():
        raise FormatError(f"{path} is not a file; expected an ONNX model.")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _QUIET
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = threads
    try:
        return onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime has its own exception classes
        raise FormatError(
            f"{path.name} is not an ONNX model that can be run ({_brief(error)}); export the "
            "network again as .onnx."
        ) from error


def _labels(
    labels: str | os.PathLike[str] | Sequence[str] | None, session: Any, path: Path
) -> tuple[str, ...]:
    if labels is not None:
        return read_labels(labels)
    names = session.get_modelmeta().custom_metadata_map.get("names")
    if not names:
        raise FormatError(
            f"{path.name} has no class names in its metadata; pass labels=FILE, a text file with "
            "one name per line or a JSON file."
        )
    return parse_names(names)


def _other_inputs(declared: list[Any], size: tuple[int, int]) -> dict[str, NDArray[Any]]:
    """Return the image size as the one additional input that some DETR exports require."""
    filled: dict[str, NDArray[Any]] = {}
    for other in declared:
        if "size" not in other.name.lower() or "int" not in other.type:
            raise FormatError(
                f"the model requires an unknown input {other.name!r} of shape {other.shape}; "
                "export it with the image as its only input."
            )
        dtype = np.int32 if "int32" in other.type else np.int64
        filled[other.name] = np.array([size], dtype)
    return filled


def _brief(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
