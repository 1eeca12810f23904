"""The paper's bar figure: for every word, into which attribute its lessons fell."""

from os import PathLike
from pathlib import Path

import numpy as np

from wordsight.attributes.errors import TeachingError
from wordsight.attributes.learner import AttributeLearner
from wordsight.files import atomic_path

__all__ = ["draw_attributes"]

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
