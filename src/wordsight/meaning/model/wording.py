"""Learned words for people: cards, pages and tables of words, and what features say in plain words.

Each feature has statements from its lowest bin to its highest; where it has more bins than
statements, neighbours share one.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import WordsightError
from wordsight.files import atomic_path
from wordsight.language import PartOfSpeech
from wordsight.meaning.features import LABEL, Bins, Slot, get_feature
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.model.quality import NOTE, quality_lines, quality_of, word_line
from wordsight.meaning.model.word import WordModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "argument_names",
    "lexicon_card",
    "looks_for",
    "plot_word",
    "save_word_plot",
    "statement",
    "typical_bin",
    "word_page",
    "word_values",
]

_UP_AND_DOWN = ("{0} goes up", "{0} stays level", "{0} goes down")
_FAST = ("{0} is still", "{0} moves slowly", "{0} moves at a moderate speed", "{0} moves fast")
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
    "hand-speed": (
        "{0}'s hands are still",
        "{0}'s hands move slowly",
        "{0}'s hands move at a moderate speed",
        "{0}'s hands move fast",
    ),
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

_OWN, _USUAL, _INK = "#0072b2", "#c9ccd1", "#16181d"
_FORMATS = ("png", "svg", "pdf")
_NOTHING = 0.02  # a feature that differs less from the background is uninformative
_LONG_NOTES = (NOTE, "learned_from")  # shown in other ways, or not at all
_ROLE_HEADING = "nouns said in its roles more often than others (how many times the mean)"
_LONGEST = 18  # characters of the name of a bin


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
    return ["it" if n == "any" else n if n.startswith("the ") else f"the {n}" for n in names]


def lexicon_card(lexicon: LearnedLexicon) -> str:
    """Return the model card of a lexicon as Markdown."""
    by_part = {
        part: [w.entry for w in lexicon.words.values() if w.part is part] for part in PartOfSpeech
    }
    lines = ["# A learned lexicon", "", "Made by Wordsight. Words and what they look at:", ""]
    lines += [f"- {part}: {', '.join(names)}" for part, names in by_part.items() if names]
    lines += ["", "## How it was learned", ""]
    plain = {name: value for name, value in lexicon.notes.items() if name not in _LONG_NOTES}
    lines += [f"- {name.replace('_', ' ')}: {value}" for name, value in plain.items()]
    lines += [
        f"- features: {lexicon.features.name}",
        f"- labels of the detector: {', '.join(lexicon.vocabulary.labels)}",
        f"- a sentence is said to be true from a score of {lexicon.threshold:.4g} on",
        *_quality_section(lexicon),
        "",
        "## Limits",
        "",
        "It knows only what the detector of its training clips saw; another detector, another",
        "camera height or another kind of scene may need learning anew. Scores compare sentences",
        "about the same clip best; comparing clips of different films is less sure.",
    ]
    nouns = [word for word in lexicon.words.values() if word.part is PartOfSpeech.NOUN]
    if nouns:
        lines += ["", "## Nouns", "", "| word | label | share |", "|---|---|---|"]
        lines += [_noun_row(word, lexicon) for word in nouns]
    return "\n".join(lines) + "\n"


def _quality_section(lexicon: LearnedLexicon) -> list[str]:
    quality = quality_of(lexicon)
    if quality is None:
        return []
    lines = ["", "## How good the words are", "", *quality_lines(quality), *quality.advice, ""]
    rows = [f"- {entry}: {word_line(word)}" for entry, word in sorted(quality.words.items())]
    return [*lines, *rows]


def _noun_row(word: WordModel, lexicon: LearnedLexicon) -> str:
    shares = word.emission(LABEL, 0)[0]
    best = sorted(range(len(shares)), key=lambda k: -shares[k])[:3]
    labels = ", ".join(lexicon.vocabulary.labels[k] for k in best)
    return f"| {word.entry} | {labels} | {', '.join(f'{shares[k]:.2f}' for k in best)} |"


def word_page(lexicon: LearnedLexicon, entry: str, *, strongest: int = 12) -> str:
    """Return a word's states, transitions and the typical features of each state, as text.

    Args:
        lexicon: The lexicon.
        entry: The word.
        strongest: Number of features of each state to list, those that differ most from the
            background.
    """
    word = lexicon[entry]
    roles = ", ".join(_roles(lexicon, entry))
    senses = f", {word.senses} senses" if word.senses > 1 else ""
    states = f"{word.num_states} state{'' if word.num_states == 1 else 's'}"
    lines = [f"{entry}: {word.part} ({roles}), {states}{senses}"]
    quality = quality_of(lexicon)
    if quality is not None and entry in quality.words:
        lines.append(f"  {word_line(quality.words[entry])}")
    for state in range(word.num_states):
        steps = ", ".join(
            f"{'stay' if k == state else f'to {k + 1}'} {p:.2f}"
            for k, p in enumerate(word.transition[state])
            if p >= 0.005
        )
        if word.senses > 1 and state % word.num_phases == 0:
            lines.append(f"\nsense {state // word.num_phases + 1}")
        lines.append(f"\nstate {state + 1} (start {word.initial[state]:.2f}; {steps})")
        lines += _typical_features(lexicon, word, state, strongest)
    return "\n".join([*lines, *_role_prior_lines(lexicon, entry, strongest)])


def _roles(lexicon: LearnedLexicon, entry: str) -> tuple[str, ...]:
    return lexicon.lexicon[entry].roles if entry in lexicon.lexicon else ()


def _role_prior_lines(lexicon: LearnedLexicon, entry: str, most: int) -> list[str]:
    """Return a line per role of a verb: the nouns that fill it more often than others."""
    known = lexicon.calibration.role_priors.ratios.get(entry, ())
    lines = []
    for role, nouns in zip(_roles(lexicon, entry), known, strict=False):
        ranked = sorted(nouns.items(), key=lambda item: (-item[1], item[0]))
        shown = [f"{noun} {np.exp(ratio):.2g}" for noun, ratio in ranked if ratio > 0.0]
        if len(nouns) > 1 and shown:
            lines.append(f"  {role}: {', '.join(shown[:most])}")
    return [f"\n{_ROLE_HEADING}", *lines] if lines else []


def _typical_features(
    lexicon: LearnedLexicon, word: WordModel, state: int, strongest: int
) -> list[str]:
    rows = []
    for slot, table in zip(word.slots, word.emissions, strict=True):
        usual = lexicon.background[slot.feature]
        shares = table[state]
        best = int((shares * (shares / usual)).argmax())
        distance = float(abs(shares - usual).sum()) / 2
        roles = ",".join(str(role + 1) for role in slot.roles)
        bins, unit = lexicon.vocabulary.bins[slot.feature], _unit(lexicon, slot.feature)
        what = f"{bins.names[best]} {unit}".rstrip()
        text = f"  {slot.feature}({roles}): {what}  {shares[best]:.2f} (usual {usual[best]:.2f})"
        rows.append((distance, text))
    rows.sort(key=lambda row: -row[0])
    return [text for _, text in rows[:strongest]]


def _unit(lexicon: LearnedLexicon, name: str) -> str:
    """Return the unit of a feature; empty where its bins have names of their own."""
    bins = lexicon.vocabulary.bins[name]
    numbered = name != LABEL and bins.names == Bins(bins.edges).names
    return get_feature(name).unit if numbered else ""


def word_values(lexicon: LearnedLexicon, entry: str) -> dict[str, Any]:
    """Return a word's tables as values for JSON, with the names of bins and the background."""
    word = lexicon[entry]
    slots = [
        asdict(slot)
        | {
            "bins": lexicon.vocabulary.bins[slot.feature].names,
            "unit": _unit(lexicon, slot.feature),
            "usual": lexicon.background[slot.feature],
        }
        for slot in word.slots
    ]
    priors = lexicon.calibration.role_priors.ratios.get(entry, ())
    quality = quality_of(lexicon)
    known = None if quality is None else quality.words.get(entry)
    return asdict(word) | {
        "slots": slots,
        "habits": list(priors),
        "quality": None if known is None else asdict(known),
    }


def save_word_plot(
    lexicon: LearnedLexicon, entry: str, path: str | os.PathLike[str], *, strongest: int = 6
) -> None:
    """Plot a word to a PNG, SVG or PDF file, by the suffix of the path.

    Raises:
        WordsightError: If the suffix is another.
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
    """Plot a word: its states with their transitions, below each the distributions of features.

    Args:
        lexicon: The lexicon.
        entry: The word.
        strongest: Number of features to plot, those that differ most from the background.
    """
    from matplotlib.figure import Figure

    word = lexicon[entry]
    rows = _strongest_slots(lexicon, word, strongest)
    states = word.num_states
    figure = Figure(figsize=(1.9 + 2.7 * states, 1.7 + 1.45 * len(rows)), layout="constrained")
    grid = figure.add_gridspec(1 + len(rows), states, height_ratios=[0.9, *([1.0] * len(rows))])
    _draw_states(figure.add_subplot(grid[0, :]), word)
    for place, row in enumerate(rows):
        for state in range(states):
            _draw_bins(figure.add_subplot(grid[1 + place, state]), lexicon, word, row, state)
    roles = ", ".join(f"{n + 1} {role}" for n, role in enumerate(_roles(lexicon, entry)))
    senses = f", {word.senses} senses" if word.senses > 1 else ""
    title = f"{entry} ({roles}{senses})   blue: the word, grey: usual"
    figure.suptitle(title, fontsize=10, color=_INK)
    return figure


def _strongest_slots(lexicon: LearnedLexicon, word: WordModel, most: int) -> list[int]:
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
    adjacent = abs(other - state) == 1
    bend = 0.0 if adjacent else -0.3
    side = 0.16 if other > state else -0.16
    arrow = {
        "arrowstyle": "->",
        "color": _OWN,
        "linewidth": 0.8 + 1.5 * share,
        "connectionstyle": f"arc3,rad={bend}",
    }
    axes.annotate("", (other - side, 0), (state + side, 0), arrowprops=arrow)
    place = ((state + other) / 2, 0.08 if adjacent else 0.08 - bend)
    axes.text(*place, f"{share:.2f}", ha="center", va="bottom", fontsize=8, color=_INK)


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
        roles = ",".join(str(role + 1) for role in slot.roles)
        axes.set_title(f"{slot.feature}({roles})", fontsize=8, loc="left", color=_INK)
