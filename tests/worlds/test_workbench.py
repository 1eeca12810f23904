"""Films of the workbench: how many, which, what they look like, and what is refused."""

import json

import numpy as np
import pytest

from wordsight.video.read.reader import VideoReader
from wordsight.worlds import Effects, WorldError, workbench, write_world


@pytest.mark.slow
def test_two_films_share_a_protocol_and_differ_in_the_performance():
    films = list(workbench(films=4, steps=10, pace=4.0))
    assert [film.name for film in films] == [
        "workbench-000-a",
        "workbench-000-b",
        "workbench-001-a",
        "workbench-001-b",
    ]
    assert films[0].sentences == films[1].sentences
    assert films[0].companions == films[1].companions
    assert films[0].sentences != films[2].sentences
    assert films[0].num_frames != films[1].num_frames
    assert not np.array_equal(films[0].still(0), films[1].still(0))


@pytest.mark.slow
def test_a_film_does_not_depend_on_how_many_are_made():
    alone = list(workbench(films=2, steps=5, pace=4.0, random_state=9))[1]
    among = list(workbench(films=3, steps=5, pace=4.0, random_state=9))[1]
    assert json.dumps(alone.record()) == json.dumps(among.record())
    assert np.array_equal(alone.still(30), among.still(30))


@pytest.mark.slow
def test_the_order_of_frames_does_not_change_them():
    film = next(workbench(films=1, steps=2, pace=4.0))
    picture = film.make_picture()
    forward = [picture(index) for index in range(40)]
    assert np.array_equal(forward[33], film.still(33))
    assert np.array_equal(forward[5], picture(5))


@pytest.mark.slow
def test_default_protocols_have_10_to_25_steps():
    numbers = {
        len(film.truth.recording.protocol.steps)
        for film in workbench(films=5, videos_per_protocol=1, pace=4.0, frame_rate=5.0)
    }
    assert min(numbers) >= 10
    assert max(numbers) <= 25
    assert len(numbers) > 2


def test_pace_changes_the_length():
    slow, fast = (next(workbench(films=1, steps=3, pace=pace)) for pace in (1.0, 2.0))
    assert slow.duration == pytest.approx(2 * fast.duration, rel=0.15)


@pytest.mark.slow
def test_things_are_painted_where_their_boxes_are():
    film = next(workbench(films=1, steps=4, pace=3.0, effects=Effects(), random_state=1))
    picture, truth = film.make_picture(), film.truth
    first = picture(0).astype(int)
    checked = 0
    for name in truth.recording.things:
        boxes = truth.boxes[name]
        home = boxes[0]
        # A frame in which it is somewhere else and nothing else covers its home.
        for index in range(0, film.num_frames, 5):
            others = [b[index] for n, b in truth.boxes.items() if not np.isnan(b[index, 0])]
            if any(_overlap(home, box) for box in others):
                continue
            changed = np.abs(picture(index).astype(int) - first).sum(axis=2) > 24
            x1, y1, x2, y2 = home.round().astype(int)
            # A spoon that lies across fills little of its box, but reaches its edges.
            rows, columns = np.nonzero(changed[y1:y2, x1:x2])
            assert np.ptp(columns) > 0.7 * (x2 - x1), (name, index)
            assert np.ptp(rows) > 0.7 * (y2 - y1), (name, index)
            checked += 1
            break
    assert checked >= 2


def _overlap(one, other):
    return bool(np.all(np.maximum(one[:2], other[:2]) < np.minimum(one[2:], other[2:])))


@pytest.mark.slow
def test_a_world_is_written_with_its_texts_and_without_times(tmp_path):
    films = list(workbench(films=2, steps=2, pace=4.0, frame_rate=5.0))
    write_world(films, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "metadata.jsonl",
        "truth.jsonl",
        "workbench-000-a.mp4",
        "workbench-000-a.txt",
        "workbench-000-b.mp4",
        "workbench-000-b.txt",
    ]
    rows = [json.loads(line) for line in (tmp_path / "metadata.jsonl").read_text().splitlines()]
    assert all(set(row) == {"file_name", "text"} for row in rows)
    own = [row["text"] for row in rows if row["file_name"] == "workbench-000-a.mp4"]
    assert own == list(films[0].sentences)
    text = (tmp_path / "workbench-000-a.txt").read_text()
    assert text.startswith(f"Step 1 {films[0].sentences[0]}\n")
    with VideoReader(tmp_path / "workbench-000-b.mp4") as video:
        assert sum(1 for _ in video.frames()) == films[1].num_frames


def test_fewer_objects_and_kinds_can_be_asked_for():
    film = next(
        workbench(films=1, steps=6, kinds=["add liquid", "measure"], objects=["bottle", "cylinder"])
    )
    assert set(film.truth.recording.things) == {"beaker", "flask", "bottle", "cylinder"}
    kinds = {step.kind for step in film.truth.recording.protocol.steps}
    assert kinds <= {"add liquid", "measure"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"films": 0}, "one film or more"),
        ({"films": "two"}, "one film or more"),
        ({"videos_per_protocol": 0}, "video per protocol"),
        ({"videos_per_protocol": 27}, "26 at most"),
        ({"steps": 0}, "one step or more"),
        ({"kinds": ["wiegh"]}, "did you mean weigh"),
        ({"kinds": ["label"]}, "no step can be done"),
        ({"objects": ["beeker"]}, "did you mean beaker"),
        ({"objects": "beaker"}, "list of names"),
        ({"objects": ["tape"]}, "no step can be done"),
        ({"skip": 1.1}, "skip must lie between 0 and 1"),
        ({"repeat": -0.1}, "repeat must lie between 0 and 1"),
        ({"swap": "often"}, "swap must lie between 0 and 1"),
        ({"stray": 2}, "stray must lie between 0 and 1"),
        ({"pace": 0}, "pace"),
        ({"noise": -1}, "between 0"),
        ({"frame_rate": 100}, "frame_rate"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_impossible_wishes_are_refused_before_the_first_film(options, message):
    with pytest.raises(WorldError, match=message):
        workbench(**options)


@pytest.mark.slow
def test_slow_films_are_compressed_as_much_as_fast_ones(tmp_path):
    bytes_per_frame = {}
    for rate in (10.0, 30.0):
        film = next(workbench(films=1, steps=1, pace=4.0, frame_rate=rate, noise=0.3))
        film.write(tmp_path / f"{rate}.mp4")
        bytes_per_frame[rate] = (tmp_path / f"{rate}.mp4").stat().st_size / film.num_frames
    assert bytes_per_frame[10.0] == pytest.approx(bytes_per_frame[30.0], rel=0.8)
