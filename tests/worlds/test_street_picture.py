"""Pictures show what the truth says: things where their boxes are, and nothing moving elsewhere."""

import numpy as np
import pytest

from wordsight.worlds import Effects, street
from wordsight.worlds.sketch import Sketch, View
from wordsight.worlds.street.people import extent_of, paint_body, paint_near_arm
from wordsight.worlds.street.places import PLACES
from wordsight.worlds.street.things import THINGS, cast_prop


def box_of(mask):
    rows, columns = np.nonzero(mask)
    return np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1], float)


def overlap(one, other):
    low, high = np.maximum(one[:2], other[:2]), np.minimum(one[2:], other[2:])
    inner = np.prod(np.clip(high - low, 0, None))
    areas = [np.prod(box[2:] - box[:2]) for box in (one, other)]
    return inner / (sum(areas) - inner)


@pytest.mark.parametrize("noun", list(THINGS))
@pytest.mark.parametrize("angle", [0.0, 0.15])
def test_things_are_painted_where_their_solids_are(noun, angle):
    rng = np.random.default_rng(3)
    for _ in range(5):
        prop = cast_prop(noun, noun, rng)
        view = View(132.0, 100.3, 160.7)
        image = np.zeros((200, 200, 3), np.uint8)
        prop.sprite(view.scale, 0.5).place(image, view, (0.1, 0.05), angle)
        cosine, sine = np.cos(angle), np.sin(angle)
        corners = np.concatenate(prop.solids()) @ np.array([[cosine, sine], [-sine, cosine]])
        truth = view.box(corners + np.array((0.1, 0.05)))
        assert overlap(box_of(image.max(axis=2) > 20), truth) > (0.88 if angle == 0.0 else 0.80)


@pytest.mark.slow
def test_people_are_painted_where_their_boxes_are(corpus):
    for film in corpus[:12]:
        recording = film.truth.recording
        view = recording.scenario.place.view
        for script, joints, facings in zip(
            recording.scenario.scripts, recording.joints, recording.facings, strict=True
        ):
            for frame in range(0, recording.num_frames, 17):
                look, pose = script.look, joints[frame]
                sketch = Sketch(view, ((-2.9, -0.2), (2.9, 2.2)))
                paint_body(sketch, pose, look, facings[frame])
                paint_near_arm(sketch, pose, look)
                alpha = sketch.finished()[..., 3]
                painted = box_of(alpha > 100) + np.tile(sketch.corner, 2)
                truth = view.box(extent_of(pose, look).reshape(2, 2))
                assert overlap(painted, truth) > 0.82, (film.name, frame)


@pytest.mark.slow
def test_nothing_moves_outside_the_boxes(clean_films):
    for film in clean_films[:4]:
        picture = film.make_picture()
        for frame in range(5, film.num_frames - 5, 15):
            before, after = (picture(k).astype(int) for k in (frame, frame + 3))
            changed = np.abs(after - before).max(axis=2) > 12
            for track in film.truth.boxes.values():
                for box in track[frame : frame + 4]:
                    x1, y1, x2, y2 = np.nan_to_num(box).astype(int)
                    changed[max(y1 - 8, 0) : y2 + 9, max(x1 - 8, 0) : x2 + 9] = False
            assert changed.mean() < 1e-4


def test_a_frame_looks_the_same_alone_and_in_its_turn():
    film = next(street(clips=1, noise=0.5))
    picture = film.make_picture()
    for frame in range(40):
        image = picture(frame)
    assert np.abs(image.astype(int) - film.still(39).astype(int)).mean() < 0.1


def test_places_look_different(clean_films):
    backgrounds = {film.record()["place"]: film.still(0).astype(int) for film in clean_films[:3]}
    names = list(backgrounds)
    for one in range(3):
        for other in range(one):
            difference = np.abs(backgrounds[names[one]] - backgrounds[names[other]])
            assert difference.mean() > 30


@pytest.mark.slow
def test_more_noise_means_less_like_the_clean_picture():
    def distance(**strengths):
        flat = {"texture": 0.5, "shading": 0.5, "shadow": 0.5}
        films = (next(street(clips=1, effects=Effects(**flat, **s))) for s in ({}, strengths))
        clean, spoiled = (film.still(30).astype(float) for film in films)
        return float(np.sqrt(np.mean((clean - spoiled) ** 2)))

    for effect in ("grain", "flicker", "shake", "occlusion"):
        weak, strong = (distance(**{effect: strength}) for strength in (0.3, 1.0))
        assert 0 < weak < strong or effect == "occlusion", effect
    assert distance(occlusion=1.0) > 3


@pytest.mark.slow
@pytest.mark.parametrize("place", list(PLACES))
def test_every_place_can_be_shot_at_every_strength(place):
    for noise in (0.0, 1.0):
        film = next(street(clips=1, places=[place], noise=noise))
        image = film.still(0)
        assert image.shape == (480, 640, 3)
        assert image.std() > 20


@pytest.mark.slow
def test_motion_blur_softens_only_what_moves(corpus):
    film = next(f for f in corpus if any(e.verb == "carried" for e in f.truth.events))
    sharp, blurred = (
        list(street(clips=film.index + 1, effects=Effects(blur=blur)))[-1] for blur in (0.0, 1.0)
    )
    event = next(e for e in film.truth.events if e.verb == "carried")
    middle = (event.span.first + event.span.last) // 2
    one, other = (f.still(middle).astype(int) for f in (sharp, blurred))
    assert 0.0005 < (np.abs(one - other).max(axis=2) > 10).mean() < 0.2
