"""ONNX networks of every style, real and run: the box follows the patch, the label its colour."""

import numpy as np
import onnx
import pytest

from tests.perception.detectors.networks import HEIGHT, LABELS, WIDTH, network
from wordsight.errors import FormatError
from wordsight.perception import DetectorError, load_detector
from wordsight.perception.detectors.onnx import Onnx
from wordsight.perception.detectors.suppression import box_iou
from wordsight.video import Frame

RED, BLUE = (250, 30, 20), (20, 30, 250)
STYLES = {
    "yolov5": "yolov5",
    "yolov8": "yolov8",
    "detr": "detr",
    "rt-detr": "detr",
    "boxes": "boxes",
}


def picture(box, colour, size=(256, 192)):
    image = np.full((size[1], size[0], 3), 60, np.uint8)
    x1, y1, x2, y2 = box
    image[y1:y2, x1:x2] = colour
    return image


@pytest.fixture
def saved(tmp_path):
    def save(style, **options):
        path = tmp_path / f"{style}.onnx"
        onnx.save(network(style, normalised=style == "detr", **options), path)
        return path

    return save


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "size",
    [
        (256, 192),  # the network's proportions
        (320, 120),  # wide: bars above and below, or stretched
        (100, 300),  # tall
    ],
)
def test_the_box_follows_the_patch(saved, style, size):
    detector = Onnx(saved(style), LABELS)
    places = [
        (0.1, 0.15, 0.4, 0.5),
        (0.3, 0.2, 0.6, 0.55),
        (0.6, 0.6, 0.95, 0.9),
    ]
    boxes = [tuple(round(v * s) for v, s in zip(p, size * 2, strict=True)) for p in places]
    colours = [RED, BLUE, RED]
    frames = [
        Frame.from_array(picture(box, colour, size), n / 10, n)
        for n, (box, colour) in enumerate(zip(boxes, colours, strict=True))
    ]
    found = list(detector.detect(frames))
    assert [seen.time for seen in found] == [0.0, 0.1, 0.2]
    for seen, box, colour in zip(found, boxes, colours, strict=True):
        assert len(seen.boxes) == 1  # the double is dropped, the faint one too
        assert box_iou(np.array([box], float), seen.boxes)[0, 0] > 0.85
        assert detector.label_names[seen.labels[0]] == LABELS[0 if colour == RED else 1]
        assert 0.5 < seen.scores[0] <= 1


@pytest.mark.parametrize("style", STYLES)
def test_nothing_is_found_where_nothing_is(saved, style):
    blank = Frame.from_array(np.full((96, 128, 3), 40, np.uint8), 0.0)
    (seen,) = Onnx(saved(style), LABELS, confidence=0.4).detect([blank])
    assert seen.boxes.shape == (0, 4) and seen.labels.shape == (0,)


def test_style_is_recognised_and_recorded(saved):
    for style, expected in STYLES.items():
        settings = Onnx(saved(style), LABELS).settings()
        assert settings["style"] == expected
        assert settings["letterbox"] == style.startswith("yolo")
        assert settings["normalise"] == (style == "detr")
        assert settings["input_size"] == [WIDTH, HEIGHT]
        assert settings["model"] == f"{style}.onnx" and len(settings["sha256"]) == 64


def test_lower_confidence_and_no_suppression_show_more(saved):
    frame = Frame.from_array(picture((40, 40, 90, 100), RED), 0.0)
    path = saved("yolov8")
    counts = [
        len(next(Onnx(path, LABELS, **options).detect([frame])).boxes)
        for options in (
            {"confidence": 0.01, "overlap": 1.0},
            {"confidence": 0.1, "overlap": 1.0},
            {"confidence": 0.01, "overlap": 1.0, "max_boxes": 2},
            {"confidence": 0.99},
        )
    ]
    assert counts == [3, 2, 2, 0]


def test_labels_come_from_the_model_itself(saved):
    path = saved("yolov8", names="{0: 'apple', 1: 'berry'}")
    assert Onnx(path).label_names == ("apple", "berry")
    assert load_detector("onnx", model=str(path)).label_names == ("apple", "berry")


def test_a_network_for_any_size_takes_the_size_asked_for(saved):
    path = saved("yolov8", dynamic=True)
    with pytest.raises(DetectorError, match=r"yolov8\.onnx failed"):
        Onnx(path, LABELS, input_size=64)  # this one only says that it takes any size
    square = network("yolov8", width=96, height=96, dynamic=True)
    onnx.save(square, path)
    assert Onnx(path, LABELS, input_size=96).settings()["input_size"] == [96, 96]


def damaged(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return path


def text(path):
    path.write_text("this is not a network")
    return path


@pytest.mark.parametrize(
    "spoil, words",
    [
        (text, "is not an ONNX model that can be run"),
        (damaged, "is not an ONNX model that can be run"),
        (lambda path: path.with_name("missing.onnx"), "is not a file"),
        (lambda path: path.parent, "is not a file"),
    ],
)
def test_what_is_no_model_is_said(saved, spoil, words):
    with pytest.raises(FormatError, match=words):
        Onnx(spoil(saved("yolov8")), LABELS)


@pytest.mark.parametrize(
    "style, labels, options, words",
    [
        ("yolov8", None, {}, "has no class names in its metadata; pass labels="),
        ("strange", LABELS, {}, r"not recognised: heatmap \(1, 4\), with 2 labels"),
        ("yolov8", ["one", "two", "three", "four"], {}, r"not recognised: output0 \(1, 6, 3\)"),
        ("yolov5", ["one"], {}, r"not recognised: output0 \(1, 3, 7\)"),
        ("yolov8", LABELS, {"style": "detr"}, "cannot be read in the style 'detr'"),
        ("boxes", ["only one"], {}, None),  # shows when the second class is seen
    ],
)
def test_labels_and_outputs_that_do_not_fit_are_said(saved, style, labels, options, words):
    if words is not None:
        with pytest.raises(FormatError, match=words):
            Onnx(saved(style), labels, **options)
        return
    detector = Onnx(saved(style), labels, **options)
    frame = Frame.from_array(picture((40, 40, 90, 100), BLUE), 0.0)
    with pytest.raises(FormatError, match="has class 1, but there are only 1 labels"):
        list(detector.detect([frame]))


@pytest.mark.parametrize(
    "options",
    [{"style": "ssd"}, {"confidence": 2}, {"overlap": -1}, {"max_boxes": 0}],
)
def test_senseless_options_are_refused(saved, options):
    with pytest.raises(DetectorError, match="must"):
        Onnx(saved("yolov8"), LABELS, **options)
