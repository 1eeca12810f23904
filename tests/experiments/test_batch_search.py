"""The compiled search on collections large enough for leaving things out."""

import numpy as np
import pytest

from experiments.baselines.batch_search import BatchSearch
from wordsight.errors import RetrievalError
from wordsight.retrieval.text import (
    Dirichlet,
    JelinekMercer,
    LanguageModel,
    Levels,
    Postings,
    Shard,
    TextQuery,
    TwoStage,
)


@pytest.fixture(scope="module")
def levels():
    """6,000 texts of few words, some of them in most texts."""
    rng = np.random.default_rng(0)
    words = rng.zipf(1.3, (6000, 12)) % 400
    return Levels.flat(Postings.build([[f"w{w}" for w in row] for row in words.tolist()]))


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [JelinekMercer(0.3), Dirichlet(50), TwoStage(50, 0.4)])
@pytest.mark.parametrize("background", ["words", "documents"])
def test_leaving_out_changes_no_answer(levels, smoothing, background):
    model = LanguageModel([Shard(levels)], smoothing, background)
    rng = np.random.default_rng(1)
    queries = [
        TextQuery({f"w{w}": float(n) for n, w in enumerate(rng.zipf(1.2, size) % 450, start=1)})
        for size in rng.integers(1, 9, 40)
    ]
    answers = BatchSearch(model).search(queries, 7)
    for query, answer in zip(queries, answers, strict=True):
        plain = model.search(query, 7)
        assert answer.scores == pytest.approx(plain.scores, rel=1e-9)
        clear = np.abs(np.diff(plain.scores)).min(initial=1.0) > 1e-9
        if clear:
            assert answer.documents.tolist() == plain.documents.tolist()


def test_rankings_can_be_indexed(levels):
    answers = BatchSearch(LanguageModel([Shard(levels)])).search([TextQuery({"w1": 1.0})] * 3)
    assert len(answers) == 3
    assert answers[1].documents.tolist() == answers[0].documents.tolist()


def test_a_query_without_known_terms(levels):
    answers = BatchSearch(LanguageModel([Shard(levels)])).search(
        [TextQuery({}), TextQuery({"none": 1.0})]
    )
    assert [len(answer) for answer in answers] == [0, 0]


def test_several_shards_must_be_merged(levels):
    with pytest.raises(RetrievalError, match="merge"):
        BatchSearch(LanguageModel([Shard(levels), Shard(levels)]))
