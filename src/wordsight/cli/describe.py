"""``describe``: what happens in a video."""

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows.describe import DescribeRequest, DescribeResult
from wordsight.workflows.describe import describe as describe_video
from wordsight.workflows.units import clock

__all__ = ["describe"]


@command(DescribeRequest)
def describe(
    output: Output, request: DescribeRequest, library: LibraryOption = DEFAULT_LIBRARY
) -> None:
    """Say in sentences what happens in a video, the best first.

    Of a long video moments are described, the likeliest true first.
    """
    result = describe_video(library, request, progress=output)
    output.result(result, lambda out: _render(out, result))


def _render(output: Output, result: DescribeResult) -> None:
    if not result.descriptions:
        output.line("Nothing is seen there.")
        return
    timed = result.are_moments
    rows = [
        (
            *((clock(one.start), clock(one.end)) if timed else ()),
            one.probability,
            "yes" if one.holds else "no",
            one.text,
        )
        for one in result.descriptions
    ]
    output.table([*(("from", "to") if timed else ()), "share", "true", "sentence"], rows)
