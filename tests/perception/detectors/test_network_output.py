"""Recognising and reading outputs: layouts with known contents in every style."""

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.perception.detectors.network_output import (
    decode,
    distance_boxes,
    grid_cells,
    recognise,
)

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
        ({"output": (1, 8400, 85)}, 80, "yolox"),  # one row for each cell, all zero: undecoded
        ({"output": (1, 8500, 112)}, 80, "nanodet"),
        ({"boxes": (1, 4420, 4), "scores": (1, 4420, 2)}, 1, "ssd"),
        (
            {"a": (1, 6400, 32), "b": (1, 6400, 80), "c": (1, 1600, 32), "d": (1, 1600, 80)},
            80,
            None,
        ),
        ({"a": (1, 3, 80, 80, 85)}, 80, None),  # by anchor
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
        assert recognise(outputs, labels, (640, 640)) == expected
        return
    with pytest.raises(FormatError, match="not recognised") as caught:
        recognise(outputs, labels, (640, 640))
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


def test_the_cells_of_grids():
    places, steps = grid_cells((32, 64), (8, 16), 0.5)
    assert len(places) == 4 * 8 + 2 * 4
    assert places[:5].tolist() == [[4, 4], [12, 4], [20, 4], [28, 4], [4, 12]]
    assert places[32].tolist() == [8, 8] and steps[31:33, 0].tolist() == [8, 16]


def test_decoded_and_undecoded_grids_give_the_same_boxes():
    """Re-encode known boxes as YOLOX does; reading them back must give the same."""
    rng = np.random.default_rng(0)
    size = (128, 96)
    places, steps = grid_cells(size, (8, 16, 32), 0.0)
    centres = places + steps * rng.uniform(0, 1, (len(places), 2))
    sides = rng.uniform(4, 80, (len(places), 2))
    rest = rng.uniform(0, 1, (len(places), 4))
    decoded = np.concatenate([centres, sides, rest], axis=1)[None]
    raw = np.concatenate([(centres - places) / steps, np.log(sides / steps), rest], axis=1)[None]
    assert recognise({"o": decoded}, 3, size) == "yolov5"
    assert recognise({"o": raw}, 3, size) == "yolox"
    one, other = decode("yolov5", {"o": decoded}, 3, size), decode("yolox", {"o": raw}, 3, size)
    np.testing.assert_allclose(one.boxes, other.boxes, atol=1e-9)
    np.testing.assert_array_equal(one.scores, other.scores)


def test_distances_are_means_of_their_distributions():
    logits = np.full((1, 4, 8), -50.0)
    for edge, distance in enumerate((1, 2, 3, 4)):
        logits[0, edge, distance] = 0.0
    logits[0, 0, 2] = 0.0  # half 1, half 2
    boxes = distance_boxes(logits.reshape(1, 32), np.array([[20.0, 20]]), np.array([[8.0]]))
    np.testing.assert_allclose(boxes, [[20 - 12, 20 - 16, 20 + 24, 20 + 32]])


def test_boxes_of_anchors_must_be_decoded():
    boxes = np.random.default_rng(0).normal(0, 1, (1, 50, 4))
    with pytest.raises(FormatError, match="with its boxes decoded"):
        decode("ssd", {"boxes": boxes, "scores": np.zeros((1, 50, 3))}, 2, SIZE)
