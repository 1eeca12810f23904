"""ONNX networks of every style, real and run: the box follows the patch, the label its colour."""

import os
import signal

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

from tests.perception.detectors.networks import HEIGHT, LABELS, WIDTH, Builder, network
from wordsight.errors import FormatError, VideoWarning
from wordsight.perception import DetectorError, load_detector, watch
from wordsight.perception.detectors.network_process import IsolatedNetwork
from wordsight.perception.detectors.onnx import Onnx
from wordsight.perception.detectors.suppression import box_iou
from wordsight.video import Frame, VideoWriter
from wordsight.workflows.add import add
from wordsight.workflows.detect import detect

RED, BLUE = (250, 30, 20), (20, 30, 250)
STYLES = {
    "yolov5": "yolov5",
    "yolov8": "yolov8",
    "detr": "detr",
    "rt-detr": "detr",
    "boxes": "boxes",
    "yolov10": "yolov10",
    "yolox": "yolox",
    "picodet": "nanodet",
    "ssd": "ssd",
    "tensorflow": "boxes",
}
TRAINED = {"detr": {"normalised": True}, "yolox": {"byte": True, "bgr": True}}


def picture(box, colour, size=(256, 192)):
    image = np.full((size[1], size[0], 3), 60, np.uint8)
    x1, y1, x2, y2 = box
    image[y1:y2, x1:x2] = colour
    return image


@pytest.fixture
def saved(tmp_path):
    def save(style, **options):
        path = tmp_path / f"{style}.onnx"
        onnx.save(network(style, **{**TRAINED.get(style, {}), **options}), path)
        return path

    return save


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_nothing_is_found_where_nothing_is(saved, style):
    blank = Frame.from_array(np.full((96, 128, 3), 40, np.uint8), 0.0)
    (seen,) = Onnx(saved(style), LABELS, confidence=0.4).detect([blank])
    assert seen.boxes.shape == (0, 4) and seen.labels.shape == (0,)


@pytest.mark.slow
def test_style_is_recognised_and_recorded(saved):
    for style, expected in STYLES.items():
        settings = Onnx(saved(style), LABELS).settings()
        assert settings["style"] == expected
        assert settings["letterbox"] is settings["values"] is settings["bgr"] is None
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
        ("yolov8", None, {}, "has no class names in its metadata; .*--labels FILE"),
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
    [
        {"style": "sdd"},
        {"values": "0-2"},
        {"device": "tpu"},
        {"memory": 0},
        {"confidence": 2},
        {"overlap": -1},
        {"max_boxes": 0},
    ],
)
def test_senseless_options_are_refused(saved, options):
    with pytest.raises(DetectorError, match="must"):
        Onnx(saved("yolov8"), LABELS, **options)


FRAME = Frame.from_array(picture((40, 40, 90, 100), BLUE), 0.0)
BLANK = Frame.from_array(np.full((192, 256, 3), 60, np.uint8), 0.0)


@pytest.mark.parametrize("style", ["yolov8", "ssd"])
def test_the_range_of_values_is_found_out(saved, style):
    # Values of 0 to 255 are usual for neither: the first frame with something in it shows it.
    detector = Onnx(saved(style, byte=True), LABELS)
    found = list(detector.detect([BLANK, FRAME, BLANK, FRAME]))
    assert [len(seen.boxes) for seen in found] == [0, 1, 0, 1]
    (given,) = Onnx(saved(style, byte=True), LABELS, values="0-1").detect([FRAME])
    assert not len(given.boxes)  # what is asked for is done


def test_what_is_usual_stays_where_it_finds_something(saved):
    detector = Onnx(saved("yolov8"), LABELS)
    (seen,) = detector.detect([FRAME])
    assert detector.label_names[seen.labels[0]] == "blue thing"
    swapped = Onnx(saved("yolov8"), LABELS, bgr=True)
    (seen,) = swapped.detect([FRAME])
    assert swapped.label_names[seen.labels[0]] == "red thing"


def test_finding_nothing_is_explained(saved):
    with pytest.warns(VideoWarning, match=r"found nothing in 7 frames.*score of 0\.0.*red thing"):
        frames = [Frame.from_array(BLANK.image, t / 10) for t in range(7)]
        watch(frames, Onnx(saved("yolov8"), LABELS), (256, 192))


def test_finding_nothing_is_explained_by_detect_and_add(saved, tmp_path):
    video = tmp_path / "blank.mp4"
    with VideoWriter(video, (128, 96), frame_rate=10) as writer:
        for _ in range(12):
            writer.write(BLANK.scaled(128, 96))
    how = {"detector": "onnx", "model": saved("yolov8", names="{0: 'apple', 1: 'berry'}")}
    assert "surest box" in detect(video, **how).warnings[0]
    report = add(tmp_path / "library", [video], workers=1, **how).report
    assert "apple, berry" in report.warnings[0].message


def test_a_device_is_for_networks(saved, tmp_path):
    with pytest.raises(DetectorError, match="device"):
        load_detector("regions", device="cuda")
    pooled = load_detector("onnx,regions", model=saved("yolov8"), labels=LABELS, device="cpu")
    assert pooled.label_names == (*LABELS, "region")


def test_a_model_that_wants_too_much_memory(tmp_path):
    b = Builder()
    side = b.constant([1 << 15, 1 << 16], np.int64)  # 8 GiB of numbers
    b.nodes.append(make_node("Expand", [b("ReduceMax", "images", keepdims=0), side], ["large"]))
    total = b("ReduceSum", "large", keepdims=0)
    table = b("Expand", total, b.constant([1, 6, 9], np.int64))
    b.nodes.append(make_node("Identity", [table], ["output0"]))
    image = make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, 96, 128])
    output = make_tensor_value_info("output0", TensorProto.FLOAT, [1, 6, 9])
    graph = make_graph(b.nodes, "large", [image], [output], b.constants)
    model = make_model(graph, opset_imports=[make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, tmp_path / "large.onnx")
    with pytest.raises(DetectorError, match=r"large\.onnx could not be run with 1 GB of memory"):
        Onnx(tmp_path / "large.onnx", LABELS, memory=1)


def test_a_model_that_takes_too_long_is_stopped(saved):
    network = IsolatedNetwork(saved("yolov8"))
    network._patience = 0.2
    os.kill(network._child.pid, signal.SIGSTOP)  # as if it never came to an end
    with pytest.raises(DetectorError, match=r"took more than 0\.2 seconds"):
        network.run({"images": np.zeros((1, 3, HEIGHT, WIDTH), np.float32)})


def test_a_model_that_crashes_takes_nothing_with_it(saved):
    network = IsolatedNetwork(saved("yolov8"))
    network._child.kill()
    with pytest.raises(DetectorError, match="ended without an answer"):
        network.run({"images": np.zeros((1, 3, HEIGHT, WIDTH), np.float32)})


def test_a_process_ends_with_its_network(saved):
    network = IsolatedNetwork(saved("yolov8"))
    child = network._child
    del network
    assert child.poll() is not None


def test_cuda_where_there_is_none(saved):
    runtime = pytest.importorskip("onnxruntime")
    if "CUDAExecutionProvider" in runtime.get_available_providers():
        pytest.skip("this machine has CUDA")
    for memory in (None, 4.0):
        with pytest.raises(DetectorError, match=r"cannot use CUDA here.*onnxruntime-gpu"):
            Onnx(saved("yolov8"), LABELS, device="cuda", memory=memory)
