"""A word as a picture: its states, the steps between them, and what is typical of each."""

import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import WordsightError
from wordsight.files import atomic_path
from wordsight.meaning.lexicon import LearnedLexicon
from wordsight.meaning.word import WordModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_word", "save_word_plot"]

Array = NDArray[np.float64]

_OWN, _USUAL, _INK = "#0072b2", "#c9ccd1", "#16181d"
_FORMATS = ("png", "svg", "pdf")
_NOTHING = 0.02  # a feature that differs less from the usual says nothing
_LONGEST = 18  # characters of the name of a bin


def save_word_plot(
    lexicon: LearnedLexicon, entry: str, path: str | os.PathLike[str], *, strongest: int = 6
) -> None:
    """Draw a word into a file, PNG, SVG or PDF by its ending.

    Raises:
        WordsightError: If the ending is another.
    """
    ending = os.fspath(path).rpartition(".")[2].lower()
    if ending not in _FORMATS:
        raise WordsightError(
            f"{os.fspath(path)} must end in {', '.join('.' + f for f in _FORMATS)}."
        )
    figure = plot_word(lexicon, entry, strongest=strongest)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format=ending, dpi=110, facecolor="white")


def plot_word(lexicon: LearnedLexicon, entry: str, *, strongest: int = 6) -> "Figure":
    """Draw a word: a row of states with their steps, below each how its features are spread.

    Args:
        lexicon: The lexicon.
        entry: The word.
        strongest: How many features to draw, those that differ most from what is usual.
    """
    from matplotlib.figure import Figure

    word = lexicon[entry]
    rows = _strongest(lexicon, word, strongest)
    states = word.num_states
    figure = Figure(figsize=(1.9 + 2.7 * states, 1.7 + 1.45 * len(rows)), layout="constrained")
    grid = figure.add_gridspec(1 + len(rows), states, height_ratios=[0.9, *([1.0] * len(rows))])
    _draw_states(figure.add_subplot(grid[0, :]), word)
    for place, row in enumerate(rows):
        for state in range(states):
            _draw_bins(figure.add_subplot(grid[1 + place, state]), lexicon, word, row, state)
    roles = lexicon.lexicon[entry].roles if entry in lexicon.lexicon else ()
    about = f"{entry} ({', '.join(f'{n + 1} {role}' for n, role in enumerate(roles))})"
    figure.suptitle(f"{about}   blue: the word, grey: usual", fontsize=10, color=_INK)
    return figure


def _strongest(lexicon: LearnedLexicon, word: WordModel, most: int) -> list[int]:
    """Return the slots whose distributions differ most from the background, strongest first."""
    gaps = [
        float(np.abs(table - lexicon.background[slot.feature]).sum(axis=1).max())
        for slot, table in zip(word.slots, word.emissions, strict=True)
    ]
    order = np.argsort(-np.array(gaps), kind="stable")[:most]
    return [int(n) for n in order if gaps[n] > _NOTHING or n == order[0]]


def _draw_states(axes: "Axes", word: WordModel) -> None:
    axes.set_axis_off()
    axes.set_xlim(-0.5, word.num_states - 0.5)
    axes.set_ylim(-1, 1)
    for state in range(word.num_states):
        axes.plot(state, 0, "o", markersize=30, color="#e8f1f8", markeredgecolor=_OWN, zorder=2)
        axes.text(state, 0, str(state + 1), ha="center", va="center", color=_INK, fontsize=11)
        stay = f"stay {word.transition[state, state]:.2f}"
        axes.text(state, 0.55, stay, ha="center", va="bottom", fontsize=8, color=_INK)
        if word.num_states > 1 and word.initial[state] > 0.005:
            axes.text(state, -0.55, "start", ha="center", va="top", fontsize=8, color=_INK)
        for other in range(word.num_states):
            if other != state and word.transition[state, other] > 0.005:
                _draw_step(axes, state, other, float(word.transition[state, other]))


def _draw_step(axes: "Axes", state: int, other: int, share: float) -> None:
    near = abs(other - state) == 1
    bend = 0.0 if near else -0.3
    side = 0.16 if other > state else -0.16
    axes.annotate(
        "",
        (other - side, 0),
        (state + side, 0),
        arrowprops={
            "arrowstyle": "->",
            "color": _OWN,
            "linewidth": 0.8 + 1.5 * share,
            "connectionstyle": f"arc3,rad={bend}",
        },
    )
    height = 0.08 if near else 0.08 - bend
    axes.text(
        (state + other) / 2,
        height,
        f"{share:.2f}",
        ha="center",
        va="bottom",
        fontsize=8,
        color=_INK,
    )


def _draw_bins(
    axes: "Axes", lexicon: LearnedLexicon, word: WordModel, row: int, state: int
) -> None:
    slot, shares = word.slots[row], word.emissions[row][state]
    bins, usual = lexicon.vocabulary.bins[slot.feature], lexicon.background[slot.feature]
    places = np.arange(len(shares))
    axes.barh(places, usual, height=0.85, color=_USUAL)
    axes.barh(places, shares, height=0.4, color=_OWN)
    axes.set_xlim(0, 1)
    axes.set_ylim(len(shares) - 0.4, -0.6)
    axes.set_xticks([0, 0.5, 1], ["0", "", "1"], fontsize=6)
    names = [name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…" for name in bins.names]
    axes.set_yticks(places, names if state == 0 else [""] * len(names), fontsize=7)
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    if state == 0:
        who = ",".join(str(role + 1) for role in slot.roles)
        axes.set_title(f"{slot.feature}({who})", fontsize=8, loc="left", color=_INK)
