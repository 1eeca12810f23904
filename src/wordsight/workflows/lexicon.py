"""``lexicon``: what learned words look for; and lexicons as other workflows read them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.workflows.reporter import RecordingReporter, Reporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, open_library, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.language import Entry, Lexicon, Understood
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon
    from wordsight.records import Sentence

__all__ = [
    "LEARNED_FROM",
    "LEXICON",
    "LexiconRequest",
    "LexiconResult",
    "lexicon",
    "lexicon_folder",
    "lexicon_setting",
    "library_setting",
    "library_words",
    "load_grammar",
    "load_lexicon",
    "readable_grammar",
    "understood_query",
]

LEXICON = "lexicon"
"""Name of the folder inside a library that holds the words learned from it."""

LEARNED_FROM = "learned_from"
"""Under which name the notes of a lexicon have the videos it was learned from."""

_SHOWN = 3  # sentences that cannot be read; the rest is counted
_LISTED = 12  # words per note; the rest is counted
_LONGEST = 80  # characters of a sentence or word that are shown
_loading = Lock()
_loaded: dict[tuple[Path, int], "LearnedLexicon"] = {}


def lexicon_setting(default_text: str = "inside the library") -> Any:
    """Declare the setting that names a learned lexicon."""
    return setting(
        None,
        "Folder of the learned lexicon.",
        "--words",
        "-w",
        metavar="FOLDER",
        default_text=default_text,
    )


def library_setting() -> Any:
    """Declare the library whose words are used, for verbs that need nothing else of it."""
    return setting(
        "wordsight-library",
        "The library whose words are used unless others are named.",
        hidden=True,
    )


class LexiconRequest(Request):
    """Which learned words are shown."""

    word: str | None = argument("One word; all if left out.", metavar="WORD", default=None)
    plot: Path | None = setting(
        None,
        "Draw WORD into a picture: states, transitions and distributions.",
        metavar="FILE",
    )
    force: bool = setting(False, "Replace the picture if it exists.")
    words: Path | None = lexicon_setting()
    library: str = library_setting()


@dataclass(frozen=True)
class LexiconResult(Result):
    """Learned words.

    Attributes:
        models: Per word its tables, as JSON holds them.
        pages: Per word what it looks for, in text.
    """

    models: dict[str, Any]
    pages: tuple[str, ...]


@workflow(LexiconRequest)
def lexicon(request: LexiconRequest, *, reporter: RecordingReporter) -> LexiconResult:
    """Show what learned words look for, state by state."""
    from wordsight.meaning.model.wording import save_word_plot, word_values

    learned, word = load_lexicon(lexicon_folder(request.library, request.words)), request.word
    if word is not None:
        named = word.strip().lower().replace(" ", "-")  # as it is said: "Picked up"
        word = named if named in learned.words else word
    if request.plot is not None:
        if word is None:
            raise WordsightError("name the word to draw: wordsight lexicon WORD --plot FILE.")
        refuse_existing(request.plot, force=request.force)
        save_word_plot(learned, word, request.plot)
    entries = [word] if word else sorted(learned.words)
    return LexiconResult(
        {entry: word_values(learned, entry) for entry in entries},
        tuple(learned.page(entry, strongest=12 if word else 3) for entry in entries),
    )


def lexicon_folder(library: "Library | str", named: Path | None) -> Path:
    """Return where words are: in the folder that is named, else inside the library."""
    if named is not None:
        return named
    with open_library(library) as opened:
        return opened.folder / LEXICON


def library_words(
    library: "Library", named: Path | None, reporter: Reporter
) -> tuple["LearnedLexicon", Path]:
    """Read the words to use on a library, and say if they were learned from another one.

    Args:
        library: The library.
        named: The folder of other words than the library's own, if any.
        reporter: Takes a note if they are of another library.

    Returns:
        The words, and the folder they are in.

    Raises:
        WordsightError: If there are none.
    """
    folder = lexicon_folder(library, named)
    learned = load_lexicon(folder)
    if named is not None and _is_of_others(learned, library):
        reporter.note(f"The words in {named} were learned from videos of another library.")
    return learned, folder


def _is_of_others(learned: "LearnedLexicon", library: "Library") -> bool:
    """Whether words were learned from videos of which this library has none."""
    learned_from = learned.notes.get(LEARNED_FROM)
    if not isinstance(learned_from, list | tuple) or not learned_from:
        return False  # older lexicons and those written by hand do not say
    return not {video.id for video in library.videos()} & set(learned_from)


def load_lexicon(folder: Path) -> "LearnedLexicon":
    """Read a learned lexicon; one that was read last and has not changed since is kept.

    Raises:
        WordsightError: If there is none.
    """
    from wordsight.meaning import LearnedLexicon

    if not folder.exists():
        raise WordsightError(
            f"there is no learned lexicon at {folder}; make one with `wordsight learn`, or name "
            "the folder of another with --words."
        )
    model = folder / "model.json"
    if not model.exists():
        return LearnedLexicon.load(folder)  # says what is wrong
    key = (folder.absolute(), model.stat().st_mtime_ns)
    with _loading:
        if key not in _loaded:
            learned = LearnedLexicon.load(folder)
            _loaded.clear()  # only the last one
            _loaded[key] = learned
        return _loaded[key]


def load_grammar(name: str | None) -> "Lexicon | None":
    """Read how words combine: a lexicon file, or ``street`` for the one that comes along."""
    if name is None:
        return None
    from wordsight.language import default_lexicon, read_lexicon

    return default_lexicon() if name == "street" else read_lexicon(name)


def understood_query(
    learned: "LearnedLexicon", text: str, reporter: Reporter, *, aloud: bool
) -> "Understood | None":
    """Return what a learned lexicon understands of a query, or None if it cannot read it.

    Args:
        learned: The lexicon.
        text: A sentence, a question, several events, or a phrase.
        reporter: Takes what was understood where that is not plain, or the reason why not.
        aloud: Whether the reason is a note in any case; otherwise it is a detail where the text is
            a few words that are no sentence, which is nothing unusual.
    """
    from wordsight.language import is_clause

    try:
        understood = learned.query(text)
    except WordsightError as error:
        reason = str(error).splitlines()[0].rstrip(".:")
        aloud = aloud or "did you mean" in reason or is_clause(text)
        report = reporter.note if aloud else reporter.detail
        report(f"The learned words cannot read this ({reason}): going by what is said.")
        return None
    if not understood.is_literal:
        reporter.note(understood.explanation())
    return understood


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def readable_grammar(
    known: "Lexicon | None",
    sentences: Sequence[Sequence[str]],
    reporter: Reporter,
    *,
    taught: Sequence["Entry"] = (),
    videos: Sequence[str] | None = None,
    synonyms: bool = False,
) -> tuple["Lexicon", list[list["Sentence"]]]:
    """Return a lexicon with all words of the sentences, and what the sentences say in its words.

    Args:
        known: How words combine, as far as it is written down.
        sentences: What is said of each clip.
        reporter: Takes which words were inferred beside those known, what pronouns were taken for,
            which words stay unknown, and what cannot be read.
        taught: Further entries, which help to infer the rest.
        videos: The video of each clip, so that pronouns refer to what was said of it before.
        synonyms: Whether a new word is taken for a known one that means about the same.
    """
    from wordsight.language import Lexicon, infer_lexicon

    given = Lexicon((*(known or ()), *taught))
    texts = [text for said in sentences for text in said]
    where = None
    if videos is not None:
        where = [v for v, said in zip(videos, sentences, strict=True) for _ in said]
    inferred = infer_lexicon(texts, given, videos=where, synonyms=synonyms)
    if known is not None and inferred.findings:
        new = ", ".join(f"{f.entry.name} ({f.entry.part})" for f in inferred.findings)
        reporter.note(f"Not in the lexicon, so inferred from how they are used: {new}.")
    for what, words in (
        ("Taken for", inferred.guesses),
        ("Left out of sentences", inferred.ignored),
        ("Unknown, and not learned", inferred.unknown),
        (
            "Verbs used alike, which may be synonyms but are learned separately",
            [pair.replace(" ~ ", " and ") for pair in inferred.synonyms],
        ),
    ):
        if words:
            more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
            reporter.note(f"{what}: {', '.join(map(_shown, words[:_LISTED]))}{more}.")
    for text, why in inferred.unread[:_SHOWN]:
        reporter.warn(f"cannot read {_shown(text)!r}: {why.splitlines()[0].rstrip(':')}")
    if len(inferred.unread) > _SHOWN:
        reporter.warn(f"{len(inferred.unread)} sentences cannot be read and are left out.")
    rest = iter(inferred.sentences)
    return inferred.lexicon, [[one for _ in said for one in next(rest)] for said in sentences]
