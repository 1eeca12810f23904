"""``shots``: the shots of one video."""

from wordsight.cli.options import command
from wordsight.cli.output import Output
from wordsight.workflows.shots import ShotsRequest, ShotsResult
from wordsight.workflows.shots import shots as find_shots
from wordsight.workflows.units import clock

__all__ = ["shots"]


@command(ShotsRequest)
def shots(output: Output, request: ShotsRequest) -> None:
    """Find the shots of a video: cuts and fades, in seconds and frames."""
    result = find_shots(request, progress=output)
    output.result(result, lambda out: _render(out, result))


def _render(output: Output, result: ShotsResult) -> None:
    rows = [
        (number, clock(shot.start), clock(shot.end), shot.start_frame, shot.end_frame)
        for number, shot in enumerate(result.shots)
    ]
    output.table(["shot", "from", "to", "first frame", "end frame"], rows)
