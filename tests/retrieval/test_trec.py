"""Run and qrels files: there and back, and what is wrong with broken ones."""

import pytest

from wordsight.errors import FormatError
from wordsight.retrieval.trec import read_qrels, read_run, write_run


def test_there_and_back(tmp_path):
    write_run(tmp_path / "run", {"red cup": [("a b", 2.5), ("c", -1.0)]})
    assert read_run(tmp_path / "run") == {"red_cup": {"a_b": 2.5, "c": -1.0}}
    (tmp_path / "qrels").write_text("q 0 a 2\nq 0 b 0\n")
    assert read_qrels(tmp_path / "qrels") == {"q": {"a": 2, "b": 0}}


def test_others_can_read_them(tmp_path):
    import ir_measures

    write_run(tmp_path / "run", {"q": [("a", 2.5), ("b", 1.0)]})
    rows = list(ir_measures.read_trec_run(str(tmp_path / "run")))
    assert [(row.query_id, row.doc_id, row.score) for row in rows] == [
        ("q", "a", 2.5),
        ("q", "b", 1.0),
    ]


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "run").write_text("precious")
    with pytest.raises(FileExistsError):
        write_run(tmp_path / "run", {"q": [("a", 1.0)]})
    assert (tmp_path / "run").read_text() == "precious"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("q 0 d", "line 1: expected"),  # a field short
        ("q 0 d 1\nq 0 d 2\n", "line 2: d was judged 1"),  # contradiction
        ("q 0 d 0.5\n", "whole number"),
        ("q 0 d high\n", "number, got 'high'"),
        ("q 0 d nan\n", "number"),
        ("\n \n", "no judgement"),
        (b"\xff\xfe\x00q", "UTF-8"),
    ],
)
def test_broken_judgements(tmp_path, content, words):
    path = tmp_path / "qrels"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError, match=words):
        read_qrels(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("q Q0 d 1 2.0 name\nq Q0 d 2 1.0 name\n", "twice"),
        ("q Q0 d 1 inf name\n", "number"),
        ("q d 1\n", "expected"),
    ],
)
def test_broken_runs(tmp_path, content, words):
    (tmp_path / "run").write_text(content)
    with pytest.raises(FormatError, match=words):
        read_run(tmp_path / "run")


def test_no_such_file(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        read_run(tmp_path / "none")


def test_spaces_tabs_and_a_byte_order_mark(tmp_path):
    (tmp_path / "qrels").write_bytes(b"\xef\xbb\xbf1\t0\td1   1 \r\n")
    assert read_qrels(tmp_path / "qrels") == {"1": {"d1": 1}}
