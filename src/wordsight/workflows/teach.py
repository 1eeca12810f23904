"""``teach`` and ``attributes``: words for pictures, and which attribute each word names."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wordsight.errors import WordsightError
from wordsight.files import IMAGE_SUFFIXES
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wordsight.attributes import AttributeLearner, LearnedWord
    from wordsight.attributes.lesson_files import LessonFiles
    from wordsight.attributes.questions import LessonQuestion

__all__ = [
    "DEFAULT_TAUGHT",
    "AttributesRequest",
    "AttributesResult",
    "TeachRequest",
    "TeachResult",
    "TeachSettings",
    "attributes",
    "load_taught",
    "taught_setting",
    "teach",
]

DEFAULT_TAUGHT = Path("taught")
_DEFAULT_FIGURE = Path("attributes.png")


def taught_setting() -> Any:
    """Declare the setting that names the folder of taught words."""
    return setting(
        DEFAULT_TAUGHT, "Folder of the taught words.", "--taught", "-t", metavar="FOLDER"
    )


def load_taught(folder: Path) -> "AttributeLearner":
    """Read taught words.

    Raises:
        WordsightError: If there are none.
    """
    from wordsight.attributes import AttributeLearner

    if not folder.exists():
        raise WordsightError(
            f"there are no taught words at {folder}; teach with `wordsight teach FOLDER`, or name "
            "the folder with --taught."
        )
    return AttributeLearner.load(folder)


class TeachSettings(Request):
    """How words are learned from pictures, wherever they are kept."""

    attributes: int | None = setting(
        None,
        "Number of attributes.",
        "--attributes",
        "-K",
        label="How many attributes",
        default_text="found from the lessons",
        ge=1,
        le=50,
    )
    method: Literal["default", "annealed", "faithful"] = setting(
        "default",
        "default, annealed (mixture of maps) or faithful (as published).",
        titles={
            "default": "Recommended",
            "annealed": "Mixture of maps, annealed",
            "faithful": "As published",
        },
    )
    pictures: Literal["recommended", "figures", "paper"] | None = setting(
        None,
        "How pictures are described; figures looks only at the thing before its background.",
        label="Describe them",
        default_text="as the method does",
        titles={
            "recommended": "as a whole, and what stands out",
            "figures": "by what stands out alone",
            "paper": "as published",
        },
    )
    maps: Literal["linear", "nonlinear"] = setting(
        "linear",
        "How words may depend on what was measured; nonlinear is for words such as medium, that "
        "no line sets apart.",
        titles={"linear": "Linear", "nonlinear": "Nonlinear, where that helps"},
    )
    seed: int = setting(0, "The same seed learns the same.", label="Random seed", ge=0, le=2**31)


class TeachRequest(TeachSettings):
    """What to learn from, and where to keep it."""

    source: Path = argument(
        "Pictures with a word each: a .txt or .wav of the same name, a folder per word, or a list "
        "of pairs; or one picture.",
        metavar="FOLDER|pairs.jsonl|PICTURE",
    )
    word: tuple[str, ...] = setting(
        (), "What the one picture given is called; may be repeated.", metavar="WORD"
    )
    like: str | None = setting(
        None,
        "A known word of the same attribute as that of the one picture given.",
        metavar="WORD",
    )
    taught: Path = taught_setting()
    add: bool = setting(False, "Add to what was taught before.")
    begin: Path | None = setting(
        None, "Taught words that the lessons are added to; they stay as they are.", hidden=True
    )
    corrected: Path | None = setting(
        None, "Words taught by these lessons before, whose corrections are kept.", hidden=True
    )
    force: bool = setting(False, "Replace what is there.")


class AttributesRequest(Request):
    """Which taught words to show, and what to change."""

    picture: Path = argument(
        "Where --plot draws to (.png, .svg, .pdf).", metavar="PNG", default=_DEFAULT_FIGURE
    )
    plot: bool = setting(False, "Draw which words fell into which attribute.")
    counts: bool = setting(
        False, "Show how well each number of attributes explains the lessons: left out, AIC, BIC."
    )
    rename: tuple[str, ...] = setting((), "Spell a word that was only heard.", metavar="OLD=NEW")
    merge: tuple[str, ...] = setting(
        (), "Make a word's recordings those of another.", metavar="WORD=WORD"
    )
    split: tuple[str, ...] = setting(
        (), "Split a word's recordings into two words.", metavar="WORD"
    )
    play: Path | None = setting(
        None, "Write the typical recording of every word to a folder.", metavar="FOLDER"
    )
    ask: Path | None = setting(
        None,
        "Choose among the pictures of a folder the one to teach next, and what to say of it.",
        metavar="FOLDER",
    )
    force: bool = setting(False, "Replace what is there.")
    taught: Path = taught_setting()


@dataclass(frozen=True, eq=False)
class AttributesResult(Result):
    """Taught words by attribute.

    Attributes:
        learner: The taught words.
        figure: The picture that was drawn, if any.
        question: The picture to teach next and what to ask about it, if that was asked for.
        taught: The folder of the taught words.
        compared: Whether numbers of attributes are to be compared.
    """

    learner: "AttributeLearner"
    figure: Path | None = None
    question: "tuple[Path, LessonQuestion] | None" = None
    taught: Path = DEFAULT_TAUGHT
    compared: bool = False

    def to_json(self) -> Any:
        """Return what ``wordsight attributes --json`` prints."""
        from wordsight.attributes.report import used_features

        groups = zip(self.learner.attributes(), self.learner.recalls_, strict=False)
        asked: dict[str, Any] = {}
        if self.question is not None:
            picture, question = self.question
            asked = {"ask": {"picture": picture, "attribute": question.attribute}}
            asked["ask"]["words"] = list(question.words)
        return as_json(
            asked
            | {
                "attributes": [
                    {
                        "attribute": number,
                        "looks_at": used_features(self.learner, recall),
                        "words": [_word_json(word) for word in words],
                    }
                    for number, (words, recall) in enumerate(groups)
                ],
                "counts": [score.to_json() for score in self.learner.counts_],
            }
        )


def _word_json(word: "LearnedWord") -> dict[str, Any]:
    covers = {"covers": list(word.covers)} if word.covers else {}
    also = {"attributes": [word.attribute, *word.also]} if word.also else {}
    return {"word": word.name, "lessons": word.count, **covers, **also}


@dataclass(frozen=True, eq=False)
class TeachResult(AttributesResult):
    """What was learned.

    Attributes:
        num_lessons: Lessons of this time.
    """

    num_lessons: int = 0

    def to_json(self) -> Any:
        """Return what ``wordsight teach --json`` prints."""
        known = {"taught": self.taught, "lessons": len(self.learner.texts_)}
        return as_json(known) | super().to_json()


@workflow(TeachRequest)
def teach(request: TeachRequest, *, reporter: RecordingReporter) -> TeachResult:
    """Learn words from pictures with one word each; which attribute a word names is learned."""
    from wordsight.attributes.corrections import learn_with_corrections
    from wordsight.attributes.lesson_files import find_lessons, read_lesson_files

    taught = request.taught
    if taught.exists() and not (request.force or request.add):
        raise WordsightError(f"{taught} exists already; choose another name, --add or --force.")
    before = request.begin or (taught if request.add else None)
    chosen = {"attributes": None, "method": "default", "pictures": None, "maps": "linear"}
    if before is not None and any(getattr(request, k) != v for k, v in chosen.items()):
        raise WordsightError(
            f"--add goes on as {taught} was begun; leave out -K, --method, --maps and --pictures, "
            "or teach anew with --force and all lessons."
        )
    learner = _new_learner(request) if before is None else load_taught(before)
    files = find_lessons(request.source, request.word, request.like)
    pictures, words, sources = read_lesson_files(files)
    plain = [one.picture.name for one, seen in zip(files, pictures, strict=True) if _is_plain(seen)]
    if plain:
        reporter.warn(
            f"{_some(plain)}: of one colour, so that no thing is seen; leave it out unless the "
            "colour is what is taught."
        )
    with reporter.progress("Learning") as progress:
        if before is None:
            learner.fit(pictures, words, sources=sources, progress=progress)
        else:
            learner.teach(pictures, words, sources=sources)
        if request.corrected is not None:
            learn_with_corrections(learner, load_taught(request.corrected))
    unknown = {one.like.casefold() for one in files if one.like} - {w.name for w in learner.words_}
    for like in sorted(unknown):
        reporter.warn(f"no word is called {like!r}, so being like it says nothing.")
    for text in _contradictions(learner, files, pictures, sources):
        reporter.warn(text)
    learner.save(taught, overwrite=request.force or request.add)
    return TeachResult(learner, taught=taught, num_lessons=len(pictures))


_MOST_NAMED = 3  # pictures that a warning names
_LEAST_CONTRAST = 8  # levels of brightness in a picture that shows something


def _is_plain(picture: "NDArray[np.uint8]") -> bool:
    return int((picture.max(axis=(0, 1)) - picture.min(axis=(0, 1))).max()) < _LEAST_CONTRAST


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _contradictions(
    learner: "AttributeLearner",
    files: "Sequence[LessonFiles]",
    pictures: "Sequence[NDArray[np.uint8]]",
    sources: "Mapping[str, NDArray[np.float64]]",
) -> Iterator[str]:
    """Yield new things that were taught, now or before, with two words of one attribute.

    A word over another one, or of several attributes, contradicts none.
    """
    import numpy as np

    from wordsight.attributes import describe_pictures

    group = {word.name: word.attribute for word in learner.words_ if not (word.also or word.covers)}
    called: dict[tuple[bytes, int], dict[str, None]] = {}
    for look, text in zip(_looks(learner.kinds_), learner.texts_, strict=False):
        if text in group:
            called.setdefault((look, group[text]), {})[text] = None
    twice = [(look, words) for (look, _), words in called.items() if len(words) > 1]
    names: dict[bytes, dict[str, None]] = {}
    if twice:
        kinds = list(describe_pictures(pictures, learner.settings.pictures))
        for name, own in zip(learner.sources_, learner.kinds_[len(kinds) :], strict=False):
            nothing = np.full((len(pictures), own.shape[1]), np.nan)
            kinds.append(sources.get(name, nothing))
        for look, file in zip(_looks(kinds), files, strict=True):
            names.setdefault(look, {})[file.picture.name] = None
    twice = sorted((one for one in twice if one[0] in names), key=lambda one: -len(one[1]))
    for look, words in twice[:_MOST_NAMED]:
        said = " and as ".join(map(repr, words))
        yield (
            f"one picture was taught as {said} ({_some(list(names[look]))}), which are taken for "
            "words of one attribute; both lessons are kept. If one is a mistake, correct it and "
            "teach all lessons again."
        )
    if len(twice) > _MOST_NAMED:
        yield f"{len(twice) - _MOST_NAMED} more pictures were taught with two such words."


def _looks(kinds: "Sequence[NDArray[np.float64]]") -> list[bytes]:
    """Return for every picture a mark that only an equal one has."""
    import numpy as np

    # Files of taught words keep single precision.
    rows = zip(*(kind.astype(np.float32) + 0.0 for kind in kinds), strict=True)
    return [hashlib.sha256(b"".join(part.tobytes() for part in row)).digest() for row in rows]


@workflow(AttributesRequest)
def attributes(request: AttributesRequest, *, reporter: RecordingReporter) -> AttributesResult:
    """Show which words belong to which attribute, and what each looks at."""
    learner = load_taught(request.taught)
    for old, new in _pairs(request.rename, "--rename takes OLD=NEW"):
        learner.rename(old, new)
    for old, new in _pairs(request.merge, "--merge takes WORD=WORD"):
        learner.merge(old, new)
    for word in request.split:
        learner.split(word)
    if request.rename or request.merge or request.split:
        learner.save(request.taught, overwrite=True)
    if request.play is not None:
        _write_recordings(learner, request.play, force=request.force)
        reporter.note(f"Recordings: {request.play}")
    figure = request.picture if request.plot or request.picture != _DEFAULT_FIGURE else None
    if figure is not None:
        from wordsight.attributes.report import draw_attributes

        draw_attributes(figure, learner, overwrite=request.force)
        reporter.note(f"Figure: {figure}")
    question = None if request.ask is None else _question(learner, request.ask)
    return AttributesResult(learner, figure, question, request.taught, request.counts)


def _question(learner: "AttributeLearner", folder: Path) -> "tuple[Path, LessonQuestion]":
    """Choose a picture of a folder, and what to ask about it."""
    from wordsight.video import read_image

    paths = []
    if folder.is_dir():
        paths = sorted(one for one in folder.iterdir() if one.suffix.lower() in IMAGE_SUFFIXES)
    if not paths:
        raise WordsightError(
            f"{folder} has no pictures; --ask takes a folder of .png or .jpg files."
        )
    question = learner.ask([read_image(path) for path in paths])
    return paths[question.picture], question


def _pairs(changes: tuple[str, ...], expected: str) -> list[tuple[str, str]]:
    pairs = []
    for change in changes:
        old, equals, new = change.partition("=")
        if not (old and equals and new):
            raise WordsightError(f"{expected}, got {change!r}.")
        pairs.append((old, new))
    return pairs


def _write_recordings(learner: "AttributeLearner", folder: Path, *, force: bool) -> None:
    """Write ``WORD.wav`` for every word that was recorded."""
    from wordsight.attributes import write_sound

    recorded = {word.name: learner.sounds_[word.example] for word in learner.words_}
    if not any(recorded.values()):
        raise WordsightError("no word was recorded, so there is nothing to play.")
    safe = {
        name: "".join(c if c.isalnum() or c in "-_" else "_" for c in name) for name in recorded
    }
    heard = {folder / f"{safe[name]}.wav": sound for name, sound in recorded.items() if sound}
    refuse_existing(*heard, force=force)
    folder.mkdir(parents=True, exist_ok=True)
    for path, sound in heard.items():
        write_sound(path, sound, overwrite=force)


def _new_learner(request: TeachSettings) -> "AttributeLearner":
    from wordsight.attributes import ANNEALED, FAITHFUL, RECOMMENDED, AttributeLearner

    methods = {"default": RECOMMENDED, "annealed": ANNEALED, "faithful": FAITHFUL}
    pictures = {} if request.pictures is None else {"pictures": request.pictures}
    return AttributeLearner(
        methods[request.method],
        num_attributes=request.attributes,
        maps=request.maps,
        random_state=request.seed,
        **pictures,
    )
