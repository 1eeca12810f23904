"""What a change of a word does to the sentences of the library."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from wordsight.studio.jobs.learn import LEXICON
from wordsight.studio.jobs.task import JobContext

__all__ = ["compare_word"]

_SHOWN = 200  # rows; the rest is counted


def compare_word(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Score sentences with a word as it was and as it is to be.

    Args:
        arguments: ``entry``; ``edits`` of the lexicon as it is now; ``version``, the number of the
            lexicon it is compared with, the one of now if ``None``.
        workplace: Where to work.
    """
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon
    from wordsight.studio.editing import edited, effects_of
    from wordsight.studio.versions import load_version
    from wordsight.workflows.annotator import load_annotator

    now = LearnedLexicon.load(workplace.folder / LEXICON)
    version, entry = arguments.get("version"), arguments["entry"]
    before = now if version is None else load_version(workplace.folder, int(version))
    after = edited(now, entry, arguments.get("edits", ()))
    namer = load_annotator(workplace.folder / LEXICON)
    with Library.open(workplace.library) as library:
        names = {video.id: video.name for video in library.videos()}
        effects = effects_of(library, entry, before, after, workplace.progress, namer)
    flips = [one for one in effects if one.holds_before != one.holds_after]
    return {
        "entry": entry,
        "sentences": len(effects),
        "flips": len(flips),
        "said_true_before": _true(effects, said=True, when="holds_before"),
        "said_true_after": _true(effects, said=True, when="holds_after"),
        "said": sum(one.said for one in effects),
        "unsaid_true_before": _true(effects, said=False, when="holds_before"),
        "unsaid_true_after": _true(effects, said=False, when="holds_after"),
        "rows": [{**asdict(one), "name": names[one.video_id]} for one in effects[:_SHOWN]],
    }


def _true(effects: list[Any], *, said: bool, when: str) -> int:
    return sum(getattr(one, when) for one in effects if one.said is said)
