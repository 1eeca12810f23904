"""Tools for files: convert one, measure a ranking, show results of experiments."""

import tempfile
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, UploadFile
from fastapi.responses import Response
from pydantic import BaseModel

from wordsight.errors import WordsightError
from wordsight.language.captions import FORMATS as CAPTIONS
from wordsight.perception.formats import FORMATS as BOXES
from wordsight.runs import KeptRun, kept_runs
from wordsight.studio.api.fields import aside
from wordsight.studio.uploads import keep_file
from wordsight.workflows.convert import ConvertRequest
from wordsight.workflows.convert import convert as convert_file
from wordsight.workflows.evaluate import DEFAULT_MEASURES
from wordsight.workflows.evaluate import evaluate as evaluate_ranking

__all__ = ["router"]

router = APIRouter(tags=["tools"])

Format = Literal["srt", "vtt", "lines", "jsonl", "mot", "coco", "cvat", "csv"]

_TEXTS = (".txt", ".tsv", ".run", ".trec", ".qrels")
_ENDINGS = (".srt", ".vtt", ".txt", ".jsonl", ".json", ".xml", ".csv")


@router.post("/convert", response_class=Response)
@aside
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


@router.get("/benchmarks")
def list_runs() -> list[KeptRun]:
    """Return the last results of every program."""
    return kept_runs()


class Scores(BaseModel):
    """How good a ranking is."""

    queries: int
    missing: int
    unjudged: int
    means: dict[str, float]
    per_query: dict[str, dict[str, float]]


@router.post("/search/evaluate")
@aside
def evaluate(
    run: Annotated[UploadFile, File(description="a ranking, as a TREC run")],
    qrels: Annotated[UploadFile, File(description="judgements, as TREC qrels")],
    measures: Annotated[str, Form(max_length=1000)] = " ".join(DEFAULT_MEASURES),
) -> Scores:
    """Measure a ranking against judgements; measures as ir-measures names them."""
    names = tuple(measures.replace(",", " ").split())
    if not names:
        raise WordsightError("say by which measures, such as AP or nDCG@10.")
    with tempfile.TemporaryDirectory() as folder:
        ranking = keep_file(run, Path(folder) / "run", _TEXTS, "TREC run")
        judgements = keep_file(qrels, Path(folder) / "qrels", _TEXTS, "file of judgements")
        result = evaluate_ranking(ranking, judgements, names)
    return Scores(
        queries=result.num_queries,
        missing=len(result.missing),
        unjudged=len(result.unjudged),
        means=result.scores.means,
        per_query=dict(result.scores.queries),
    )
