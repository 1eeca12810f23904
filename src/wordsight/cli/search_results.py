"""What a search found, as a table and as a contact sheet."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.cli.output import Output
from wordsight.workflows.found_moments import FoundMoment, why
from wordsight.workflows.units import clock

if TYPE_CHECKING:
    from wordsight.library import Library

__all__ = ["render", "write_sheet"]


def render(output: Output, found: Sequence[FoundMoment], how: str) -> None:
    """Print a table of moments with their evidence, or that there is nothing."""
    if not found:
        output.line("Nothing here. (--all shows the nearest moments all the same.)")
        return
    grounded = any("meaning" in each.by for each in found)
    rows = [
        (each.video_id, clock(each.start), clock(each.end), each.score, why(each)) for each in found
    ]
    heading = "evidence per word" if grounded else "evidence"
    output.table(["video", "from", "to", "score", heading], rows)
    output.line(how)


def write_sheet(
    path: Path, found: Sequence[FoundMoment], opened: "Library", heading: str, *, overwrite: bool
) -> None:
    """Write a contact sheet of the moments, best first."""
    from wordsight.video import VideoReader, write_contact_sheet

    images, titles = [], []
    for rank, each in enumerate(found, start=1):
        with VideoReader(opened.video(each.video_id).path) as reader:
            info = reader.info
            time = each.key_time if each.key_time is not None else (each.start + each.end) / 2
            size = (320, max(1, round(320 * info.height / info.width)))
            images.append(reader.frame_at(time).scaled(*size))
        span = f"{clock(each.start)} - {clock(each.end)}"
        titles.append(f"{rank}  {each.video_id}\n{span}  score {each.score:.2f}\n{why(each)}")
    write_contact_sheet(path, images, titles, heading=heading, overwrite=overwrite)
