"""Nouns and things linked in both directions."""

import numpy as np
import pytest

from wordsight.alignment.encoding import Channel, Encoded
from wordsight.alignment.models.links import two_way_links

# Noun 0 is said in every line, thing 0 is touched in most chunks; nouns and things 1 to 3 belong
# to lines 0 to 2.
WORDS = np.column_stack([np.ones(3), np.eye(3)])
LINES = np.repeat(np.arange(3), 8)


def film(seed):
    """Return a text with a video, and the true line of each chunk as a posterior."""
    tokens = np.column_stack([np.random.default_rng(seed).random(24) < 0.8, np.eye(3)[LINES]])
    times = np.column_stack([np.arange(24.0), np.arange(1.0, 25.0)])
    empty = Channel(np.zeros((3, 0)), np.zeros((24, 0)))
    return Encoded(Channel(WORDS, tokens * 1.0), empty, times, np.arange(3)), np.eye(3)[LINES]


@pytest.fixture
def films():
    return tuple(zip(*(film(seed) for seed in range(2)), strict=True))


def test_every_noun_and_every_thing_finds_its_partner(films):
    links = two_way_links(*films)
    assert links.argmax(axis=0).tolist() == links.argmax(axis=1).tolist() == [0, 1, 2, 3]
    assert (links > 0).all() and (links <= 1).all()


def test_links_follow_the_alignment(films):
    pairs, posteriors = films
    turned = [np.roll(posterior, 1, axis=1) for posterior in posteriors]
    assert two_way_links(pairs, turned)[1:].argmax(axis=1).tolist() == [3, 1, 2]


def test_the_order_of_videos_does_not_matter(films):
    pairs, posteriors = films
    assert np.allclose(two_way_links(*films), two_way_links(pairs[::-1], posteriors[::-1]))


def test_nouns_of_the_same_lines_cannot_be_told_apart(films):
    pairs, posteriors = films
    pairs[0].things.words[:, 2] = pairs[0].things.words[:, 1]
    links = two_way_links(pairs[:1], posteriors[:1])
    assert np.allclose(links[2], links[1])


def test_chunks_of_no_line_and_a_text_without_nouns(films):
    pairs, posteriors = films
    nothing = two_way_links(pairs, [0.0 * posterior for posterior in posteriors])
    assert np.isfinite(nothing).all() and np.ptp(nothing) < 1e-9
    bare = [
        Encoded(Channel(np.zeros((3, 0)), p.things.tokens), p.moves, p.times, p.steps)
        for p in pairs
    ]
    assert two_way_links(bare, posteriors).shape == (0, 4)
