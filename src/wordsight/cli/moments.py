"""The part of a video that is asked about: as it is told, or, of a long film, the best moment."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.output import Output
from wordsight.cli.units import clock

if TYPE_CHECKING:
    from wordsight.meaning import LearnedLexicon
    from wordsight.records import Clip

__all__ = ["EndOption", "StartOption", "WholeFlag", "moment_for", "moments_for", "seen_in"]

StartOption = Annotated[
    float | None, typer.Option("--from", help="Look from this second on.", show_default=False)
]
EndOption = Annotated[
    float | None, typer.Option("--to", help="Look until this second.", show_default=False)
]
WholeFlag = Annotated[
    bool,
    typer.Option(
        "--whole",
        help="Take a long film as one event, instead of finding its best moments first.",
        show_default=False,
    ),
]


def seen_in(
    library: str, video: str, start: float | None, end: float | None, words: Path
) -> "Clip":
    """Return what is seen in a video, its things named where the words were learned with names."""
    from wordsight.library import Library
    from wordsight.workflows.annotator import load_annotator
    from wordsight.workflows.clips import clip_between

    with Library.open(library) as opened:
        return clip_between(opened, video, start, end, load_annotator(words))


def moment_for(
    output: Output, learned: "LearnedLexicon", clip: "Clip", sentence: str, *, whole: bool
) -> "Clip":
    """Return the moment of a long film that a sentence fits best, and say which that is."""
    return moments_for(output, learned, clip, [sentence], whole=whole)[0]


def moments_for(
    output: Output, learned: "LearnedLexicon", clip: "Clip", said: list[str], *, whole: bool
) -> list["Clip"]:
    """Return for every sentence the moment of a long film that it fits best, and say so."""
    from wordsight.meaning import best_moment

    found = [clip if whole else best_moment(learned, clip, sentence) for sentence in said]
    best = next((moment for moment in found if moment is not clip), None)
    if best is not None:
        when = f": {clock(best.start)} to {clock(best.end)}" if len(said) == 1 else ""
        who = "the sentence" if len(said) == 1 else "each sentence"
        output.note(
            f"This is long, so it is asked about where {who} fits best{when}. (--from and --to "
            "choose a part, --whole takes all as one event.)"
        )
    return found
