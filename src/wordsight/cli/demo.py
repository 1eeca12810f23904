"""``wordsight demo``: the main job from beginning to end on videos made on the spot."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wordsight.cli.options import speaking
from wordsight.cli.output import Output
from wordsight.workflows.units import clock

if TYPE_CHECKING:
    from wordsight.meaning import LearnedLexicon, SentenceHit
    from wordsight.workflows.demo_street import Street

__all__ = ["CLIPS", "demo"]

CLIPS = 54
"""How many videos the demo makes if nobody says otherwise."""

_LONGEST = 10.0  # seconds; no video of the street lasts longer
_SEARCHED = (
    "The person picked up the backpack.",
    "The person carried the chair.",
    "The person approached the trash-can quickly.",
)


@speaking
def demo(
    output: Output,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to; a second run goes on there.")
    ] = Path("demo"),
    clips: Annotated[
        int, typer.Option(min=6, help="How many videos to make and learn from.")
    ] = CLIPS,
) -> None:
    """Make videos with sentences, learn the words, and find moments in new videos."""
    from wordsight.meaning import Windows
    from wordsight.workflows.demo_street import Street, f1_table

    street = Street.make(output, folder, clips)
    words = _learned(output, folder / "lexicon", street)
    with output.progress("Judging sentences") as progress:
        table = f1_table(words, street, progress)
    whole = Windows(lengths=(_LONGEST,))  # the videos are moments already
    found = {
        text: words.search(street.unseen_clips, text, top=2, windows=whole) for text in _SEARCHED
    }
    best = max((hit for hits in found.values() for hit in hits), key=lambda hit: hit.score)
    overlay = _overlay(output, words, street, best, folder / "found.mp4")
    sheet = _sheet(output, street, folder / "videos.png")

    def render(out: Output) -> None:
        out.line(
            f"Learned {len(words.words)} words in {len(street.known)} videos of two places; judged "
            f"{table['sentences']} sentences about {len(street.unseen)} videos of a third:"
        )
        rows = [(name, float(table["f1"][name])) for name in table["f1"]]
        out.table(["", "F1"], rows)
        out.line("Found there:")
        titles = ["sentence", "video", "from", "to", "probability", "true"]
        out.table(titles, _moments(found, street))
        out.line(f"Play {overlay}: who is who in {best.text!r}.")
        out.line(f"Look at {sheet}: a picture of every video.")
        out.line(f"Go on with: wordsight lexicon picked-up --words {folder / 'lexicon'}")
        out.line(f"        or: wordsight list --library {street.library}")
        opened = "--demo" if folder == Path("demo") else f"--library {street.library}"
        out.line(f"In the browser, at http://127.0.0.1:8321/: wordsight studio {opened}")

    output.result({**table, "found": found, "overlay": overlay, "contact_sheet": sheet}, render)


def _learned(output: Output, path: Path, street: "Street") -> "LearnedLexicon":
    from wordsight.language import default_lexicon
    from wordsight.meaning import ON_FILM, LearnedLexicon, WordLearner

    if path.exists():
        return LearnedLexicon.load(path)
    with output.progress("Learning words") as progress:
        learner = WordLearner(ON_FILM, restarts=2, threads=2).fit(
            street.known_clips,
            [list(film.sentences) for film in street.known],
            lexicon=default_lexicon(),
            progress=progress,
        )
    learner.lexicon_.save(path)
    return learner.lexicon_


def _moments(found: dict[str, list["SentenceHit"]], street: "Street") -> list[tuple[Any, ...]]:
    from math import exp

    films = dict(zip(street.paths, street.films, strict=True))
    return [
        (
            text if number == 0 else "",
            street.names[hit.video_id],
            clock(hit.start),
            clock(hit.end),
            f"{exp(min(hit.score, 0.0)):.2f}",
            "yes" if films[hit.video_id].truth.holds(text) else "no",
        )
        for text, hits in found.items()
        for number, hit in enumerate(hits)
    ]


def _overlay(
    output: Output, words: "LearnedLexicon", street: "Street", hit: "SentenceHit", path: Path
) -> Path:
    from wordsight.language.captions import Caption
    from wordsight.video import render_overlay

    if not path.exists():
        with output.progress("Drawing who is who") as progress:
            clip = next(clip for clip in street.unseen_clips if clip.video_id == hit.video_id)
            tracked = words.track(clip, hit.text)
            render_overlay(
                street.paths[hit.video_id],
                path,
                tracks=list(tracked.tracks),
                captions=[Caption(clip.start, clip.end, hit.text)],
                progress=progress,
            )
    return path


def _sheet(output: Output, street: "Street", path: Path) -> Path:
    from wordsight.video import VideoReader, write_contact_sheet

    if not path.exists():
        images = []
        with output.progress("Drawing an overview") as progress:
            for number, (video, source) in enumerate(street.paths.items()):
                progress(number, len(street.paths), street.names[video])
                with VideoReader(source) as reader:
                    images.append(reader.frame_at(reader.info.duration / 2).image)
        titles = [film.sentences[0] for film in street.films]
        write_contact_sheet(path, images, titles)
    return path
