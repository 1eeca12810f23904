"""``learn``, ``score``, ``track``, ``describe``, ``explain`` and ``lexicon``: words and clips."""

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.engines import EngineOption, engine_of
from wordsight.cli.limits import BeamOption, PruneOption, tell_lost
from wordsight.cli.meaning_inputs import facts_used, grammar_of, namer_for, read_pairs
from wordsight.cli.options import (
    DEFAULT_LIBRARY,
    LibraryOption,
    speaking,
)
from wordsight.cli.output import Output
from wordsight.cli.targets import refuse_existing
from wordsight.cli.units import clock, count
from wordsight.desk.limits import keeping
from wordsight.desk.meaning import DEFAULT_WORDS, load_words
from wordsight.errors import WordsightError

if TYPE_CHECKING:
    from wordsight.meaning import Explanation, LearnedLexicon, SentenceScore, TrackedSentence
    from wordsight.records import Clip

__all__ = ["describe", "explain", "learn", "lexicon", "score", "track"]

LexiconOption = Annotated[
    Path, typer.Option("--words", "-w", metavar="FOLDER", help="The learned lexicon.")
]
VideoArgument = Annotated[str, typer.Argument(metavar="ID", help="A video of the library.")]
SentenceArgument = Annotated[str, typer.Argument(metavar="SENTENCE", help="What may be true.")]
StartOption = Annotated[
    float | None, typer.Option("--from", help="Look from this second on.", show_default=False)
]
EndOption = Annotated[
    float | None, typer.Option("--to", help="Look until this second.", show_default=False)
]


@speaking
def learn(
    output: Output,
    words: LexiconOption = DEFAULT_WORDS,
    grammar: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|street",
            help="How words combine: a lexicon file, or `street` for the one that ships with "
            "Wordsight; what it does not say is inferred from the sentences.",
        ),
    ] = None,
    attributes: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Words of `wordsight teach` become adjectives that look at what things are "
            "called.",
        ),
    ] = None,
    states: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Rules of `wordsight states learn`: verbs, adjectives and prepositions look at "
            "the facts they infer.",
        ),
    ] = None,
    phases: Annotated[
        int,
        typer.Option(
            min=3,
            max=8,
            help="States of an event, with what is before and after it; 3 suit clips that are cut "
            "to their events.",
        ),
    ] = 4,
    restarts: Annotated[int, typer.Option(min=1, help="How often to start anew.")] = 2,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Leave out training against false sentences: minutes less, a little worse.",
            show_default=False,
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="The same seed learns the same words.")] = 0,
    threads: Annotated[
        int, typer.Option("--threads", "-j", min=1, help="Clips at once; changes no result.")
    ] = 2,
    engine: EngineOption = None,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="cuda", help="Compute lattices there, in single precision.", show_default=False
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a lexicon that is there.", show_default=False)
    ] = False,
    prune: PruneOption = None,
    beam: BeamOption = None,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Learn what words mean from the library's videos and sentences.

    Interrupted? The same command goes on where it was.
    """
    from wordsight.desk.grammar import readable_grammar
    from wordsight.desk.naming import save_words
    from wordsight.meaning import ON_FILM, WordLearner

    refuse_existing(words, force=force)
    namer, known = namer_for(attributes, states), grammar_of(grammar)
    clips, sentences = read_pairs(library, namer, output)
    read = readable_grammar if namer is None else namer.grammar
    lexicon, sentences = read(known, sentences, output)
    with keeping(prune, beam) as losses, engine_of(output, engine) as workers:
        learner = WordLearner(
            ON_FILM,
            features="recommended" if namer is None else namer.features(),
            phases=phases,
            restarts=restarts,
            discriminative=None if quick else "gradient",
            random_state=seed,
            threads=threads,
            engine=workers,
            device=device,
        )
        with output.progress("Learning") as progress:
            learner.fit(
                clips,
                sentences,
                lexicon=lexicon,
                progress=progress,
                checkpoint=words.with_name(f"{words.name}.learning.npz"),
            )
    learned = learner.lexicon_ if namer is None else namer.completed(learner.lexicon_)
    save_words(learned, words, namer, overwrite=force)
    tell_lost(output, max(losses, default=0.0), prune or beam, usual=median(losses or [0.0]))
    used = int(str(learned.notes["clips"]))  # without those in which nothing was seen
    report = {
        "lexicon": words,
        "clips": used,
        "sentences": sum(len(said) for said in sentences),
        "words": sorted(learned.words),
        "threshold": learned.threshold,
        "lost_mass": max(losses, default=0.0),
        "lost_mass_median": median(losses or [0.0]),
    }
    if namer is not None and namer.stated is not None:
        report["facts"] = facts_used(output, learned)
    output.result(report, lambda out: _render_learned(out, learned, words, used))


@speaking
def score(
    output: Output,
    video: VideoArgument,
    sentences: Annotated[
        list[str], typer.Argument(metavar="SENTENCE...", help="What may be true of it.")
    ],
    start: StartOption = None,
    end: EndOption = None,
    prune: PruneOption = None,
    beam: BeamOption = None,
    words: LexiconOption = DEFAULT_WORDS,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Say how well sentences fit a video, and whether they are true of it."""
    learned = load_words(words)
    clip = _clip(library, video, start, end, words)
    with keeping(prune, beam):
        found = [learned.score(clip, sentence) for sentence in sentences]
    tell_lost(output, max(one.lost_mass for one in found), prune or beam)
    output.result(found, lambda out: _render_scores(out, found))


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
    force: Annotated[
        bool, typer.Option("--force", help="Replace the overlay.", show_default=False)
    ] = False,
    prune: PruneOption = None,
    words: LexiconOption = DEFAULT_WORDS,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Find who is who in a video, given a sentence, and the state of every word over time."""
    from wordsight.language.captions import Caption
    from wordsight.video import render_overlay

    refuse_existing(overlay, force=force)
    clip = _clip(library, video, start, end, words)
    with keeping(prune):
        found = load_words(words).track(clip, sentence)
    tell_lost(output, found.lost_mass, prune)
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
    prune: PruneOption = None,
    beam: BeamOption = None,
    words: LexiconOption = DEFAULT_WORDS,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Say in sentences what happens in a video, the best first."""
    clip = _clip(library, video, start, end, words)
    with keeping(prune, beam):
        found = load_words(words).describe(clip, top=top, surest=surest)
    if found:
        tell_lost(output, found[0].lost_mass, prune or beam)

    def render(out: Output) -> None:
        if not found:
            out.line("Nothing is seen there.")
            return
        rows = [(d.probability, "yes" if d.holds else "no", d.text) for d in found]
        out.table(["share", "true", "sentence"], rows)

    output.result(found, render)


@speaking
def explain(
    output: Output,
    video: VideoArgument,
    sentence: SentenceArgument,
    start: StartOption = None,
    end: EndOption = None,
    prune: PruneOption = None,
    words: LexiconOption = DEFAULT_WORDS,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Say which word of a sentence fits a video when, and which one fails."""
    clip = _clip(library, video, start, end, words)
    with keeping(prune):
        found = load_words(words).explain(clip, sentence)
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
    words: LexiconOption = DEFAULT_WORDS,
) -> None:
    """Open the dictionary: what a learned word looks for, state by state."""
    from wordsight.meaning.card import word_values

    learned = load_words(words)
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
    from wordsight.meaning.plot import save_word_plot

    if word is None:
        raise WordsightError("say which word to draw: wordsight lexicon WORD --plot FILE.")
    refuse_existing(path, force=force)
    save_word_plot(learned, word, path)


def _clip(library: str, video: str, start: float | None, end: float | None, words: Path) -> "Clip":
    """Return what is seen in a video, its things named where the words were learned with names."""
    from wordsight.desk.clips import whole_clip
    from wordsight.desk.naming import namer_of
    from wordsight.library import Library

    with Library.open(library) as opened:
        clip = _cut(whole_clip(opened, opened.resolve(video)), video, start, end)
        namer = namer_of(words)
        return clip if namer is None else namer.name_clip(opened, clip)


def _cut(whole: "Clip", video: str, start: float | None, end: float | None) -> "Clip":
    if start is None and end is None:
        return whole
    first = whole.start if start is None else max(start, whole.start)
    last = whole.end if end is None else min(end, whole.end)
    if not first < last:
        raise WordsightError(
            f"{video} runs from {whole.start:g} to {whole.end:g} s; there is nothing from "
            f"{first:g} to {last:g} s."
        )
    return type(whole).cut(whole.video_id, whole.detections, first, last)


def _path(library: str, video: str) -> str:
    from wordsight.library import Library

    with Library.open(library) as opened:
        return opened.video(video).path


def _render_learned(output: Output, learned: "LearnedLexicon", folder: Path, clips: int) -> None:
    output.line(
        f"Learned {count(len(learned.words), 'word')} from {count(clips, 'clip')}: "
        f"{', '.join(sorted(learned.words))}."
    )
    output.line(f"Read them with: wordsight lexicon --words {folder}")


def _render_scores(output: Output, found: list["SentenceScore"]) -> None:
    rows = [("yes" if one.holds else "no", one.score, one.text) for one in found]
    output.table(["true", "score", "sentence"], rows)


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


def _render_explanation(output: Output, found: "Explanation") -> None:
    output.line(f"{found.text}  (score {found.score:.3f})")
    output.line(found.table())
    when = ""
    if found.weakest_span is not None:
        when = f", from {clock(found.weakest_span[0])} to {clock(found.weakest_span[1])}"
    output.line(f"Weakest: {found.weakest}{when}.")
