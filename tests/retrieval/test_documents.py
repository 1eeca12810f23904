"""Documents in columns: what goes in comes out, in any script and from several tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.errors import RecordError
from wordsight.retrieval import Document, DocumentTable, RetrievalError, top_k
from wordsight.retrieval.documents import document_columns, kth_largest

names = st.text(
    st.characters(blacklist_categories=("Cs", "Z", "Cc"), blacklist_characters="\u200b"), min_size=1
).filter(lambda text: not any(c.isspace() for c in text))


@pytest.mark.slow
@given(
    st.lists(st.tuples(names, st.sampled_from(["один", "two", "三", ""]), st.floats(0, 1e6))),
    st.integers(0, 5),
)
def test_documents_come_back(rows, cut):
    documents = [Document(name, video, t, t + 1, t, n) for n, (name, video, t) in enumerate(rows)]
    parts = [documents[:cut], documents[cut:]]
    table = DocumentTable([document_columns(part, [d.id for d in part]) for part in parts])
    assert list(table) == documents and len(table) == len(documents)
    assert [table.id_of(n) for n in range(len(table))] == [d.id for d in documents]
    assert [table.text_of(n) for n in range(len(table))] == [d.id for d in documents]
    numbers, videos = table.video_numbers()
    assert [videos[n] for n in numbers] == [d.video_id for d in documents]
    assert len(set(videos)) == len(videos)
    np.testing.assert_array_equal(table.scenes(), np.arange(len(documents)))
    for document in documents:
        assert documents[table.position_of(document.id)].id == document.id


def test_only_the_rows_that_count_are_there():
    columns = document_columns([Document(f"d{n}", "v") for n in range(5)])
    table = DocumentTable([columns, columns], [np.array([1, 3]), np.array([0])])
    assert [d.id for d in table] == ["d1", "d3", "d0"]
    assert table.position_of("d3") == 1 and table[-1].id == "d0"
    for gone in ("d2", "d", ""):
        with pytest.raises(RecordError, match="no document"):
            table.position_of(gone)
    for outside in (3, -4):
        with pytest.raises(IndexError):
            table[outside]


@pytest.mark.parametrize("name", ["", "two words", "line\nend", "tab\tstop"])
def test_ids_must_fit_run_files(name):
    with pytest.raises(RecordError, match="without spaces"):
        Document(name, "v")


# The best of many scores: exact, and in one order only.


scores = st.lists(st.one_of(st.floats(-5, 5), st.sampled_from([-np.inf, 0.0, 1.0])), max_size=60)


@pytest.mark.slow
@given(scores, st.integers(1, 70))
def test_equals_sorting_everything(values, k):
    array = np.array(values, dtype=float)
    name_of = lambda at: f"{(at * 7919) % 1000:03d}-{at}"  # noqa: E731
    expected = sorted(np.flatnonzero(np.isfinite(array)), key=lambda at: (-array[at], name_of(at)))
    assert top_k(array, k, name_of).tolist() == expected[:k]
    by_position = sorted(np.flatnonzero(np.isfinite(array)), key=lambda at: (-array[at], at))
    assert top_k(array, k).tolist() == by_position[:k]


@pytest.mark.parametrize("k", [1, 7, 300])
def test_the_kth_largest_of_many_with_ties(k):
    values = np.random.default_rng(k).integers(0, 500, 10_007).astype(np.float32)
    assert kth_largest(values, k) == np.sort(values)[-k]


def test_bad_requests_are_refused():
    with pytest.raises(RetrievalError, match="at least one"):
        top_k(np.zeros(3), 0)
    with pytest.raises(RetrievalError, match="not a number"):
        top_k(np.array([0.0, np.nan]), 1)
