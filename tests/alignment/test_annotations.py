"""Steps with times, in the layouts of published collections; samples made by hand."""

import json

import pytest

from wordsight.alignment.annotations import read_steps
from wordsight.errors import FormatError


def times(captions):
    return [(one.start, one.end, one.text) for one in captions]


def test_crosstask(tmp_path):
    (tmp_path / "tasks_primary.txt").write_text(
        "113766\nPickle Cucumber\nhttps://example.org\n2\ncut cucumber,seal jar\n\n"
        "16815\nGrill Steak\nhttps://example.org\n1\nseason steak\n"
    )
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations" / "113766_a_b-C.csv").write_text("2,12.5,20.0\n1,3.0,10.25\n")
    steps = read_steps(tmp_path)
    assert times(steps["a_b-C"]) == [(3.0, 10.25, "cut cucumber"), (12.5, 20.0, "seal jar")]
    assert read_steps(tmp_path / "annotations") == steps
    (tmp_path / "videos_val.csv").write_text("113766,a_b-C,https://example.org/a_b-C\n")
    assert read_steps(tmp_path) == steps
    (tmp_path / "annotations" / "16815_x.csv").write_text("2,1.0,2.0\n")
    with pytest.raises(FormatError, match="a step of 1 to 1"):
        read_steps(tmp_path)


@pytest.mark.parametrize(("key", "label"), [("annotation", "label"), ("annotations", "sentence")])
def test_coin_and_youcook2(tmp_path, key, label):
    rows = [
        {"id": "2", "segment": [9.0, 12.0], label: "pour water"},
        {"id": "1", "segment": [1, 4], label: "take the cup"},
    ]
    file = tmp_path / "all.json"
    file.write_text(json.dumps({"database": {"v1": {"duration": 20.0, key: rows}}}))
    assert times(read_steps(file)["v1"]) == [(1, 4, "take the cup"), (9, 12, "pour water")]


def test_breakfast(tmp_path):
    (tmp_path / "P03_coffee.txt").write_text("1-30 SIL\n31-150 take_cup\n151-300 pour_coffee\n")
    (steps,) = read_steps(tmp_path).values()
    assert times(steps) == [(2.0, 10.0, "take_cup"), (10.0, 20.0, "pour_coffee")]
    (steps,) = read_steps(tmp_path, frame_rate=30.0).values()
    assert steps[0].start == 1.0


def test_breakfast_beside_its_videos(tmp_path):
    (tmp_path / "P03_coffee.avi.labels").write_text("1-30 SIL\n31-150 take_cup\n")
    assert read_steps(tmp_path).keys() == {"P03_coffee"}


def test_one_recording_by_several_cameras(tmp_path):
    for camera, end in (("cam01", 150), ("webcam01", 300)):
        folder = tmp_path / "P03" / camera
        folder.mkdir(parents=True)
        (folder / "P03_coffee.txt").write_text(f"1-{end} take_cup\n")
    steps = read_steps(tmp_path)
    assert steps["P03_cam01_P03_coffee"][0].end == 10.0
    assert steps["P03_webcam01_P03_coffee"][0].end == 20.0
    assert read_steps(tmp_path / "P03" / "cam01").keys() == {"P03_coffee"}
    (tmp_path / "a.txt").write_text("1-15 take_cup\n")
    (tmp_path / "a.csv").write_text("1,2,take_cup\n")
    with pytest.raises(FormatError, match="the steps of a are in another file already"):
        read_steps(tmp_path)


def test_a_label_per_frame(tmp_path):
    (tmp_path / "mapping.txt").write_text("0 cut\n1 peel\n")
    labels = ["background"] * 30 + ["cut"] * 60 + ["peel"] * 15
    (tmp_path / "rgb-01-1.txt").write_text("\n".join(labels) + "\n")
    assert read_steps(tmp_path).keys() == {"rgb-01-1"}
    (steps,) = read_steps(tmp_path).values()
    assert times(steps) == [(1.0, 3.0, "cut"), (3.0, 3.5, "peel")]


def test_start_end_label(tmp_path):
    (tmp_path / "01-1.txt").write_text("12.5 20 cut_tomato\n1 12.5 peel_cucumber\n")
    (steps,) = read_steps(tmp_path).values()
    assert times(steps) == [(1.0, 12.5, "peel_cucumber"), (12.5, 20.0, "cut_tomato")]


def test_activities_by_the_clock_of_the_camera(tmp_path):
    (tmp_path / "labels").mkdir()
    file = tmp_path / "labels" / "01-1-activityAnnotation.txt"
    file.write_text(
        "1000 4499 cut_and_mix_ingredients\n1000 1999 cut_tomato_prep\n"
        "2000 2999 cut_tomato_core\n3500 4499 mix_ingredients_core\n"
    )
    with pytest.raises(FormatError, match="no timestamps-01-1"):
        read_steps(tmp_path)
    clock = "".join(f"{time} {time}.png\n" for time in range(500, 6000, 500))
    (tmp_path / "timestamps-01-1.txt").write_text(clock)
    expected = [(0.5, 2.5, "cut_tomato"), (3.0, 4.0, "mix_ingredients")]
    for place in (tmp_path, tmp_path / "labels", file):
        steps = read_steps(place, frame_rate=2.0)
        assert times(steps["rgb-01-1"]) == expected
    (tmp_path / "timestamps-01-1.txt").write_text("first.png\n")
    with pytest.raises(FormatError, match="expected a time"):
        read_steps(tmp_path)


def test_egoprocel(tmp_path):
    (tmp_path / "Assembly_1.csv").write_text(
        "4.5,9.0,2 Place the board\n0.5,4.0,1. Open the case\n"
    )
    (steps,) = read_steps(tmp_path).values()
    assert times(steps) == [(0.5, 4.0, "Open the case"), (4.5, 9.0, "Place the board")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{}"),
        ("a.json", '{"database": {"v": {"annotation": [{"segment": [2, 1], "label": "x"}]}}}'),
        ("a.csv", "one,two,three\n"),
        ("a.csv", "1,2\n"),
        ("a.csv", "3,2,late\n"),
        ("a.dat", "1,2,three\n"),
    ],
)
def test_what_is_not_in_a_layout_is_named(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError):
        read_steps(tmp_path / name if name.endswith("json") else tmp_path)
