"""Protocols of the workbench: their texts, their orders, and deeds in any order."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.worlds import WorldError
from wordsight.worlds.workbench.deeds import DEEDS, StepOrder, choose_order
from wordsight.worlds.workbench.recording import Manner, perform
from wordsight.worlds.workbench.steps import KINDS, kinds_for, write_protocol
from wordsight.worlds.workbench.things import THINGS

ALL_KINDS = kinds_for(tuple(KINDS), tuple(THINGS))


def protocol(seed, num_steps=12):
    return write_protocol(num_steps, ALL_KINDS, tuple(THINGS), np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(12))
def test_a_text_has_numbered_steps_of_one_to_four_sentences(seed):
    written = protocol(seed, 10 + seed)
    blocks = written.text().strip().split("\n\n")
    assert len(blocks) == 10 + seed
    for number, (block, step) in enumerate(zip(blocks, written.steps, strict=True), start=1):
        first, *rest = block.splitlines()
        assert first.startswith(f"Step {number} ")
        assert all(line.startswith("    ") for line in rest)
        lines = [first.removeprefix(f"Step {number} "), *(line.strip() for line in rest)]
        assert lines == [sentence.text for sentence in step.sentences]
        assert 1 <= len(lines) <= 4
        assert all(re.fullmatch(r"[A-Z].*\.", line) for line in lines)


def test_texts_speak_of_amounts_and_of_things_that_are_never_seen():
    texts = " ".join(protocol(seed).text() for seed in range(10))
    assert re.search(r"\d+ (g|mg|mL|uL) of ", texts)
    for unseen in ("sink", "solution", "bubbles", "water"):
        assert unseen in texts


def test_everything_a_protocol_names_stands_on_the_bench():
    for seed in range(30):
        written = protocol(seed)
        for sentence in written.sentences:
            assert set(sentence.named()) <= set(written.things)
            assert set(sentence.things.values()) <= set(written.things)
            # Every sentence names something that its deed is done with.
            assert set(sentence.named()) & set(sentence.things.values()), sentence.text


def test_every_kind_and_every_deed_is_used():
    steps = [step for seed in range(60) for step in protocol(seed).steps]
    assert {step.kind for step in steps} == set(KINDS)
    assert {sentence.deed for step in steps for sentence in step.sentences} == set(DEEDS)


def test_things_are_named_as_whole_phrases():
    sentence = next(
        s for seed in range(30) for s in protocol(seed).sentences if "test tube out" in s.text
    )
    assert sentence.named() == ("rack", "tube")


rates = st.floats(0.0, 1.0)


@given(st.integers(1, 25), rates, rates, rates, st.integers(0, 10_000))
def test_an_order_is_what_its_mistakes_make_of_the_steps(num_steps, skip, repeat, swap, seed):
    order = choose_order(num_steps, skip, repeat, swap, np.random.default_rng(seed))
    steps = [k for k in range(num_steps) if k not in order.skipped]
    for one, other in order.swapped:
        at = steps.index(one)
        assert steps[at + 1] == other
        steps[at], steps[at + 1] = other, one
    twice = [k for step in steps for k in ([step, step] if step in order.repeated else [step])]
    assert list(order.steps) == twice
    assert steps
    moved = [k for pair in order.swapped for k in pair]
    assert len(moved) == len(set(moved))


@pytest.mark.parametrize(
    ("skip", "repeat", "swap", "expected"),
    [
        # no mistakes
        (0, 0, 0, StepOrder((0, 1, 2, 3))),
        # every step twice
        (0, 1, 0, StepOrder((0, 0, 1, 1, 2, 2, 3, 3), repeated=(0, 1, 2, 3))),
        # neighbours swap, each step once
        (0, 0, 1, StepOrder((1, 0, 3, 2), swapped=((0, 1), (2, 3)))),
    ],
)
def test_certain_mistakes(skip, repeat, swap, expected):
    assert choose_order(4, skip, repeat, swap, np.random.default_rng(0)) == expected


def test_mistakes_come_at_their_rates():
    rng = np.random.default_rng(0)
    orders = [choose_order(20, 0.1, 0.3, 0.0, rng) for _ in range(200)]
    assert np.mean([len(order.skipped) for order in orders]) / 20 == pytest.approx(0.1, abs=0.02)
    assert np.mean([len(o.repeated) for o in orders]) / 18 == pytest.approx(0.3, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_deeds_can_be_done_in_any_order(seed):
    written = protocol(seed, 9)
    rng = np.random.default_rng(seed)
    order = StepOrder(tuple(rng.permutation(np.tile(np.arange(9), 2)).tolist()))
    recording = perform(written, order, Manner(pace=4.0, frame_rate=10.0), rng)
    for moment in recording.moments:
        after = recording.poses[moment.last + 1]
        assert all(pose.touching is None and not pose.holding for pose in after)
    x, depth, height = np.moveaxis(recording.places, -1, 0)
    assert np.abs(x).max() < 0.6
    assert height.min() > -0.15  # what is tilted reaches below its grip, never far
    assert depth.max() < 0.75
    levels = [look.level for looks in recording.looks for look in looks]
    assert 0.0 <= min(levels) <= max(levels) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_what_nobody_holds_stands_or_lies_at_rest(seed):
    recording = perform(
        protocol(seed, 8), choose_order(8, 0, 0, 0, np.random.default_rng(0)), Manner(pace=4.0),
        np.random.default_rng(seed),
    )  # fmt: skip
    touched = recording.touched()
    carried = touched | _on_touched(recording, touched)
    steps = np.abs(np.diff(recording.places, axis=1)).max(axis=2)
    free = ~(carried[:, 1:] | carried[:, :-1])
    assert steps[free].max() == 0.0


def _on_touched(recording, touched):
    bases = recording.stands_on
    frames = np.arange(recording.num_frames)
    return (bases >= 0) & np.stack([touched[row, frames] for row in bases])


def test_too_few_objects_for_any_step_are_refused():
    with pytest.raises(WorldError, match="no step can be done with beaker, flask, jar"):
        kinds_for(("weigh", "aliquot"), ("jar",))
