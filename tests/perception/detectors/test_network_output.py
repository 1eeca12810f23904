"""Recognising and reading outputs: layouts with known contents in every style."""

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.perception.detectors.network_output import decode, recognise

SIZE = (100, 50)


@pytest.mark.parametrize(
    "shapes, labels, expected",
    [
        ({"output0": (1, 25200, 85)}, 80, "yolov5"),
        ({"output0": (1, 84, 8400)}, 80, "yolov8"),
        ({"output0": (1, 8400, 84)}, 80, "yolov8"),  # exported the other way round
        ({"output0": (1, 300, 6)}, 80, "yolov10"),
        ({"output0": (1, 100, 6)}, 1, "yolov5"),  # one class: box, objectness, class
        ({"logits": (1, 100, 92), "pred_boxes": (1, 100, 4)}, 91, "detr"),
        (
            {"pred_logits": (1, 300, 80), "pred_boxes": (1, 300, 4), "memory": (1, 9, 256)},
            80,
            "detr",
        ),
        ({"labels": (1, 300), "boxes": (1, 300, 4), "scores": (1, 300)}, 80, "boxes"),
        ({"boxes": (7, 4), "labels": (7,), "scores": (7,)}, 91, "boxes"),
        ({"output0": (1, 84, 8400)}, 3, None),  # labels of another model
        ({"output0": (1, 1000)}, 1000, None),  # a classifier
        ({"a": (1, 84, 8400), "b": (1, 84, 2100)}, 80, None),  # heads not yet joined
    ],
)
def test_recognise(shapes, labels, expected):
    outputs = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    if expected is not None:
        assert recognise(outputs, labels) == expected
        return
    with pytest.raises(FormatError, match="not recognised") as caught:
        recognise(outputs, labels)
    assert all(f"{name} {shape}" in str(caught.value) for name, shape in shapes.items())


# One box from (10, 20) to (30, 40) of the second of three classes, score 0.8.
CENTRED = [20, 30, 20, 20]
SHARES = [0.2, 0.6, 0.2, 0.4]
LOGIT = float(np.log(0.8 / 0.2))


@pytest.mark.parametrize(
    "style, outputs",
    [
        ("yolov5", {"o": [[[*CENTRED, 0.8, 0, 1, 0]]]}),
        ("yolov5", {"o": [[[*SHARES, 1.0, 0, 0.8, 0]]]}),  # as shares of the picture
        ("yolov8", {"o": np.transpose([[[*CENTRED, 0, 0.8, 0]]], (0, 2, 1))}),
        ("yolov8", {"o": [[[*CENTRED, 0, 0.8, 0]]]}),
        ("yolov10", {"o": [[[10, 20, 30, 40, 0.8, 1]]]}),
        ("detr", {"logits": [[[-9, LOGIT, -9]]], "pred_boxes": [[SHARES]]}),  # sigmoid
        (
            "detr",  # softmax with a class for nothing
            {"logits": [[[-40, LOGIT, -40, 0]]], "pred_boxes": [[SHARES]]},
        ),
        ("boxes", {"boxes": [[10, 20, 30, 40]], "scores": [0.8], "labels": [1]}),
        ("boxes", {"boxes": [[[0.1, 0.4, 0.3, 0.8]]], "scores": [[0.8]], "labels": [[1]]}),
    ],
)
def test_decode(style, outputs):
    arrays = {name: np.array(value, np.float32) for name, value in outputs.items()}
    found = decode(style, arrays, 3, SIZE)
    np.testing.assert_allclose(found.boxes, [[10, 20, 30, 40]], atol=1e-4)
    np.testing.assert_allclose(found.scores, [0.8], atol=1e-5)
    assert found.labels.tolist() == [1]


@pytest.mark.parametrize(
    "style, outputs, words",
    [
        ("yolov8", {"o": np.zeros((1, 9, 9))}, "need 7 values"),
        ("yolov8", {"o": np.zeros((4, 4))}, "style 'yolov8'"),
        ("yolov5", {"o": np.zeros((1, 2, 5))}, "no class"),
        ("yolov10", {"o": np.zeros((1, 2, 4))}, "yolov10"),
        ("detr", {"o": np.zeros((1, 2, 4))}, "detr"),
        (
            "boxes",
            {"boxes": np.zeros((2, 4)), "scores": np.zeros(3), "labels": np.zeros(2)},
            "2 boxes",
        ),
        ("yolov10", {"o": np.array([[[0, 0, 9, 9, 0.5, 7]]])}, "class 7, but there are only 3"),
    ],
)
def test_outputs_that_do_not_fit_the_style(style, outputs, words):
    with pytest.raises(FormatError, match=words):
        decode(style, outputs, 3, SIZE)
