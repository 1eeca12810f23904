"""A network beside the blocks: what it says is what it computes, and searches tell it apart."""

import json

import numpy as np
import pytest

import wordsight
from wordsight.errors import FormatError, WordsightError
from wordsight.perception.networks.onnx_graph import OnnxGraph
from wordsight.retrieval import RetrievalError, VisualSettings
from wordsight.retrieval.visual import embedding
from wordsight.retrieval.visual.block_dct import BlockDct
from wordsight.retrieval.visual.embedding import EmbeddedBlocks, EmbeddingFile, FrozenNetwork
from wordsight.video import VideoWriter, write_image

pytest.importorskip("onnxruntime")
SIDE, CELL = 32, 8
MEAN, SPREAD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
RED, BLUE, GREEN = (210, 30, 30), (30, 30, 210), (30, 200, 40)


def write_network(path, kind="grid", scale=1.0):
    """Write a convolution that averages the colours of cells of 8 x 8, and what follows."""
    graph = OnnxGraph()
    filters = np.zeros((3, 3, CELL, CELL))
    for channel in range(3):
        filters[channel, channel] = scale / CELL**2
    weights = graph.constant(filters)
    graph.node("Conv", ["image", weights], ["grid"], kernel_shape=[CELL, CELL], strides=[CELL] * 2)
    shape = {"grid": [1, 3, 4, 4], "tokens": [1, 17, 3], "vector": [1, 3], "number": [1, 1]}[kind]
    if kind in ("vector", "number"):
        graph.node("GlobalAveragePool", ["grid"], ["pooled"])
        graph.node("Flatten", ["pooled"], ["vector"], axis=1)
    if kind == "number":
        graph.node("ReduceMean", ["vector"], ["number"], axes=[1], keepdims=1)
    if kind == "tokens":
        graph.node("Reshape", ["grid", graph.constant([1, 3, 16], np.int64)], ["flat"])
        graph.node("Transpose", ["flat"], ["places"], perm=[0, 2, 1])
        first = graph.constant(np.full((1, 1, 3), 9.0))
        graph.node("Concat", [first, "places"], ["tokens"], axis=1)
    path.write_bytes(graph.to_bytes({"image": [1, 3, SIDE, SIDE]}, {kind: shape}, {}))
    return path


def two_halves(left=RED, right=BLUE, side=SIDE):
    image = np.empty((side, side, 3), np.uint8)
    image[:, : side // 2], image[:, side // 2 :] = left, right
    return image


def direction(colour):
    vector = (np.array(colour) / 255 - MEAN) / SPREAD
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("kind", ["grid", "tokens", "vector"])
def test_vectors_are_those_of_their_places(tmp_path, kind):
    found = FrozenNetwork(write_network(tmp_path / "net.onnx", kind)).grid(two_halves())
    assert found.shape == ((3, 3, 3) if kind == "vector" else (4, 4, 3))
    np.testing.assert_allclose(found[:, 0], [direction(RED)] * len(found), atol=1e-5)
    np.testing.assert_allclose(found[:, -1], [direction(BLUE)] * len(found), atol=1e-5)


def test_blocks_are_as_before_and_have_the_vectors_of_where_they_lie(tmp_path):
    features = EmbeddedBlocks(BlockDct(), EmbeddingFile.of(write_network(tmp_path / "net.onnx")))
    image = two_halves(side=96)
    found, alone = features.samples(image), BlockDct().samples(image)
    np.testing.assert_array_equal(found.values[:, :14], alone.values)
    np.testing.assert_array_equal(found.boxes, alone.boxes)
    left = found.boxes[:, 2] <= 48
    assert len(features.names) == len(features.resolution) == found.values.shape[1] == 30
    network = found.values[:, list(features.kinds["net.onnx"])]
    assert np.ptp(network[left], axis=0).max() < 1e-5 < np.ptp(network, axis=0).max()
    assert features.render(found.values).shape == (len(found), 8, 8, 3)


@pytest.mark.parametrize(
    ("kind", "scale", "words"), [("number", 1.0, "expected a vector"), ("grid", np.inf, "NaN")]
)
def test_networks_without_vectors(tmp_path, kind, scale, words):
    with pytest.raises(WordsightError, match=words):
        FrozenNetwork(write_network(tmp_path / "net.onnx", kind, scale))


def test_settings_are_kept_and_nothing_changes_without_a_network(tmp_path):
    assert "embedding" not in VisualSettings().to_json()
    file = EmbeddingFile.of(write_network(tmp_path / "net.onnx"))
    settings = VisualSettings(embedding=file)
    assert VisualSettings.from_json(json.loads(json.dumps(settings.to_json()))) == settings
    with pytest.raises(RetrievalError, match="static"):
        VisualSettings(dynamic=True, embedding=file)
    with pytest.raises(FormatError, match="not a file"):
        EmbeddingFile.of(tmp_path / "none.onnx")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A library of three films of a colour each, and an index of it with a network."""
    folder = tmp_path_factory.mktemp("embedded")
    random = np.random.default_rng(0)
    (folder / "films").mkdir()
    for name, colour in {"red": RED, "blue": BLUE, "green": GREEN}.items():
        with VideoWriter(folder / "films" / f"{name}.mp4", (96, 64), frame_rate=10) as writer:
            for _ in range(8):
                noise = random.integers(-9, 9, (64, 96, 3))
                writer.write(np.clip(np.array(colour) + noise, 0, 255).astype(np.uint8))
    wordsight.add(folder / "library", sources=str(folder / "films"), detector="rendered")
    write_network(folder / "net.onnx")
    made = {"embedding": folder / "net.onnx", "index": folder / "index"}
    wordsight.index(folder / "library", **made)
    write_image(folder / "blue.png", np.full((64, 96, 3), BLUE, np.uint8))
    return folder


def test_searches_tell_what_blocks_and_network_say(place):
    found = wordsight.search(place / "library", images=(place / "blue.png",), index=place / "index")
    first, *others = found.to_json()
    assert first["video_id"].startswith("blue")
    assert [name for name, _ in first["looks"]] == ["blocks", "net.onnx"]
    assert all(value > 0 for _, value in first["looks"])
    assert all(dict(each["looks"])["net.onnx"] < 0 for each in others)
    plain = wordsight.search(place / "library", images=(place / "blue.png",))
    assert "looks" not in plain.to_json()[0]


def test_a_background_of_other_features_is_refused(place):
    wordsight.index(place / "library")
    with pytest.raises(RetrievalError, match="and a network"):
        wordsight.search(
            place / "library",
            images=(place / "blue.png",),
            index=place / "index",
            background=str(place / "library"),
        )


def test_a_network_that_changed_is_refused(place, tmp_path):
    write_network(tmp_path / "net.onnx")
    made = {"embedding": tmp_path / "net.onnx", "index": tmp_path / "index"}
    wordsight.index(place / "library", **made)
    before = (tmp_path / "index" / "index.json").read_bytes()
    write_network(tmp_path / "net.onnx", scale=2.0)
    asked = {"images": (place / "blue.png",), "index": tmp_path / "index"}
    embedding._opened.cache_clear()  # as in another process
    with pytest.raises(RetrievalError, match="has changed"):
        wordsight.search(place / "library", **asked)
    (tmp_path / "net.onnx").unlink()
    with pytest.raises(RetrievalError, match="not there"):
        wordsight.search(place / "library", **asked)
    assert (tmp_path / "index" / "index.json").read_bytes() == before
