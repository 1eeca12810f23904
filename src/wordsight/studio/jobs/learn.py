"""Learning words from the library, with the learning curve kept for the page to draw."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wordsight.errors import FormatError, WordsightError
from wordsight.studio.jobs.task import JobContext
from wordsight.studio.jobs.teach import TAUGHT
from wordsight.workflows.learn import LearnRequest, LearnResult, LearnSettings, learn
from wordsight.workflows.settings import make_request

__all__ = ["LEXICON", "STREET", "learn_words"]

LEXICON = "lexicon"
"""Name of the studio's learned lexicon in its folder."""

STREET = "street"
"""Name of the grammar that ships with Wordsight."""


def learn_words(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Learn from all videos with sentences and replace the studio's lexicon, keeping the old one.

    Args:
        arguments: Settings as :class:`LearnSettings` has them; ``attributes``, whether words taught
            by pictures become adjectives; ``grammar``, the text of a lexicon file, or ``street``;
            ``states``, the set of rules whose facts words may look at.
        context: Where to work.
    """
    from wordsight.studio.jobs.learning_curve import LearningCurve, write_curve
    from wordsight.studio.versions import keep_version
    from wordsight.workflows.annotator import save_lexicon

    result = _learned(_request(arguments, context.folder), context)
    keep_version(context.folder, "before words were learned anew")
    save_lexicon(result.lexicon, context.folder / LEXICON, result.annotator, overwrite=True)
    write_curve(context.folder, LearningCurve(result.histories, result.sharpened))
    return {
        "clips": result.num_clips,
        "words": sorted(result.lexicon.words),
        "lost": result.lost_mass,
        "notes": list(result.warnings),
    }


def _request(arguments: Mapping[str, Any], folder: Path) -> LearnRequest:
    from wordsight.studio.rule_sets import model_folder

    settings = {name: arguments[name] for name in LearnSettings.model_fields if name in arguments}
    grammar, states = arguments.get("grammar"), arguments.get("states")
    if grammar is not None and grammar != STREET:
        path = folder / f"{LEXICON}.grammar.txt"
        path.write_text(grammar, encoding="utf-8")
        grammar = str(path)
    if arguments.get("attributes") and not (folder / TAUGHT).exists():
        raise WordsightError("no words were taught yet; do so on the Attributes page first.")
    return make_request(
        LearnRequest,
        settings
        | {
            "words": None,
            "checkpoint": folder / f"{LEXICON}.learning.npz",
            "grammar": grammar,
            "attributes": folder / TAUGHT if arguments.get("attributes") else None,
            "states": model_folder(folder, states) if states else None,
        },
    )


def _learned(request: LearnRequest, context: JobContext) -> LearnResult:
    """Learn; what a cancelled learning left is of no use once the library has changed."""
    from wordsight.meaning import MeaningError
    from wordsight.studio.jobs.learning_curve import watched

    assert request.checkpoint is not None
    left = request.checkpoint.exists()
    progress = watched(context.progress, request.checkpoint, context.folder)
    try:
        return learn(context.library, request, progress=progress)
    except (MeaningError, FormatError):
        if not left:
            raise
        request.checkpoint.unlink(missing_ok=True)
        return learn(context.library, request, progress=progress)
