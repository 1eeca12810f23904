"""The truth of the tabletop, held against geometry and the definitions of its events."""

import re
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.worlds import WorldError
from wordsight.worlds.tabletop import EVENTS, compress, tabletop
from wordsight.worlds.tabletop.acts import SupportChange
from wordsight.worlds.tabletop.recording import settled

FILMS = 3  # of each event
# The parts that each event must and may show, whatever the film was made for.
CONTAINS = {
    "pick-up": {"pick-up": 1},
    "put-down": {"put-down": 1},
    "stack": {"put-down": 1, "stack": 1},
    "unstack": {"pick-up": 1, "unstack": 1},
    "move": {"pick-up": 1, "put-down": 1, "move": 1},
    "assemble": {"put-down": 2, "stack": 1, "assemble": 1},
    "disassemble": {"pick-up": 2, "unstack": 1, "disassemble": 1},
}


@lru_cache(maxsize=1)
def films():
    return tuple(tabletop(films_per_event=FILMS, random_state=11, noise=0.0))


def by_event(name):
    return [film for film in films() if f"-{name}-" in film.name]


def read(fact):
    name, arguments = re.fullmatch(r"(\w+)\(([\w,]+)\)", fact).groups()
    return name, tuple(arguments.split(","))


def every_frame():
    for film in films():
        for frame, facts in enumerate(film.truth.facts):
            yield film, frame, [read(fact) for fact in facts]


def supported_by(facts, block, other):
    return f"contacts({','.join(sorted((block, other)))})" in facts


def occurrences(sequence, blocks):
    """Find the events in a sequence of states by their definitions, knowing nothing of scripts."""
    found = []
    for now, after in pairwise(range(len(sequence))):
        before, here = sequence[now], sequence[after]
        for x in blocks:
            for y in set(blocks) - {x}:
                held = f"attached(hand,{x})"
                touches = [supported_by(state, x, y) for state in (before, here)]
                holds = [held in state for state in (before, here)]
                # The middle state has both; one side is held only, the other touches only.
                if now == 0 or not (touches[0] and holds[0]):
                    continue
                former = sequence[now - 1]
                if holds[1] and not touches[1] and held not in former:
                    found.append((now, "pick-up", x, y))
                if touches[1] and not holds[1] and not supported_by(former, x, y):
                    found.append((now, "put-down", x, y))
    return found + list(composed(found, sequence, blocks))


def composed(simple, sequence, blocks):
    for when, name, x, y in simple:
        for z in set(blocks) - {x, y}:
            if supported_by(sequence[when], y, z):
                yield when, {"put-down": "stack", "pick-up": "unstack"}[name], x, y, z
    for (when, one, x, y), (later, two, u, v) in ((a, b) for a in simple for b in simple):
        if later <= when:
            continue
        if (one, two) == ("pick-up", "put-down") and u == x and v != y:
            yield later, "move", x, y, v
        if (one, two) == ("put-down", "put-down") and v == x:
            yield later, "assemble", u, x, y
        if (one, two) == ("pick-up", "pick-up") and u == y:
            yield later, "disassemble", x, y, v


@pytest.mark.slow
@pytest.mark.parametrize("name", list(EVENTS))
def test_a_film_shows_its_event_once_and_nothing_else(name):
    for film in by_event(name):
        blocks = film.truth.recording.blocks
        found = occurrences(film.truth.sequence, blocks)
        counts = {kind: sum(event[1] == kind for event in found) for kind in EVENTS}
        assert {kind: n for kind, n in counts.items() if n} == CONTAINS[name], film.name
        (event,) = (event for event in found if event[1] == name)
        assert film.truth.event == f"{name}(hand,{','.join(event[2:])})"


@pytest.mark.slow
def test_contacts_agree_with_the_boxes():
    for film, frame, facts in every_frame():
        fronts = film.truth.polygons
        touching = {arguments for name, arguments in facts if name == "contacts"}
        assert all(tuple(sorted(pair)) == pair for pair in touching)
        blocks = film.truth.recording.blocks
        for one in blocks:
            for other in blocks[blocks.index(one) + 1 :]:
                gap = distance(fronts[one][frame], fronts[other][frame])
                if tuple(sorted((one, other))) in touching:
                    assert gap < 3.0, (film.name, frame, one, other)
                else:
                    assert gap > -1.5, (film.name, frame, one, other)


def distance(one, other):
    """Return the pixels between the boxes around two polygons; below 0 if they overlap."""
    low = np.maximum(one.min(axis=0), other.min(axis=0))
    high = np.minimum(one.max(axis=0), other.max(axis=0))
    return float(np.max(low - high))


@pytest.mark.slow
def test_grounded_blocks_stand_at_the_height_of_the_table_and_others_do_not():
    table = 396.0  # row of the pictures
    for film in films():
        for block, fronts in film.truth.polygons.items():
            above = table - fronts[:, :, 1].max(axis=1)
            standing = np.array([f"grounded({block})" in facts for facts in film.truth.facts])
            assert np.all(np.abs(above[standing]) < 1.5), film.name
            assert np.all(above[~standing] > -0.5), film.name
            # A block in the air passes the last two pixels within a few frames.
            close = ~standing & (above < 2.0)
            longest = max(
                (len(run) for run in "".join(".#"[int(c)] for c in close).split(".")), default=0
            )
            assert longest <= 3, film.name


@pytest.mark.slow
def test_what_the_hand_holds_overlaps_it_and_moves_with_it():
    for film in films():
        truth = film.truth
        hand = truth.boxes["hand"]
        for block in truth.recording.blocks:
            held = np.array([f"attached(hand,{block})" in facts for facts in truth.facts])
            if not held.any():
                continue
            box = truth.boxes[block]
            low = np.maximum(hand[held, :2], box[held, :2])
            high = np.minimum(hand[held, 2:], box[held, 2:])
            assert np.all(high - low > 5), film.name
            # Thumb and finger follow the block: their distance stays what it was at the grip.
            pads = np.array([(pose.x, pose.y) for pose in truth.recording.poses])[held]
            number = truth.recording.blocks.index(block)
            apart = pads - truth.recording.places[number, held, :2]
            for run in np.split(apart, np.flatnonzero(np.diff(np.flatnonzero(held)) > 1) + 1):
                assert np.ptp(run, axis=0).max() < 0.006, film.name


def test_a_picked_up_block_rises_with_the_hand():
    for film in [*by_event("pick-up"), *by_event("unstack"), *by_event("move")]:
        truth = film.truth
        roles = truth.record()["event"]["roles"]
        part = next(p for p in truth.record()["event"]["parts"] if p["name"] == "pick-up")
        after = part["frames"][1] + 10
        block = roles["object"]
        rise = truth.polygons[block][part["frames"][0]] - truth.polygons[block][after]
        hand = truth.boxes["hand"][part["frames"][0]] - truth.boxes["hand"][after]
        assert rise[:, 1].mean() > 4
        assert hand[3] == pytest.approx(rise[:, 1].mean(), abs=6)


def test_blocks_nobody_touches_stay_where_they_are():
    for film in films():
        recording = film.truth.recording
        held = {name for name in recording.held if name}
        for name, places in zip(recording.blocks, recording.places, strict=True):
            if name not in held and name not in recording.scenario.cast.values():
                assert np.ptp(places, axis=0).max() < 0.002, film.name


def test_pick_up_and_put_down_are_mirror_images():
    def shape(film, states):
        roles = {name: role for role, name in film.truth.recording.scenario.cast.items()}
        return [
            sorted(
                (name, *(roles.get(argument, argument) for argument in arguments))
                for name, arguments in map(read, state)
                if set(arguments) <= {*roles, "hand"}
            )
            for state in states
        ]

    def sides(states):
        return [[(f[0], *sorted(f[1:])) for f in state] for state in states]

    for up, down in zip(by_event("pick-up"), by_event("put-down"), strict=True):
        forward = sides(shape(up, up.truth.sequence))
        backward = sides(shape(down, reversed(down.truth.sequence)))
        assert forward == backward
        assert len(forward) == 3


def test_the_record_tells_every_frame_once():
    for film in films():
        record = film.truth.record()
        spans = [state["frames"] for state in record["states"]]
        assert spans[0][0] == 0
        assert spans[-1][1] == film.num_frames - 1
        assert all(one[1] + 1 == other[0] for one, other in pairwise(spans))
        assert [state["facts"] for state in record["states"]] == record["sequence"]
        shortest = min(last - first + 1 for first, last in spans)
        assert shortest >= 3, f"{film.name} has a state of {shortest} frames"
        event = record["event"]
        assert 0 < event["start"] < event["end"] < film.duration


@pytest.mark.slow
@given(st.lists(st.sampled_from("abc")))
def test_compressing_twice_is_compressing_once(states):
    once = compress(states)
    assert compress(once) == once
    assert all(one != other for one, other in pairwise(once))
    assert set(once) == set(states)


@pytest.mark.parametrize(
    ("pushed", "millimetres", "touching"),
    [
        # resting: a contact that the engine reports now and then
        ("#.##.#####", [0] * 10, "##########"),
        # a block that bounces once when it arrives
        ("...#.#####", [9, 6, 3, 0, 2, 0, 0, 0, 0, 0], "...#######"),
        # two blocks that pass and brush for a single frame
        ("....#.....", [9, 7, 5, 2, 0, 2, 5, 7, 9, 9], ".........."),
        # lifted: the contact lasts until there is air between them
        ("####......", [0, 0, 0, 0, 1, 1, 2, 4, 6, 9], "######...."),
        # near but never pushing
        ("..........", [1] * 10, ".........."),
    ],
)
def test_flickering_contacts_are_settled(pushed, millimetres, touching):
    pushes = np.array([mark == "#" for mark in pushed])
    result = settled(pushes, np.array(millimetres) / 1000.0, shortest=3)
    assert "".join("#" if on else "." for on in result) == touching


def test_asking_for_a_part_that_does_not_happen_is_refused():
    film = by_event("pick-up")[0]
    with pytest.raises(WorldError, match="no put-down of"):
        film.truth.span(SupportChange("put-down", "support", "object"))
