"""A published network, its output written again in other layouts: the same boxes must come out."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from wordsight.perception.detectors.network_output import grid_cells
from wordsight.perception.detectors.onnx import Onnx
from wordsight.perception.detectors.suppression import box_iou
from wordsight.video import VideoReader

SHARED = Path(__file__).resolve().parents[4] / "shared"
MODEL = SHARED / "weights" / "picodet_s" / "picodet_s_coco80_416_yolov8layout.onnx"
FILM = SHARED / "data" / "films" / "bottle-detection.mp4"
pytestmark = pytest.mark.skipif(
    not (MODEL.is_file() and FILM.is_file()), reason=f"no weights and films at {SHARED}"
)


def rewritten(path, layout):
    """Write the network as others are exported; pictures go in as BGR from 0 to 255."""
    model = onnx.load(MODEL)
    graph = model.graph
    image, output = graph.input[0], graph.output[0].name
    constants = {
        "order": np.array([2, 1, 0], np.int64),
        "most": np.array(255, np.float32),
        "cuts": np.array([2, 2, 80], np.int64),
        "half": np.array(0.5, np.float32),
        "side": np.array(416, np.float32),
    }
    places, steps = grid_cells((416, 416), (8, 16, 32, 64), 0.0)
    constants |= {"places": places[None].astype(np.float32), "steps": steps[None]}
    constants |= {"sure": np.ones((1, len(places), 1), np.float32)}
    constants["steps"] = constants["steps"].astype(np.float32)
    for name, value in constants.items():
        graph.initializer.append(numpy_helper.from_array(value, name))
    given = image.name
    for node in graph.node:
        node.input[:] = ["prepared" if name == given else name for name in node.input]
    before = [
        helper.make_node("Gather", [given, "order"], ["rgb"], axis=1),
        helper.make_node("Div", ["rgb", "most"], ["prepared"]),
    ]
    after = [
        helper.make_node("Transpose", [output], ["rows"], perm=[0, 2, 1]),
        helper.make_node("Split", ["rows", "cuts"], ["centre", "size", "classes"], axis=2),
    ]
    if layout == "yolox":
        after += [
            helper.make_node("Sub", ["centre", "places"], ["shift"]),
            helper.make_node("Div", ["shift", "steps"], ["cells"]),
            helper.make_node("Div", ["size", "steps"], ["shares"]),
            helper.make_node("Log", ["shares"], ["logs"]),
            helper.make_node("Concat", ["cells", "logs", "sure", "classes"], ["raw"], axis=2),
        ]
        outputs = {"raw": [1, len(places), 85]}
    else:
        after += [
            helper.make_node("Mul", ["size", "half"], ["halves"]),
            helper.make_node("Sub", ["centre", "halves"], ["low"]),
            helper.make_node("Add", ["centre", "halves"], ["high"]),
            helper.make_node("Concat", ["low", "high"], ["corners"], axis=2),
            helper.make_node("Div", ["corners", "side"], ["boxes"]),
            helper.make_node("Identity", ["classes"], ["scores"]),
        ]
        outputs = {"boxes": [1, len(places), 4], "scores": [1, len(places), 80]}
    nodes = [*before, *graph.node, *after]
    del graph.node[:], graph.output[:]
    graph.node.extend(nodes)
    for name, shape in outputs.items():
        graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    onnx.save(model, path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["yolox", "ssd"])
def test_a_real_network_in_another_layout(tmp_path, layout):
    with VideoReader(FILM) as reader:
        frame = reader.frame_at(2.0)
    usual = Onnx(MODEL, letterbox=False, memory=None)
    # Neither colour order nor range is given: they must be found out where they are not usual.
    other = Onnx(rewritten(tmp_path / f"{layout}.onnx", layout), letterbox=False)
    assert other.settings()["style"] == layout
    (expected,), (found,) = usual.detect([frame]), other.detect([frame])
    bottles = [one.boxes[one.labels == 39] for one in (expected, found)]
    assert len(bottles[0]) == len(bottles[1]) == 3
    assert box_iou(*bottles).max(axis=1).min() > 0.95
