"""Nouns and things linked in both directions, given when steps take place."""

import numpy as np
import pytest

from wordsight.alignment.models.encoding import Channel, Encoded
from wordsight.alignment.models.ensemble import learn_links

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
    links = learn_links(*films)
    assert links.argmax(axis=0).tolist() == links.argmax(axis=1).tolist() == [0, 1, 2, 3]
    assert (links > 0).all() and (links <= 1).all()


def test_links_follow_the_alignment(films):
    pairs, posteriors = films
    turned = [np.roll(posterior, 1, axis=1) for posterior in posteriors]
    assert learn_links(pairs, turned)[1:].argmax(axis=1).tolist() == [3, 1, 2]


def test_the_order_of_videos_does_not_matter(films):
    pairs, posteriors = films
    assert np.allclose(learn_links(*films), learn_links(pairs[::-1], posteriors[::-1]))


def test_nouns_of_the_same_lines_cannot_be_told_apart(films):
    pairs, posteriors = films
    pairs[0].things.words[:, 2] = pairs[0].things.words[:, 1]
    links = learn_links(pairs[:1], posteriors[:1])
    assert np.allclose(links[2], links[1])


def test_chunks_of_no_line_and_a_text_without_nouns(films):
    pairs, posteriors = films
    nothing = learn_links(pairs, [0.0 * posterior for posterior in posteriors])
    assert np.isfinite(nothing).all() and np.ptp(nothing) < 1e-9
    bare = [
        Encoded(Channel(np.zeros((3, 0)), p.things.tokens), p.moves, p.times, p.steps)
        for p in pairs
    ]
    assert learn_links(bare, posteriors).shape == (0, 4)


# Four steps "measure something": a heading that names the powder, then a boat on a scale, then a
# spoon that takes the powder; nouns and things are powders 0 to 3, boat 4, scale 5, spoon 6.
BOAT, SCALE, SPOON = 4, 5, 6
STEPS = 4


def measuring(headings):
    """Return a text with a video, and the true step of each chunk as a posterior."""
    lines, steps, chunks, gold = [], [], [], []
    for powder in range(STEPS):
        said = [[powder]] * headings + [[BOAT, SCALE], [SCALE], [SPOON, powder, BOAT]]
        seen = [[BOAT], [SCALE], [powder], [powder, SPOON], [powder, SPOON], [powder], [BOAT]]
        lines += said
        steps += [powder] * len(said)
        chunks += seen
        gold += [powder] * len(seen)
    words, tokens = (
        np.array([np.isin(np.arange(7), row) for row in rows]) for rows in (lines, chunks)
    )
    times = np.column_stack([np.arange(len(chunks)), np.arange(len(chunks)) + 1.0])
    empty = Channel(np.zeros((len(lines), 0)), np.zeros((len(chunks), 0)))
    encoded = Encoded(Channel(words * 1.0, tokens * 1.0), empty, times, np.array(steps))
    here = np.array(gold)[:, None] == np.array(steps)
    return encoded, here / here.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("headings", [0, 1])
def test_lines_are_found_within_their_step_and_a_heading_does_not_claim_all(headings):
    encoded, posterior = measuring(headings)
    links = learn_links([encoded], [posterior])
    assert links.argmax(axis=1).tolist() == links.argmax(axis=0).tolist() == list(range(7))


def test_only_the_steps_of_an_alignment_count():
    encoded, posterior = measuring(0)
    first = np.concatenate([[0], np.flatnonzero(np.diff(encoded.steps)) + 1])
    lumped = np.zeros_like(posterior)  # all of a step's chunks on its first line
    lumped[:, first] = np.add.reduceat(posterior, first, axis=1)
    assert np.allclose(learn_links([encoded], [posterior]), learn_links([encoded], [lumped]))


def test_nouns_that_name_nothing_get_no_link_and_claim_nothing():
    encoded, posterior = measuring(0)
    words = np.column_stack([encoded.things.words, encoded.things.words[:, SPOON]])  # "ml"
    unit = Encoded(
        Channel(words, encoded.things.tokens), encoded.moves, encoded.times, encoded.steps
    )
    links = learn_links([unit], [posterior], np.arange(8) < 7)
    assert not links[7].any()
    assert np.allclose(links[:7], learn_links([encoded], [posterior]))
