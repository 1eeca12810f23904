"""What was taught, on one page for people."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wordsight.attributes.errors import TeachingError
from wordsight.attributes.features.pictures import picture_features
from wordsight.attributes.learner import AttributeLearner
from wordsight.attributes.recall.answers import DiscriminantRecall, Recall
from wordsight.attributes.recall.discriminant import Discriminant
from wordsight.files import atomic_path

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["card", "draw_attributes", "looks_at"]


def card(learner: "AttributeLearner") -> str:
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
        said = ", ".join(f"{word.name} ({word.count})" for word in words)
        lines.append(f"| {number + 1} | {', '.join(looks_at(learner, recall))} | {said} |")
    lines += _counts(learner)
    lines += [
        "",
        "Answers hold for pictures like those that were shown; a picture unlike all of them gets",
        "no word. Confidence was calibrated on lessons that were left out in turn.",
    ]
    return "\n".join(lines) + "\n"


def _counts(learner: "AttributeLearner") -> list[str]:
    """Say how the number of attributes was found, where it was not given."""
    counts = learner.counts_
    if not counts:
        return []
    return [
        "",
        "The number of attributes is the smallest whose held-out likelihood is within a standard",
        "error of the best; the description length, which must be small, is there to compare.",
        "",
        "| attributes | log likelihood per lesson left out | description length, nats |",
        "|---|---|---|",
        *(
            f"| {one.num_attributes} | {one.held_out:.3f} | {one.description_length:.1f} |"
            for one in counts
        ),
    ]


def looks_at(learner: "AttributeLearner", recall: Recall) -> list[str]:
    """Return the names of the kinds of picture features an attribute is told by."""
    names = [feature.name for feature in picture_features(learner.settings.pictures)]
    if not isinstance(recall, DiscriminantRecall):
        return names
    model: Discriminant = recall.model
    used = set(model.columns.tolist())
    parts = zip(names, learner.space_.parts, strict=True)
    return [name for name, part in parts if used & set(range(part.start, part.stop))]


# The paper's bar figure: for every word, into which attribute its lessons fell.


# Told apart also without seeing red and green (after Okabe and Ito).
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#5d5d5d")
_INK, _FAINT = "#222222", "#dddddd"
_ROW_INCHES = 0.26
_ENDINGS = (".png", ".svg", ".pdf")


def draw_attributes(
    path: str | PathLike[str], learner: AttributeLearner, *, overwrite: bool = False
) -> None:
    """Draw a bar per word, coloured by attribute; the ending says the format (png, svg, pdf).

    Args:
        path: Where to.
        learner: What was taught.
        overwrite: Whether an existing file may be replaced.

    Raises:
        TeachingError: If the ending is another one.
    """
    from matplotlib.figure import Figure

    if Path(path).suffix.lower() not in _ENDINGS:
        raise TeachingError(
            f"figures are drawn as {', '.join(_ENDINGS)}; {path} ends in none of them."
        )

    words = [word for group in learner.attributes() for word in group]
    numbers = {word.name: number for number, word in enumerate(learner.words_)}
    figure = Figure(figsize=(6.4, 1.1 + _ROW_INCHES * len(words)), layout="constrained")
    axes = figure.add_subplot()
    lessons, said = learner.attribution_.lessons, learner.vocabulary_.words
    places = np.arange(len(words))
    left = np.zeros(len(words))
    for attribute in range(learner.num_attributes_):
        counts = np.array(
            [((said == numbers[w.name]) & (lessons == attribute)).sum() for w in words], dtype=float
        )
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
