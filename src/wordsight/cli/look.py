"""``shots``, ``detect`` and ``convert``: what one video or one file of boxes or captions holds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.options import (
    DetectorOption,
    LabelsOption,
    ModelOption,
    SettingOption,
    detector_options,
    speaking,
)
from wordsight.cli.output import Output
from wordsight.workflows.units import clock, count
from wordsight.workflows.workflow import refuse_existing

if TYPE_CHECKING:
    from wordsight.records import Detections, Shot, Track

__all__ = ["convert", "detect", "shots"]

VideoArgument = Annotated[Path, typer.Argument(metavar="VIDEO", help="A video file.")]
ForceFlag = Annotated[
    bool, typer.Option("--force", help="Replace files that exist.", show_default=False)
]


@speaking
def shots(
    output: Output,
    video: VideoArgument,
    sheet: Annotated[
        Path | None, typer.Option(metavar="PNG", help="Also write a contact sheet of the shots.")
    ] = None,
    force: ForceFlag = False,
) -> None:
    """Find the shots of a video: cuts and fades, in seconds and frames."""
    from wordsight.video import detect_shots, shot_sheet, write_image

    refuse_existing(sheet, force=force)
    with output.progress("Finding shots") as progress:
        found = detect_shots(video, progress=progress)
    if sheet is not None:
        write_image(sheet, shot_sheet(video, found, heading=video.name), overwrite=force)
        output.note(f"Contact sheet: {sheet}")
    output.result(found, lambda out: _render_shots(out, found))


@speaking
def detect(
    output: Output,
    video: VideoArgument,
    output_path: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write boxes: .csv .txt .json .xml"),
    ] = None,
    overlay: Annotated[
        Path | None, typer.Option(metavar="MP4", help="Write the video with boxes drawn on it.")
    ] = None,
    detector: DetectorOption = "regions",
    model: ModelOption = None,
    labels: LabelsOption = None,
    option: SettingOption = None,
    rate: Annotated[
        float | None, typer.Option(help="Look at so many frames a second at most.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Follow objects from frame to frame.")
    ] = False,
    force: ForceFlag = False,
) -> None:
    """Find things in a video frame by frame, and follow them with --follow."""
    from wordsight.perception import (
        Tracker,
        detections_from_tracks,
        load_detector,
        observe,
        write_boxes,
    )
    from wordsight.video import VideoReader, render_overlay

    refuse_existing(output_path, overlay, force=force)
    finder = load_detector(detector, **detector_options(detector, model, labels, option))
    with VideoReader(video) as reader:
        with output.progress("Looking") as progress:
            seen = observe(reader, finder, rate=rate, progress=progress)
        tracks = Tracker().track(seen, video.stem) if follow else []
        if follow:
            seen = detections_from_tracks(
                tracks, seen.times, seen.frame_size, label_names=seen.label_names
            )
        if output_path is not None:
            write_boxes(output_path, seen, times=reader.times, overwrite=force)
            output.note(f"Boxes: {output_path}")
        if overlay is not None:
            with output.progress("Drawing") as progress:
                drawn = {"tracks": tracks} if follow else {"detections": seen}
                render_overlay(reader, overlay, **drawn, overwrite=force, progress=progress)
            output.note(f"Overlay: {overlay}")
    summary = {
        "video": video,
        "detector": detector,
        "frames": len(seen),
        "boxes": int(seen.mask.sum()),
        "tracks": tracks if follow else None,
    }
    output.result(summary, lambda out: _render_seen(out, seen, tracks, follow))


@speaking
def convert(
    output: Output,
    source: Annotated[Path, typer.Argument(metavar="IN", help="Boxes or captions.")],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="Where to; the ending says the format.")
    ],
    source_format: Annotated[
        str | None, typer.Option("--from", help="Format of IN, if its ending does not say.")
    ] = None,
    target_format: Annotated[
        str | None, typer.Option("--to", help="Format of OUT, if its ending does not say.")
    ] = None,
    frame_rate: Annotated[
        float, typer.Option(min=0.001, help="Frames a second of boxes that carry no times.")
    ] = 30.0,
    force: ForceFlag = False,
) -> None:
    """Convert captions (srt vtt txt jsonl) or boxes (mot coco cvat csv)."""
    from wordsight.language.captions import read_captions, write_captions
    from wordsight.perception import convert_boxes

    refuse_existing(target, force=force)
    if _are_captions(source, source_format) or _are_captions(target, target_format):
        captions = read_captions(source, source_format)
        write_captions(target, captions, target_format, overwrite=force)
        report = {"captions": len(captions), "file": target}
    else:
        boxes = convert_boxes(
            source,
            target,
            source_format=source_format,
            target_format=target_format,
            frame_rate=frame_rate,
            overwrite=force,
        )
        report = {"frames": len(boxes), "boxes": int(boxes.mask.sum()), "file": target}
    output.result(report, lambda out: out.line(f"Wrote {target}"))


def _are_captions(path: Path, format: str | None) -> bool:
    # A .txt may hold lines or MOT boxes, so the other file of the pair decides.
    from wordsight.language.captions import FORMATS

    return format in FORMATS if format else path.suffix.lower() in {".srt", ".vtt", ".jsonl"}


def _render_shots(output: Output, found: list["Shot"]) -> None:
    rows = [
        (number, clock(shot.start), clock(shot.end), shot.start_frame, shot.end_frame)
        for number, shot in enumerate(found)
    ]
    output.table(["shot", "from", "to", "first frame", "end frame"], rows)


def _render_seen(output: Output, seen: "Detections", tracks: list["Track"], follow: bool) -> None:
    output.line(
        f"Looked at {count(len(seen), 'frame')} and found {f'{int(seen.mask.sum()):,} boxes'}."
    )
    if follow:
        rows = [(t.track_id, t.label, clock(t.start), clock(t.end), len(t)) for t in tracks]
        output.table(["track", "what", "from", "to", "boxes"], rows)
