"""Turning files of captions or boxes into other formats."""

import tempfile
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, UploadFile
from fastapi.responses import Response

from wordsight.errors import WordsightError
from wordsight.language.captions import FORMATS as CAPTIONS
from wordsight.perception.formats import FORMATS as BOXES
from wordsight.studio.uploads.upload_files import keep_file
from wordsight.workflows.convert import ConvertRequest
from wordsight.workflows.convert import convert as convert_file

__all__ = ["router"]

router = APIRouter(prefix="/convert", tags=["exported files"])
Format = Literal["srt", "vtt", "lines", "jsonl", "mot", "coco", "cvat", "csv"]
_ENDINGS = (".srt", ".vtt", ".txt", ".jsonl", ".json", ".xml", ".csv")


@router.post("", response_class=Response)
def convert(
    source: Annotated[UploadFile, File(description="captions or boxes")],
    to: Annotated[Format, Form(description="what to write")],
    of: Annotated[Format | None, Form(description="what it is, if its ending does not say")] = None,
    frame_rate: Annotated[float, Form(ge=0.001, le=10_000)] = 30.0,
) -> Response:
    """Turn captions (srt vtt lines jsonl) or boxes (mot coco cvat csv) into another format."""
    with tempfile.TemporaryDirectory() as folder:
        given = keep_file(source, Path(folder) / "in", _ENDINGS, "file of captions or boxes")
        ending = CAPTIONS[to].suffixes[0] if to in CAPTIONS else BOXES[to]
        made = Path(folder) / f"{given.stem}{ending}"
        try:
            request = ConvertRequest(
                source=given,
                target=made,
                source_format=of,
                target_format=to,
                frame_rate=frame_rate,
            )
            convert_file(request)
        except WordsightError as error:
            raise WordsightError(str(error).replace(f"{given.parent}/", "")) from None
        headers = {"Content-Disposition": f'attachment; filename="{_ascii(made.name)}"'}
        return Response(made.read_bytes(), media_type="application/octet-stream", headers=headers)


def _ascii(name: str) -> str:
    return name.encode("ascii", "replace").decode().replace("?", "_")
