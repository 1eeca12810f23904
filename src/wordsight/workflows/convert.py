"""``convert``: captions or boxes in another format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

__all__ = ["ConvertRequest", "ConvertResult", "convert"]


class ConvertRequest(Request):
    """Which file is converted into which."""

    source: Path = argument("Boxes or captions.", metavar="IN")
    target: Path = argument("The file to write; its ending says the format.", metavar="OUT")
    source_format: str | None = setting(None, "Format of IN, if its ending does not say.", "--from")
    target_format: str | None = setting(None, "Format of OUT, if its ending does not say.", "--to")
    frame_rate: float = setting(
        30.0, "Frames per second of boxes that carry no times.", ge=0.001, le=10_000
    )
    force: bool = setting(False, "Replace files that exist.")


@dataclass(frozen=True)
class ConvertResult(Result):
    """What was converted.

    Attributes:
        target: The file that was written.
        counts: Captions, or frames and boxes, in it.
    """

    target: Path
    counts: dict[str, int]

    def to_json(self) -> Any:
        """Return what ``wordsight convert --json`` prints."""
        return as_json({**self.counts, "file": self.target})


@workflow(ConvertRequest)
def convert(request: ConvertRequest, *, reporter: RecordingReporter) -> ConvertResult:
    """Convert captions (srt vtt txt jsonl) or boxes (mot coco cvat csv) into another format."""
    from wordsight.language.captions import read_captions, write_captions
    from wordsight.perception import convert_boxes

    source, target = request.source, request.target
    refuse_existing(target, force=request.force)
    if _has_captions(source, request.source_format) or _has_captions(target, request.target_format):
        captions = read_captions(source, request.source_format)
        write_captions(target, captions, request.target_format, overwrite=request.force)
        counts = {"captions": len(captions)}
    else:
        boxes = convert_boxes(
            source,
            target,
            source_format=request.source_format,
            target_format=request.target_format,
            frame_rate=request.frame_rate,
            overwrite=request.force,
        )
        counts = {"frames": len(boxes), "boxes": int(boxes.mask.sum())}
    return ConvertResult(target, counts)


def _has_captions(path: Path, format: str | None) -> bool:
    # A .txt may hold lines or MOT boxes, so the other file of the pair decides.
    from wordsight.language.captions import FORMATS

    return format in FORMATS if format else path.suffix.lower() in {".srt", ".vtt", ".jsonl"}
