"""What labelled videos must be like before anything is learned from them."""

from collections.abc import Sequence

import numpy as np

from wordsight.states.errors import StateError
from wordsight.states.facts import StateSequence
from wordsight.states.grounding import Grounder
from wordsight.states.observations import Observations
from wordsight.states.rules import Rule
from wordsight.states.vocabulary import Vocabulary

__all__ = ["check_hard_rules", "check_training"]


def check_training(
    observations: Sequence[Observations],
    states: Sequence[StateSequence],
    groups: Sequence[object] | None,
    *,
    timed: bool,
) -> None:
    """Refuse videos that nothing can be learned from.

    Args:
        observations: What is measured.
        states: What holds when.
        groups: Which videos belong together, or ``None``.
        timed: Whether every frame must be labelled.
    """
    if not len(observations):
        raise StateError("there is no video to learn from; give at least one with its states.")
    if len(observations) != len(states) or (groups is not None and len(groups) != len(states)):
        count = "" if groups is None else f" and {len(groups)} groups"
        raise StateError(
            f"every video needs its states: got {len(observations)} videos, {len(states)} label "
            f"sequences{count}."
        )
    for seen, told in zip(observations, states, strict=True):
        if seen.video_id != told.video_id:
            raise StateError(
                f"the labels of {told.video_id} stand beside the video {seen.video_id}; put both "
                "lists in the same order."
            )
        if not len(seen) or not len(told):
            raise StateError(f"{seen.video_id} has no frames or no labels; leave it out.")
        if timed and not (len(seen) == len(told) and np.array_equal(seen.times, told.times)):
            raise StateError(
                f"to discover rules every frame needs a label, but {seen.video_id} has "
                f"{len(seen)} frames and {len(told)} labels at other times; make them with "
                "StateSequence.from_segments(video_id, observations.times, ...)."
            )
    _check_twins(observations, states)


def check_hard_rules(
    rules: Sequence[Rule],
    observations: Sequence[Observations],
    states: Sequence[StateSequence],
    vocabulary: Vocabulary,
) -> None:
    """Refuse labels that break a rule said to hold always: no weights would ever tell them.

    Args:
        rules: The rules given; those with a weight may be broken.
        observations: What is measured.
        states: What holds when; labels told in order only are not looked at.
        vocabulary: What the rules speak of.
    """
    grounder = Grounder([rule for rule in rules if rule.hard], vocabulary)
    for seen, told in zip(observations, states, strict=True):
        if not (grounder.rules and np.array_equal(seen.times, told.times)):
            continue
        grounding = grounder.ground(seen)
        rows, instances = np.nonzero(grounding.broken(told.table(grounding.facts)))
        if len(rows):
            who = grounding.bindings[int(instances[0])]
            names = ", ".join(f"{variable} = {name}" for variable, name in who.items())
            rule = grounding.rules[int(grounding.rule_of[instances[0]])]
            raise StateError(
                f"the labels of {seen.video_id} contradict the rule '{rule}' at "
                f"{seen.times[rows[0]]:.2f} s ({names}); correct the labels, or give the rule a "
                "weight in place of 'hard'."
            )


def _check_twins(observations: Sequence[Observations], states: Sequence[StateSequence]) -> None:
    """Refuse a video that comes twice with different labels."""
    known: dict[str, StateSequence] = {}
    for seen, told in zip(observations, states, strict=True):
        before = known.setdefault(seen.video_id, told)
        if before is not told and before.states() != told.states():
            raise StateError(
                f"{seen.video_id} comes twice, and its labels contradict each other; keep the "
                "right ones."
            )
