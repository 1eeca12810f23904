"""Colours stay the same, differ from one another for every colour vision, and carry text."""

import itertools

import numpy as np
import pytest

from wordsight.video.palette import DARK, LIGHT, PALETTE, colour_of, text_colour_on

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
