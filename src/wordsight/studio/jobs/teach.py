"""Teaching words by the pictures that were shown in the studio."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.studio.jobs.task import JobContext
from wordsight.workflows.settings import make_request
from wordsight.workflows.teach import TeachRequest, teach

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
    learner.save(folder / TAUGHT)  # last, so that an interrupted start begins again


def teach_words(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Learn from all lessons which words there are and which attribute each names.

    Lessons are added to words that were taught elsewhere, if the studio began with such.

    Args:
        arguments: Settings of :class:`wordsight.workflows.teach.TeachSettings`.
        workplace: Where to work.
    """
    from wordsight.attributes.report import draw_attributes

    begun = workplace.folder / BEGUN
    places = {
        "source": workplace.folder / LESSONS,
        "taught": workplace.folder / TAUGHT,
        "begin": begun if begun.exists() else None,
        "force": True,
    }
    settings = {} if begun.exists() else dict(arguments)
    result = teach(make_request(TeachRequest, settings | places), progress=workplace.progress)
    draw_attributes(workplace.folder / _FIGURE, result.learner, overwrite=True)
    return {
        "lessons": result.num_lessons,
        "attributes": [[word.name for word in group] for group in result.learner.attributes()],
    }


_FIGURE = "attributes.png"
