"""Relevance feedback and "more like this"."""

import numpy as np
import pytest

from wordsight.errors import RetrievalError
from wordsight.retrieval.text import (
    Interpolation,
    LanguageModel,
    Levels,
    Postings,
    RelevanceFeedback,
    Shard,
    TextQuery,
    more_like_this,
)

TEXTS = [
    ["red", "cup", "table", "saucer"],
    ["cup", "saucer", "tea", "spoon"],
    ["tea", "spoon", "sugar"],
    ["car", "street"],
    ["car", "truck", "street"],
]


@pytest.fixture
def model():
    return LanguageModel.from_texts(TEXTS)


def test_words_of_good_documents_join(model):
    query = TextQuery({"cup": 1.0})
    wider = RelevanceFeedback(num_documents=2, num_terms=8).expand(model, query)
    assert "saucer" in wider.weights
    assert wider.length == pytest.approx(query.length)
    found = model.search(wider).documents.tolist()
    assert 2 in found  # never says cup, but tea and spoon
    assert 3 not in found


def test_a_person_may_say_which_are_right(model):
    wider = RelevanceFeedback().expand(model, TextQuery({"cup": 1.0}), relevant=[4])
    assert {"car", "truck", "street", "cup"} == set(wider.weights)


def test_all_weight_on_the_query_changes_nothing(model):
    query = TextQuery({"cup": 2.0, "tea": 1.0})
    same = RelevanceFeedback(query_weight=1.0).expand(model, query)
    assert same.weights == pytest.approx(query.weights)


def test_nothing_found_nothing_learned(model):
    query = TextQuery({"чашка": 1.0})
    assert RelevanceFeedback().expand(model, query) == query


def test_more_like_this(model):
    query = more_like_this(model, 1)
    found = model.search(query).documents.tolist()
    assert 1 not in found
    assert set(found) == {0, 2}


def test_more_like_a_document_without_words():
    model = LanguageModel.from_texts([[], ["a"]])
    assert not more_like_this(model, 0)


def test_a_silent_shot_is_like_its_scene():
    pieces = Postings.build([["cup", "tea"], [], ["cup"], ["car"]])
    owners = [np.arange(4), np.array([0, 0, 1, 1])]
    model = LanguageModel([Shard(Levels.build(pieces, owners, owners))], Interpolation((0.3, 0.3)))
    query = more_like_this(model, 1)
    assert set(query.weights) == {"tea"}  # as common elsewhere, a cup tells nothing
    assert model.search(query).documents.tolist() == [0]


@pytest.mark.parametrize(
    "settings", [{"num_documents": 0}, {"num_terms": 0}, {"query_weight": 1.5}]
)
def test_senseless_settings(settings):
    with pytest.raises(RetrievalError):
        RelevanceFeedback(**settings)
