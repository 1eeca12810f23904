"""Scenes: a conversation holds together, another place and a long absence part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.video.sample_videos import encode
from tests.video.test_shots import HEIGHT, WIDTH, place, view
from wordsight.records import Shot
from wordsight.video import Frame, ShotFinder, detect_scenes, group_scenes
from wordsight.video.shots.scenes import VIEWS, describe, likeness

RATE = 10


def filmed(seed, length):
    """A shot of a place, with someone moving through it and the camera not quite still."""
    world = place(seed)
    images = []
    for n in range(length):
        image = view(world, 2 + n % 3, 1 + n % 2).copy()
        x = (11 * n) % (WIDTH - 30)
        image[HEIGHT // 3 :, x : x + 30] = (150, 110, 90)
        images.append(image)
    return images


def scenes_of(seeds, length=15, **options):
    finder = ShotFinder("film")
    images = [image for seed in seeds for image in filmed(seed, length)]
    for index, image in enumerate(images):
        finder.push(Frame.from_array(image, index / RATE, index))
    shots = finder.finish()
    assert [shot.start_frame for shot in shots] == list(range(0, len(images), length))
    return shots, group_scenes(shots, finder.descriptors, **options)


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        ([1], [(0, 1)]),  # a single shot
        ([1, 2, 1, 2], [(0, 4)]),  # a conversation
        ([1, 2, 1, 2, 3, 4, 3], [(0, 4), (4, 7)]),  # then another one elsewhere
        ([1, 2, 3], [(0, 1), (1, 2), (2, 3)]),  # three places
        ([1, 2, 3, 1], [(0, 4)]),  # what is between two looks at a place belongs to it
        ([1, 2, 1, 3, 2, 3], [(0, 6)]),  # links that overlap
    ],
)
def test_places_make_scenes(seeds, expected):
    shots, scenes = scenes_of(seeds)
    assert [(scene.first_shot, scene.end_shot) for scene in scenes] == expected
    assert [scene.start for scene in scenes] == [shots[first].start for first, _ in expected]
    assert [scene.end for scene in scenes] == [shots[end - 1].end for _, end in expected]
    assert all(0.75 <= scene.score <= 1.0 for scene in scenes)


def test_coming_back_after_long_is_another_scene():
    _, near = scenes_of([1, 2, 1], max_gap=2.0)
    _, far = scenes_of([1, 2, 1], max_gap=1.0)  # the shot between lasts 1.5 s
    assert (len(near), len(far)) == (1, 3)


def test_a_link_passes_over_a_limited_number_of_shots():
    assert len(scenes_of([1, 2, 3, 1], max_shots=2)[1]) == 1
    assert len(scenes_of([1, 2, 3, 1], max_shots=1)[1]) == 4


def test_black_looks_like_no_place():
    finder = ShotFinder()
    black = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    images = [black] * 20 + filmed(1, 20)
    for index, image in enumerate(images):
        finder.push(Frame.from_array(image, index / RATE, index))
    shots = finder.finish()
    assert len(shots) == 2
    assert len(group_scenes(shots, finder.descriptors)) == 2
    assert not finder.descriptors[0].any()


def test_scenes_of_a_file_in_one_pass(tmp_path):
    images = [image for seed in (1, 2, 1, 7) for image in filmed(seed, 15)]
    path = encode(tmp_path / "talk.mp4", images, rate=RATE)
    shots, scenes = detect_scenes(path)
    assert len(shots) == 4
    assert [(scene.first_shot, scene.end_shot) for scene in scenes] == [(0, 3), (3, 4)]
    assert scenes[0].video_id == "talk.mp4"
    assert scenes[-1].end == pytest.approx(6.0)


def test_shots_and_descriptors_must_match():
    with pytest.raises(ValueError, match="one descriptor per shot"):
        group_scenes([Shot("v", 0.0, 1.0, 1.0, 0, 10)], np.zeros((2, VIEWS, 5), np.float32))
    assert group_scenes([], np.zeros((0, VIEWS, 5), np.float32)) == []


def test_likeness_is_symmetric_and_full_for_the_same_view():
    one, two = (describe(view(place(seed)))[None] for seed in (1, 2))
    assert likeness(one, one) == pytest.approx(1.0, abs=1e-5)
    assert likeness(one, two) == pytest.approx(likeness(two, one))
    assert 0.0 <= likeness(one, two) < 0.75


LOOKS = {seed: describe(view(place(seed)))[None] for seed in range(1, 5)}


@pytest.mark.slow
@given(st.lists(st.integers(1, 4), min_size=1, max_size=12))
def test_scenes_cover_all_shots_in_order(seeds):
    shots = [Shot("v", n, n + 1.0, 1.0, 10 * n, 10 * n + 10) for n in range(len(seeds))]
    scenes = group_scenes(shots, np.stack([LOOKS[seed] for seed in seeds]))
    assert [scene.first_shot for scene in scenes[1:]] == [scene.end_shot for scene in scenes[:-1]]
    assert (scenes[0].first_shot, scenes[-1].end_shot) == (0, len(seeds))
    # No place appears in two scenes, as all shots are within reach of one another.
    homes = {}
    for number, scene in enumerate(scenes):
        for seed in seeds[scene.first_shot : scene.end_shot]:
            assert homes.setdefault(seed, number) == number or len(seeds) > 9
