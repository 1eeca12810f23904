"""The experiment on detectors, with pictures and boxes whose scores are known."""

import json

import numpy as np
import pytest

from experiments.detectors import average_precision, main, measure, read_pictures
from experiments.picture_changes import CHANGES
from wordsight.errors import WordsightError
from wordsight.records import FrameDetections
from wordsight.video import write_image

IMAGES = [
    {"id": 7, "file_name": "a/one.png", "width": 320, "height": 240},
    {"id": 8, "file_name": "two.png", "width": 320, "height": 240},  # its folder is left out
]


@pytest.fixture
def folder(tmp_path):
    picture = np.full((240, 320, 3), 90, np.uint8)
    picture[100:160, 50:90] = (200, 40, 40)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    write_image(tmp_path / "a" / "one.png", picture)
    write_image(tmp_path / "b" / "two.png", picture)
    boxes = [(7, 1, [50, 100, 40, 60]), (7, 2, [200, 20, 30, 30]), (8, 1, [50, 100, 40, 60])]
    annotations = [
        {"id": n, "image_id": image, "category_id": category, "bbox": box}
        for n, (image, category, box) in enumerate(boxes)
    ]
    annotations.append({"id": 9, "image_id": 8, "category_id": 2, "bbox": [0] * 4, "iscrowd": 1})
    categories = [{"id": 1, "name": "cup"}, {"id": 2, "name": "hand"}]
    content = {"images": IMAGES, "annotations": annotations, "categories": categories}
    (tmp_path / "annotations.json").write_text(json.dumps(content))
    return tmp_path


class Fixed:
    name, label_names = "fixed", ("banana",)

    def __init__(self, boxes):
        self._boxes = np.array(boxes, float).reshape(-1, 4)

    def detect(self, frames):
        for frame in frames:
            count = len(self._boxes)
            scores = np.linspace(0.9, 0.5, count)
            yield FrameDetections(frame.time, self._boxes, scores, np.zeros(count, np.int32))


def test_recall_is_by_category_whatever_the_name(folder):
    found = measure(Fixed([(50, 100, 90, 160), (0, 0, 9, 9)]), read_pictures(folder))
    assert found["recall50"] == {"cup": 1.0, "hand": 0.0}
    assert found["boxes_per_frame"] == 2.0 and found["ms"] > 0
    assert found["ap"] == pytest.approx(67 / 101)  # all found until a recall of 2/3


def test_things_stay_where_they_are_in_changed_pictures():
    image = np.zeros((60, 80, 3), np.uint8)
    boxes = np.array([[20.0, 10, 40, 40], [60, 30, 70, 40]])
    image[10:40, 20:40], image[30:40, 60:70] = 100, 200
    for name, make in CHANGES.items():
        for shown, there, things in make(image, boxes):
            for box, number in zip(there, things, strict=True):
                edge = 0.2 * (box[2:] - box[:2]).min()  # enlarged pictures are soft there
                inner, outer = (
                    (box + edge * np.array(s)).round() for s in ([1, 1, -1, -1], [-1, -1, 1, 1])
                )
                left, top, right, bottom = inner.astype(int)
                values = shown[top:bottom, left:right]
                assert values.size and np.abs(values - 100.0 * (number + 1)).max() < 10, name
                left, top, right, bottom = np.maximum(outer, 0).astype(int)
                around = shown[top:bottom, left:right].astype(int)
                corners = around[:: len(around) - 1, :: around.shape[1] - 1]
                assert np.abs(corners - 100 * (number + 1)).min() > 10, name


def test_a_picture_that_cannot_be_read_is_no_fault_of_detectors(folder):
    (folder / "a" / "one.png").write_bytes(b"no picture")
    with pytest.raises(WordsightError, match=r"one\.png"):
        main(["--data", str(folder), "--json"])


def test_one_box_covers_one_thing():
    truth = [np.array([[0, 0, 10, 10], [0, 0, 10, 9.0]])]
    box, score = np.array([[0, 0, 10, 10.0]]), np.ones(1)
    assert average_precision(truth, [box], [score], 0.5) == pytest.approx(51 / 101)
    both = np.array([[0, 0, 10, 10.0], [0, 0, 10, 10]])
    assert average_precision(truth, [both], [np.array([0.9, 0.8])], 0.5) == pytest.approx(1.0)


def test_precision_falls_with_what_is_wrong_and_surer():
    truth = [np.array([[0, 0, 10, 10.0]])]
    boxes = [np.array([[50, 50, 60, 60], [0, 0, 10, 10.0]])]
    assert average_precision(truth, boxes, [np.array([0.9, 0.8])], 0.5) == pytest.approx(0.5)
    assert average_precision(truth, boxes, [np.array([0.7, 0.8])], 0.5) == pytest.approx(1.0)
    assert average_precision(truth, [np.zeros((0, 4))], [np.zeros(0)], 0.5) == 0.0


def test_the_command_measures_what_is_installed(folder, capsys):
    main(["--data", str(folder), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["regions"]["recall50"]["cup"] == 1.0
    assert set(found) == {"people", "regions", "pooled"}  # nothing is fetched here
    assert found["pooled"]["recall50"] == found["regions"]["recall50"]


def test_what_is_to_be_ignored_is_neither_right_nor_wrong(folder):
    content = json.loads((folder / "annotations.json").read_text())
    content["annotations"][1]["ignore"] = 1
    content["annotations"].append(
        {"id": 10, "image_id": 7, "category_id": 2, "bbox": [5, 5, 0, 40]}  # without extent
    )
    (folder / "annotations.json").write_text(json.dumps(content))
    pictures = read_pictures(folder)
    assert measure(Fixed([(50, 100, 90, 160)]), pictures)["recall50"] == {"cup": 1.0}
    assert pictures[0].ignored.tolist() == [[200, 20, 230, 50]]
    truth = [np.array([[0, 0, 10, 10.0]])]
    seen, scores = [np.array([[50, 50, 60, 60], [0, 0, 10, 10.0]])], [np.array([0.9, 0.8])]
    assert average_precision(truth, seen, scores, 0.5) == pytest.approx(0.5)
    beside = [np.array([[40, 40, 70, 70.0]])]
    assert average_precision(truth, seen, scores, 0.5, beside) == pytest.approx(1.0)


def test_a_picture_that_is_there_twice_is_asked_about(folder):
    (folder / "a" / "two.png").write_bytes((folder / "b" / "two.png").read_bytes())
    with pytest.raises(WordsightError, match=r"several files of that name: .*two\.png"):
        read_pictures(folder)
    (folder / "a" / "two.png").unlink()
    (folder / "b" / "two.png").unlink()
    with pytest.raises(WordsightError, match=r"two\.png"):
        measure(Fixed([]), read_pictures(folder)[1:])


def test_what_is_wrong_with_the_folder_is_said(tmp_path):
    with pytest.raises(WordsightError, match=r"no annotations\.json"):
        read_pictures(tmp_path)
    empty = {"images": [], "annotations": [], "categories": []}
    (tmp_path / "annotations.json").write_text(json.dumps(empty))
    with pytest.raises(WordsightError, match="marks nothing"):
        read_pictures(tmp_path)
    (tmp_path / "annotations.json").write_text('{"images": 3}')
    with pytest.raises(WordsightError, match="COCO's layout"):
        read_pictures(tmp_path)
