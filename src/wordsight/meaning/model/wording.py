"""What features say of things in plain words: what a word looks for, and why it fails.

Each feature has statements from its lowest bin to its highest; where it has more bins than
statements, neighbours share one.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features import LABEL, Slot
from wordsight.meaning.model.lexicon import LearnedLexicon

__all__ = ["argument_names", "looks_for", "statement", "typical_bin"]

_UP_AND_DOWN = ("{0} goes up", "{0} stays level", "{0} goes down")
_FAST = ("{0} is still", "{0} moves", "{0} moves fast")
_APART = ("{0} and {1} are close", "{0} and {1} are some way apart", "{0} and {1} are far apart")
_PARTING = (
    "{0} and {1} come nearer to each other",
    "{0} and {1} keep their distance",
    "{0} and {1} move apart",
)
_SIDES = ("{0} is to the left of {1}", "{0} is beside {1}", "{0} is to the right of {1}")
_STATEMENTS: dict[str, tuple[str, ...]] = {
    "speed": _FAST,
    "upper-speed": _FAST,
    "paper-speed": _FAST,
    "hand-speed": ("{0}'s hands are still", "{0}'s hands move", "{0}'s hands move fast"),
    "pace": ("{0} is still", "{0} is slow", "{0} is quick"),
    "stride": ("{0} stays in place", "{0} goes sideways"),
    "vertical-velocity": _UP_AND_DOWN,
    "rise": _UP_AND_DOWN,
    "horizontal-velocity": ("{0} goes left", "{0} does not go sideways", "{0} goes right"),
    "growth": ("{0} gets smaller", "{0} keeps its size", "{0} gets larger"),
    "widening": ("{0} gets narrower", "{0} keeps its width", "{0} gets wider"),
    "area": ("{0} is small", "{0} is of middling size", "{0} is large"),
    "aspect": ("{0} is tall", "{0} is about square", "{0} is wide"),
    "tone": ("{0} is dark", "{0} is of middling brightness", "{0} is bright"),
    "distance": _APART,
    "paper-distance": _APART,
    "gap": ("{0} and {1} touch", "{0} and {1} are some way apart", "{0} and {1} are far apart"),
    "nearness": ("{0} and {1} are close", "{0} and {1} are far apart"),
    "head-distance": ("{1} is near {0}'s head", "{1} is below {0}'s head", _APART[-1]),
    "hand-distance": ("{0} is at a hand", "{0} is near a hand", "{0} is far from all hands"),
    "hand-to-head": ("{0}'s hand is at the head", "{0}'s hand is below the head"),
    "distance-rate": _PARTING,
    "closing": _PARTING,
    "together": (
        "{0} and {1} are both still",
        "only {0} moves",
        "only {1} moves",
        "{1} moves with {0}",
        "{0} and {1} move differently",
    ),
    "share-inside": ("{1} is outside {0}", "{1} is partly in {0}", "{1} is inside {0}"),
    "lift": ("{1} is on the ground", "{1} is raised"),
    "horizontal-offset": _SIDES,
    "side": _SIDES,
    "vertical-offset": ("{0} is above {1}", "{0} is level with {1}", "{0} is below {1}"),
    "size-ratio": (
        "{0} is smaller than {1}",
        "{0} is as large as {1}",
        "{0} is larger than {1}",
    ),
}


def statement(lexicon: LearnedLexicon, slot: Slot, number: int, things: Sequence[str]) -> str:
    """Say in plain words that a feature of things falls into a bin.

    Args:
        lexicon: The words, for the names of bins.
        slot: The feature, and of which arguments it is.
        number: The bin.
        things: What the arguments are called.
    """
    named = [things[role] for role in slot.roles]
    names = lexicon.vocabulary.bins[slot.feature].names
    if slot.feature == LABEL:
        return f"{named[0]} looks like a {names[number]}"
    known = _STATEMENTS.get(slot.feature)
    if known is None:
        what = slot.feature.replace("-", " ").replace(":", " ")
        return f"{what} of {' and '.join(named)} is {names[number]}"
    steps = max(1, len(names) - 1)
    return known[round((len(known) - 1) * number / steps)].format(*named)


def typical_bin(lexicon: LearnedLexicon, entry: str, slot: int, state: int) -> int:
    """Return the bin that tells most of a state: frequent in it, and more so than usual."""
    word = lexicon[entry]
    shares = word.emissions[slot][state]
    usual = lexicon.background[word.slots[slot].feature]
    return int((shares * (shares / np.maximum(usual, 1e-12))).argmax())


def looks_for(lexicon: LearnedLexicon, entry: str) -> str:
    """Say in one line what a word looks for, state by state.

    Args:
        lexicon: The words.
        entry: The word.

    Returns:
        Statements with arrows between them, such as "the agent and the goal are far apart → …";
        of each sense, if there are several.
    """
    word = lexicon[entry]
    senses = [
        " → ".join(_told_of(lexicon, entry, range(first, first + word.num_phases)))
        for first in range(0, word.num_states, word.num_phases)
    ]
    return "; or ".join(senses)


def _told_of(lexicon: LearnedLexicon, entry: str, states: Iterable[int]) -> list[str]:
    """Return what some states of a word look for, without what one has in common with the last."""
    word = lexicon[entry]
    things = argument_names(lexicon, entry)
    said: list[str] = []
    for state in states:
        # What two things do beside each other says more of a word of two than what each does alone.
        gains = [
            _told_of_state(table, state, lexicon.background[slot.feature])
            * (2 if len(slot.roles) > 1 else 1)
            for slot, table in zip(word.slots, word.emissions, strict=True)
        ]
        best = int(np.argmax(gains))
        text = statement(
            lexicon, word.slots[best], typical_bin(lexicon, entry, best, state), things
        )
        if not said or said[-1] != text:
            said.append(text)
    return said


def _told_of_state(table: NDArray[np.float64], state: int, usual: NDArray[np.float64]) -> float:
    """Return how much a state tells beside what is usual, and beside the word's other states."""
    others = np.delete(table, state, axis=0)
    told = _told(table[state], usual)
    return min(told, _told(table[state], others.mean(axis=0))) if len(others) else told


def _told(shares: NDArray[np.float64], usual: NDArray[np.float64]) -> float:
    """Return how much a distribution tells, its divergence from what is usual."""
    return float((shares * (np.log(shares + 1e-12) - np.log(usual + 1e-12))).sum())


def argument_names(lexicon: LearnedLexicon, entry: str) -> list[str]:
    """Return what the arguments of a word are called, such as "the agent" and "the goal"."""
    roles = lexicon.lexicon[entry].roles if entry in lexicon.lexicon else ()
    names = [role.split("/")[0] for role in roles]
    if len(names) != lexicon[entry].arity or len(set(names)) < len(names):
        names = ["the first", "the second", "the third", "the fourth"][: lexicon[entry].arity]
    return (
        ["it"] if names == ["any"] else [n if n.startswith("the ") else f"the {n}" for n in names]
    )
