"""Reports of a learner: the card saved with it, and the paper's bar figure."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wordsight.attributes.features.pictures import picture_features
from wordsight.attributes.recall.answers import DiscriminantRecall, Recall
from wordsight.errors import TeachingError
from wordsight.files import atomic_path

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["draw_attributes", "model_card", "used_features"]

# Distinguishable with red-green colour blindness (after Okabe and Ito).
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#5d5d5d")
_INK, _FAINT = "#222222", "#dddddd"
_ROW_INCHES = 0.26
_SUFFIXES = (".png", ".svg", ".pdf")


def model_card(learner: "AttributeLearner") -> str:
    """Return the card of a learner as Markdown."""
    settings = learner.settings
    lines = [
        "# Taught attributes",
        "",
        f"{len(learner.texts_)} lessons, {len(learner.words_)} words, "
        f"{learner.num_attributes_} attributes; method: {settings.method}, recall: "
        f"{settings.recall}.",
        "",
        "| attribute | looks at | words (times taught) |",
        "|---|---|---|",
    ]
    for number, (words, recall) in enumerate(
        zip(learner.attributes(), learner.recalls_, strict=False)
    ):
        names = ", ".join(
            f"{word.name} ({word.count}{', over ' * bool(word.covers) + ' '.join(word.covers)})"
            for word in words
        )
        lines.append(f"| {number + 1} | {', '.join(used_features(learner, recall))} | {names} |")
    if learner.counts_:
        lines += [
            "",
            "The number of attributes is the smallest whose held-out likelihood is within a "
            "standard",
            "error of the best; the others, which must be small, are there to compare.",
            "",
            "| attributes | log likelihood per lesson left out | description length, nats | AIC | "
            "BIC |",
            "|---|---|---|---|---|",
        ]
        lines += [
            f"| {one.num_attributes} | {one.held_out:.3f} | {one.description_length:.1f} | "
            f"{one.aic:.1f} | {one.bic:.1f} |"
            for one in learner.counts_
        ]
    lines += [
        "",
        "Answers hold for pictures like those that were shown; a picture unlike all of them gets",
        "no word. Confidence was calibrated on lessons that were left out in turn.",
    ]
    return "\n".join(lines) + "\n"


def used_features(learner: "AttributeLearner", recall: Recall) -> list[str]:
    """Return the names of the picture features and sources on which an attribute depends."""
    names = [feature.name for feature in picture_features(learner.settings.pictures)]
    unnamed = len(learner.space_.maps) - len(learner.sources_)
    if unnamed != len(names):  # lessons of arrays that no feature described
        names = [f"array {number + 1}" for number in range(unnamed)]
    names = [*names, *learner.sources_]
    if not isinstance(recall, DiscriminantRecall):
        return names
    parts = zip(names, learner.space_.parts, strict=True)
    return [name for name, part in parts if recall.looks_at(part)]


def draw_attributes(
    path: str | PathLike[str], learner: "AttributeLearner", *, overwrite: bool = False
) -> None:
    """Draw a bar per word, coloured by the attributes of its lessons.

    Args:
        path: The file; its suffix selects the format (png, svg, pdf).
        learner: A fitted learner.
        overwrite: Whether an existing file may be replaced.

    Raises:
        TeachingError: If the suffix is another one.
    """
    from matplotlib.figure import Figure

    if Path(path).suffix.lower() not in _SUFFIXES:
        raise TeachingError(
            f"figures are drawn as {', '.join(_SUFFIXES)}; {path} ends in none of them."
        )
    words = list(dict.fromkeys(word for group in learner.attributes() for word in group))
    numbers = {word.name: number for number, word in enumerate(learner.words_)}
    figure = Figure(figsize=(6.4, 1.1 + _ROW_INCHES * len(words)), layout="constrained")
    axes = figure.add_subplot()
    lessons, lesson_words = learner.attribution_.lessons, learner.vocabulary_.words
    places = np.arange(len(words))
    left = np.zeros(len(words))
    for attribute in range(learner.num_attributes_):
        own = lesson_words[lessons == attribute]
        counts = np.array([(own == numbers[word.name]).sum() for word in words], dtype=float)
        colour = _COLOURS[attribute % len(_COLOURS)]
        axes.barh(places, counts, left=left, color=colour, label=f"attribute {attribute + 1}")
        left += counts
    axes.set_yticks(places, [word.name for word in words], color=_INK)
    axes.invert_yaxis()
    axes.set_xlabel("lessons")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=_FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper left", ncols=4, frameon=False)
    with atomic_path(path, overwrite=overwrite) as temporary:
        figure.savefig(temporary, dpi=150)
