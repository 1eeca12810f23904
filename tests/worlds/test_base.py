"""Chance, registries, strengths, timing, the view and the camera."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worlds.toy import toy_film
from wordsight.worlds import Effects, WorldError
from wordsight.worlds.camera import FilmCamera
from wordsight.worlds.checks import Registry, film_rng
from wordsight.worlds.performance import cruise, cruise_time, glide, overshoot, smooth
from wordsight.worlds.sketch import View


def test_each_film_and_purpose_has_its_own_chance():
    draws = {
        float(film_rng(seed, world, index, purpose).random())
        for seed in (0, 1)
        for world in ("street", "tabletop")
        for index in range(5)
        for purpose in ("script", "picture")
    }
    assert len(draws) == 40
    assert film_rng(3, "street", 2).random() == film_rng(3, "street", 2).random()


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None])
def test_a_seed_must_be_a_whole_number(seed):
    with pytest.raises(WorldError, match="random_state"):
        film_rng(seed, "street", 0)


def test_a_registry_names_what_is_near():
    things = Registry("object")
    things.add("backpack", 1)
    things.add("chair", 2)
    assert things.check(["chair"]) == ("chair",)
    with pytest.raises(WorldError, match="did you mean backpack"):
        things.check(["chair", "bakpack"])
    with pytest.raises(WorldError, match="there are backpack, chair"):
        things["zzz"]
    with pytest.raises(WorldError, match="already"):
        things.add("chair", 3)


@pytest.mark.parametrize("noise", [-0.1, 1.1, float("nan"), "much"])
def test_strengths_out_of_range_are_refused(noise):
    with pytest.raises(WorldError, match="between 0"):
        Effects.at(noise)
    with pytest.raises(WorldError, match="grain"):
        Effects(grain=noise)


def test_one_knob_turns_all_strengths():
    quiet, loud = Effects.at(0), Effects.at(1)
    assert set(vars(quiet).values()) == {0.0}
    assert set(vars(loud).values()) == {1.0}
    assert quiet.crf < Effects.at(0.5).crf < loud.crf


@pytest.mark.slow
@given(st.floats(0.05, 6.0), st.floats(0.2, 3.0), st.floats(0.5, 6.0))
def test_a_walk_arrives_and_never_exceeds_its_speed(distance, speed, acceleration):
    total = cruise_time(distance, speed, acceleration)
    times = np.linspace(0.0, total, 400)
    way = np.array([cruise(time, distance, speed, acceleration) for time in times])
    assert way[0] == 0.0
    assert way[-1] == pytest.approx(distance)
    speeds = np.diff(way) / np.diff(times)
    assert speeds.min() >= -1e-6
    assert speeds.max() <= speed * 1.001
    assert cruise(total / 3, -distance, speed, acceleration) == pytest.approx(
        -cruise(total / 3, distance, speed, acceleration)
    )


def test_movements_start_and_end_at_rest():
    assert glide(0.0, 1.0, 2.0, 5.0, 9.0) == 5.0
    assert glide(3.0, 1.0, 2.0, 5.0, 9.0) == 9.0
    assert np.all(np.diff([smooth(u) for u in np.linspace(0, 1, 50)]) > 0)
    u = np.linspace(0, 1, 200)
    way = np.array([overshoot(x, 0.1) for x in u])
    assert way[0] == 0.0
    assert way[-1] == pytest.approx(1.0)
    assert 1.05 < way.max() < 1.2


@given(st.floats(-9, 9), st.floats(-9, 9))
def test_pixels_and_metres_are_inverse(x, y):
    view = View(scale=130.0, centre=320.0, ground=400.0)
    assert np.allclose(view.metres(view.pixels([x, y])), [x, y])


def test_a_clean_camera_changes_nothing_and_a_bad_one_stays_centred():
    image = np.full((48, 64, 3), 120, np.uint8)
    quiet = FilmCamera(Effects.at(0), (64, 48), 5, np.random.default_rng(0))
    assert np.array_equal(quiet.develop(image.copy(), 2), image)
    loud = FilmCamera(Effects.at(1), (64, 48), 300, np.random.default_rng(0))
    shots = np.stack([loud.develop(image.copy(), index) for index in range(0, 300, 10)])
    assert abs(float(shots.mean()) - 120) < 8
    assert shots.std(axis=(1, 2, 3)).min() > 8
    assert 1.0 < loud.offsets.std() < 10.0


def test_the_camera_moves_the_picture_by_its_offsets():
    effects = Effects(shake=1.0)
    camera = FilmCamera(effects, (64, 48), 40, np.random.default_rng(4))
    index = int(np.abs(camera.offsets).sum(axis=1).argmax())
    image = np.zeros((48, 64, 3), np.uint8)
    image[20:24, 30:34] = 200
    moved = camera.develop(image, index)[..., 0].astype(float)
    rows, columns = np.nonzero(moved > 0)
    weights = moved[rows, columns]
    centre = [np.average(columns, weights=weights), np.average(rows, weights=weights)]
    assert centre == pytest.approx([31.5, 21.5] + camera.offsets[index], abs=0.1)


def test_a_film_can_paint_one_frame_or_all():
    film = toy_film(0)
    assert film.duration == pytest.approx(0.6)
    assert np.array_equal(list(film.frames())[4], film.still(-2))
    with pytest.raises(IndexError, match="0 to 5"):
        film.still(6)
