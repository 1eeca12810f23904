"""Small real networks: they find the bright patch of a picture by arithmetic, in every style."""

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

WIDTH, HEIGHT = 128, 96
LABELS = ("red thing", "blue thing")


class Builder:
    """Collects the nodes of a graph; each method adds one and returns the name of its result."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def __call__(self, kind, *inputs, **attributes):
        result = f"{kind}_{len(self.nodes)}"
        self.nodes.append(make_node(kind, list(inputs), [result], **attributes))
        return result

    def constant(self, value, dtype=np.float32):
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name


def bright_patch(b, width, height, normalised, byte, bgr):
    """Add nodes for the patch's edges and how red and blue it is, each of shape (1,)."""
    image = "images"
    if byte:  # values come as 0 to 255
        image = b("Div", image, b.constant(255.0))
    if bgr:
        image = b("Gather", image, b.constant([2, 1, 0], np.int64), axis=1)
    if normalised:  # undo what the caller did, so that brightness means the same
        spread = b.constant(np.array([0.229, 0.224, 0.225]).reshape(1, 3, 1, 1))
        mean = b.constant(np.array([0.485, 0.456, 0.406]).reshape(1, 3, 1, 1))
        image = b("Add", b("Mul", image, spread), mean)
    highest = b("ReduceMax", image, axes=[1], keepdims=1)
    bright = b("Greater", highest, b.constant(0.7))
    edges = []
    for axis, size in ((3, width), (2, height)):
        shape = [1, 1, 1, 1]
        shape[axis] = size
        places = np.arange(size, dtype=np.float32).reshape(shape)
        low = b("Where", bright, b.constant(places), b.constant(1e4))
        high = b("Where", bright, b.constant(places + 1), b.constant(-1e4))
        edges.append(b("ReduceMin", low, axes=[0, 1, 2, 3], keepdims=0))
        edges.append(b("ReduceMax", high, axes=[0, 1, 2, 3], keepdims=0))
    inside = b("Cast", bright, to=TensorProto.FLOAT)
    count = b("Add", b("ReduceSum", inside, keepdims=0), b.constant(1e-6))
    colours = []
    for channel in (0, 2):
        plane = b("Gather", image, b.constant([channel], np.int64), axis=1)
        total = b("ReduceSum", b("Mul", plane, inside), keepdims=0)
        colours.append(b("Div", total, count))
    one = b.constant([1], np.int64)
    x1, x2, y1, y2, red, blue = (b("Reshape", value, one) for value in (*edges, *colours))
    return x1, y1, x2, y2, red, blue


def rows_of(b, values, count=3):
    """Make (count, len(values)) rows of them: the patch, its shifted double, and a faint one."""
    row = b("Reshape", b("Concat", *values, axis=0), b.constant([1, len(values)], np.int64))
    return b("Concat", *[row] * count, axis=0)


def centred(b, x1, y1, x2, y2):
    half = b.constant([0.5])
    return (
        b("Mul", b("Add", x1, x2), half),
        b("Mul", b("Add", y1, y2), half),
        b("Sub", x2, x1),
        b("Sub", y2, y1),
    )


def network(
    style,
    *,
    width=WIDTH,
    height=HEIGHT,
    names=None,
    dynamic=False,
    normalised=False,
    byte=False,
    bgr=False,
):
    """Build a model that reports the bright patch in one of the styles."""
    b = Builder()
    x1, y1, x2, y2, red, blue = bright_patch(b, width, height, normalised, byte, bgr)
    outputs, inputs = _STYLES[style](b, (x1, y1, x2, y2), (red, blue), width, height)
    sides = ["height", "width"] if dynamic else [height, width]
    image = make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, *sides])
    graph = make_graph(b.nodes, style, [image, *inputs], outputs, b.constants)
    model = make_model(graph, opset_imports=[make_opsetid("", 13)])
    model.ir_version = 8
    if names is not None:
        model.metadata_props.add(key="names", value=names)
    onnx.checker.check_model(model)
    return model


def _yolov5(b, corners, classes, width, height):
    rows = rows_of(b, (*centred(b, *corners), b.constant([1.0]), *classes))
    shift = np.zeros((3, 7))
    shift[1, :2] = 2  # the double lies a little aside
    weight = np.ones((3, 7))
    weight[:, 4] = 0.9, 0.8, 0.05
    table = b("Add", b("Mul", rows, b.constant(weight)), b.constant(shift))
    _named(b, b("Unsqueeze", table, b.constant([0], np.int64)), "output0")
    return [make_tensor_value_info("output0", TensorProto.FLOAT, [1, 3, 7])], []


def _yolov8(b, corners, classes, width, height):
    rows = rows_of(b, (*centred(b, *corners), *classes))
    shift = np.zeros((3, 6))
    shift[1, :2] = 2
    weight = np.ones((3, 6))
    weight[:, 4:] = np.array([[0.9], [0.8], [0.05]])
    table = b("Add", b("Mul", rows, b.constant(weight)), b.constant(shift))
    table = b("Transpose", table, perm=[1, 0])
    _named(b, b("Unsqueeze", table, b.constant([0], np.int64)), "output0")
    return [make_tensor_value_info("output0", TensorProto.FLOAT, [1, 6, 3])], []


def _shares(b, corners, width, height):
    sizes = b.constant([[width, height, width, height]])
    return b("Div", rows_of(b, centred(b, *corners), 2), sizes)


def _detr(b, corners, classes, width, height):
    # Logits for the two classes and for nothing; the second query sees nothing.
    rows = rows_of(b, (*classes, b.constant([0.5])), 2)
    scale = np.array([[8, 8, 1], [0, 0, 8.0]])
    _named(b, _batch(b, b("Mul", rows, b.constant(scale))), "logits")
    _named(b, _batch(b, _shares(b, corners, width, height)), "pred_boxes")
    return _detr_outputs(3), []


def _rt_detr(b, corners, classes, width, height):
    rows = rows_of(b, classes, 2)
    scale, shift = np.array([[6.0], [0]]), np.array([[-3.0], [-9]])
    _named(b, _batch(b, b("Add", b("Mul", rows, b.constant(scale)), b.constant(shift))), "logits")
    _named(b, _batch(b, _shares(b, corners, width, height)), "pred_boxes")
    return _detr_outputs(2), []


def _boxes(b, corners, classes, width, height):
    sizes = make_tensor_value_info("orig_target_sizes", TensorProto.INT64, [1, 2])
    # Shares of the picture times the size that the caller names, as such exports do.
    size = b("Cast", "orig_target_sizes", to=TensorProto.FLOAT)
    shares = b("Div", rows_of(b, corners, 1), b.constant([[width, height, width, height]]))
    _named(b, b("Mul", shares, b("Concat", size, size, axis=1)), "boxes")
    both = b("Concat", *classes, axis=0)
    _named(b, b("ReduceMax", both, axes=[0], keepdims=1), "scores")
    _named(b, b("ArgMax", both, axis=0, keepdims=1), "labels")
    outputs = [
        make_tensor_value_info("labels", TensorProto.INT64, [1]),
        make_tensor_value_info("boxes", TensorProto.FLOAT, [1, 4]),
        make_tensor_value_info("scores", TensorProto.FLOAT, [1]),
    ]
    return outputs, [sizes]


def _cells(width, height, strides):
    return sum(-(-width // stride) * -(-height // stride) for stride in strides)


def _rest(b, rows, count, columns, value=0.0):
    """Fill up with cells that see nothing."""
    return b("Concat", rows, b.constant(np.full((count - 1, columns), value)), axis=0)


def _yolox(b, corners, classes, width, height):
    # The first cell, at the upper left with a stride of 8, says where the patch is.
    x, y, w, h = centred(b, *corners)
    eight, least = b.constant([8.0]), b.constant([1.0])
    places = [b("Div", value, eight) for value in (x, y)]
    sides = [b("Log", b("Div", b("Max", value, least), eight)) for value in (w, h)]
    rows = rows_of(b, (*places, *sides, b.constant([0.9]), *classes), 1)
    count = _cells(width, height, (8, 16, 32))
    _named(b, _batch(b, _rest(b, rows, count, 7)), "output")
    return [make_tensor_value_info("output", TensorProto.FLOAT, [1, count, 7])], []


def _picodet(b, corners, classes, width, height, bins=18):
    """Every cell of the finest grid says how far away the patch's edges are; those inside score."""
    across, down = -(-width // 8), -(-height // 8)
    y, x = np.meshgrid(np.arange(down) * 8.0 + 4, np.arange(across) * 8.0 + 4, indexing="ij")
    x, y = b.constant(x.ravel()), b.constant(y.ravel())
    x1, y1, x2, y2 = corners
    ends = [b("Sub", x, x1), b("Sub", y, y1), b("Sub", x2, x), b("Sub", y2, y)]
    shape = b.constant([across * down, 1], np.int64)
    spread = []
    for end in ends:
        far = b("Reshape", b("Div", end, b.constant(8.0)), shape)
        away = b("Abs", b("Sub", b.constant(np.arange(bins)[None]), far))
        near = b("Max", b("Sub", b.constant(1.0), away), b.constant(1e-9))
        spread.append(b("Log", near))  # shared by the two nearest distances, so the mean is right
    inside = b("Cast", b("Greater", b("Min", *ends), b.constant(0.0)), to=TensorProto.FLOAT)
    seen = b("Concat", *(b("Reshape", b("Mul", inside, c), shape) for c in classes), axis=1)
    outputs = []
    for stride in (8, 16, 32, 64):
        count = _cells(width, height, (stride,))
        parts = {"cls": (seen, 2), "reg": (b("Concat", *spread, axis=1), 4 * bins)}
        for kind, (value, columns) in parts.items():
            value = value if stride == 8 else b.constant(np.zeros((count, columns)))
            _named(b, _batch(b, value), f"{kind}_{stride}")
            shapes = [1, count, columns]
            outputs.append(make_tensor_value_info(f"{kind}_{stride}", TensorProto.FLOAT, shapes))
    return outputs, []


def _ssd(b, corners, classes, width, height):
    sizes = b.constant([[width, height, width, height]])
    boxes = b("Div", rows_of(b, corners, 1), sizes)
    boxes = _rest(b, boxes, 20, 4)
    _named(b, _batch(b, boxes), "boxes")
    rows = rows_of(b, (b.constant([0.1]), *classes), 1)  # the background comes first
    _named(b, _batch(b, _rest(b, rows, 20, 3)), "scores")
    outputs = [("boxes", [1, 20, 4]), ("scores", [1, 20, 3])]
    return [make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in outputs], []


def _tensorflow(b, corners, classes, width, height):
    x1, y1, x2, y2 = corners
    boxes = b("Div", rows_of(b, (y1, x1, y2, x2), 1), b.constant([[height, width] * 2]))
    both = b("Concat", *classes, axis=0)
    label = b("Cast", b("ArgMax", both, axis=0, keepdims=1), to=TensorProto.FLOAT)
    label = b("Add", label, b.constant([1.0]))  # classes are counted from 1
    _named(b, _batch(b, boxes), "detection_boxes")
    _named(b, _batch(b, label), "detection_classes")
    _named(b, _batch(b, b("ReduceMax", both, axes=[0], keepdims=1)), "detection_scores")
    _named(b, b.constant([1.0]), "num_detections")
    shapes = {"boxes": [1, 1, 4], "classes": [1, 1], "scores": [1, 1]}
    outputs = [(f"detection_{name}", shape) for name, shape in shapes.items()]
    outputs.append(("num_detections", [1]))
    return [make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in outputs], []


def _yolov10(b, corners, classes, width, height):
    both = b("Concat", *classes, axis=0)
    label = b("Cast", b("ArgMax", both, axis=0, keepdims=1), to=TensorProto.FLOAT)
    rows = rows_of(b, (*corners, b("ReduceMax", both, axes=[0], keepdims=1), label), 1)
    _named(b, _batch(b, _rest(b, rows, 5, 6)), "output0")
    return [make_tensor_value_info("output0", TensorProto.FLOAT, [1, 5, 6])], []


def _strange(b, corners, classes, width, height):
    _named(b, rows_of(b, corners, 1), "heatmap")
    return [make_tensor_value_info("heatmap", TensorProto.FLOAT, [1, 4])], []


def _batch(b, table):
    return b("Unsqueeze", table, b.constant([0], np.int64))


def _named(b, value, name):
    b.nodes.append(make_node("Identity", [value], [name]))


def _detr_outputs(classes):
    return [
        make_tensor_value_info("logits", TensorProto.FLOAT, [1, 2, classes]),
        make_tensor_value_info("pred_boxes", TensorProto.FLOAT, [1, 2, 4]),
    ]


_STYLES = {
    "yolov5": _yolov5,
    "yolov8": _yolov8,
    "detr": _detr,
    "rt-detr": _rt_detr,
    "boxes": _boxes,
    "yolov10": _yolov10,
    "yolox": _yolox,
    "picodet": _picodet,
    "ssd": _ssd,
    "tensorflow": _tensorflow,
    "strange": _strange,
}
