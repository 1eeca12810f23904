"""Learning words from the library, with the course of the objective kept for the page to draw."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.studio.jobs.task import JobContext, device_at_hand
from wordsight.studio.jobs.teach import TAUGHT

if TYPE_CHECKING:
    from wordsight.language import Lexicon
    from wordsight.meaning import WordLearner
    from wordsight.records import Clip
    from wordsight.workflows import RecordingReporter
    from wordsight.workflows.annotator import ClipAnnotator

__all__ = ["LEXICON", "STREET", "learn_words"]

LEXICON = "lexicon"
"""Name of the studio's learned lexicon in its folder."""

STREET = "street"
"""Name of the grammar that ships with Wordsight."""


def learn_words(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Learn from all videos with sentences and replace the studio's lexicon, keeping the old one.

    Args:
        arguments: ``restarts``, ``phases``, ``any_order``, ``two_phase``, ``quick``, ``seed``;
            ``attributes``, whether words taught by pictures become adjectives; ``grammar``, how
            words combine: the text of a lexicon file, or ``street`` where they do as those of the
            rendered street; ``states``, the set of rules whose facts words may look at;
            ``threads``, ``engine`` and ``device``, who computes it; ``prune`` or ``beam``, to keep
            less of every clip.
        workplace: Where to work.
    """
    from wordsight.studio.jobs.learning_curve import LearningCurve, watched, write_curve
    from wordsight.studio.versions import keep_version
    from wordsight.workflows import RecordingReporter
    from wordsight.workflows.annotator import save_lexicon
    from wordsight.workflows.grammar import readable_grammar
    from wordsight.workflows.limits import pruning

    book, namer = RecordingReporter(watcher=workplace.progress), _namer(arguments, workplace)
    clips, sentences = _pairs(workplace, namer, book)
    read = readable_grammar if namer is None else namer.grammar
    grammar, sentences = read(_grammar(arguments.get("grammar")), sentences, book)
    checkpoint = workplace.folder / f"{LEXICON}.learning.npz"
    options = {
        "lexicon": grammar,
        "progress": watched(workplace.progress, checkpoint, workplace.folder),
        "checkpoint": checkpoint,
    }
    with (
        pruning(arguments.get("prune"), arguments.get("beam")) as losses,
        _learner(arguments, namer, book) as learner,
    ):
        _fit(learner, clips, sentences, options)
    keep_version(workplace.folder, "before words were learned anew")
    learned = learner.lexicon_ if namer is None else namer.completed(learner.lexicon_)
    save_lexicon(learned, workplace.folder / LEXICON, namer, overwrite=True)
    write_curve(workplace.folder, LearningCurve(learner.histories_, learner.sharpened_))
    return {
        "clips": len(clips),
        "words": sorted(learned.words),
        "lost": max(losses, default=0.0),
        "notes": book.notes,
    }


def _pairs(
    workplace: JobContext, namer: "ClipAnnotator | None", book: "RecordingReporter"
) -> tuple[list["Clip"], list[list[str]]]:
    from wordsight.library import Library
    from wordsight.workflows.clips import clips_with_sentences

    with Library.open(workplace.library) as library:
        clips, sentences = clips_with_sentences(library)
        if namer is not None:
            clips = [*namer.name_clips(library, clips, book)]
    return clips, sentences


@contextmanager
def _learner(
    arguments: Mapping[str, Any], namer: "ClipAnnotator | None", book: "RecordingReporter"
) -> Iterator["WordLearner"]:
    """Give the learner that was asked for, with those who work for it until the block ends."""
    from wordsight.engine import open_engine
    from wordsight.meaning import ON_FILM, WordLearner

    device, notes = device_at_hand(arguments.get("device"))
    for note in notes:
        book.note(note)
    with open_engine(arguments.get("engine")) as engine:
        yield WordLearner(
            ON_FILM,
            features="recommended" if namer is None else namer.features(),
            phases=arguments.get("phases") or ON_FILM.phases,
            left_to_right=not arguments.get("any_order"),
            two_phase=bool(arguments.get("two_phase")),
            restarts=int(arguments.get("restarts", 2)),
            discriminative=None if arguments.get("quick") else "gradient",
            random_state=int(arguments.get("seed", 0)),
            threads=int(arguments.get("threads", 1)),
            engine=engine,
            device=device,
        )


def _grammar(told: str | None) -> "Lexicon | None":
    from wordsight.language import default_lexicon, parse_lexicon

    if told is None:
        return None
    return default_lexicon() if told == STREET else parse_lexicon(told, "the grammar")


def _namer(arguments: Mapping[str, Any], workplace: JobContext) -> "ClipAnnotator | None":
    from wordsight.studio.rule_sets import model_folder
    from wordsight.workflows.annotator import ClipAnnotator, load_taught
    from wordsight.workflows.state_annotator import load_state_annotator

    attributes, states = arguments.get("attributes"), arguments.get("states")
    if not attributes and not states:
        return None
    taught = workplace.folder / TAUGHT
    if attributes and not taught.exists():
        raise WordsightError("no words were taught yet; do so on the Attributes page first.")
    return ClipAnnotator(
        load_taught(taught) if attributes else None,
        load_state_annotator(model_folder(workplace.folder, states)) if states else None,
    )


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
