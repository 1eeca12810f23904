"""The card of a learned lexicon: one page that tells people what it knows and how it came to be."""

from dataclasses import asdict
from typing import Any

import numpy as np

from wordsight.language import PartOfSpeech
from wordsight.meaning.features import LABEL, Bins, feature
from wordsight.meaning.lexicon import LearnedLexicon
from wordsight.meaning.word import WordModel

__all__ = ["card", "word_page", "word_values"]


def card(lexicon: LearnedLexicon) -> str:
    """Return the card as Markdown."""
    by_part = {
        part: [w.entry for w in lexicon.words.values() if w.part is part] for part in PartOfSpeech
    }
    lines = ["# A learned lexicon", "", "Made by Wordsight. Words and what they look at:", ""]
    lines += [f"- {part}: {', '.join(names)}" for part, names in by_part.items() if names]
    lines += ["", "## How it was learned", ""]
    lines += [f"- {name.replace('_', ' ')}: {value}" for name, value in lexicon.notes.items()]
    lines += [
        f"- features: {lexicon.features.name}",
        f"- labels of the detector: {', '.join(lexicon.vocabulary.labels)}",
        f"- a sentence is said to be true from a score of {lexicon.threshold:.4g} on",
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


def _noun_row(word: WordModel, lexicon: LearnedLexicon) -> str:
    shares = word.emission(LABEL, 0)[0]
    best = sorted(range(len(shares)), key=lambda k: -shares[k])[:3]
    labels = ", ".join(lexicon.vocabulary.labels[k] for k in best)
    return f"| {word.entry} | {labels} | {', '.join(f'{shares[k]:.2f}' for k in best)} |"


def word_page(lexicon: LearnedLexicon, entry: str, *, strongest: int = 12) -> str:
    """Return a word's states, steps and what is typical of each state, as plain text.

    Args:
        lexicon: The lexicon.
        entry: The word.
        strongest: How many features of each state to list, those that differ most from usual.
    """
    word = lexicon[entry]
    roles = lexicon.lexicon[entry].roles if entry in lexicon.lexicon else ()
    lines = [f"{entry}: {word.part} ({', '.join(roles)}), {word.num_states} state(s)"]
    for state in range(word.num_states):
        steps = ", ".join(
            f"{'stay' if k == state else f'to {k + 1}'} {p:.2f}"
            for k, p in enumerate(word.transition[state])
            if p >= 0.005
        )
        lines.append(f"\nstate {state + 1} (start {word.initial[state]:.2f}; {steps})")
        lines += _typical(lexicon, word, state, strongest)
    return "\n".join([*lines, *_habits(lexicon, entry, strongest)])


def _habits(lexicon: LearnedLexicon, entry: str, most: int) -> list[str]:
    """Return a line per role of a verb: who fills it more often than others, most often first."""
    known = lexicon.calibration.habits
    roles = lexicon.lexicon[entry].roles if entry in lexicon.lexicon else ()
    lines = []
    for role, nouns in zip(roles, known.ratios.get(entry, ()), strict=False):
        ranked = sorted(nouns.items(), key=lambda item: (-item[1], item[0]))
        shown = [f"{noun} x{np.exp(ratio):.2g}" for noun, ratio in ranked if ratio > 0.0]
        if len(nouns) > 1 and shown:
            lines.append(f"  {role}: {', '.join(shown[:most])}")
    return ["\nwho is usually said to fill its roles", *lines] if lines else []


def _typical(lexicon: LearnedLexicon, word: WordModel, state: int, strongest: int) -> list[str]:
    rows = []
    for slot, table in zip(word.slots, word.emissions, strict=True):
        usual = lexicon.background[slot.feature]
        shares = table[state]
        best = int((shares * (shares / usual)).argmax())
        distance = float(abs(shares - usual).sum()) / 2
        who = ",".join(str(role + 1) for role in slot.roles)
        bins, unit = lexicon.vocabulary.bins[slot.feature], _unit(lexicon, slot.feature)
        what = f"{bins.names[best]} {unit}".rstrip()
        text = f"  {slot.feature}({who}): {what}  {shares[best]:.2f} (usual {usual[best]:.2f})"
        rows.append((distance, text))
    rows.sort(key=lambda row: -row[0])
    return [text for _, text in rows[:strongest]]


def _unit(lexicon: LearnedLexicon, name: str) -> str:
    """Return what a feature's numbers count; nothing where its bins have names of their own."""
    bins = lexicon.vocabulary.bins[name]
    numbered = name != LABEL and bins.names == Bins(bins.edges).names
    return feature(name).unit if numbered else ""


def word_values(lexicon: LearnedLexicon, entry: str) -> dict[str, Any]:
    """Return a word's tables for machines: with the names of the bins, and what is usual."""
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
    habits = lexicon.calibration.habits.ratios.get(entry, ())
    return asdict(word) | {"slots": slots, "habits": list(habits)}
