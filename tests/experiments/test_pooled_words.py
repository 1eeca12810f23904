"""Pooled, verbs are words like others and manners are things like others."""

from experiments.baselines.pooled_words import pool_observed, pool_words
from tests.alignment.builders import TEA
from wordsight.alignment import Chunk, Observed
from wordsight.alignment.text import instructions_from_text


def test_verbs_join_the_nouns():
    lines = pool_words(TEA).lines
    assert lines[0].nouns == ("kettle", "water", "to fill")
    assert all(line.verbs == () for line in lines)
    assert [line.text for line in lines] == [line.text for line in TEA.lines]


def test_a_line_without_nouns_keeps_each_word_once():
    assert pool_words(instructions_from_text("Mix.")).lines[0].nouns == ("to mix",)


def test_manners_join_the_things():
    chunk = Chunk(0, 1, frozenset({"cup"}), frozenset({"rising"}))
    pooled = pool_observed(Observed("film", (chunk,), 2.0))
    assert pooled.chunks[0].things == {"cup", "~rising"}
    assert pooled.chunks[0].verbs == frozenset()
    assert pooled.duration == 2.0
