"""Ranking measures against ir-measures, on runs with ties, gaps and grades."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.errors import WordsightError
from wordsight.evaluation import evaluate_run, parse_measure

NAMES = ["AP", "AP(rel=2)", "AP@5", "nDCG", "nDCG@10", "P@5", "P(rel=2)@3", "R@5", "RR", "RR@3"]
NAMES += ["Success@2", "Rprec", "Bpref", "Judged@4", "NumRet", "NumRel", "NumRelRet"]

documents = st.sampled_from([f"d{i}" for i in range(12)])
# Scores with many ties, which must be broken as trec_eval breaks them.
runs = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(documents, st.integers(0, 4).map(float), min_size=1),
    min_size=1,
)
judgements = st.dictionaries(
    st.sampled_from(["q1", "q2"]),
    st.dictionaries(documents, st.integers(0, 3), min_size=1),
    min_size=1,
)


def tied(scores):
    return len(set(scores.values())) < len(scores)


@settings(max_examples=60)
@given(runs, judgements)
def test_as_ir_measures_has_it(run, qrels):
    import ir_measures

    ours = evaluate_run(run, qrels, NAMES)
    parsed = {ir_measures.parse_measure(name): name for name in NAMES}
    for each in ir_measures.iter_calc(list(parsed), qrels, run):
        if str(each.measure).startswith(("RR@", "Judged@")) and tied(run.get(each.query_id, {})):
            continue  # its other providers break ties another way than trec_eval
        if each.query_id in run:  # of queries without an answer we say 0, as its means do
            value = ours.queries[each.query_id][parsed[each.measure]]
            assert value == pytest.approx(each.value, abs=1e-6), (each, run, qrels)


def test_a_query_without_an_answer_counts():
    import ir_measures

    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    scores = evaluate_run({"q1": {"a": 1.0}}, qrels, ["AP", "NumRel"])
    assert scores.means == {"AP": 0.5, "NumRel": 2.0}
    theirs = ir_measures.calc_aggregate([ir_measures.AP], qrels, {"q1": {"a": 1.0}})
    assert theirs[ir_measures.AP] == 0.5


def test_worked_by_hand():
    # Relevant on ranks 1 and 3 of 3 relevant ones: (1/1 + 2/3) / 3.
    run, qrels = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 1, "c": 1, "z": 1}}
    means = evaluate_run(run, qrels, ["AP", "nDCG@3", "P@10"]).means
    assert means["AP"] == pytest.approx(5 / 9)
    assert means["nDCG@3"] == pytest.approx(1.5 / (1 + 1 / np.log2(3) + 0.5))
    assert means["P@10"] == 0.2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NDGC@10", "nDCG"),  # misspelled: the message lists what there is
        ("P", "P@10"),  # needs a cut-off
        ("P@0", "cannot be"),  # no rank at all
        ("Rprec@5", "takes no"),  # has its own cut-off
        ("nDCG(rel=2)", "every grade"),  # grades are its point
        ("", "no measure"),
    ],
)
def test_a_clear_word_for_what_is_no_measure(name, words):
    with pytest.raises(WordsightError, match=words):
        parse_measure(name)


def test_names_come_back_as_they_were():
    assert [str(parse_measure(name)) for name in NAMES] == NAMES
    assert str(parse_measure("map")) == "AP"


def test_no_judgements():
    with pytest.raises(WordsightError, match="no judgement"):
        evaluate_run({}, {}, ["AP"])
