"""Learning words from the library, with the course of the objective kept for the page to draw."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.studio.tasks.devices import device_at_hand
from wordsight.studio.tasks.task import Workplace
from wordsight.studio.tasks.teach import TAUGHT

if TYPE_CHECKING:
    from wordsight.desk import Notebook
    from wordsight.desk.naming import Namer
    from wordsight.language import Lexicon
    from wordsight.meaning import WordLearner
    from wordsight.records import Clip

__all__ = ["LEXICON", "STREET", "learn_words"]

LEXICON = "lexicon"
"""Name of the studio's learned lexicon in its folder."""

STREET = "street"
"""Name of the grammar that ships with Wordsight."""


def learn_words(arguments: Mapping[str, Any], workplace: Workplace) -> dict[str, Any]:
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
    from wordsight.desk import Notebook
    from wordsight.desk.grammar import readable_grammar
    from wordsight.desk.limits import keeping
    from wordsight.desk.naming import save_words
    from wordsight.studio.course import Course, watched, write_course
    from wordsight.studio.versions import keep_version

    book, namer = Notebook(watcher=workplace.progress), _namer(arguments, workplace)
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
        keeping(arguments.get("prune"), arguments.get("beam")) as losses,
        _learner(arguments, namer, book) as learner,
    ):
        _fit(learner, clips, sentences, options)
    keep_version(workplace.folder, "before words were learned anew")
    learned = learner.lexicon_ if namer is None else namer.completed(learner.lexicon_)
    save_words(learned, workplace.folder / LEXICON, namer, overwrite=True)
    write_course(workplace.folder, Course(learner.histories_, learner.sharpened_))
    return {
        "clips": len(clips),
        "words": sorted(learned.words),
        "lost": max(losses, default=0.0),
        "notes": book.notes,
    }


def _pairs(
    workplace: Workplace, namer: "Namer | None", book: "Notebook"
) -> tuple[list["Clip"], list[list[str]]]:
    from wordsight.desk.clips import clips_with_sentences
    from wordsight.library import Library

    with Library.open(workplace.library) as library:
        clips, sentences = clips_with_sentences(library)
        if namer is not None:
            clips = [*namer.name_clips(library, clips, book)]
    return clips, sentences


@contextmanager
def _learner(
    arguments: Mapping[str, Any], namer: "Namer | None", book: "Notebook"
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


def _namer(arguments: Mapping[str, Any], workplace: Workplace) -> "Namer | None":
    from wordsight.desk.naming import Namer, load_taught
    from wordsight.desk.stating import load_stater
    from wordsight.studio.rule_sets import model_folder

    attributes, states = arguments.get("attributes"), arguments.get("states")
    if not attributes and not states:
        return None
    taught = workplace.folder / TAUGHT
    if attributes and not taught.exists():
        raise WordsightError("no words were taught yet; do so on the Attributes page first.")
    return Namer(
        load_taught(taught) if attributes else None,
        load_stater(model_folder(workplace.folder, states)) if states else None,
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
