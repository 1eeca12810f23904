"""``convert``: captions or boxes in another format."""

from wordsight.cli.options import command
from wordsight.cli.output import Output
from wordsight.workflows.convert import ConvertRequest
from wordsight.workflows.convert import convert as convert_file

__all__ = ["convert"]


@command(ConvertRequest)
def convert(output: Output, request: ConvertRequest) -> None:
    """Convert captions (srt vtt txt jsonl) or boxes (mot coco cvat csv)."""
    result = convert_file(request, progress=output)
    output.result(result, lambda out: out.line(f"Wrote {result.target}"))
