"""How the words of a library's sentences combine: as a lexicon says, and as use shows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wordsight.workflows.reporter import Reporter

if TYPE_CHECKING:
    from wordsight.language import Entry, Lexicon

__all__ = ["readable_grammar"]

_TOLD = 3  # sentences that cannot be read; the rest is counted


def readable_grammar(
    known: "Lexicon | None",
    sentences: Sequence[Sequence[str]],
    teller: Reporter,
    *,
    taught: Sequence["Entry"] = (),
) -> tuple["Lexicon", list[list[str]]]:
    """Return a lexicon with all words of the sentences, and the sentences it can read.

    Args:
        known: How words combine, as far as somebody wrote it down.
        sentences: What is said of each clip.
        teller: Told which words were inferred beside those known, and what cannot be read.
        taught: Further entries, which help to infer the rest.
    """
    from wordsight.language import Lexicon, infer_lexicon

    given = Lexicon((*(known or ()), *taught))
    inferred = infer_lexicon([text for said in sentences for text in said], given)
    if known is not None and inferred.findings:
        new = ", ".join(f"{f.entry.name} ({f.entry.part})" for f in inferred.findings)
        teller.note(f"Not in the lexicon, so inferred from how they are used: {new}.")
    for text, why in inferred.unread[:_TOLD]:
        teller.warn(f"cannot read {text!r}: {why.splitlines()[0].rstrip(':')}")
    if len(inferred.unread) > _TOLD:
        teller.warn(f"{len(inferred.unread)} sentences cannot be read and are left out.")
    unread = dict(inferred.unread)
    kept = [[text for text in said if text not in unread] for said in sentences]
    return inferred.lexicon, kept
