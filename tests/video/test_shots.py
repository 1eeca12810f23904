"""Shots: cuts and fades found, motion and flashes left alone, on real and on rendered videos."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.video.sample_videos import encode
from wordsight.video import Frame, ShotFinder, VideoReader, detect_shots

WIDTH, HEIGHT = 160, 90


def place(seed, width=WIDTH * 3, height=HEIGHT * 2):
    """A textured landscape in colours of its own, larger than the picture so that one can pan."""
    rng = np.random.default_rng(seed)
    image = np.zeros((height, width, 3))
    for cells, weight in ((3, 1.0), (8, 0.6), (25, 0.3)):
        noise = rng.random((cells, cells * width // height, 3)).astype(np.float32)
        image += weight * cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC)
    image = (image - image.min()) / np.ptp(image)
    tint = rng.uniform(0.3, 1.0, 3)
    return (255 * image * tint).astype(np.uint8)


def view(world, x=0, y=0):
    return world[y : y + HEIGHT, x : x + WIDTH]


def shots_of(images, rate=25.0, **options):
    finder = ShotFinder("film", **options)
    for index, image in enumerate(images):
        finder.push(Frame.from_array(np.ascontiguousarray(image), index / rate, index))
    return finder.finish()


def starts(images, **options):
    return [shot.start_frame for shot in shots_of(images, **options)]


def dimmed(image, share):
    return (image * share).astype(np.uint8)


A, B, C = (view(place(seed)) for seed in (1, 2, 3))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("testvideo.mp4", [0, 15, 198, 377]),
        ("fades.mp4", [0, 84, 167]),
        ("bikes.mp4", [0, 30, 76, 137, 187, 242]),
        ("cv__video__768x576.avi", [0]),  # a street camera with people walking
        ("bigbuckbunny.mp4", [0]),  # lively animation
    ],
)
def test_real_videos(shared_data, name, expected):
    assert [shot.start_frame for shot in detect_shots(shared_data("videos", name))] == expected


def test_shots_follow_one_another_with_true_times(shared_data):
    path = shared_data("videos", "goldeneye-vfr-drop3.mp4")  # variable frame rate
    video = VideoReader(path)
    shots = detect_shots(video)
    assert [shot.start_frame for shot in shots] == [0, 60, 140]
    assert [shot.end_frame for shot in shots] == [60, 140, 160]
    assert [shot.start for shot in shots] == [video.times[n] for n in (0, 60, 140)]
    assert [shot.end for shot in shots[:-1]] == [shot.start for shot in shots[1:]]
    assert shots[-1].end == pytest.approx(video.info.duration)
    assert {shot.video_id for shot in shots} == {"goldeneye-vfr-drop3.mp4"}


FILMS = {
    # name: (images, starts)
    "one shot": ([A] * 40, [0]),
    "two cuts": ([A] * 20 + [B] * 20 + [C] * 20, [0, 20, 40]),
    "cut over one blended frame": ([A] * 20 + [A // 2 + B // 2] + [B] * 20, [0, 20]),
    "flash": ([A] * 20 + [np.full_like(A, 255)] * 2 + [A] * 20, [0]),
    "long flash": ([A] * 20 + [np.full_like(A, 255)] * 6 + [A] * 20, [0]),
    "flash that dies away": (
        [A] * 20 + [A // 4 * n + (255 - 64 * n) for n in range(1, 4)] + [A] * 20,
        [0],
    ),
    "black for two frames": ([A] * 20 + [A * 0] * 2 + [A] * 20, [0]),
    "light goes on": ([dimmed(A, 0.5)] * 20 + [A] * 20, [0]),
    "jolt of the camera": ([view(place(1))] * 20 + [view(place(1), 5, 3)] * 20, [0]),
    "flat colours": ([np.full_like(A, v) for v in [60] * 20 + [90] * 20], [0, 20]),
    "dip to black between cuts": ([A] * 20 + [A * 0] * 11 + [B] * 20, [0, 26]),
    "fade out, fade in": (
        [dimmed(A, s) for s in np.linspace(1, 0, 20)]
        + [A * 0] * 10
        + [dimmed(A[:, ::-1], s) for s in np.linspace(0, 1, 20)],
        [0, 25],
    ),
    "black at the end opens no shot": ([A] * 20 + [A * 0] * 20, [0]),
    "a second of black at the start does": ([A * 0] * 24 + [A] * 20, [0, 12]),
    "a little black at the start does not": ([A * 0] * 6 + [A] * 20, [0]),
    "slow dissolve does not divide": (
        [(A * (1 - s) + B * s).astype(np.uint8) for s in np.linspace(0, 1, 40)],
        [0],
    ),
    "night scenes": ([dimmed(A, 0.08)] * 20 + [dimmed(B, 0.12)] * 20, [0, 20]),
    "a night scene before black": (
        [A] * 20 + [dimmed(B, 0.08)] * 100 + [A * 0] * 10 + [A] * 20,
        [0, 20, 119],
    ),
    "too short a shot is left out": ([A] * 20 + [B] * 20 + [C] * 5 + [A] * 20, [0, 20, 40]),
    "all black": ([A * 0] * 40, [0]),
}


@pytest.mark.parametrize("name", FILMS)
def test_rendered_films(name):
    images, expected = FILMS[name]
    assert starts(images) == expected


@pytest.mark.parametrize("speed", [1, 4, 8])
def test_a_pan_is_one_shot(speed):
    world = place(5, width=WIDTH * 3)
    xs = [min(speed * max(n - 10, 0), WIDTH * 2) for n in range(60)]
    assert starts([view(world, x) for x in xs]) == [0]


def test_a_cut_during_a_pan_is_found():
    worlds = place(5), place(6)
    images = [view(worlds[n >= 30], 4 * n) for n in range(60)]
    assert starts(images) == [0, 30]


def test_a_cut_out_of_violent_motion_is_found():
    world = place(5, width=WIDTH * 10)
    rushing = [view(world, 40 * n) for n in range(30)]  # a quarter of the picture each frame
    assert starts(rushing + [B] * 20) == [0, 30]
    assert starts([B] * 20 + rushing) == [0, 20]


def test_an_object_that_jumps_is_no_cut():
    images = []
    for x in [10] * 20 + [110] * 20:
        image = A.copy()
        image[30:, x : x + 35] = (200, 60, 40)
        images.append(image)
    assert starts(images) == [0]


def test_the_score_tells_a_clean_cut_from_a_restless_one():
    clean = shots_of([A] * 20 + [B] * 20)
    worlds = place(1), place(2)
    restless = shots_of([view(worlds[n >= 20], 4 * n) for n in range(40)])
    assert clean[0].score == 1.0
    assert 0.5 <= restless[1].score < clean[1].score < 1.0


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(8, 40), min_size=1, max_size=6), st.integers(1, 3))
def test_cuts_between_unlike_places_are_all_found_with_any_stride(lengths, stride):
    images, expected = [], []
    for number, length in enumerate(lengths):
        expected.append(len(images))
        images += [(A, B, C)[number % 3]] * length
    finder = ShotFinder(min_length=0.0)
    for index in range(0, len(images), stride):
        finder.push(Frame.from_array(images[index], index / 25, index))
    got = [shot.start_frame for shot in finder.finish()]
    assert got == [-(-start // stride) * stride for start in expected]


def test_pushing_equals_detecting(tmp_path):
    path = encode(tmp_path / "film.mp4", [A] * 15 + [B] * 15 + [C] * 15, rate=25)
    video = VideoReader(path)
    finder = ShotFinder("film.mp4")
    for frame in video.frames():
        finder.push(frame)
    shots = finder.finish(video.info.duration)
    assert shots == detect_shots(path)
    assert [shot.start_frame for shot in shots] == [0, 15, 30]
    assert finder.descriptors.shape[0] == 3


def test_progress_is_told(tmp_path):
    path = encode(tmp_path / "film.mp4", [A] * 60)
    told = []
    detect_shots(path, video_id="x", progress=lambda done, total, what: told.append((done, total)))
    assert told == [(0, 60), (50, 60), (60, 60)]


def test_no_frames_make_no_shots():
    assert ShotFinder().finish() == []


def test_frames_must_come_in_order():
    finder = ShotFinder()
    finder.push(Frame.from_array(A, 1.0, 10))
    with pytest.raises(ValueError, match="in order"):
        finder.push(Frame.from_array(A, 0.9, 9))


def test_finishing_twice_is_the_same_and_pushing_on_is_refused():
    finder = ShotFinder()
    for index, image in enumerate([A] * 20 + [B] * 20):
        finder.push(Frame.from_array(image, index / 25, index))
    assert finder.finish() == finder.finish()
    assert len(finder.descriptors) == 2
    with pytest.raises(ValueError, match="finished"):
        finder.push(Frame.from_array(A, 9.0, 99))


@pytest.mark.parametrize("options", [{"ratio": 1.0}, {"min_length": -1.0}])
def test_senseless_settings_are_refused(options):
    with pytest.raises(ValueError, match="must be"):
        ShotFinder(**options)
