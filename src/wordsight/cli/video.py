"""The verbs of one video, and ``export`` and ``import`` for other tools."""

from wordsight.cli.options import verb
from wordsight.cli.output import Output
from wordsight.workflows.convert import ConvertResult
from wordsight.workflows.convert import convert as convert_file
from wordsight.workflows.detect import DetectResult, ShotsResult
from wordsight.workflows.detect import detect as detect_things
from wordsight.workflows.detect import shots as find_shots
from wordsight.workflows.export import ExportResult, ImportResult
from wordsight.workflows.export import export as export_video
from wordsight.workflows.export import import_annotations as put_back
from wordsight.workflows.units import bytes_text, clock, count

__all__ = ["convert", "detect", "export", "import_annotations", "shots"]


@verb(find_shots)
def shots(output: Output, result: ShotsResult) -> None:
    """Find the shots of a video: cuts and fades, in seconds and frames."""
    rows = [
        (number, clock(shot.start), clock(shot.end), shot.start_frame, shot.end_frame)
        for number, shot in enumerate(result.shots)
    ]
    output.table(["shot", "from", "to", "first frame", "end frame"], rows)


@verb(detect_things)
def detect(output: Output, result: DetectResult) -> None:
    """Find things in a video frame by frame, and follow them with --follow."""
    boxes = int(result.detections.mask.sum())
    output.line(f"Found {boxes:,} boxes in {count(len(result.detections), 'frame')}.")
    if result.tracks is not None:
        rows = [(t.track_id, t.label, clock(t.start), clock(t.end), len(t)) for t in result.tracks]
        output.table(["track", "what", "from", "to", "boxes"], rows)


@verb(export_video)
def export(output: Output, result: ExportResult) -> None:
    """Write a film, boxes or a sheet of a video, or annotations for other tools."""
    output.line(f"Wrote {result.output}, {bytes_text(result.size)}.")


@verb(put_back)
def import_annotations(output: Output, result: ImportResult) -> None:
    """Put annotations that were corrected in another tool in the place of ours."""
    rows = [
        (
            one.video_id,
            one.boxes,
            one.boxes_changed,
            one.boxes_removed,
            f"+{one.sentences_added} -{one.sentences_removed}",
        )
        for one in result.videos
    ]
    output.table(["video", "boxes", "new or corrected", "gone or corrected", "sentences"], rows)
    changed = sum(one.changed for one in result.videos)
    output.line(f"{count(changed, 'video')} changed of {len(result.videos)}.")


@verb(convert_file)
def convert(output: Output, result: ConvertResult) -> None:
    """Convert captions (srt vtt txt jsonl) or boxes (mot coco cvat csv)."""
    output.line(f"Wrote {result.target}")
