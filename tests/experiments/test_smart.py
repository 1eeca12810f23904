"""SMART collections in every layout they are handed down in, and the experiment on a small one."""

import numpy as np
import pytest

from experiments.smart import _TITLES, combined, measure
from experiments.smart_files import (
    collection_folders,
    parse_items,
    parse_judgements,
    read_smart,
)
from wordsight.errors import FormatError

DOCUMENTS = """.I 1
.T
wings of birds
.A
Smith, J.
.W
a bird flaps its wings
.I 2
.T
heat
.W
heat flows through slabs
.X
1	5	2
.K
thermal
"""
QUERIES = ".I 001\n.W\nhow do wings work\n.I 004\n.W\nheat in slabs\n"


def write(folder, **files):
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content)
    return folder


def test_titles_texts_and_keywords_but_nothing_else():
    found = parse_items(DOCUMENTS)
    assert found["1"].split() == ["wings", "of", "birds", "a", "bird", "flaps", "its", "wings"]
    assert "thermal" in found["2"]
    assert "Smith" not in found["1"]
    assert "5" not in found["2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # cran: query document code; every document listed is relevant
        ("1 184 2 \n1 29 -1\n2 12 3\n", {"1": {"184": 1, "29": 1}, "2": {"12": 1}}),
        # med: query 0 document 1
        ("1 0 13 1\n1 0 14 1\n2 0 9 1\n", {"1": {"13": 1, "14": 1}, "2": {"9": 1}}),
        # TREC with documents judged irrelevant
        ("1 0 13 1\n1 0 14 0\n", {"1": {"13": 1, "14": 0}}),
        # cisi and adi: query document 0 0.000000
        ("     1     28\t0\t0.000000\n1 35 0 0.000000\n", {"1": {"28": 1, "35": 1}}),
        # cacm: numbers with zeros in front
        ("01 1410  0 0\n02 434 0 0\n", {"1": {"1410": 1}, "2": {"434": 1}}),
        ("1 5\n2 6\n", {"1": {"5": 1}, "2": {"6": 1}}),  # pairs
        ("1,5,1\n2, 6, 0\n", {"1": {"5": 1}, "2": {"6": 0}}),  # commas
        ("1 5 9 12 33\n2 6\n", {"1": {"5": 1, "9": 1, "12": 1, "33": 1}, "2": {"6": 1}}),  # lists
        # npl: a query and its documents, up to a slash
        (
            "1\n 5 9\n 12\n   /\n2\n 6\n   /\n   /\n",
            {"1": {"5": 1, "9": 1, "12": 1}, "2": {"6": 1}},
        ),
        ("#q1 = #and ('a')\n", {}),  # Boolean queries are no judgements
        ("", {}),
    ],
)
def test_judgements_of_any_layout(text, expected):
    assert parse_judgements(text) == expected


def test_of_items_with_one_number_the_first_counts(tmp_path, capsys):
    (tmp_path / "x.all").write_bytes(".I 1\n.W\nna\xefve cow\n.I 1\n.W\nmilk\n".encode("latin-1"))
    (tmp_path / "x.qry").write_text(".I 1\n.W\ncow\n")
    (tmp_path / "x.rel").write_text("1 1\n")
    assert read_smart(tmp_path).documents == {"1": "na\xefve cow\n"}
    assert "item 1 is there twice" in capsys.readouterr().err


def test_queries_are_renumbered_where_judgements_count_them(tmp_path):
    write(tmp_path, x_all=DOCUMENTS, x_qry=QUERIES, xqrel="1 1 2\n2 2 3\n")
    collection = read_smart(tmp_path)
    assert list(collection.queries) == ["1", "2"]
    assert "slabs" in collection.queries["2"]


def test_queries_keep_their_numbers_otherwise(tmp_path):
    write(tmp_path, X_ALL=DOCUMENTS, X_QRY=QUERIES, X_REL="1 0 1 1\n4 0 2 1\n")
    collection = read_smart(tmp_path)
    assert list(collection.queries) == ["1", "4"]
    assert collection.qrels["4"] == {"2": 1}


def test_files_without_telling_names_readmes_and_old_judgements(tmp_path):
    inner = tmp_path / "collection"
    inner.mkdir()
    more = DOCUMENTS + ".I 3\n.W\nthree\n"
    write(inner, one=more, two=QUERIES, three_rel="1 1\n4 2\n", three_rel_old="1 2\n")
    (inner / "README").write_text("1 2\n3 4\n")
    collection = read_smart(tmp_path)
    assert len(collection.documents) == 3
    assert collection.qrels["1"] == {"1": 1}


def test_numbered_texts_that_end_with_a_slash(tmp_path):
    texts = "1\ncompact memories\nhave capacities\n   /\n2\nheat\n   /\n"
    write(tmp_path, doc=texts, query="1\nMEMORIES\n/\n", rlv="1\n 1\n   /\n")
    collection = read_smart(tmp_path)
    assert collection.documents == {"1": "compact memories\nhave capacities", "2": "heat"}
    assert collection.qrels == {"1": {"1": 1}}


def test_several_collections(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, x_all=DOCUMENTS, x_qry=QUERIES, x_rel="1 1\n4 2\n")
    with pytest.raises(FormatError, match="holds 2 folders"):
        read_smart(tmp_path)
    assert [path.name for path in collection_folders(tmp_path)] == ["a", "b"]
    assert collection_folders(tmp_path / "a") == [tmp_path / "a"]
    rows = {key: {"map": 0.5, "ndcg10": 1.0, "p10": 0.0} for key in _TITLES}
    other = rows | {"default": {"map": 0.7, "ndcg10": 1.0, "p10": 0.0}}
    found = combined([rows | {"collection": "a"}, other | {"collection": "b"}])
    assert found["default"]["map"] == pytest.approx(0.6)
    assert found["collections"].keys() == {"a", "b"}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "expected documents and queries"),
        ({"x_all": DOCUMENTS}, "expected documents and queries"),
        ({"x_all": DOCUMENTS, "x_qry": QUERIES}, "no judgements"),
        ({"x_all": DOCUMENTS, "x_qry": QUERIES, "x_rel": "99 1\n"}, "no judgement is of a query"),
        ({"x_all": DOCUMENTS, "x_qry": QUERIES, "x_rel": "1 99\n"}, "no judgement is of a query"),
    ],
)
def test_what_is_missing(tmp_path, files, words):
    write(tmp_path, **files)
    with pytest.raises(FormatError, match=words):
        read_smart(tmp_path)


def test_cranfield_as_handed_down(shared_data):
    collection = read_smart(shared_data("ir", "cran"))
    assert (len(collection.documents), len(collection.queries)) == (1400, 225)
    assert sum(map(len, collection.qrels.values())) == 1837
    adi = read_smart(shared_data("ir", "adi"))
    assert (len(adi.documents), len(adi.queries)) == (82, 35)
    assert sum(map(len, adi.qrels.values())) == 170


@pytest.mark.parametrize("numbered", [False, True])
def test_a_part_of_a_collection(shared_data, tmp_path, capsys, numbered):
    """Half of the queries and a third of the documents, with judgements of all."""
    whole = read_smart(shared_data("ir", "cran"))
    documents = list(whole.documents.items())[:500]
    # As handed down, ids have gaps and judgements count; or ids are those of the judgements.
    asked = list(whole.queries.items())[:110]
    ids = [name if numbered else str(n + n // 2) for n, (name, _) in enumerate(asked, start=1)]
    queries = [f".I {name}\n.W\n{text}\n" for name, (_, text) in zip(ids, asked, strict=True)]
    rows = [f"{query} {d} 1\n" for query, judged in whole.qrels.items() for d in judged]
    items = [f".I {name}\n.W\n{text}\n" for name, text in documents]
    write(tmp_path, x_all="".join(items), x_qry="".join(queries), x_rel="".join(rows))
    part = read_smart(tmp_path)
    assert 50 < len(part.queries) < 110
    assert all(whole.queries[name].split() == text.split() for name, text in part.queries.items())
    assert "left out" in capsys.readouterr().err


@pytest.mark.slow
def test_every_way_is_measured(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    words = [f"word{chr(97 + n)}" for n in range(26)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(30)]
    documents = "".join(f".I {n}\n.W\n{text}\n" for n, text in enumerate(texts, 1))
    queries = "".join(
        f".I {n}\n.W\n{' '.join(text.split()[:3])}\n" for n, text in enumerate(texts[:10], 1)
    )
    judged = "".join(f"{n} 0 {n} 1\n" for n in range(1, 11))
    write(tmp_path, x_all=documents, x_qry=queries, x_rel=judged)
    # Fewer settings: what is tested is that every way runs and is scored.
    monkeypatch.setattr("experiments.smart.LAMBDAS", (0.2, 0.6))
    monkeypatch.setattr("experiments.smart.MASSES", (10, 100))
    monkeypatch.setattr("experiments.smart.BELIEVED", (3,))
    monkeypatch.setattr("experiments.smart.NEW_TERMS", ((10, 0.5),))
    monkeypatch.setattr("experiments.smart.BM25", ((1.2, 0.75),))
    results = measure(tmp_path)
    for way in ("default", "expand", "two_stage_learned", "jm", "dirichlet", "rm3", "bm25"):
        assert {"map", "ndcg10", "p10"} <= set(results[way])
        assert results[way]["map"] > 0.4
