"""How videos are looked at here: batches, boxes, captions, networks, names of things, scores."""

import io
import json
import resource
from importlib.resources import as_file, files

import cv2
import numpy as np
import pytest
from fastapi import UploadFile
from onnx import TensorProto, helper, numpy_helper

from tests.studio.conftest import finished
from wordsight.attributes import AttributeLearner
from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.perception import write_boxes
from wordsight.studio.jobs import JobContext
from wordsight.studio.jobs.attributes import name_things
from wordsight.studio.jobs.library import add_video, look_again
from wordsight.studio.networks import (
    detector_options,
    keep_network,
    list_networks,
    parse_settings,
)
from wordsight.worlds import street

BATCH = "/api/v1/uploads/0123456789abcdef"
CAPTIONS = "1\n00:00:00,000 --> 00:00:01,000\nThe person left.\n"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A film that is not in the library, and boxes of it."""
    folder = tmp_path_factory.mktemp("fresh")
    film = next(iter(street(1, 99, noise=0.0)))
    film.write(folder / "fresh.mp4")
    boxes = b"frame,x1,y1,x2,y2,label,score\n0,1,2,30,40,lorry,0.9\n5,2,2,31,40,lorry,0.8\n"
    (folder / "fresh.boxes.csv").write_bytes(boxes)
    return folder


@pytest.fixture
def video(client):
    return client.get("/api/v1/videos").json()["videos"][0]["id"]


def place(library):
    return JobContext(str(library), library / "studio", lambda *_: None)


@pytest.mark.slow
def test_boxes_without_a_video_play_on_a_blank_canvas(client, fresh):
    data = (fresh / "fresh.boxes.csv").read_bytes()
    client.put(f"{BATCH}/lorry.csv", content=data)
    said = ["The lorry stood."]
    begun = client.post(BATCH, json={"fps": 5, "size": "64x48", "sentences": said})
    (video,) = finished(client, begun.json()["id"])["result"]["videos"]
    shown = client.get(f"/api/v1/videos/{video}").json()["video"]
    assert (shown["codec"], shown["width"], shown["height"]) == ("boxes", 64, 48)
    page = client.get(f"/videos/{video}").text
    assert "/static/blank.js" in page and "<video" not in page
    assert client.get("/static/blank.js").status_code == 200
    assert len(client.get(f"/api/v1/videos/{video}/detections").json()["times"]) == 6
    assert client.get(f"/api/v1/videos/{video}/thumbnail").status_code == 200
    refused = client.get(f"/api/v1/videos/{video}/frame")
    assert refused.status_code == 422 and "without pictures" in refused.text


@pytest.mark.slow
def test_captions_boxes_and_descriptions_come_along(client, library, fresh):
    rows = json.dumps({"file_name": "fresh.mp4", "text": "The person approached the chair."})
    sent = {
        "fresh.mp4": (fresh / "fresh.mp4").read_bytes(),
        "fresh.boxes.csv": (fresh / "fresh.boxes.csv").read_bytes(),
        "fresh.srt": CAPTIONS.encode(),
        "metadata.jsonl": rows.encode(),
    }
    for name, data in sent.items():
        answer = client.put(f"{BATCH}/{name}", content=data)
        assert answer.json() == {"name": name, "size": len(data)}
    begun = client.post(BATCH, json={"rate": 5})
    assert begun.status_code == 202 and "4 files" in begun.json()["title"]
    done = finished(client, begun.json()["id"])
    assert done["state"] == "done" and done["result"]["sentences"] == 2, done
    (video,) = done["result"]["videos"]
    page = client.get(f"/api/v1/videos/{video}").json()
    assert {one["text"] for one in page["sentences"]} == {
        "The person left.",
        "The person approached the chair.",
    }
    assert client.get(f"/api/v1/videos/{video}/detections").json()["labels"] == ["lorry"]
    assert not (library / "studio" / "uploads" / "0123456789abcdef").exists()


def test_a_description_cannot_name_files_elsewhere(library):
    folder = library / "studio" / "uploads" / "escape"
    folder.mkdir(parents=True)
    (folder / "metadata.jsonl").write_text('{"file_name": "../../../secret.mp4", "text": "a"}')
    (folder / "a.mp4").write_bytes(b"x")
    with pytest.raises(WordsightError, match="sent along"):
        add_video({"upload": "escape"}, place(library))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "/api/v1/uploads/0123456789abcdef/a.exe", 422),  # neither video nor beside one
        ("PUT", "/api/v1/uploads/..%2f..%2fetc/a.mp4", 404),
        ("PUT", "/api/v1/uploads/nonsense/a.mp4", 422),
        ("POST", "/api/v1/uploads/ffffffffffffffff", 404),  # nothing was sent
    ],
)
def test_bad_batches_are_refused(client, method, path, status):
    assert client.request(method, path, json={}).status_code == status


@pytest.mark.slow
def test_a_video_is_looked_at_again_with_boxes_and_words(client, library, video, tmp_path):
    with Library.open(library) as opened:
        before = opened.detections(video)
    sent = {"captions": ("a.srt", CAPTIONS.encode())}
    told = {"sentences": "The chair was red.\n\n"}
    begun = client.post(f"/api/v1/videos/{video}/look", files=sent, data=told)
    done = finished(client, begun.json()["id"])
    assert done["state"] == "done" and done["result"]["sentences"] == 2, done["message"]
    with Library.open(library) as opened:
        assert np.array_equal(opened.detections(video).boxes, before.boxes)  # nobody looked again
    write_boxes(tmp_path / "b.csv", before)
    folder = library / "studio" / "uploads" / "boxes-of-it" / "boxes"
    folder.mkdir(parents=True)
    (folder / "b.csv").write_bytes(b"frame,x1,y1,x2,y2,label\n0,1,2,30,40,lorry\n")
    look_again({"video": video, "upload": "boxes-of-it"}, place(library))
    with Library.open(library) as opened:
        assert opened.detections(video).label_names == ("lorry",)
    with pytest.raises(WordsightError, match="from a file"):
        look_again({"video": video, "sentences": ["It was late."]}, place(library))
    asked = {"video": video, "detector": "rendered", "rate": 5.0, "settings": ["confidence=0.3"]}
    look_again(asked, place(library))
    with Library.open(library) as opened:
        assert len(opened.detections(video)) < len(before)  # half as many frames
    assert "rendered" in client.get(f"/videos/{video}").text


@pytest.mark.slow
@pytest.mark.parametrize(
    "told",
    [
        {"settings": "model=/etc/passwd"},  # files of this machine are not for the browser
        {"settings": "labels=x.txt"},
        {"settings": "confidence"},
        {"settings": "a=../b"},
        {"settings": "memory=null"},  # without a limit
        {"settings": "memory=500"},
        {"detector": "onnx"},  # which network?
        {"rate": "0"},
    ],
)
def test_bad_ways_of_looking_are_refused(client, video, told):
    assert client.post(f"/api/v1/videos/{video}/look", data=told).status_code == 422


def test_settings_are_numbers_and_words():
    found = parse_settings(["confidence=0.4", "max-boxes = 3", "style=yolov8", "letterbox=false"])
    assert found == {"confidence": 0.4, "max_boxes": 3, "style": "yolov8", "letterbox": False}


def test_a_network_is_kept_and_used(client, library):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    with as_file(files("wordsight.perception.detectors") / "rendered.onnx") as path:
        data = path.read_bytes()
    sent = {"model": ("street.onnx", data)}
    kept = client.post("/api/v1/uploads/networks", files=sent)
    assert kept.status_code == 201, kept.text
    assert client.get("/api/v1/uploads/networks").json() == [kept.json()]
    asked = {"detector": "onnx", "network": kept.json()["name"]}
    options = detector_options(library / "studio", asked)
    assert options["model"].endswith("street.onnx")
    assert "street.onnx" in client.get("/parts/add").text


def test_a_tiny_network_takes_no_more_memory_than_it_may(tmp_path):
    """A constant of 8 GiB and an answer of 1 GiB, each declared in a few hundred bytes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for rows in (1 << 31, 1 << 28):
        shape = numpy_helper.from_array(np.array([1, 1, rows], np.int64), "shape")
        value = numpy_helper.from_array(np.ones(1, np.float32), "value")
        large = helper.make_node("ConstantOfShape", ["shape"], ["output0"], value=value)
        image = helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, 64, 64])
        output = helper.make_tensor_value_info("output0", TensorProto.FLOAT, [1, 1, rows])
        graph = helper.make_graph([large], "large", [image], [output], [shape])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        sent = UploadFile(io.BytesIO(model.SerializeToString()), filename="large.onnx")
        classes = UploadFile(io.BytesIO(b"cup\n"), filename="a.txt")
        with pytest.raises(WordsightError, match="memory"):
            keep_network(tmp_path, sent, classes)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 << 10  # kilobytes
    assert list_networks(tmp_path) == []


def test_a_network_that_is_none_is_refused(client, library):
    answer = client.post("/api/v1/uploads/networks", files={"model": ("a.onnx", b"nonsense")})
    assert answer.status_code == 422 and str(library) not in answer.text
    assert client.get("/api/v1/uploads/networks").json() == []


@pytest.fixture
def taught(library):
    rng = np.random.default_rng(0)
    pictures, words = [], []
    for word, colour in {"red": (200, 30, 30), "blue": (40, 60, 210)}.items():
        for size in range(8):
            image = np.full((48, 48, 3), 235, np.uint8)
            cv2.circle(image, (24, 24), 10 + size, colour, -1)
            pictures.append(np.clip(image + rng.normal(0, 4, image.shape), 0, 255).astype(np.uint8))
            words.append(word)
    learner = AttributeLearner(num_attributes=1, random_state=0).fit(pictures, words)
    learner.save(library / "studio" / "taught")


def test_things_in_a_video_are_named(client, library, video, taught):
    done = name_things({"video": video}, place(library))
    assert done["things"] and done["boxes"] >= len(done["things"])
    assert all(one["start"] <= one["end"] and 0 < one["share"] <= 1 for one in done["things"])
    begun = client.post(f"/api/v1/videos/{video}/names")
    assert begun.status_code == 202 and begun.json()["kind"] == "name"
    box = done["rows"][0]["box"]
    asked = {"time": done["rows"][0]["time"], "box": box}
    named = client.post(f"/api/v1/videos/{video}/name", json=asked).json()
    assert named["text"] == done["rows"][0]["text"]
    whole = client.post(f"/api/v1/videos/{video}/name", json={"time": 1.0})
    assert whole.status_code == 200
    for bad in ({"time": 1.0, "box": [0, 0, 1, 1]}, {"time": -1.0}, {"box": box}):
        assert client.post(f"/api/v1/videos/{video}/name", json=bad).status_code == 422


def test_a_part_of_a_picture_is_named(client, taught):
    image = np.full((100, 100, 3), 235, np.uint8)
    cv2.circle(image, (25, 25), 18, (30, 30, 200), -1)  # red, as OpenCV orders colours
    cv2.circle(image, (75, 75), 18, (210, 60, 40), -1)
    sent = {"image": ("a.png", cv2.imencode(".png", image)[1].tobytes(), "image/png")}
    for part, word in {"0,0,50,50": "red", "50,50,50,50": "blue"}.items():
        named = client.post("/api/v1/attributes/name", files=sent, data={"box": part}).json()
        assert named["text"] == word
    for bad in ("nan,0,10,10", "0,0,inf,5", "1,2,3", "0,0,1,1", "0,0,-5,5"):
        answer = client.post("/api/v1/attributes/name", files=sent, data={"box": bad})
        assert answer.status_code == 422, bad


def test_sentences_are_scored_together(client, library, video):
    with Library.open(library) as opened:
        labels = opened.detections(video).label_names
    hand_lexicon(labels).save(library / "lexicon")
    said = client.get(f"/api/v1/videos/{video}").json()["sentences"][0]["text"]
    asked = {"sentences": [said, "The person approached the chair."], "prune": 3}
    found = client.post(f"/api/v1/videos/{video}/score", json=asked).json()
    assert [one["sentence"] for one in found] == asked["sentences"]
    alone = client.post(f"/api/v1/videos/{video}/track", json={"sentence": said, "prune": 3}).json()
    assert found[0]["score"] == pytest.approx(alone["score"]) and found[0]["lost"] >= 0
    for bad in ({"sentences": []}, {"sentences": ["x"]}, {"sentences": [said], "prune": 0}):
        assert client.post(f"/api/v1/videos/{video}/score", json=bad).status_code == 422
