"""Teaching words by the pictures that were shown in the studio."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.studio.jobs.task import JobContext

if TYPE_CHECKING:
    from wordsight.attributes import AttributeLearner

__all__ = ["BEGUN", "LESSONS", "TAUGHT", "begin_with", "teach_words"]

LESSONS, TAUGHT = "lessons", "taught"
"""Names of the folders of lessons and of what was learned from them, in the studio's folder."""
BEGUN = "taught-before"
"""The folder of words that were taught elsewhere: the studio's lessons are added to them."""


def begin_with(learner: "AttributeLearner", folder: Path) -> None:
    """Let a studio that was taught nothing begin with words that were taught elsewhere.

    Args:
        learner: The words.
        folder: The studio's folder.
    """
    from wordsight.attributes.report import draw_attributes

    learner.save(folder / BEGUN, overwrite=True)
    draw_attributes(folder / _FIGURE, learner, overwrite=True)
    learner.save(folder / TAUGHT)  # last: whoever is killed before begins again


def teach_words(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Learn from all lessons which words there are and which attribute each names.

    Lessons are added to words that were taught elsewhere, if the studio began with such.

    Args:
        arguments: ``attributes``, how many, found out if left out; ``method``: ``default``,
            ``annealed`` or ``faithful``; ``pictures``, how they are described, as the method does
            if left out; ``seed``.
        workplace: Where to work.
    """
    from wordsight.attributes import AttributeLearner
    from wordsight.attributes.lesson_files import find_lessons, read_lesson_files
    from wordsight.attributes.report import draw_attributes

    pictures, words = read_lesson_files(find_lessons(workplace.folder / LESSONS))
    if (workplace.folder / BEGUN).exists():
        learner = AttributeLearner.load(workplace.folder / BEGUN).teach(pictures, words)
    else:
        learner = _new(arguments).fit(pictures, words, progress=workplace.progress)
    learner.save(workplace.folder / TAUGHT, overwrite=True)
    draw_attributes(workplace.folder / _FIGURE, learner, overwrite=True)
    return {
        "lessons": len(pictures),
        "attributes": [[word.name for word in group] for group in learner.attributes()],
    }


_FIGURE = "attributes.png"


def _new(arguments: Mapping[str, Any]) -> "AttributeLearner":
    from wordsight.attributes import ANNEALED, FAITHFUL, RECOMMENDED, AttributeLearner

    methods = {"default": RECOMMENDED, "annealed": ANNEALED, "faithful": FAITHFUL}
    described = arguments.get("pictures")
    return AttributeLearner(
        methods[arguments.get("method", "default")],
        num_attributes=arguments.get("attributes"),
        random_state=int(arguments.get("seed", 0)),
        **({} if described is None else {"pictures": described}),
    )
