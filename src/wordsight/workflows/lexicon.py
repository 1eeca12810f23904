"""Lexicons as workflows read them: learned ones, and how the words of sentences combine."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.workflows.reporter import Reporter
from wordsight.workflows.settings import setting

if TYPE_CHECKING:
    from wordsight.language import Entry, Lexicon
    from wordsight.meaning import LearnedLexicon

__all__ = [
    "DEFAULT_LEXICON",
    "can_read",
    "lexicon_setting",
    "load_grammar",
    "load_lexicon",
    "readable_grammar",
]

DEFAULT_LEXICON = Path("lexicon")

_SHOWN = 3  # sentences that cannot be read; the rest is counted


def lexicon_setting(default: Path | None = DEFAULT_LEXICON) -> Any:
    """Declare the setting that names a learned lexicon."""
    return setting(
        default,
        "Folder of the learned lexicon.",
        "--words",
        "-w",
        metavar="FOLDER",
        default_text=str(DEFAULT_LEXICON),
    )


def load_lexicon(folder: Path) -> "LearnedLexicon":
    """Read a learned lexicon.

    Raises:
        WordsightError: If there is none.
    """
    from wordsight.meaning import LearnedLexicon

    if not folder.exists():
        raise WordsightError(
            f"there is no learned lexicon at {folder}; make one with `wordsight learn`, or name "
            "its folder with --words."
        )
    return LearnedLexicon.load(folder)


def load_grammar(name: str | None) -> "Lexicon | None":
    """Read how words combine: a lexicon file, or ``street`` for the one that comes along."""
    if name is None:
        return None
    from wordsight.language import default_lexicon, read_lexicon

    return default_lexicon() if name == "street" else read_lexicon(name)


def can_read(learned: "LearnedLexicon", text: str, reporter: Reporter, *, aloud: bool) -> bool:
    """Tell whether a learned lexicon can read a sentence.

    Args:
        learned: The lexicon.
        text: The sentence.
        reporter: Takes the reason why not.
        aloud: Whether the reason is a note; otherwise it is a detail, since a few words that are
            no sentence are nothing unusual.
    """
    try:
        learned.sentence(text)
    except WordsightError as error:
        reason = str(error).splitlines()[0].rstrip(".:")
        report = reporter.note if aloud else reporter.detail
        report(f"The learned words cannot read this ({reason}): going by what is said.")
        return False
    return True


def readable_grammar(
    known: "Lexicon | None",
    sentences: Sequence[Sequence[str]],
    reporter: Reporter,
    *,
    taught: Sequence["Entry"] = (),
) -> tuple["Lexicon", list[list[str]]]:
    """Return a lexicon with all words of the sentences, and the sentences it can read.

    Args:
        known: How words combine, as far as it is written down.
        sentences: What is said of each clip.
        reporter: Takes which words were inferred beside those known, and what cannot be read.
        taught: Further entries, which help to infer the rest.
    """
    from wordsight.language import Lexicon, infer_lexicon

    given = Lexicon((*(known or ()), *taught))
    inferred = infer_lexicon([text for said in sentences for text in said], given)
    if known is not None and inferred.findings:
        new = ", ".join(f"{f.entry.name} ({f.entry.part})" for f in inferred.findings)
        reporter.note(f"Not in the lexicon, so inferred from how they are used: {new}.")
    for text, why in inferred.unread[:_SHOWN]:
        reporter.warn(f"cannot read {text!r}: {why.splitlines()[0].rstrip(':')}")
    if len(inferred.unread) > _SHOWN:
        reporter.warn(f"{len(inferred.unread)} sentences cannot be read and are left out.")
    unread = dict(inferred.unread)
    kept = [[text for text in said if text not in unread] for said in sentences]
    return inferred.lexicon, kept
