"""COCO JSON as it is found in the wild."""

import copy
import json

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.perception.formats import read_boxes

PLAIN = {
    "images": [
        {"id": 7, "file_name": "frame_000002.png", "width": 64, "height": 48},
        {"id": 3, "file_name": "frame_000000.png", "width": 64, "height": 48},
    ],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 90, "bbox": [1, 2.5, 10, 20], "track_id": 4},
        {"id": 2, "image_id": 3, "category_id": 1, "bbox": [0, 0, 5, 5], "score": 0.25},
    ],
    "categories": [{"id": 90, "name": "toothbrush"}, {"id": 1, "name": "person"}],
}


def read(tmp_path, content, **options):
    path = tmp_path / "boxes.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_boxes(path, **{"frame_rate": 10, **options})


def changed(*path, value=None, drop=False):
    """PLAIN with one value replaced or dropped."""
    content = copy.deepcopy(PLAIN)
    here = content
    for key in path[:-1]:
        here = here[key]
    if drop:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    return content


def test_a_plain_file(tmp_path):
    seen = read(tmp_path, PLAIN)
    np.testing.assert_allclose(seen.times, [0.0, 0.2])  # frames 0 and 2, by their file names
    np.testing.assert_array_equal(seen.boxes[:, 0], [[0, 0, 5, 5], [1, 2.5, 11, 22.5]])
    assert seen.label_names == ("toothbrush", "person")
    assert seen.labels[:, 0].tolist() == [1, 0]
    assert seen.scores[:, 0].tolist() == [0.25, 1.0]
    assert seen.ids[:, 0].tolist() == [-1, 4]
    assert seen.frame_size == (64, 48)


def test_frame_ids_come_before_file_names(tmp_path):
    content = copy.deepcopy(PLAIN)
    content["images"][0]["frame_id"], content["images"][1]["frame_id"] = 6, 5
    np.testing.assert_allclose(read(tmp_path, content).times, [0.5, 0.6])
    np.testing.assert_allclose(read(tmp_path, content, first_frame=5).times, [0.0, 0.1])


def test_without_numbers_images_count_in_order(tmp_path):
    content = copy.deepcopy(PLAIN)
    for image in content["images"]:
        image["file_name"] = "picture.png"
    seen = read(tmp_path, content)
    np.testing.assert_allclose(seen.times, [0.0, 0.1])
    assert seen.label_names[seen.labels[0, 0]] == "toothbrush"


def test_identities_of_other_tools(tmp_path):
    content = copy.deepcopy(PLAIN)
    content["annotations"][1]["attributes"] = {"track_id": 9, "occluded": False}
    content["annotations"][0] = {**content["annotations"][0], "track_id": None, "instance_id": 2}
    del content["annotations"][0]["track_id"]
    assert read(tmp_path, content).ids[:, 0].tolist() == [9, 2]


def test_one_video_of_several(tmp_path):
    content = copy.deepcopy(PLAIN)
    content["videos"] = [{"id": 1, "name": "street"}, {"id": 2, "name": "park"}]
    content["images"][0]["video_id"], content["images"][1]["video_id"] = 1, 2
    with pytest.raises(FormatError, match="street, park"):
        read(tmp_path, content)
    assert read(tmp_path, content, video="park").mask.sum() == 1
    assert read(tmp_path, content, video=1).ids[0, 0] == 4
    with pytest.raises(FormatError, match="no video 'beach'"):
        read(tmp_path, content, video="beach")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed("images", 0, "id", drop=True), r"images\[0\] has no id"),
        (changed("images", 0, "id", value=3), r"images\[1\] repeats the id"),
        (
            changed("annotations", 1, "image_id", drop=True),
            r"annotations\[1\]: image_id is missing",
        ),
        (changed("annotations", 1, "image_id", value=99), "not in the file"),
        (changed("annotations", 0, "category_id", drop=True), "category_id is missing"),
        (changed("annotations", 0, "category_id", value=5), "not in the file"),
        (changed("annotations", 0, "category_id", value=[1]), "not in the file"),
        (changed("categories", 0, "id", drop=True), r"categories\[0\] needs an id"),
        (changed("categories", 0, "name", value=""), r"categories\[0\] needs an id"),
        (changed("categories", 0, "id", value=1), "repeated"),
        (changed("annotations", 0, "bbox", drop=True), "bbox must be"),
        (changed("annotations", 0, "bbox", value=[1, 2, 3]), "bbox must be"),
        (changed("annotations", 0, "bbox", value=[1, 2, -3, 4]), "positive width"),
        (changed("annotations", 0, "bbox", value=[1, 2, "3", 4]), "expected a number"),
        (changed("annotations", 0, "bbox", value=[1, 2, True, 4]), "expected a number"),
        (changed("annotations", 0, "score", value=None), "expected a number"),
        (changed("annotations", 0, "track_id", value="a"), "whole number"),
        (changed("images", 0, "file_name", value="frame_99999999.png"), "beyond the limit"),
        (changed("images", 0, "file_name", value="frame_000000.jpg"), None),  # counted in order
        (changed("annotations", value={}), "must be a list"),
        (changed("annotations", 0, value=7), "must be an object"),
        (changed("images", value=7), "not COCO"),
        ("[1, 2]", "not COCO"),
        ('{"images": [', "line 1: not JSON"),
        ('{"images": [], "annotations": [{"bbox": [NaN, 1, 2, 3]}]}', "NaN"),
        ("[" * 100_000, "not"),
        ('{"images": [], "x": ' + "9" * 5000 + "}", "not a usable JSON"),
    ],
)
def test_bad_files(tmp_path, content, message):
    if message is None:
        assert len(read(tmp_path, content)) == 2
        return
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, content)
    assert "boxes.json" in str(caught.value)


def test_two_images_of_one_frame(tmp_path):
    content = copy.deepcopy(PLAIN)
    for image in content["images"]:
        image["frame_id"] = 1
    with pytest.raises(FormatError, match="same frame"):
        read(tmp_path, content)
