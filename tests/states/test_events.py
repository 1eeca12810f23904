"""Events over states: the text, what fits and when, and all films of the tabletop's truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.states import StateError, StateSequence, parse_fact
from wordsight.states.events.definitions import (
    EventError,
    format_events,
    leonard_events,
    parse_events,
)
from wordsight.states.events.find import find_events, outermost
from wordsight.worlds import tabletop

PICK_UP = "PICKUP(x,y,z) = [contacts(z,y), not attached(x,y)] ; [attached(x,y)]"


def sequence(*states, step=1.0):
    """Make a sequence of one moment per state, each a string of facts divided by blanks."""
    rows = [{parse_fact(text) for text in state.split()} for state in states]
    facts = tuple(sorted(set().union(*rows)))
    values = np.array([[fact in row for fact in facts] for row in rows], dtype=bool)
    return StateSequence("film", np.arange(len(rows)) * step, facts, values.reshape(len(rows), -1))


ON, HELD, FREE = "contacts(b,a)", "contacts(b,a) attached(h,a)", "attached(h,a)"
LIFT = sequence(ON, ON, HELD, FREE, FREE)


def test_the_definition_of_the_guide_fits_with_arguments_and_times():
    (event,) = find_events(LIFT, parse_events(PICK_UP))
    assert str(event) == "PICKUP(h,a,b)"
    assert (event.start, event.end) == (2.0, 2.0)
    assert event.phases == ((0.0, 2.0), (2.0, 5.0))


def test_a_pick_up_lasts_from_the_grip_until_the_object_is_free():
    (event,) = find_events(LIFT)
    assert (str(event), event.start, event.end) == ("PICKUP(h,a,b)", 2.0, 3.0)


@pytest.mark.parametrize(
    ("states", "found"),
    [
        ((ON, HELD, FREE), ["PICKUP(h,a,b)"]),
        # the moment in which both hold it was too short to be seen
        ((ON, FREE), ["PICKUP(h,a,b)"]),
        ((FREE, HELD, ON), ["PUTDOWN(h,a,b)"]),
        # gripped and let go again: nothing happened
        ((ON, HELD, ON), []),
        # taken and put back
        ((ON, HELD, FREE, HELD, ON), ["PICKUP(h,a,b)", "PUTDOWN(h,a,b)"]),
        # it fell: no hand
        ((ON, "grounded(a)"), []),
        # the hand holds another thing meanwhile
        (tuple(f"{state} attached(h,c)" for state in (ON, HELD, FREE)), ["PICKUP(h,a,b)"]),
    ],
)  # fmt: skip
def test_what_leonard_sees(states, found):
    assert [str(event) for event in find_events(sequence(*states))] == found


def test_a_move_meets_and_an_assembly_comes_later():
    moved = sequence(ON, HELD, FREE, "attached(h,a) contacts(c,a)", "contacts(c,a)")
    assert [str(event) for event in outermost(find_events(moved))] == ["MOVE(h,a,b,c)"]
    assert "PICKUP(h,a,b)" in [str(event) for event in find_events(moved)]
    built = sequence(
        "attached(h,b)", "attached(h,b) contacts(c,b)", "contacts(c,b)",
        "contacts(c,b) attached(h,a)", "contacts(c,b) attached(h,a) contacts(b,a)",
        "contacts(c,b) contacts(b,a)",
    )  # fmt: skip
    assert [str(event) for event in outermost(find_events(built))] == ["ASSEMBLE(h,a,b,c)"]


@pytest.mark.slow
def test_every_film_of_the_tabletop_shows_its_event_and_nothing_else():
    for film in tabletop(2, random_state=5):
        (event,) = outermost(find_events(truth_of(film)))
        arguments = ",".join(event.arguments)
        name = {"PICKUP": "pick-up", "PUTDOWN": "put-down"}.get(event.name, event.name.lower())
        assert f"{name}({arguments})" == film.truth.event
        told = film.truth.record()["event"]
        assert (event.start, event.end) == pytest.approx((told["start"], told["end"]), abs=2e-3)


def truth_of(film):
    """Give the film's states; contacts say who supports whom, the lower one the higher one."""
    rows = []
    for moment, facts in enumerate(film.truth.facts):
        row = set()
        for fact in map(parse_fact, facts):
            below = sorted(fact.arguments, key=lambda name: -film.truth.boxes[name][moment][3])
            row.add(
                type(fact)(fact.predicate, tuple(below)) if fact.predicate == "contacts" else fact
            )
        rows.append(row)
    facts = tuple(sorted(set().union(*rows)))
    values = np.array([[fact in row for fact in facts] for row in rows])
    return StateSequence(film.name, film.times, facts, values)


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("PICKUP(x,y = [a(x)]", 1, 12, "',' or ')'"),
        ("E(x) = [a(x)", 1, 13, "',' or ']'"),
        ("E(x) = a(x)", 1, 8, "conditions stand in brackets"),
        ("E(x) = [a(y)]", 1, 11, "y is not among the arguments"),
        ("E(x,x) = [a(x)]", 1, 5, "twice"),
        ("E(x,y) = [a(x)]", 1, 1, "y is never used"),
        ("E(x) = [a(x)]\nE(x) = [b(x)]", 2, 1, "defined twice"),
        ("E(x) = [a(x)]\nF(x,y) = E(x,y)", 2, 10, "E has 1 arguments, found 2"),
        ("E(x) = [a(x)] ;\n  ]", 2, 3, "phase"),
        ("E(x) = [a(x)] ; [b(x)]?", 1, 17, "between two others"),
        ("E(x) = [a(x)] & [b(x)]", 1, 15, "'&' cannot stand"),
        ("E(x) = [not]", 1, 12, "a condition"),
        ("E(x) = [a(x)] while E(x)", 1, 21, "'['"),
    ],
)
def test_errors_point_at_the_column(text, line, column, says):
    with pytest.raises(EventError) as caught:
        parse_events(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert says in str(caught.value)
    assert str(caught.value).splitlines()[-1].index("^") == column + 1


def test_text_round_trips_and_definitions_can_be_extended():
    text = 'GIVE(x,y) = (HOLD(x) ; [b(x,y)]? ; [not a("the cup",y)]) while [c(x)] before HOLD(y)\n'
    known = parse_events("HOLD(x) = [a(x,x)]  # a comment")
    both = parse_events(text, known)
    assert format_events(both[1:]) == text
    assert parse_events(format_events(both)) == both
    assert parse_events(format_events(leonard_events())) == leonard_events()


def test_names_in_quotes_are_objects():
    held = parse_events('HELD(y) = [attached("h",y)]')
    assert [(str(e), e.start, e.end) for e in find_events(LIFT, held)] == [("HELD(a)", 2.0, 5.0)]


def test_a_predicate_with_another_number_of_arguments_is_refused():
    with pytest.raises(StateError, match="attached with 1 arguments"):
        find_events(LIFT, parse_events("E(x) = [attached(x)]"))


def test_an_empty_sequence_has_no_events():
    assert find_events(StateSequence("film", [], (), np.zeros((0, 0), bool))) == ()


STATES = st.lists(st.sets(st.sampled_from(["p(a)", "q(a)", "r(a)"])), min_size=1, max_size=6)


@pytest.mark.slow
@given(STATES)
def test_a_chain_fits_where_a_brute_force_search_finds_borders(states):
    text = "E(x) = [p(x)] ; [q(x)] ; [not r(x)]"
    listed = sequence("p(a) q(a) r(a)", *(" ".join(sorted(state)) for state in states))
    cut = StateSequence("film", listed.times[1:], listed.facts, listed.values[1:])
    # Borders may lie within a moment: three phases fit into one moment cut in three.
    rows = [set(state) for state in states for _ in range(3)]
    tests = [lambda row: "p(a)" in row, lambda row: "q(a)" in row, lambda row: "r(a)" not in row]
    fits = any(
        all(all(test(row) for row in rows[i:j]) for test, (i, j) in zip(tests, spans, strict=True))
        for a in range(len(rows))
        for b in range(a + 1, len(rows))
        for c in range(b + 1, len(rows))
        for d in range(c + 1, len(rows) + 1)
        for spans in [((a, b), (b, c), (c, d))]
    )
    assert bool(find_events(cut, parse_events(text))) == fits
