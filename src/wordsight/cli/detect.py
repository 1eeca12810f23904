"""``detect``: things in one video."""

from wordsight.cli.options import command
from wordsight.cli.output import Output
from wordsight.workflows.detect import DetectRequest, DetectResult
from wordsight.workflows.detect import detect as detect_things
from wordsight.workflows.units import clock, count

__all__ = ["detect"]


@command(DetectRequest)
def detect(output: Output, request: DetectRequest) -> None:
    """Find things in a video frame by frame, and follow them with --follow."""
    result = detect_things(request, progress=output)
    output.result(result, lambda out: _render(out, result))


def _render(output: Output, result: DetectResult) -> None:
    boxes = int(result.detections.mask.sum())
    output.line(f"Found {boxes:,} boxes in {count(len(result.detections), 'frame')}.")
    if result.tracks is not None:
        rows = [(t.track_id, t.label, clock(t.start), clock(t.end), len(t)) for t in result.tracks]
        output.table(["track", "what", "from", "to", "boxes"], rows)
