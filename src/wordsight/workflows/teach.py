"""``teach`` and ``attributes``: words for pictures, and which attribute each word names."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wordsight.errors import WordsightError
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, workflow

if TYPE_CHECKING:
    from wordsight.attributes import AttributeLearner

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
        default_text="found from the lessons",
        ge=1,
        le=50,
    )
    method: Literal["default", "annealed", "faithful"] = setting(
        "default", "default, annealed (mixture of maps) or faithful (as published)."
    )
    pictures: Literal["recommended", "figures", "paper"] | None = setting(
        None,
        "How pictures are described; figures also uses the size of things before a plain "
        "background.",
        default_text="as the method does",
    )
    seed: int = setting(0, "The same seed learns the same.", label="Random seed", ge=0, le=2**31)


class TeachRequest(TeachSettings):
    """What to learn from, and where to keep it."""

    source: Path = argument(
        "Pictures with a word each: a .txt or .wav of the same name, a folder per word, or a list "
        "of pairs.",
        metavar="FOLDER|pairs.jsonl",
    )
    taught: Path = taught_setting()
    add: bool = setting(False, "Add to what was taught before.")
    begin: Path | None = setting(
        None, "Taught words that the lessons are added to; they stay as they are.", hidden=True
    )
    force: bool = setting(False, "Replace what is there.")


class AttributesRequest(Request):
    """Which taught words to show, and what to change."""

    picture: Path = argument(
        "Where --plot draws to (.png, .svg, .pdf).", metavar="PNG", default=_DEFAULT_FIGURE
    )
    plot: bool = setting(False, "Draw which words fell into which attribute.")
    rename: tuple[str, ...] = setting((), "Spell a word that was only heard.", metavar="OLD=NEW")
    force: bool = setting(False, "Replace what is there.")
    taught: Path = taught_setting()


@dataclass(frozen=True, eq=False)
class AttributesResult(Result):
    """Taught words by attribute.

    Attributes:
        learner: The taught words.
        figure: The picture that was drawn, if any.
    """

    learner: "AttributeLearner"
    figure: Path | None = None

    def to_json(self) -> Any:
        """Return what ``wordsight attributes --json`` prints."""
        from wordsight.attributes.report import used_features

        groups = zip(self.learner.attributes(), self.learner.recalls_, strict=False)
        return as_json(
            {
                "attributes": [
                    {
                        "attribute": number,
                        "looks_at": used_features(self.learner, recall),
                        "words": [{"word": word.name, "lessons": word.count} for word in words],
                    }
                    for number, (words, recall) in enumerate(groups)
                ],
                "counts": [score.to_json() for score in self.learner.counts_],
            }
        )


@dataclass(frozen=True, eq=False)
class TeachResult(AttributesResult):
    """What was learned.

    Attributes:
        taught: The folder it was written to.
        num_lessons: Lessons of this time.
    """

    taught: Path = DEFAULT_TAUGHT
    num_lessons: int = 0

    def to_json(self) -> Any:
        """Return what ``wordsight teach --json`` prints."""
        known = {"taught": self.taught, "lessons": len(self.learner.texts_)}
        return as_json(known) | super().to_json()


@workflow(TeachRequest)
def teach(request: TeachRequest, *, reporter: RecordingReporter) -> TeachResult:
    """Learn words from pictures with one word each; which attribute a word names is learned."""
    from wordsight.attributes.lesson_files import find_lessons, read_lesson_files

    taught = request.taught
    if taught.exists() and not (request.force or request.add):
        raise WordsightError(f"{taught} exists already; choose another name, --add or --force.")
    before = request.begin or (taught if request.add else None)
    chosen = {"attributes": None, "method": "default", "pictures": None}
    if before is not None and any(getattr(request, k) != v for k, v in chosen.items()):
        raise WordsightError(
            f"--add goes on as {taught} was begun; leave out -K, --method and --pictures, or teach "
            "anew with --force and all lessons."
        )
    learner = _new_learner(request) if before is None else load_taught(before)
    pictures, words = read_lesson_files(find_lessons(request.source))
    with reporter.progress("Learning") as progress:
        if before is None:
            learner.fit(pictures, words, progress=progress)
        else:
            learner.teach(pictures, words)
    learner.save(taught, overwrite=request.force or request.add)
    return TeachResult(learner, None, taught, len(pictures), warnings=tuple(reporter.notes))


@workflow(AttributesRequest)
def attributes(request: AttributesRequest, *, reporter: RecordingReporter) -> AttributesResult:
    """Show which words belong to which attribute, and what each looks at."""
    learner = load_taught(request.taught)
    for change in request.rename:
        old, equals, new = change.partition("=")
        if not (old and equals and new):
            raise WordsightError(f"--rename takes OLD=NEW, got {change!r}.")
        learner.rename(old, new)
    if request.rename:
        learner.save(request.taught, overwrite=True)
    figure = request.picture if request.plot or request.picture != _DEFAULT_FIGURE else None
    if figure is not None:
        from wordsight.attributes.report import draw_attributes

        draw_attributes(figure, learner, overwrite=request.force)
    return AttributesResult(learner, figure, warnings=tuple(reporter.notes))


def _new_learner(request: TeachSettings) -> "AttributeLearner":
    from wordsight.attributes import ANNEALED, FAITHFUL, RECOMMENDED, AttributeLearner

    methods = {"default": RECOMMENDED, "annealed": ANNEALED, "faithful": FAITHFUL}
    pictures = {} if request.pictures is None else {"pictures": request.pictures}
    return AttributeLearner(
        methods[request.method],
        num_attributes=request.attributes,
        random_state=request.seed,
        **pictures,
    )
