"""Several detectors on the same frames."""

import itertools

import numpy as np
import pytest

from wordsight.perception import DetectorError, load_detector
from wordsight.perception.detectors.registry import Pooled, detector_names
from wordsight.perception.detectors.suppression import box_iou
from wordsight.records import FrameDetections
from wordsight.video import Frame


class Fixed:
    """Sees the same in every frame; looks at several frames before it says anything."""

    def __init__(self, name, label_names, rows, batch=1):
        self.name, self.label_names, self._rows, self._batch = name, label_names, rows, batch

    def detect(self, frames):
        frames = iter(frames)
        while block := list(itertools.islice(frames, self._batch)):
            for frame in block:
                boxes = np.array([row[0] for row in self._rows], float).reshape(-1, 4)
                scores = np.array([row[1] for row in self._rows], float)
                labels = np.array([self.label_names.index(row[2]) for row in self._rows], np.int32)
                yield FrameDetections(frame.time, boxes, scores, labels)

    def settings(self):
        return {"rows": len(self._rows)}


def look(*detectors, per_class=None, frames=3):
    pooled = Pooled(detectors, per_class=per_class)
    image = np.zeros((48, 64, 3), np.uint8)
    found = list(pooled.detect(Frame.from_array(image, t / 10) for t in range(frames)))
    names = [[pooled.label_names[i] for i in one.labels] for one in found]
    assert names == names[:1] * frames
    return names[0], found[0]


OBJECTS = Fixed(
    "objects",
    ("person", "bottle"),
    [((0, 0, 20, 40), 0.5, "person"), ((30, 10, 40, 30), 0.9, "bottle")],
    batch=2,
)


def test_a_region_that_repeats_a_named_box_is_dropped():
    boxes = [((31, 10, 40, 30), 1.0, "region"), ((50, 0, 60, 10), 0.2, "region")]
    regions = Fixed("regions", ("region",), boxes)
    for order in ((OBJECTS, regions), (regions, OBJECTS)):
        names, found = look(*order)
        assert sorted(names) == ["bottle", "person", "region"]
        assert [50, 0, 60, 10] in found.boxes.tolist()


def test_of_two_boxes_with_one_name_the_first_detector_wins():
    people = Fixed("people", ("person",), [((1, 0, 20, 40), 0.9, "person")])
    assert look(OBJECTS, people)[1].boxes[0].tolist() == [0, 0, 20, 40]
    names, found = look(people, OBJECTS)
    assert names == ["person", "bottle"] and found.boxes[0].tolist() == [1, 0, 20, 40]


def test_things_with_different_names_may_overlap():
    hands = Fixed("hands", ("hand",), [((30, 10, 40, 30), 0.7, "hand")], batch=3)
    assert look(OBJECTS, hands)[0] == ["person", "bottle", "hand"]


def test_the_surest_of_each_class_are_kept():
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(40):
        corner = rng.uniform(0, 40, 2)
        box = (*corner, *(corner + rng.uniform(2, 20, 2)))
        rows.append((box, float(rng.uniform()), str(rng.choice(["cup", "region"]))))
    one = Fixed("one", ("cup", "region"), rows)
    names, found = look(one, per_class=3)
    assert names.count("cup") == names.count("region") == 3
    for label in ("cup", "region"):
        best = sorted((row[1] for row in rows if row[2] == label), reverse=True)[:3]
        got = [s for s, name in zip(found.scores, names, strict=True) if name == label]
        assert sorted(got, reverse=True) == best


def test_no_two_boxes_of_one_thing_come_from_two_detectors():
    rng = np.random.default_rng(1)
    parts = []
    for name, labels in (("a", ("cup", "pan")), ("b", ("pan",)), ("c", ("region",))):
        corners = rng.uniform(0, 20, (12, 2))
        rows = [((*c, *(c + 12)), float(rng.uniform()), str(rng.choice(labels))) for c in corners]
        parts.append(Fixed(name, labels, rows))
    names, found = look(*parts)
    overlap = box_iou(found.boxes, found.boxes)
    for i, j in itertools.combinations(range(len(names)), 2):
        if names[i] == "region" and names[j] != "region":
            assert overlap[i, j] < 0.5


def test_options_go_to_the_detectors_that_have_them():
    pooled = load_detector(
        "people,regions", max_boxes=5, smallest=0.3, **{"regions.max_boxes": 2}, per_class=4
    )
    settings = pooled.settings()
    assert settings["per_class"] == 4
    assert settings["detectors"]["people"]["max_boxes"] == 5
    assert settings["detectors"]["people"]["smallest"] == 0.3
    assert settings["detectors"]["regions"]["max_boxes"] == 2
    for wrong in ({"colour": 1}, {"hands.confidence": 0.5}):
        with pytest.raises(DetectorError, match="none of the detectors people, regions has"):
            load_detector("people,regions", **wrong)


def test_one_detector_may_be_limited_too():
    image = np.full((240, 320, 3), 90, np.uint8)
    image[100:160, 50:90], image[20:60, 200:240] = (200, 40, 40), (40, 40, 200)
    frame = [Frame.from_array(image, 0.0)]
    assert len(next(load_detector("regions").detect(frame)).boxes) == 2
    (seen,) = load_detector("regions", per_class=1).detect(frame)
    assert len(seen.boxes) == 1 and seen.appearance is not None


@pytest.mark.parametrize("text", ["", "objects,", "regions,regions", ","])
def test_a_list_of_detectors_names_each_once(text):
    with pytest.raises(DetectorError, match="separated by commas"):
        detector_names(text)


def test_per_class_is_one_or_more():
    with pytest.raises(DetectorError, match="per_class"):
        load_detector("regions", per_class=0)


def test_a_crowded_frame_keeps_what_is_sure_and_has_room_for_little_else():
    def row(number, score, name):
        return (number * 10, 0, number * 10 + 8, 8), score, name

    sure = [row(n, 0.9, "person") for n in range(6)]
    doubtful = [row(6 + n, 0.30 + 0.01 * n, "bottle") for n in range(4)]
    hands = Fixed("hands", ("hand",), [row(20, 0.6, "hand")])
    regions = Fixed("regions", ("region",), [row(30 + n, 1.0, "region") for n in range(9)])
    names, found = look(Fixed("objects", OBJECTS.label_names, sure + doubtful), hands, regions)
    assert sorted(names) == ["bottle", "hand", *["person"] * 6]
    assert sorted(found.scores)[0] == pytest.approx(0.33)  # the surest of the doubtful
    names, _ = look(Fixed("objects", OBJECTS.label_names, sure[:3]), hands, regions)
    assert sorted(names) == ["hand", *["person"] * 3, *["region"] * 3]
    crowd = Fixed("objects", OBJECTS.label_names, [row(n, 0.9, "person") for n in range(15)])
    assert len(look(crowd, hands)[0]) == 16
    assert len(look(regions)[0]) == 9  # a single detector is left alone
