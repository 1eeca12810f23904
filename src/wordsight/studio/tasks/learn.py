"""Learning words from the library, with the course of the objective kept for the page to draw."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.studio.tasks.task import Workplace
from wordsight.studio.tasks.teach import TAUGHT

if TYPE_CHECKING:
    from wordsight.desk.naming import Namer
    from wordsight.meaning import WordLearner

__all__ = ["LEXICON", "learn_words"]

LEXICON = "lexicon"
"""Name of the studio's learned lexicon in its folder."""


def learn_words(arguments: Mapping[str, Any], workplace: Workplace) -> dict[str, Any]:
    """Learn from all videos with sentences and replace the studio's lexicon, keeping the old one.

    Args:
        arguments: ``restarts``, ``quick``, ``seed``; ``attributes``, whether words taught by
            pictures become adjectives; ``grammar`` is ``street`` where the words are
            known to combine as those of the rendered street do.
        workplace: Where to work.
    """
    from wordsight.desk import Notebook
    from wordsight.desk.clips import clips_with_sentences
    from wordsight.desk.naming import save_words
    from wordsight.language import default_lexicon
    from wordsight.library import Library
    from wordsight.meaning import WordLearner
    from wordsight.studio.course import Course, watched, write_course
    from wordsight.studio.versions import keep_version

    namer = _namer(arguments, workplace)
    grammar = default_lexicon() if arguments.get("grammar") == "street" else None
    with Library.open(workplace.library) as library:
        clips, sentences = clips_with_sentences(library)
        if namer is not None:
            book = Notebook(watcher=workplace.progress)
            clips = [*namer.name_clips(library, clips, book)]
            grammar, sentences = namer.grammar(grammar, sentences, book)
    learner = WordLearner(
        features="recommended" if namer is None else namer.features(),
        restarts=int(arguments.get("restarts", 2)),
        trembling=True,
        discriminative=None if arguments.get("quick") else "gradient",
        random_state=int(arguments.get("seed", 0)),
        threads=int(arguments.get("threads", 1)),
    )
    checkpoint = workplace.folder / f"{LEXICON}.learning.npz"
    options = {
        "lexicon": grammar,
        "progress": watched(workplace.progress, checkpoint, workplace.folder),
        "checkpoint": checkpoint,
    }
    _fit(learner, clips, sentences, options)
    keep_version(workplace.folder, "before words were learned anew")
    learned = learner.lexicon_ if namer is None else namer.completed(learner.lexicon_)
    save_words(learned, workplace.folder / LEXICON, namer, overwrite=True)
    write_course(workplace.folder, Course(learner.histories_, learner.sharpened_))
    return {"clips": len(clips), "words": sorted(learned.words)}


def _namer(arguments: Mapping[str, Any], workplace: Workplace) -> "Namer | None":
    from wordsight.desk.naming import Namer, load_taught

    if not arguments.get("attributes"):
        return None
    taught = workplace.folder / TAUGHT
    if not taught.exists():
        raise WordsightError("no words were taught yet; do so on the Attributes page first.")
    return Namer(load_taught(taught))


def _fit(
    learner: "WordLearner", clips: list[Any], sentences: list[list[str]], options: dict[str, Any]
) -> None:
    """Learn; what a learning that was cancelled left is of no use once the library has changed."""
    from wordsight.errors import FormatError
    from wordsight.meaning import MeaningError

    left = options["checkpoint"].exists()
    try:
        learner.fit(clips, sentences, **options)
    except (MeaningError, FormatError):
        if not left:
            raise
        options["checkpoint"].unlink(missing_ok=True)
        learner.fit(clips, sentences, **options)
