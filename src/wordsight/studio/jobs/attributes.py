"""Teaching words by the lessons of the studio, and naming the things in a video by them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.studio.jobs.task import JobContext
from wordsight.workflows.name import NameRequest, name
from wordsight.workflows.settings import make_request
from wordsight.workflows.teach import TeachRequest, teach

if TYPE_CHECKING:
    from wordsight.attributes import AttributeLearner

__all__ = ["BEGUN", "LESSONS", "TAUGHT", "begin_with", "name_things", "teach_words"]


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

    begun, taught = workplace.folder / BEGUN, workplace.folder / TAUGHT
    places = {
        "source": workplace.folder / LESSONS,
        "taught": taught,
        "begin": begun if begun.exists() else None,
        "corrected": taught if taught.exists() else None,
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

_SHOWN = 1000  # boxes that are listed; of things, all


def name_things(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Name what was seen in a video, box by box, and thing by thing where they were followed.

    Args:
        arguments: ``video``; ``stamp`` only tells taught words apart that have changed since.
        workplace: Where to work.
    """
    from wordsight.library import Library

    folder = workplace.folder / TAUGHT
    if not folder.exists():
        raise WordsightError("no words were taught yet; do so on the Attributes page first.")
    with Library.open(workplace.library) as library:
        video = library.resolve(arguments["video"])
    settings = {"what": video, "taught": folder, "library": workplace.library}
    result = name(make_request(NameRequest, settings), progress=workplace.progress)
    found = result.things
    return {
        "video": video,
        "boxes": len(found),
        "things": result.by_thing(),
        "rows": [
            {"time": one.time, "thing": one.identity, "box": list(one.box), "text": one.naming.text}
            for one in found[:_SHOWN]
        ],
    }
