"""``teach``, ``name`` and ``attributes``: words for pictures, and which attribute each names."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wordsight.cli.options import speaking
from wordsight.cli.output import Output
from wordsight.errors import WordsightError
from wordsight.workflows.units import clock, count
from wordsight.workflows.workflow import refuse_existing

if TYPE_CHECKING:
    from wordsight.attributes import AttributeLearner, Naming
    from wordsight.attributes.recall.videos import NamedDetection

__all__ = ["attributes", "name", "teach"]

TaughtOption = Annotated[
    Path, typer.Option("--taught", "-t", metavar="FOLDER", help="Where taught words are kept.")
]
DEFAULT_TAUGHT = Path("taught")
DEFAULT_FIGURE = Path("attributes.png")
ForceFlag = Annotated[
    bool, typer.Option("--force", help="Replace what is there.", show_default=False)
]
_PICTURES = (".png", ".jpg", ".jpeg")


@speaking
def teach(
    output: Output,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER|pairs.jsonl",
            help="Pictures with a word each: a .txt or .wav of the same name, a folder per word, "
            "or a list of pairs.",
        ),
    ],
    taught: TaughtOption = DEFAULT_TAUGHT,
    attributes: Annotated[
        int | None,
        typer.Option(
            "--attributes", "-K", min=1, help="How many attributes; found out if left out."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="default, annealed (mixture of maps) or faithful (as published).")
    ] = "default",
    pictures: Annotated[
        str | None,
        typer.Option(
            metavar="recommended|figures|paper",
            help="How pictures are described; figures sees the size of things before a plain "
            "background.",
            show_default="as the method says",
        ),
    ] = None,
    add: Annotated[
        bool, typer.Option("--add", help="Add to what was taught before.", show_default=False)
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="The same seed learns the same.")] = 0,
    force: ForceFlag = False,
) -> None:
    """Teach words by pictures: one word each; which attribute it names is learned."""
    from wordsight.attributes.lesson_files import find_lessons, read_lesson_files

    if taught.exists() and not (force or add):
        raise WordsightError(f"{taught} exists already; choose another name, --add or --force.")
    if add and (attributes is not None or pictures is not None or method != "default"):
        raise WordsightError(
            f"--add goes on as {taught} was begun; leave out -K, --method and --pictures, or teach "
            "anew with --force and all lessons."
        )
    learner = _load(taught) if add else _new(method, attributes, pictures, seed)
    images, words = read_lesson_files(find_lessons(source))
    with output.progress("Learning") as progress:
        if add:
            learner.teach(images, words)
        else:
            learner.fit(images, words, progress=progress)
    learner.save(taught, overwrite=force or add)
    output.result(
        {"taught": taught, "lessons": len(learner.texts_)} | _summary(learner),
        lambda out: _render_taught(out, learner, taught),
    )


@speaking
def name(
    output: Output,
    what: Annotated[
        str,
        typer.Argument(metavar="IMAGE|VIDEO@SECONDS|VIDEO", help="What to name."),
    ],
    box: Annotated[
        str | None,
        typer.Option(metavar="X,Y,W,H", help="Only this part, in pixels.", show_default=False),
    ] = None,
    boxes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Name all things of a video that this file boxes."),
    ] = None,
    play: Annotated[
        Path | None,
        typer.Option(metavar="WAV", help="Write the answer in the teacher's own voice."),
    ] = None,
    force: ForceFlag = False,
    taught: TaughtOption = DEFAULT_TAUGHT,
) -> None:
    """Say all words for a picture, a part of one, or the things in a video."""
    from wordsight.attributes import write_sound

    learner = _load(taught)
    if boxes is not None:
        found = _things(learner, what, boxes, output)
        output.result(found, lambda out: _render_things(out, found))
        return
    refuse_existing(play, force=force)
    naming = learner.name(_picture(what, box))
    if play is not None:
        write_sound(play, learner.say(naming), overwrite=force)
        output.note(f"Spoken: {play}")
    output.result(
        {"text": naming.text, "attributes": naming.attributes},
        lambda out: _render_naming(out, naming),
    )


@speaking
def attributes(
    output: Output,
    picture: Annotated[
        Path,
        typer.Argument(metavar="PNG", help="Where --plot draws to (.png, .svg, .pdf)."),
    ] = DEFAULT_FIGURE,
    plot: Annotated[
        bool,
        typer.Option(
            "--plot", help="Draw which words fell into which attribute.", show_default=False
        ),
    ] = False,
    rename: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Spell a word that was only heard."),
    ] = None,
    force: ForceFlag = False,
    taught: TaughtOption = DEFAULT_TAUGHT,
) -> None:
    """Show which words belong to which attribute, and what each looks at."""
    learner = _load(taught)
    for change in rename or []:
        old, equals, new = change.partition("=")
        if not (old and equals and new):
            raise WordsightError(f"--rename takes OLD=NEW, got {change!r}.")
        learner.rename(old, new)
    if rename:
        learner.save(taught, overwrite=True)
    if plot or picture != DEFAULT_FIGURE:
        from wordsight.attributes.report import draw_attributes

        draw_attributes(picture, learner, overwrite=force)
        output.note(f"Figure: {picture}")
    summary = _summary(learner)
    output.result(summary, lambda out: _render_attributes(out, summary))


def _new(method: str, count_: int | None, pictures: str | None, seed: int) -> "AttributeLearner":
    from wordsight.attributes import ANNEALED, FAITHFUL, RECOMMENDED, AttributeLearner

    known = {"default": RECOMMENDED, "annealed": ANNEALED, "faithful": FAITHFUL}
    if method not in known:
        raise WordsightError(f"--method must be one of {', '.join(known)}, got {method!r}.")
    chosen = {} if pictures is None else {"pictures": pictures}
    return AttributeLearner(known[method], num_attributes=count_, random_state=seed, **chosen)


def _load(taught: Path) -> "AttributeLearner":
    from wordsight.attributes import AttributeLearner

    if not taught.exists():
        raise WordsightError(
            f"nothing was taught at {taught}; teach with `wordsight teach FOLDER`, or name the "
            "folder with --taught."
        )
    return AttributeLearner.load(taught)


def _picture(what: str, box: str | None):  # type: ignore[no-untyped-def]  # numpy stays unloaded
    from wordsight.attributes.recall.videos import crop_box
    from wordsight.video import VideoReader, read_image

    path, at, seconds = what.rpartition("@")
    if Path(what).suffix.lower() in _PICTURES or Path(what).is_file():
        if Path(what).is_file() and Path(what).suffix.lower() not in _PICTURES:
            raise WordsightError(
                f"{what} is not a picture (.png, .jpg). Of a video, name a moment "
                f"({what}@SECONDS) or the boxes to look at (--boxes FILE)."
            )
        image = read_image(what)
    else:
        if not at:
            raise WordsightError(f"{what} does not exist; expected a picture or VIDEO@SECONDS.")
        time = _seconds(seconds)
        with VideoReader(path) as reader:
            image = reader.frame_at(time).image
    if box is None:
        return image
    x, y, width, height = _numbers(box)
    return crop_box(image, (x, y, x + width, y + height))


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise WordsightError(
            f"after @ the time in seconds was expected, as in film.mp4@12.5, got {text!r}."
        ) from None


def _numbers(box: str) -> tuple[float, float, float, float]:
    try:
        x, y, width, height = (float(part) for part in box.split(","))
    except ValueError:
        raise WordsightError(f"--box takes X,Y,W,H in pixels, got {box!r}.") from None
    if width <= 0 or height <= 0:
        raise WordsightError(f"--box needs a width and a height above 0, got {box!r}.")
    return x, y, width, height


def _things(
    learner: "AttributeLearner", video: str, boxes: Path, output: Output
) -> list["NamedDetection"]:
    from wordsight.attributes.recall.videos import name_detections
    from wordsight.perception import read_boxes
    from wordsight.video import VideoReader

    with VideoReader(video) as reader:
        times, size = reader.times, (reader.info.width, reader.info.height)
    seen = read_boxes(boxes, times=times, frame_size=size)
    with output.progress("Naming") as progress:
        return name_detections(learner, video, seen, progress=progress)


def _summary(learner: "AttributeLearner") -> dict[str, Any]:
    from wordsight.attributes.report import looks_at

    groups = zip(learner.attributes(), learner.recalls_, strict=False)
    return {
        "attributes": [
            {
                "attribute": number,
                "looks_at": looks_at(learner, recall),
                "words": [{"word": word.name, "lessons": word.count} for word in words],
            }
            for number, (words, recall) in enumerate(groups)
        ],
        "counts": [score.to_json() for score in learner.counts_],
    }


def _render_taught(output: Output, learner: "AttributeLearner", taught: Path) -> None:
    output.line(
        f"{count(len(learner.texts_), 'lesson')}, {count(len(learner.words_), 'word')}, "
        f"{count(learner.num_attributes_, 'attribute')}; kept in {taught}."
    )
    _render_attributes(output, _summary(learner))


def _render_attributes(output: Output, summary: dict[str, Any]) -> None:
    rows = [
        (
            group["attribute"] + 1,
            ", ".join(f"{word['word']} ({word['lessons']})" for word in group["words"]),
            ", ".join(group["looks_at"]),
        )
        for group in summary["attributes"]
    ]
    output.table(["attribute", "words (lessons)", "looks at"], rows)


def _render_naming(output: Output, naming: "Naming") -> None:
    output.line(naming.text)
    rows = [
        (
            answer.attribute + 1,
            answer.word if answer.known else f"none; nearest is {answer.word}",
            answer.confidence if answer.known else "",  # among words none of which fits
            ", ".join(f"{word} {share:.2f}" for word, share in answer.others[:2]),
        )
        for answer in naming.attributes
    ]
    output.table(["attribute", "word", "confidence", "else"], rows)


def _render_things(output: Output, found: list["NamedDetection"]) -> None:
    if not found:
        output.line("No box shows enough pixels.")
        return
    rows = [
        (clock(one.time), one.identity, ", ".join(f"{v:.0f}" for v in one.box), one.naming.text)
        for one in found
    ]
    output.table(["time", "thing", "box", "words"], rows)
