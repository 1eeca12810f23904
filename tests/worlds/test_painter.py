"""Shapes land where they are told to, with smooth edges, and sheets are laid over correctly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.worlds.painter import Layer, cloudy, gradient, lay_over, mix, roughen, shade
from wordsight.worlds.sketch import Sprite


def flat(size, colour):
    return np.full((size[1], size[0], 3), colour, np.uint8)


def alpha_of(layer):
    return layer.finished()[..., 3].astype(float) / 255


@pytest.mark.slow
@given(st.floats(12, 20), st.floats(12, 20), st.floats(4, 12))
def test_a_square_covers_its_area_at_its_place(x, y, side):
    layer = Layer((2, 3, 42, 43))
    corners = [(x, y), (x + side, y), (x + side, y + side), (x, y + side)]
    layer.polygon(corners, (200, 100, 50))
    alpha = alpha_of(layer)
    rows, columns = np.indices(alpha.shape)
    # OpenCV paints every pixel an edge touches, up to one of the doubled sheet on each side.
    assert (side - 0.1) ** 2 <= alpha.sum() <= (side + 1.1) ** 2
    assert np.average(columns, weights=alpha) + 2.5 == pytest.approx(x + side / 2, abs=0.3)
    assert np.average(rows, weights=alpha) + 3.5 == pytest.approx(y + side / 2, abs=0.3)


def test_strokes_limbs_and_ellipses_have_the_width_asked_for():
    stroke, limb, ellipse = (Layer((0, 0, 60, 40)) for _ in range(3))
    stroke.stroke([(10, 20), (50, 20)], 8, (9, 9, 9))
    limb.limb([(10, 20), (50, 20)], [8, 8], (9, 9, 9))
    ellipse.ellipse((30, 20), (40, 8), (9, 9, 9))
    for layer in (stroke, limb, ellipse):
        assert alpha_of(layer)[:, 30].sum() == pytest.approx(8, abs=1)


def test_laying_over_blends_by_opacity_and_is_cut_at_the_border():
    image = flat((20, 10), (100, 100, 100))
    sheet = np.zeros((4, 4, 4), np.uint8)
    sheet[...] = (100, 0, 0, 128)
    lay_over(image, sheet, (-2, 8))
    assert image[8:, :2].reshape(-1, 3).tolist() == [[150, 50, 50]] * 4
    assert np.all(image[:8] == 100)
    lay_over(image, sheet, (30, 30))  # wholly outside: nothing happens
    assert np.all(image[:8] == 100)


def test_motion_smears_along_the_movement_and_keeps_the_amount_of_colour():
    sharp, smeared = (np.zeros((21, 61, 3), np.uint8) for _ in range(2))
    sheet = np.full((5, 5, 4), 255, np.uint8)
    lay_over(sharp, sheet, (28, 8))
    lay_over(smeared, sheet, (28, 8), (11.0, 0.0))
    assert np.count_nonzero(smeared.any(axis=(0, 2))) == pytest.approx(15, abs=1)
    assert float(smeared.sum()) == pytest.approx(float(sharp.sum()), rel=0.03)


def test_a_tint_darkens_but_never_beyond_the_opacity():
    layer = Layer((0, 0, 10, 10))
    layer.polygon([(2, 2), (8, 2), (8, 8), (2, 8)], (100, 100, 100))
    layer.tint(np.full((2, 2), 9.0, np.float32))
    finished = layer.finished()
    assert np.all(finished[..., :3] <= finished[..., 3:])
    assert finished[0].sum() == 0


def test_colours_can_be_shaded_and_mixed():
    assert shade((100, 200, 0), 1.5) == (150, 255, 0)
    assert mix((0, 0, 0), (100, 200, 50), 0.5) == (50, 100, 25)


def test_textures_are_uneven_only_as_asked():
    rng = np.random.default_rng(0)
    assert abs(float(cloudy((80, 60), 20, rng).mean())) < 0.3
    assert gradient((3, 5), (0, 0, 0), (80, 40, 0))[:, 0].tolist()[-1] == [80, 40, 0]
    even, uneven = flat((80, 60), (120, 120, 120)), flat((80, 60), (120, 120, 120))
    roughen(even, 0.0, rng)
    roughen(uneven, 1.0, rng)
    assert even.std() == 0.0
    assert uneven.std() > 5


def test_the_outline_of_a_sprite_goes_around_what_is_painted():
    square = [(-0.1, 0.0), (0.2, 0.0), (0.2, 0.4), (-0.1, 0.4)]
    sprite = Sprite.painted(lambda s: s.polygon(square, (9, 9, 9)), ((-1, -1), (1, 1)), 100.0)
    outline = sprite.outline
    assert outline.min(axis=0) == pytest.approx([-0.1, 0.0], abs=0.01)
    assert outline.max(axis=0) == pytest.approx([0.2, 0.4], abs=0.01)
