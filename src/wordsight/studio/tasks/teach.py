"""Teaching words by the pictures that were shown in the studio."""

from collections.abc import Mapping
from typing import Any

from wordsight.studio.tasks.task import Workplace

__all__ = ["LESSONS", "TAUGHT", "teach_words"]

LESSONS, TAUGHT = "lessons", "taught"
"""Names of the folders of lessons and of what was learned from them, in the studio's folder."""


def teach_words(arguments: Mapping[str, Any], workplace: Workplace) -> dict[str, Any]:
    """Learn from all lessons which words there are and which attribute each names.

    Args:
        arguments: ``attributes``, how many, found out if left out; ``method``: ``default``,
            ``annealed`` or ``faithful``; ``pictures``, how they are described, as the method does
            if left out; ``seed``.
        workplace: Where to work.
    """
    from wordsight.attributes import ANNEALED, FAITHFUL, RECOMMENDED, AttributeLearner
    from wordsight.attributes.figure import draw_attributes
    from wordsight.attributes.teaching import find_lessons, read_lesson_files

    pictures, words = read_lesson_files(find_lessons(workplace.folder / LESSONS))
    methods = {"default": RECOMMENDED, "annealed": ANNEALED, "faithful": FAITHFUL}
    described = arguments.get("pictures")
    learner = AttributeLearner(
        methods[arguments.get("method", "default")],
        num_attributes=arguments.get("attributes"),
        random_state=int(arguments.get("seed", 0)),
        **({} if described is None else {"pictures": described}),
    )
    learner.fit(pictures, words, progress=workplace.progress)
    learner.save(workplace.folder / TAUGHT, overwrite=True)
    draw_attributes(workplace.folder / "attributes.png", learner, overwrite=True)
    return {
        "lessons": len(pictures),
        "attributes": [[word.name for word in group] for group in learner.attributes()],
    }
