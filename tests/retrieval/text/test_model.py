"""Language models: the dice of the chapter, an independent computation, invariants."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.baselines.batch_search import BatchSearch
from wordsight.errors import RetrievalError
from wordsight.retrieval.text import (
    Analyser,
    Dirichlet,
    Interpolation,
    JelinekMercer,
    LanguageModel,
    Levels,
    Postings,
    Shard,
    TextQuery,
    TwoStage,
)
from wordsight.retrieval.text.analysis import neighbours_of
from wordsight.retrieval.text.model import PAIR_WEIGHT
from wordsight.retrieval.text.shard import BlockQuery

words = st.sampled_from("abcdef")
texts = st.lists(st.lists(words, max_size=8), min_size=1, max_size=7)
queries = st.dictionaries(words, st.integers(1, 3).map(float), min_size=1)
masses = st.floats(0.5, 500)
smoothings = st.one_of(
    st.floats(0.01, 0.99).map(JelinekMercer),
    masses.map(Dirichlet),
    st.builds(TwoStage, masses, st.floats(0, 0.95)),
)


def query_of(throws):
    return TextQuery({face: float(n) for face, n in Counter(throws).items()})


class TestDice:
    """Section 6.3.1 and 6.4.2: two dice, D1 = (1..6) and D2 = (1, 1, 3, 4, 5, 6)."""

    DICE = (list("123456"), list("113456"))

    def likelihoods(self, throws, weight):
        model = LanguageModel.from_texts(self.DICE, JelinekMercer(weight))
        return np.exp(model.log_likelihoods(query_of(throws)))

    def test_sample_likelihood(self):
        # (6.9): (1/6)^5 and (1/6)^4 * 2/6; hardly smoothed, these are the estimates themselves.
        found = self.likelihoods("43431", 1 - 1e-9)
        assert found == pytest.approx([(1 / 6) ** 5, (1 / 6) ** 4 * 2 / 6], rel=1e-6)

    def test_the_likelier_die_is_found_first(self):
        model = LanguageModel.from_texts(self.DICE, JelinekMercer(0.5))
        assert model.search(query_of("43431")).documents.tolist() == [1, 0]
        assert model.search(query_of("12143")).documents.tolist() == [0, 1]

    def test_zero_frequency(self):
        # (6.19): without smoothing a 2 rules the second die out; with it, it does not.
        assert self.likelihoods("12143", 1 - 1e-9)[1] == pytest.approx(0, abs=1e-9)
        first, second = self.likelihoods("12143", 0.5)
        # Background: of twelve faces three are 1, one is 2, two each are 3 and 4.
        mixed = [(1 / 6 + 3 / 12) / 2, (1 / 6 + 1 / 12) / 2, 1 / 6]
        assert first == pytest.approx(mixed[0] ** 2 * mixed[1] * mixed[2] ** 2)
        mixed = [(2 / 6 + 3 / 12) / 2, (0 + 1 / 12) / 2, 1 / 6]
        assert second == pytest.approx(mixed[0] ** 2 * mixed[1] * mixed[2] ** 2)


def test_the_dice_of_two_steps():
    # (6.3): pick a fair die or one with six ones, then throw: P(1) = 7/12, else 1/12.
    levels = Levels.flat(Postings.build([list("123456"), list("111111")]))
    assert levels.collection.probabilities == pytest.approx([7 / 12] + [1 / 12] * 5)


@pytest.mark.slow
@given(texts, queries, smoothings)
def test_against_an_independent_computation(texts, query, smoothing):
    model = LanguageModel.from_texts(texts, smoothing)
    whole = Counter(word for text in texts for word in text)
    known = {term: weight for term, weight in query.items() if whole[term]}
    found = model.log_likelihoods(TextQuery(query))
    for text, value in zip(texts, found, strict=True):
        counts, total = Counter(text), 0.0
        for term, weight in known.items():
            share = whole[term] / sum(whole.values())
            if isinstance(smoothing, Dirichlet | TwoStage):
                p = (counts[term] + smoothing.mass * share) / (len(text) + smoothing.mass)
                asked = getattr(smoothing, "share", 0.0)
                p = (1 - asked) * p + asked * share
            else:
                own = counts[term] / len(text) if text else 0.0
                p = smoothing.weights[0] * own + smoothing.rest * share
            total += weight * math.log(p)
        assert value == pytest.approx(total, rel=1e-9, abs=1e-9)


@given(
    texts.filter(any),
    st.lists(words, min_size=1, max_size=4),
    masses,
    st.floats(0, 0.95),
    st.floats(0, 0.9),
)
@settings(max_examples=30)
def test_scenes_and_neighbours_by_an_independent_computation(texts, asked, mass, share, weight):
    """Shots of scenes of two, whose neighbouring words count as well, word by word."""
    scene = np.arange(len(texts)) // 2
    owners = [np.arange(len(texts)), scene]
    levels = Levels.build(Postings.build(texts), owners, owners)
    pairs = Postings.build([neighbours_of(text) for text in texts])
    shard = Shard(levels, None, pairs)
    model = LanguageModel([shard], TwoStage(mass, share, (weight,)), "documents")
    query = TextQuery.from_text(" ".join(asked), Analyser(None, None))
    found = model.scores(query)[0]
    held = [[t for n, text in enumerate(texts) if scene[n] == s for t in text] for s in set(scene)]
    seen = sum(len(set(text)) for text in [*texts, *held])
    for document, text in enumerate(texts):
        around, total = held[scene[document]], 0.0
        for term, times in Counter(asked).items():
            p = sum(term in each for each in [*texts, *held]) / seen
            expected = p
            if len(around) > len(text):
                expected = weight * around.count(term) / len(around) + (1 - weight) * p
            own = (text.count(term) + mass * expected) / (len(text) + mass)
            total += times * math.log(((1 - share) * own + share * p) / p) if p else 0.0
        for pair in neighbours_of(asked):
            counts = [neighbours_of(each).count(pair) for each in texts]
            p = np.count_nonzero(counts) / sum(len(set(each)) for each in texts)
            own = (counts[document] + mass * p) / (len(text) + mass)
            total += PAIR_WEIGHT * math.log(((1 - share) * own + share * p) / p) if p else 0.0
        assert found[document] == pytest.approx(total, rel=1e-9, abs=1e-9)
        explained = sum(each.evidence for each in model.explain(query, [document])[0])
        assert explained == pytest.approx(total, rel=1e-9, abs=1e-9)


@pytest.mark.slow
@given(texts, queries, masses)
def test_two_stages_without_the_second_are_one(texts, query, mass):
    two, one = (
        LanguageModel.from_texts(texts, each) for each in (TwoStage(mass, 0.0), Dirichlet(mass))
    )
    found = two.log_likelihoods(TextQuery(query))
    assert found == pytest.approx(one.log_likelihoods(TextQuery(query)))


@pytest.mark.slow
@given(texts, queries, smoothings)
def test_both_forms_rank_alike(texts, query, smoothing):
    """(6.21) and (6.23): what is left out of the score is the same for every document."""
    model = LanguageModel.from_texts(texts, smoothing)
    gap = model.log_likelihoods(TextQuery(query)) - model.scores(TextQuery(query))[0]
    assert gap == pytest.approx(np.full(len(texts), gap[0]))


@pytest.mark.slow
@given(texts, st.lists(queries, min_size=1, max_size=4), smoothings, st.integers(1, 9))
def test_compiled_equals_plain(texts, asked, smoothing, top):
    model = LanguageModel.from_texts(texts, smoothing)
    answers = BatchSearch(model).search([TextQuery(q) for q in asked], top)
    for query, answer in zip(asked, answers, strict=True):
        plain = model.search(TextQuery(query), top)
        assert answer.scores == pytest.approx(plain.scores, abs=1e-12)
        assert set(np.round(plain.scores, 9)) == set(np.round(answer.scores, 9))
        if len(set(np.round(plain.scores, 9))) == len(plain):
            assert answer.documents.tolist() == plain.documents.tolist()


@st.composite
def segments(draw):
    """Shots in scenes and videos, some removed, in one to three shards."""
    shards = []
    for said in draw(st.lists(st.lists(st.lists(words, max_size=5), min_size=1), max_size=3)):
        owners = [np.arange(len(said)), np.arange(len(said)) // 2, np.arange(len(said)) // 5]
        if draw(st.booleans()):  # shots of a scene that are not stored side by side
            owners[1] = np.arange(len(said)) % 3
            owners[2] = np.zeros(len(said), np.int64)
        levels = Levels.build(Postings.build(said), owners, owners)
        kept = np.flatnonzero(draw(st.lists(st.booleans(), min_size=len(said), max_size=len(said))))
        pairs = Postings.build([neighbours_of(text) for text in said])
        shards.append(Shard(levels, draw(st.sampled_from([None, kept])), pairs))
    return shards


@given(
    segments(),
    st.lists(words, min_size=1, max_size=4),
    st.one_of(
        st.builds(TwoStage, masses, st.floats(0, 0.95), st.just((0.4, 0.3))),
        st.just(Interpolation((0.3, 0.2, 0.1))),
        st.just(JelinekMercer()),
    ),
    st.integers(1, 6),
    st.frozensets(st.integers(0, 8), max_size=2),
)
@settings(max_examples=60, deadline=None)
def test_the_best_blocks_hold_what_scoring_everything_finds(shards, asked, smoothing, top, gone):
    query = TextQuery.from_text(" ".join(asked), Analyser(None, None))
    model = LanguageModel(shards, smoothing, "documents")
    scores, matched = model.scores(query)  # by plain numpy
    matched[[d for d in gone if d < len(matched)]] = False
    expected = sorted(scores[matched].tolist(), reverse=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wordsight.retrieval.text.model.COMPILED_FROM", 1)
        patch.setattr("wordsight.retrieval.text.model._FIRST_BLOCKS", 1)
        patch.setattr("wordsight.retrieval.text.shard.BLOCK", 2)
        for shard in shards:
            shard._blocked.clear()
        blocked = LanguageModel(shards, smoothing, "documents")
        np.testing.assert_allclose(blocked.scores(query)[0], scores, atol=1e-9)
        documents, found = blocked.best(query, top, gone)
        ranking = blocked.search(replace(query, exclude=gone), top)
    assert sorted(found.tolist(), reverse=True)[:top] == pytest.approx(expected[:top], abs=1e-9)
    assert found == pytest.approx(scores[documents], abs=1e-9)
    assert matched[documents].all()
    if len(expected) >= top:  # whatever ties with the last place is there
        tied = np.flatnonzero(matched & (scores >= expected[top - 1] - 1e-14))
        assert set(tied) <= set(documents.tolist())
    assert ranking.scores.tolist() == sorted(found.tolist(), reverse=True)[:top]


def test_blocks_below_the_best_are_not_scored(monkeypatch):
    random = np.random.default_rng(0)
    said = [[f"w{n}" for n in row] for row in np.minimum(random.zipf(1.3, (12_000, 8)), 500)]
    model = LanguageModel.from_texts(said, TwoStage(20.0, 0.5), "documents")
    scored = []
    score = BlockQuery.score

    def noted(self, blocks):
        scored.extend(blocks.tolist())
        return score(self, blocks)

    monkeypatch.setattr("wordsight.retrieval.text.model.COMPILED_FROM", 1000)
    monkeypatch.setattr("wordsight.retrieval.text.model._FIRST_BLOCKS", 4)
    monkeypatch.setattr(BlockQuery, "score", noted)
    query = TextQuery({"w1": 1.0, "w2": 1.0})
    found = model.search(query, 3)
    assert len(scored) == len(set(scored)) < 375 / 2  # of 375 blocks, w1 is in every one
    monkeypatch.setattr("wordsight.retrieval.text.model.COMPILED_FROM", 20_000)
    assert model.search(query, 3).documents.tolist() == found.documents.tolist()


@pytest.mark.slow
@given(texts, queries, st.integers(0, 6))
def test_shards_and_deletions_change_no_score(texts, query, cut):
    whole = LanguageModel.from_texts(texts)
    parts = [texts[:cut], texts[cut:]]
    shards = [Shard(Levels.flat(Postings.build(part))) for part in parts]
    # A third shard whose documents have all been taken out.
    gone = Shard(Levels.flat(Postings.build([list("aaff")])), np.zeros(0, np.int64))
    model = LanguageModel([*shards, gone])
    assert model.scores(TextQuery(query))[0] == pytest.approx(whole.scores(TextQuery(query))[0])
    merged = Postings.concatenated(
        [(s.levels.postings[0], s.positions + n) for s, n in zip(shards, (0, cut), strict=True)]
    )
    again = LanguageModel([Shard(Levels.flat(merged))])
    assert again.scores(TextQuery(query))[0] == pytest.approx(whole.scores(TextQuery(query))[0])


def test_only_unknown_words_find_nothing():
    model = LanguageModel.from_texts([["red", "cup"]])
    for query in (TextQuery({"чашка": 1.0}), TextQuery({})):
        assert len(model.search(query)) == 0
        assert model.log_likelihoods(query).tolist() == [0.0]


def test_an_empty_collection():
    model = LanguageModel.from_texts([])
    assert len(model.search(TextQuery({"a": 1.0}))) == 0


def test_the_evidence_adds_up_to_the_score():
    levels = Levels.build(
        Postings.build([["red", "cup"], ["blue", "cup"], ["green"], ["cup", "film"]]),
        [np.array([0, 1, 2, -1]), np.array([0, 0, 1, 1])],
        [np.arange(3), np.array([0, 0, 1])],
    )
    model = LanguageModel([Shard(levels)], Interpolation((0.3, 0.2)))
    query = TextQuery({"cup": 2.0, "red": 1.0, "mug": 1.0})
    scores, matched = model.scores(query)
    for document in range(3):
        parts = model.explain(query, [document])[0]
        assert sum(each.evidence for each in parts) == pytest.approx(scores[document])
    assert matched.tolist() == [True, True, True]  # the last one through its scene
    cup = next(each for each in model.explain(query, [2])[0] if each.term == "cup")
    assert cup.counts == (0, 1)


def test_more_levels_than_there_are():
    with pytest.raises(RetrievalError, match="fewer weights"):
        LanguageModel.from_texts([["a"]], Interpolation((0.2, 0.2)))


@pytest.mark.parametrize(
    "make",
    [
        lambda: JelinekMercer(1.0),  # nothing left for the collection
        lambda: Interpolation(()),
        lambda: Interpolation((-0.1, 0.5)),
        lambda: TwoStage(weights=(0.5, 0.6)),
        lambda: Dirichlet(0),
        lambda: TwoStage(0),
        lambda: TwoStage(10, 1.0),
        lambda: TwoStage(10, -0.1),
        lambda: Dirichlet(math.inf),
    ],
)
def test_senseless_settings(make):
    with pytest.raises(RetrievalError):
        make()
