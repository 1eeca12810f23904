"""Text on pictures: what can be drawn, where it breaks, and that it lands where it was measured."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.video.draw.text import (
    DARK,
    LIGHT,
    PALETTE,
    blend,
    colour_of,
    draw_text,
    drawable,
    shortened,
    text_colour_on,
    text_width,
    wrapped,
)

WORDS = st.text("abc WMil.", max_size=60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("Gro\u0308ße Łódź", "Größe Łódź"),  # composed
        ("a\tb\xa0c\x07", "a b c"),  # white space and a control character
        ("two\nlines", "two\nlines"),
        ("a\ud800b", "ab"),  # half of a character
    ],
)
def test_text_is_composed_and_has_no_control_characters(text, expected):
    assert drawable(text) == expected


def drawn(text):
    canvas = np.zeros((60, 300, 3), np.uint8)
    draw_text(canvas, drawable(text), 20, 40, 20, (255, 255, 255))
    return canvas


@pytest.mark.parametrize("letter", "äéøßЯλ→€½ł")
def test_letters_outside_ascii_are_drawn_as_themselves(letter):
    missing = "\U0010ffff"  # the font has no such character
    for other in ("?", "e", "o", "ss", "l", missing):
        assert (drawn(letter) != drawn(other)).any()


def test_accents_lie_above_the_letter():
    assert (drawn("é")[32:] == drawn("e")[32:]).all()
    assert drawn("é")[:24].any() and not drawn("e")[:24].any()


@settings(deadline=None)
@given(text=WORDS, size=st.floats(6, 40), room=st.integers(1, 600))
def test_lines_fit_and_no_letter_is_lost(text, size, room):
    lines = wrapped(text, size, room)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(text_width(line, size) <= room or len(line) == 1 for line in lines)


@settings(deadline=None)
@given(text=WORDS, room=st.integers(40, 600))
def test_shortened_text_fits(text, room):
    short = shortened(text, 10, room)
    assert text_width(short, 10) <= room
    assert short == text or (short.endswith("..") and text.startswith(short[:-2]))


@pytest.mark.parametrize("size", [7.5, 12, 30])
@pytest.mark.parametrize("text", ["Wig jumps", "l", "(_|{Q}@ g"])
def test_ink_stays_in_the_measured_place(size, text):
    canvas = np.zeros((120, 700, 3), np.uint8)
    draw_text(canvas, text, 50, 70, size, (255, 255, 255))
    rows, columns = np.nonzero(canvas[..., 0])
    slack = size * 0.2 + 2
    assert columns.min() >= 50 - slack
    assert columns.max() <= 50 + text_width(text, size) + slack
    assert rows.min() >= 70 - size * 1.3 - slack
    assert rows.max() <= 70 + size * 0.45 + slack
    assert canvas.max() > 200  # strokes are solid, not a grey haze


def test_letters_have_the_height_asked_for():
    canvas = np.zeros((100, 300, 3), np.uint8)
    draw_text(canvas, "H", 20, 80, 40, (255, 255, 255))
    rows = np.nonzero(canvas[..., 0].max(axis=1) > 127)[0]
    assert rows.max() - rows.min() + 1 == pytest.approx(40, abs=1)
    assert rows.max() == 79  # the letter stands on the base line


def test_blend_is_the_weighted_mean_and_clips():
    random = np.random.default_rng(0)
    canvas = random.integers(0, 256, (30, 40, 3), dtype=np.uint8)
    for density in (0.05, 1.0):  # few pixels and all of them take different ways
        mask = random.integers(0, 256, (25, 25), dtype=np.uint8)
        mask[random.random(mask.shape) > density] = 0
        painted = canvas.copy()
        blend(painted, mask, (200, 10, 90), -5, 20)
        share = np.zeros((30, 40, 1))
        share[20:30, 0:20, 0] = mask[:10, 5:] / 255
        exact = canvas * (1 - share) + np.array([200, 10, 90]) * share
        assert np.abs(painted - exact).max() <= 0.51


def test_blend_outside_changes_nothing():
    canvas = np.zeros((10, 10, 3), np.uint8)
    for left, top in ((10, 0), (0, 10), (-5, 0), (0, -5)):
        blend(canvas, np.full((5, 5), 255, np.uint8), (255, 255, 255), left, top)
    assert not canvas.any()


# Colours stay the same, differ from one another for every colour vision, and carry text.

# What red-blind (protan) and green-blind (deutan) eyes see of linear RGB: Viénot, Brettel, Mollon
# (1999), in the form of one matrix each.
COLOUR_VISION = {
    "usual": np.eye(3),
    "protan": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deutan": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
}


@pytest.mark.parametrize("vision", COLOUR_VISION)
def test_any_two_colours_can_be_told_apart(vision):
    linear = (np.array(PALETTE) / 255) ** 2.2
    seen = np.clip(linear @ np.array(COLOUR_VISION[vision]).T, 0, 1) ** (1 / 2.2) * 255
    nearest = min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2))
    assert nearest > 25


def test_neighbours_differ_and_names_keep_their_colour():
    assert len({colour_of(number) for number in range(len(PALETTE))}) == len(PALETTE)
    # Fixed for good: overlays made on different days must match.
    assert [PALETTE.index(colour_of(name)) for name in ("person", "cup", "cat")] == [6, 4, 0]
    assert colour_of(-1) in PALETTE


@pytest.mark.parametrize("background", [*PALETTE, DARK, LIGHT, (128, 128, 128)])
def test_text_stands_out(background):
    def luminance(colour):
        return float(((np.array(colour) / 255) ** 2.2) @ [0.2126, 0.7152, 0.0722])

    pair = sorted([luminance(background), luminance(text_colour_on(background))])
    assert (pair[1] + 0.05) / (pair[0] + 0.05) > 3.9
