"""Regions: things that move, rest, leave and never move, on drawn scenes and on a real street."""

import itertools
from dataclasses import replace

import cv2
import numpy as np
import pytest

from benchmarks.props import PLAYS
from benchmarks.regions import judge
from wordsight.errors import FormatError
from wordsight.perception import Codebook, DetectorError
from wordsight.perception.detectors.regions import Regions
from wordsight.perception.detectors.suppression import box_iou
from wordsight.perception.regions.blob import APPEARANCE_SIZE, OUTLINE_SIZE
from wordsight.video import Frame, VideoReader

SIZE = (320, 240)
RATE = 25.0
RED, BLUE, GREEN = (190, 40, 40), (40, 60, 170), (40, 140, 60)


def room(seed=0):
    rng = np.random.default_rng(seed)
    image = np.empty((SIZE[1], SIZE[0], 3))
    image[:150], image[150:] = (196, 190, 175), (140, 115, 90)
    image += 6 * cv2.GaussianBlur(rng.normal(0, 1, image.shape[:2]), (0, 0), 1.5)[..., None]
    return image


def filmed(things, seconds, scenery=None, step=lambda number: 1):
    """Yield frames in which each thing, a colour and a path, is a box of two colours."""
    scenery = (room() if scenery is None else scenery).astype(np.float32)
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 1.5, (4, *scenery.shape)).astype(np.float32)
    number = 0
    while number < round(seconds * RATE):
        image = scenery.copy()
        for colour, path in things:
            box = path(number / RATE)
            if box is not None:
                x1, y1, x2, y2 = (round(v) for v in box)
                image[max(0, y1) : y2, max(0, x1) : max(0, x2)] = colour
                image[max(0, y1) : y1 + (y2 - y1) // 3, max(0, x1) : max(0, x2)] = (90, 60, 40)
        image += noise[rng.integers(4)]
        yield Frame.from_array(np.clip(image, 0, 255).astype(np.uint8), number / RATE, number)
        number += step(number)


def walks(x, speed, y=110, size=(30, 80), start=0.0, end=1e9):
    """Stand at x, walk from start to end, stand there."""

    def path(time):
        left = x + speed * (min(max(time, start), end) - start)
        return left, y, left + size[0], y + size[1]

    return path


def overlap(seen, box):
    width, height = SIZE
    cut = np.clip(np.array([box], float), 0, [width, height, width, height])
    return float(box_iou(cut, seen.boxes).max(initial=0))


def found(things, seconds, *, of=0, since=0.0, at_least=0.5, **options):
    """Return the share of the frames in which thing ``of`` is found."""
    hits = [
        overlap(seen, things[of][1](seen.time)) >= at_least
        for seen in Regions(**options).detect(filmed(things, seconds))
        if seen.time >= since
    ]
    return np.mean(hits)


def test_a_thing_that_walks_by_is_boxed_closely():
    things = [(RED, walks(-40, 70))]
    assert found(things, 4, since=1.0, at_least=0.75) > 0.97


def test_still_things_are_seen_from_the_first_frame():
    things = [
        (BLUE, walks(60, 0, y=150, size=(40, 45))),
        (GREEN, walks(220, 0, y=60, size=(50, 60))),
    ]
    (seen,) = Regions().detect(itertools.islice(filmed(things, 1), 1))
    for _, path in things:
        assert overlap(seen, path(0)) > 0.75


@pytest.mark.slow
def test_a_thing_that_stops_stays_for_a_minute():
    things = [(RED, walks(-40, 80, end=2.0))]
    frames = filmed(things, 62, step=lambda number: 1 if number < 75 else 8)
    rest = [
        overlap(seen, things[0][1](seen.time)) > 0.6
        for seen in Regions().detect(frames)
        if seen.time > 2.2
    ]
    assert np.mean(rest) > 0.99


def test_a_thing_that_stood_there_leaves_no_ghost():
    things = [(RED, walks(80, 80, start=1.0))]
    for seen in Regions().detect(filmed(things, 3)):
        if seen.time < 1.0 or seen.time > 1.5:
            assert overlap(seen, things[0][1](seen.time)) > 0.6
        if seen.time > 2.0:
            assert overlap(seen, things[0][1](0)) < 0.3, "the place it left is still reported"


def test_what_was_carried_away_and_put_down_is_found_there():
    def path(time):
        x = 60 + 120 * min(max(time - 1.0, 0), 1.0)
        return x, 150, x + 36, 190

    things = [(BLUE, path), (RED, walks(-160, 120, end=2.0))]
    for seen in Regions().detect(filmed(things, 4)):
        if seen.time < 0.5 or seen.time > 2.6:
            assert overlap(seen, path(seen.time)) > 0.5, seen.time


def test_something_passing_by_does_not_remove_a_still_thing():
    still = (BLUE, walks(150, 0, y=120, size=(40, 60)))
    hits = []
    for seen in Regions().detect(filmed([still, (RED, walks(-60, 110))], 4.5)):
        if seen.time < 0.8 or seen.time > 3.5:
            hits.append(overlap(seen, still[1](0)) > 0.6)
    assert np.mean(hits) > 0.97


def test_a_shadow_does_not_widen_the_box():
    def shaded():
        for frame in filmed([(RED, walks(-40, 70))], 3.5):
            image = frame.image.astype(float)
            left, _, right, bottom = walks(-40, 70)(frame.time)
            dark = np.ones(image.shape[:2])
            centre = round(right + 10), round(bottom - 3)
            cv2.ellipse(dark, centre, (28, 6), 0, 0, 360, 0.7, -1)
            x1, x2 = max(0, round(left)), max(0, round(right))
            dark[110 : round(bottom), x1:x2] = 1  # it falls on the floor, not on the thing
            image *= cv2.GaussianBlur(dark, (0, 0), 2)[..., None]
            yield Frame.from_array(image.astype(np.uint8), frame.time, frame.index)

    hits = [
        overlap(seen, walks(-40, 70)(seen.time)) > 0.75
        for seen in Regions().detect(shaded())
        if seen.time > 1.0
    ]
    assert np.mean(hits) > 0.9


def test_a_slow_turn_of_the_camera_is_followed():
    wide = np.concatenate([room(1), room(2)], axis=1)
    # Something to hold on to: posts in the background at uneven distances.
    for x in (30, 90, 190, 260, 330, 420, 470, 560):
        wide[40:150, x : x + 6] -= 40

    def turning():
        for number in range(100):
            time = number / RATE
            shift = round(20 * time)
            image = wide[:, shift : shift + SIZE[0]].copy()
            x1, y1, x2, y2 = (round(v) for v in walks(40, 60)(time))
            image[y1:y2, x1:x2] = RED
            yield Frame.from_array(np.clip(image, 0, 255).astype(np.uint8), time, number)

    hits = [
        overlap(seen, walks(40, 60)(seen.time)) > 0.6
        for seen in Regions().detect(turning())
        if seen.time > 1.0
    ]
    assert np.mean(hits) > 0.95


def test_a_cut_begins_anew():
    first = list(filmed([(RED, walks(60, 0))], 1.0))
    other = 255 - room(3)[:, ::-1]
    second = list(filmed([(GREEN, walks(200, 0, y=40))], 1.0, scenery=other))
    frames = [*first, *(Frame.from_array(f.image, f.time + 1.0, f.index + 25) for f in second)]
    found = list(Regions().detect(frames))
    for seen in found[25:]:
        assert overlap(seen, walks(200, 0, y=40)(0)) > 0.7
        assert overlap(seen, walks(60, 0)(0)) < 0.3


def test_light_that_changes_is_not_a_thing():
    def dimming():
        for frame in filmed([(BLUE, walks(150, 0))], 4):
            light = 1 - 0.25 * frame.time / 4
            image = (frame.image * light).astype(np.uint8)
            yield Frame.from_array(image, frame.time, frame.index)

    for seen in Regions().detect(dimming()):
        assert overlap(seen, walks(150, 0)(0)) > 0.6
        assert len(seen.boxes) <= 4


def test_same_frames_same_result():
    things = [(RED, walks(-20, 80)), (BLUE, walks(200, 0))]
    runs = [list(Regions().detect(filmed(things, 1.5))) for _ in range(2)]
    for one, two in zip(*runs, strict=True):
        np.testing.assert_array_equal(one.boxes, two.boxes)
        np.testing.assert_array_equal(one.appearance, two.appearance)


def test_answers_come_at_once_and_are_well_formed():
    pulled = []

    def source():
        for frame in filmed([(RED, walks(-20, 80)), (BLUE, walks(200, 0))], 1.5):
            pulled.append(frame.index)
            yield frame

    for number, seen in enumerate(Regions(max_boxes=5).detect(source())):
        assert len(pulled) == number + 1, "it waits for later frames"
        assert seen.boxes.shape == (len(seen.scores), 4) and len(seen.boxes) <= 5
        assert (seen.boxes[:, 2:] > seen.boxes[:, :2]).all()
        assert (seen.boxes >= 0).all() and (seen.boxes <= [*SIZE, *SIZE]).all()
        assert ((seen.scores > 0) & (seen.scores <= 1)).all() and (np.diff(seen.scores) <= 0).all()
        assert seen.appearance.shape == (len(seen.boxes), APPEARANCE_SIZE + OUTLINE_SIZE)
        assert seen.appearance.dtype == np.float32 and np.isfinite(seen.appearance).all()
        assert not seen.labels.any()


@pytest.mark.parametrize("size", [(1, 1), (3, 500), (17, 9), (1280, 720)])
def test_any_size_of_frame_is_taken(size):
    frames = [
        Frame.from_array(np.full((size[1], size[0], 3), 40 * n, np.uint8), n / 10, n)
        for n in range(4)
    ]
    for seen in Regions().detect(frames):
        assert (seen.boxes[:, 2:] <= size).all() if len(seen.boxes) else True


def test_boxes_are_in_pixels_of_the_frame():
    large = (
        Frame.from_array(cv2.resize(frame.image, (960, 720)), frame.time, frame.index)
        for frame in filmed([(BLUE, walks(60, 0))], 0.2)
    )
    seen = list(Regions().detect(large))[-1]
    box = np.array([walks(60, 0)(0)], float) * 3
    assert box_iou(box, seen.boxes).max() > 0.75


def test_a_codebook_labels_by_look(tmp_path):
    things = [(RED, walks(40, 0, y=60)), (BLUE, walks(140, 0, y=60)), (RED, walks(240, 0, y=60))]
    (seen,) = Regions().detect(itertools.islice(filmed(things, 1), 1))
    book = Codebook(2).fit(seen.appearance[:3])
    book.save(tmp_path / "looks.npz")
    for codebook in (book, tmp_path / "looks.npz", str(tmp_path / "looks.npz")):
        detector = Regions(codebook=codebook)
        (again,) = detector.detect(itertools.islice(filmed(things, 1), 1))
        assert detector.label_names == ("look-0", "look-1")
        word = {}
        for index, (_, path) in enumerate(things):
            word[index] = again.labels[box_iou(np.array([path(0)], float), again.boxes)[0].argmax()]
        assert word[0] == word[2] != word[1]
        assert detector.settings()["looks"] == 2


def test_senseless_options_are_refused(tmp_path):
    with pytest.raises(DetectorError, match="max_boxes"):
        Regions(max_boxes=0)
    with pytest.raises(DetectorError, match="long_side"):
        Regions(long_side=10)
    with pytest.raises(DetectorError, match="fit it to detections of the detector regions"):
        Regions(codebook=Codebook(1).fit([[1.0, 2.0]]))
    with pytest.raises(FormatError, match="does not exist"):
        Regions(codebook=tmp_path / "none.npz")


# Marked by hand: people who stand free on a real street, in pixels of the 768 x 576 frames.
STREET = {
    8: [(304, 212, 330, 296), (480, 165, 504, 242), (577, 237, 606, 326)],
    50: [(370, 180, 400, 258), (508, 215, 540, 306), (552, 212, 588, 302), (668, 258, 712, 372)],
    70: [(586, 210, 622, 308)],
}


def test_finds_people_on_a_real_street(shared_data):
    overlaps = []
    with VideoReader(shared_data("videos", "cv__video__768x576.avi")) as video:
        for number, seen in enumerate(Regions().detect(video.frames(end=3.0))):
            if number in STREET:
                people = np.array(STREET[number], float)
                overlaps += box_iou(people, seen.boxes).max(axis=1).tolist()
    assert np.mean(np.array(overlaps) > 0.5) >= 0.85, np.round(overlaps, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["carry", "waiting"])
def test_filmed_plays(name, tmp_path):
    play = next(play for play in PLAYS if play.name == name)
    report = judge(replace(play, seconds=7.0), tmp_path / "play.mp4")
    assert report["recall moving"] > 0.85
    assert report["recall resting"] > 0.85
    assert report["recall still"] > 0.8
    assert report["overlap things"] > 0.75
