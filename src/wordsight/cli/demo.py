"""``wordsight demo``: the main job from beginning to end on videos made on the spot."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.library import render_added, render_details, render_list
from wordsight.cli.options import speaking
from wordsight.cli.output import Output

if TYPE_CHECKING:
    from wordsight.library import Library

__all__ = ["demo"]

_CLIPS = 6


@speaking
def demo(
    output: Output,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to; a second run goes on there.")
    ] = Path("demo"),
) -> None:
    """Make a few videos with sentences, put them into a library, and show what was found."""
    from wordsight.library import Library

    films = _films(output, folder / "street")
    with Library.open(folder / "library", create=True) as library:
        with output.progress("Adding") as progress:
            report = library.add(films, progress=progress)
        videos = library.videos()
        details = library.show(videos[0].id)
        overlay = _overlay(output, library, details.video.id, folder / "followed.mp4")
        sheet = _sheet(output, library, folder / "videos.png")

    def render(out: Output) -> None:
        render_added(out, report)
        render_list(out, videos, len(videos), None)
        render_details(out, details)
        out.line(f"Look at {sheet}: a picture of every video.")
        out.line(f"Play {overlay}: everything that moves or stands out, followed through time.")
        out.line(f"Go on with: wordsight list --library {folder / 'library'}")

    output.result({"videos": videos, "overlay": overlay, "contact_sheet": sheet}, render)


def _films(output: Output, folder: Path) -> Path:
    from wordsight import worlds
    from wordsight.worlds.folder import METADATA_NAME

    if not (folder / METADATA_NAME).exists():
        with output.progress("Rendering videos") as progress:
            films = worlds.street(_CLIPS)
            worlds.write_world(films, folder, total=_CLIPS, progress=progress)
    return folder


def _overlay(output: Output, library: "Library", video_id: str, path: Path) -> Path:
    import numpy as np

    from wordsight.perception import Tracker
    from wordsight.video import render_overlay

    if not path.exists():
        with output.progress("Following things") as progress:
            seen = library.detections(video_id)
            # One name for all: a thing may change its look from frame to frame.
            things = seen.relabelled(np.zeros_like(seen.labels), ["thing"])
            tracks = Tracker().track(things, video_id)
            source = library.video(video_id).path
            render_overlay(source, path, tracks=tracks, progress=progress)
    return path


def _sheet(output: Output, library: "Library", path: Path) -> Path:
    from wordsight.video import VideoReader, write_contact_sheet

    if not path.exists():
        videos, images = library.videos(), []
        for video in videos:
            with VideoReader(video.path) as reader:
                images.append(reader.frame_at(video.duration / 2).image)
        titles = [library.sentences(video.id)[0].text for video in videos]
        write_contact_sheet(path, images, titles)
    return path
