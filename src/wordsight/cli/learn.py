"""``learn``: from a library's videos and sentences to words with meanings."""

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.engines import EngineOption, engine_of
from wordsight.cli.limits import BeamOption, PruneOption, tell_lost
from wordsight.cli.meaning_inputs import (
    facts_used,
    grammar_of,
    named_by,
    namer_for,
    read_pairs,
)
from wordsight.cli.options import DEFAULT_LIBRARY, LexiconOption, LibraryOption, speaking
from wordsight.cli.output import Output
from wordsight.cli.targets import refuse_existing
from wordsight.cli.units import count
from wordsight.workflows.limits import pruning
from wordsight.workflows.meaning import DEFAULT_WORDS

if TYPE_CHECKING:
    from wordsight.meaning import LearnedLexicon

__all__ = ["learn"]


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
        int | None,
        typer.Option(
            min=3,
            max=8,
            help="States of an event, with what is before and after it; 3 suit clips that are cut "
            "to their events.",
            show_default="as suits whole videos",
        ),
    ] = None,
    any_order: Annotated[
        bool,
        typer.Option(
            "--any-order",
            help="States of words may come in any order, for what repeats itself, such as waving.",
            show_default=False,
        ),
    ] = False,
    two_phase: Annotated[
        bool,
        typer.Option(
            "--two-phase",
            help="Begin with sentences of nouns and verbs only, then take all.",
            show_default=False,
        ),
    ] = False,
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
    from wordsight.meaning import ON_FILM, WordLearner
    from wordsight.workflows.annotator import save_lexicon
    from wordsight.workflows.grammar import readable_grammar

    refuse_existing(words, force=force)
    namer, known = namer_for(attributes, states), grammar_of(grammar)
    clips, sentences = read_pairs(library, namer, output)
    read = readable_grammar if namer is None else namer.grammar
    lexicon, sentences = read(known, sentences, output)
    with pruning(prune, beam) as losses, engine_of(output, engine) as workers:
        learner = WordLearner(
            ON_FILM,
            features="recommended" if namer is None else namer.features(),
            phases=phases or ON_FILM.phases,
            left_to_right=not any_order,
            two_phase=two_phase,
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
    save_lexicon(learned, words, namer, overwrite=force)
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
    if namer is not None and namer.taught is not None:
        report["named"] = named_by(output, learned, namer)
    output.result(report, lambda out: _render_learned(out, learned, words, used))


def _render_learned(output: Output, learned: "LearnedLexicon", folder: Path, clips: int) -> None:
    output.line(
        f"Learned {count(len(learned.words), 'word')} from {count(clips, 'clip')}: "
        f"{', '.join(sorted(learned.words))}."
    )
    output.line(f"Read them with: wordsight lexicon --words {folder}")
