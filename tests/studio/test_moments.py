"""Features of a moment: those of the words, of what is there at that time and of nothing else."""

import numpy as np
import pytest

from wordsight.library import Library
from wordsight.workflows.clips import look_at


@pytest.fixture
def opened(street_library):
    with Library.open(street_library / "library") as library:
        yield library


@pytest.fixture
def video(opened):
    return opened.videos()[0].id


def value(features, name):
    return next(one.value for one in features if one.feature == name)


def test_what_is_measured_is_what_is_seen(opened, video):
    time, things, pairs = look_at(opened, video, 1.5)
    assert abs(time - 1.5) < 0.05
    seen = opened.detections(video)
    row = int(np.abs(seen.times - time).argmin())
    known = {seen.label_names[label] for label in seen.labels[row][seen.mask[row]]}
    assert {thing.label for thing in things} <= known | set(seen.label_names)
    assert "person" in {thing.label for thing in things}
    assert len(pairs) == len(things) * (len(things) - 1)


def test_speed_is_what_the_boxes_do(opened, video):
    # The person walks; a difference over a fifth of a second is what the feature is defined as.
    time, things, _ = look_at(opened, video, 1.0)
    person = next(one for one in things if one.label == "person")
    _, before, _ = look_at(opened, video, time - 0.1)
    _, after, _ = look_at(opened, video, time + 0.1)

    def centre(found):
        x1, y1, x2, y2 = next(one.box for one in found if one.label == "person")
        return np.array([x1 + x2, y1 + y2]) / 2

    size = opened.detections(video).frame_size
    moved = np.hypot(*(centre(after) - centre(before))) / 0.2 / np.hypot(*size)
    assert value(person.features, "speed") == pytest.approx(moved, abs=0.03)


def test_pairs_have_two_sides(opened, video):
    _, things, pairs = look_at(opened, video, 1.5)
    both = {(pair.first, pair.second): pair.features for pair in pairs}
    for (first, second), features in both.items():
        other = both[second, first]
        assert value(features, "distance") == pytest.approx(value(other, "distance"))
        assert value(features, "size-ratio") == pytest.approx(-value(other, "size-ratio"))
        texts = {one.feature: one.text for one in features}
        assert "times as" in texts["size-ratio"] and "diagonals" in texts["distance"]
    assert both and things


def test_where_no_frame_is_nothing_is_measured(opened, video):
    assert look_at(opened, video, 1e6)[1:] == ((), ())


def test_the_api_tells_a_moment(client, video):
    found = client.get(f"/api/v1/videos/{video}/moment", params={"time": 1.5}).json()
    first = found["things"][0]
    assert len(first["box"]) == 4 and {"feature", "value", "text", "about"} == set(
        first["features"][0]
    )
    for asked in ({}, {"time": -1}, {"time": "x"}, {"time": "nan"}):  # no time, or no such time
        assert client.get(f"/api/v1/videos/{video}/moment", params=asked).status_code == 422
    assert client.get("/api/v1/videos/ghost/moment", params={"time": 1}).status_code == 404
