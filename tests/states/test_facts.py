import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.states import Fact, StateError, StateSequence, parse_fact

A, B = Fact("attached", ("hand", "red")), Fact("grounded", ("red",))


@st.composite
def sequences(draw):
    rows = draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
    return StateSequence("v", np.arange(len(rows)) / 10, (A, B), np.array(rows))


@pytest.mark.slow
@given(sequences())
def test_compress_of_compress_is_compress(sequence):
    once = sequence.compress()
    assert once.compress() == once
    assert once.states() == sequence.states()
    assert once.end == sequence.end


@pytest.mark.slow
@given(sequences())
def test_intervals_tell_all_of_the_table(sequence):
    rebuilt = np.zeros_like(sequence.values)
    for row in sequence.intervals():
        inside = (sequence.times >= row.start - 1e-9) & (sequence.times < row.end - 1e-9)
        rebuilt[inside, sequence.facts.index(row.fact)] = True
    assert np.array_equal(rebuilt, sequence.values)
    assert sequence.compress().intervals() == sequence.intervals()


@pytest.mark.slow
@given(sequences())
def test_saving_and_loading(tmp_path_factory, sequence):
    path = tmp_path_factory.mktemp("states") / "states.npz"
    sequence.save(path)
    assert StateSequence.load(path) == sequence


@pytest.mark.parametrize(
    "fact",
    [A, Fact("contacts", ("cup-1", "Big cup")), Fact("rains", ()), Fact("on", ("a b", "x,y"))],
    ids=str,
)
def test_facts_round_trip(fact):
    assert parse_fact(str(fact)) == fact


@pytest.mark.parametrize("text", ["attached", "attached(a", "(a)", "a(b,,c)"])
def test_what_is_no_fact(text):
    with pytest.raises(StateError, match=r"fact|arguments"):
        parse_fact(text)


def test_segments_fill_gaps_with_the_nearest_state():
    made = StateSequence.from_segments("v", np.arange(10.0), [(1, 3, [A]), (8, 9, [B])])
    assert made.table([A])[:, 0].tolist() == [True] * 6 + [False] * 4
    assert made.states() == (frozenset({A}), frozenset({B}))


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        ([(0, 5, [A]), (3, 8, [B])], "contradict"),  # two labels for the same moment
        ([], "no labelled interval"),
    ],
)
def test_bad_segments(segments, message):
    with pytest.raises(StateError, match=message):
        StateSequence.from_segments("v", np.arange(10.0), segments)


@pytest.mark.parametrize(
    ("times", "facts", "values", "message"),
    [
        ([0, 1], (A,), [[True]], "values must be"),  # a row is missing
        ([1, 0], (A,), [[True], [False]], "increasing"),  # time runs back
        ([0], (A, A), [[True, False]], "twice"),  # a fact twice
    ],
)
def test_bad_sequences(times, facts, values, message):
    with pytest.raises(StateError, match=message):
        StateSequence("v", np.array(times, float), facts, np.array(values))
