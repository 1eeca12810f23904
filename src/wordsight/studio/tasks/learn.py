"""Learning words from the library, with the course of the objective kept for the page to draw."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wordsight.files import atomic_path
from wordsight.studio.tasks.task import Workplace

__all__ = ["HISTORY", "LEXICON", "learn_words"]

LEXICON = "lexicon"
"""Name of the studio's learned lexicon in its folder."""

HISTORY = "lexicon-history.json"
"""Name of the file with the objective after every iteration, per restart."""


def learn_words(arguments: Mapping[str, Any], workplace: Workplace) -> dict[str, Any]:
    """Learn from all videos with sentences and replace the studio's lexicon.

    Args:
        arguments: ``restarts``, ``quick``, ``seed``; ``grammar`` is ``street`` where the words are
            known to combine as those of the rendered street do.
        workplace: Where to work.
    """
    from wordsight.desk.clips import clips_with_sentences
    from wordsight.language import default_lexicon
    from wordsight.library import Library
    from wordsight.meaning import WordLearner

    with Library.open(workplace.library) as library:
        clips, sentences = clips_with_sentences(library)
    learner = WordLearner(
        restarts=int(arguments.get("restarts", 2)),
        trembling=True,
        discriminative=None if arguments.get("quick") else "gradient",
        random_state=int(arguments.get("seed", 0)),
    )
    folder = workplace.folder / LEXICON
    learner.fit(
        clips,
        sentences,
        lexicon=default_lexicon() if arguments.get("grammar") == "street" else None,
        progress=workplace.progress,
        checkpoint=folder.with_suffix(".learning.npz"),
    )
    learner.lexicon_.save(folder, overwrite=True)
    with atomic_path(workplace.folder / HISTORY) as path:
        path.write_text(json.dumps(_plain(learner.histories_)), encoding="utf-8")
    return {"clips": len(clips), "words": sorted(learner.lexicon_.words)}


def _plain(histories: Sequence[Iterable[float]]) -> list[list[float]]:
    return [[float(value) for value in history] for history in histories]
