"""What ``learn`` reads: a library's clips and sentences, a grammar, and what others know."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.cli.output import Output

if TYPE_CHECKING:
    from wordsight.language import Lexicon
    from wordsight.meaning import LearnedLexicon
    from wordsight.records import Clip
    from wordsight.workflows.annotator import ClipAnnotator

__all__ = ["facts_used", "grammar_of", "named_by", "namer_for", "read_pairs"]


def read_pairs(
    library: str, namer: "ClipAnnotator | None", output: Output
) -> tuple[Sequence["Clip"], list[list[str]]]:
    """Read the clips of a library, their things named if somebody names them, and what is said."""
    from wordsight.library import Library
    from wordsight.workflows.clips import clips_with_sentences

    with Library.open(library) as opened:
        clips, sentences = clips_with_sentences(opened)
        return (clips if namer is None else namer.name_clips(opened, clips, output)), sentences


def namer_for(attributes: Path | None, states: Path | None) -> "ClipAnnotator | None":
    """Return who names things and knows facts of them, by the folders of either."""
    if attributes is None and states is None:
        return None
    from wordsight.workflows.annotator import ClipAnnotator, load_taught
    from wordsight.workflows.state_annotator import load_state_annotator

    taught = None if attributes is None else load_taught(attributes)
    return ClipAnnotator(taught, None if states is None else load_state_annotator(states))


def grammar_of(name: str | None) -> "Lexicon | None":
    """Read how words combine: a lexicon file, or ``street`` for the one that comes along."""
    if name is None:
        return None
    from wordsight.language import default_lexicon, read_lexicon

    return default_lexicon() if name == "street" else read_lexicon(name)


def facts_used(output: Output, learned: "LearnedLexicon") -> list[str]:
    """Return the facts that words look at; say so if none of them ever differs."""
    from wordsight.meaning.features import FACT_PREFIX

    found = [
        name.removeprefix(FACT_PREFIX)
        for name in learned.vocabulary.bins
        if name.startswith(FACT_PREFIX)
    ]
    if found:
        output.note(f"Words look at these facts: {', '.join(found)}.")
    else:
        output.warn(
            "the states told nothing that differs between things or moments, so no word looks at "
            "them; are the labels of things, or their --kind, those the rules were learned for?"
        )
    return found


def named_by(output: Output, learned: "LearnedLexicon", namer: "ClipAnnotator") -> list[str]:
    """Return the taught words that things are called by; say which attributes tell nothing."""
    from wordsight.meaning.features import name_feature

    used: list[str] = []
    lost: list[str] = []
    for words in namer.groups:
        (used if name_feature(words) in learned.vocabulary.bins else lost).extend(words)
    if lost:
        output.warn(
            f"no two things of these videos are told apart by {', '.join(lost)}, so adjectives do "
            "not look at them; teach with pictures of things as they look in the videos (see what "
            "`wordsight name VIDEO --boxes FILE` calls them)."
        )
    return used
