"""``score``, ``track``, ``describe``, ``explain`` and ``lexicon``: learned words and clips."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.limits import BeamOption, PruneOption, tell_lost
from wordsight.cli.moments import (
    EndOption,
    StartOption,
    WholeFlag,
    moment_for,
    moments_for,
    seen_in,
)
from wordsight.cli.options import DEFAULT_LIBRARY, LexiconOption, LibraryOption, speaking
from wordsight.cli.output import Output
from wordsight.cli.units import clock
from wordsight.errors import WordsightError
from wordsight.workflows.compute import pruning
from wordsight.workflows.lexicon import DEFAULT_LEXICON, load_lexicon
from wordsight.workflows.workflow import refuse_existing

if TYPE_CHECKING:
    from wordsight.meaning import (
        Description,
        LearnedLexicon,
        SentenceExplanation,
        SentenceScore,
        TrackedSentence,
    )
    from wordsight.records import Moment

__all__ = ["describe", "explain", "lexicon", "score", "track"]

VideoArgument = Annotated[str, typer.Argument(metavar="ID", help="A video of the library.")]
SentenceArgument = Annotated[str, typer.Argument(metavar="SENTENCE", help="What may be true.")]


@speaking
def score(
    output: Output,
    video: VideoArgument,
    sentences: Annotated[
        list[str], typer.Argument(metavar="SENTENCE...", help="What may be true of it.")
    ],
    start: StartOption = None,
    end: EndOption = None,
    whole: WholeFlag = False,
    prune: PruneOption = None,
    beam: BeamOption = None,
    words: LexiconOption = DEFAULT_LEXICON,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Say how well sentences fit a video, and whether they are true of it.

    Of a long film each is asked about the moment that it fits best.
    """
    learned = load_lexicon(words)
    clip = seen_in(library, video, start, end, words)
    with pruning(prune, beam):
        moments = moments_for(output, learned, clip, sentences, whole=whole)
        found = [learned.score(*asked) for asked in zip(moments, sentences, strict=True)]
    tell_lost(output, max(one.lost_mass for one in found), prune or beam)
    timed = any(moment is not clip for moment in moments)
    output.result(found, lambda out: _render_scores(out, found, timed))


@speaking
def track(
    output: Output,
    video: VideoArgument,
    sentence: SentenceArgument,
    overlay: Annotated[
        Path | None, typer.Option("--overlay", "-o", metavar="MP4", help="Draw who is who.")
    ] = None,
    start: StartOption = None,
    end: EndOption = None,
    whole: WholeFlag = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the overlay.", show_default=False)
    ] = False,
    prune: PruneOption = None,
    words: LexiconOption = DEFAULT_LEXICON,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Find who is who in a video, given a sentence, and the states of words over time.

    Of a long film, where the sentence fits best.
    """
    from wordsight.language.captions import Caption
    from wordsight.video import render_overlay

    refuse_existing(overlay, force=force)
    learned, clip = load_lexicon(words), seen_in(library, video, start, end, words)
    with pruning(prune):
        clip = moment_for(output, learned, clip, sentence, whole=whole)
        found = learned.track(clip, sentence)
    tell_lost(output, found.lost_mass, prune)
    if not any(len(one) for one in found.tracks):
        output.note("Nothing that the sentence speaks of is seen there.")
    if overlay is not None:
        with output.progress("Drawing") as progress:
            render_overlay(
                _path(library, video),
                overlay,
                tracks=found.tracks,
                captions=[Caption(clip.start, clip.end, found.sentence.text)],
                start=clip.start,
                end=clip.end,
                overwrite=force,
                progress=progress,
            )
        output.note(f"Overlay: {overlay}")
    output.result(found, lambda out: _render_track(out, found))


@speaking
def describe(
    output: Output,
    video: VideoArgument,
    top: Annotated[int, typer.Option("-k", min=1, help="How many sentences.")] = 5,
    surest: Annotated[
        bool,
        typer.Option(
            "--surest",
            help="First what is likeliest true in every word, instead of what says most.",
            show_default=False,
        ),
    ] = False,
    start: StartOption = None,
    end: EndOption = None,
    whole: WholeFlag = False,
    prune: PruneOption = None,
    beam: BeamOption = None,
    words: LexiconOption = DEFAULT_LEXICON,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Say in sentences what happens in a video, the best first.

    Of a long film moments are told, the likeliest true first.
    """
    from wordsight.meaning import describe_moments, is_long_video

    learned, clip = load_lexicon(words), seen_in(library, video, start, end, words)
    moments = not whole and is_long_video(learned, clip)
    with pruning(prune, beam), output.progress("Describing") as progress:
        found = (
            describe_moments(learned, clip, top=top, surest=surest, progress=progress)
            if moments
            else learned.describe(clip, top=top, surest=surest)
        )
    if found:
        tell_lost(output, max(one.lost_mass for one in found), prune or beam)
    output.result(found, lambda out: _render_descriptions(out, found, moments))


@speaking
def explain(
    output: Output,
    video: VideoArgument,
    sentence: SentenceArgument,
    start: StartOption = None,
    end: EndOption = None,
    whole: WholeFlag = False,
    prune: PruneOption = None,
    words: LexiconOption = DEFAULT_LEXICON,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Say which word of a sentence fits a video when, and which one fails.

    Of a long film, where the sentence fits best.
    """
    learned, clip = load_lexicon(words), seen_in(library, video, start, end, words)
    with pruning(prune):
        clip = moment_for(output, learned, clip, sentence, whole=whole)
        found = learned.explain(clip, sentence)
    tell_lost(output, found.lost_mass, prune)
    output.result(found, lambda out: _render_explanation(out, found))


@speaking
def lexicon(
    output: Output,
    word: Annotated[
        str | None, typer.Argument(metavar="WORD", help="One word; all if left out.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw WORD into a picture: states, steps and distributions.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a picture that is there.", show_default=False)
    ] = False,
    words: LexiconOption = DEFAULT_LEXICON,
) -> None:
    """Open the dictionary: what a learned word looks for, state by state."""
    from wordsight.meaning.model.inspect import word_values

    learned = load_lexicon(words)
    if word is not None:
        named = word.strip().lower().replace(" ", "-")  # as it is said: "Picked up"
        word = named if named in learned.words else word
    if plot is not None:
        _plot(learned, word, plot, force)
    entries = [word] if word else sorted(learned.words)
    models = {entry: word_values(learned, entry) for entry in entries}
    pages = [learned.page(entry, strongest=12 if word else 3) for entry in entries]
    output.result(models, lambda out: out.line("\n\n".join(pages)))


def _plot(learned: "LearnedLexicon", word: str | None, path: Path, force: bool) -> None:
    from wordsight.meaning.model.inspect import save_word_plot

    if word is None:
        raise WordsightError("say which word to draw: wordsight lexicon WORD --plot FILE.")
    refuse_existing(path, force=force)
    save_word_plot(learned, word, path)


def _path(library: str, video: str) -> str:
    from wordsight.library import Library

    with Library.open(library) as opened:
        return opened.video(video).path


def _render_scores(output: Output, found: list["SentenceScore"], timed: bool) -> None:
    rows = [
        (*_when(one, timed), "yes" if one.holds else "no", one.score, one.text) for one in found
    ]
    output.table([*_WHEN[: 2 * timed], "true", "score", "sentence"], rows)


def _render_descriptions(output: Output, found: list["Description"], moments: bool) -> None:
    if not found:
        output.line("Nothing is seen there.")
        return
    rows = [(*_when(d, moments), d.probability, "yes" if d.holds else "no", d.text) for d in found]
    output.table([*_WHEN[: 2 * moments], "share", "true", "sentence"], rows)


_WHEN = ("from", "to")


def _when(found: "Moment", timed: bool) -> tuple[str, ...]:
    """Return from when to when, where that differs from row to row."""
    return (clock(found.start), clock(found.end)) if timed else ()


def _render_track(output: Output, found: "TrackedSentence") -> None:
    output.line(f"{found.sentence.text}  (score {found.score:.3f})")
    rows = [
        (f"p{p}", one.label, clock(one.start), clock(one.end), len(one))
        for p, one in enumerate(found.tracks)
    ]
    output.table(["", "who", "from", "to", "boxes"], rows)
    width = max((len(word.word) for word in found.words), default=0)
    for word in found.words:
        output.line(f"{word.word:<{width}}  {''.join(str(s + 1) for s in word.states)}")


def _render_explanation(output: Output, found: "SentenceExplanation") -> None:
    output.line(f"{found.text}  (score {found.score:.3f})")
    output.line(found.table())
    when = ""
    if found.weakest_span is not None:
        when = f", from {clock(found.weakest_span[0])} to {clock(found.weakest_span[1])}"
    output.line(f"Weakest: {found.weakest}{when}.")
