"""Rankings to download and to measure: contact sheets, TREC runs, many queries, evaluation."""

import secrets
import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Query, UploadFile
from fastapi.responses import Response
from pydantic import BaseModel

from wordsight.errors import WordsightError
from wordsight.studio.api.compute_options import Device, Engine
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.api.search import SearchBody
from wordsight.studio.jobs.search import QUERIES
from wordsight.studio.searching import answer, names_of
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.uploads.upload_files import keep_file
from wordsight.workflows.evaluate import DEFAULT_MEASURES
from wordsight.workflows.evaluate import evaluate as evaluate_ranking
from wordsight.workflows.found_moments import FoundMoment
from wordsight.workflows.search import write_moments_run, write_moments_sheet
from wordsight.workflows.search_query import read_queries

__all__ = ["MEASURES", "router"]

router = APIRouter(prefix="/search", tags=["search"])
Here = Annotated[Studio, Depends(studio_of)]
Same = Annotated[SearchBody, Query()]  # as the page that offers the download asked for it
MEASURES = " ".join(DEFAULT_MEASURES)
"""What a ranking is measured by unless measures are named."""
_TEXTS = (".txt", ".tsv", ".run", ".trec", ".qrels", ".queries")


class Scores(BaseModel):
    """How good a ranking is."""

    queries: int
    missing: int
    unjudged: int
    means: dict[str, float]
    per_query: dict[str, dict[str, float]]


@router.get("/sheet", response_class=Response)
def contact_sheet(studio: Here, wanted: Same) -> Response:
    """Send what a search finds as a contact sheet, best first."""
    moments, heading = _moments(studio, wanted), wanted.text or "like this"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.png"
        write_moments_sheet(path, moments, studio.library, heading)
        headers = {"Content-Disposition": 'attachment; filename="found.png"'}
        return Response(path.read_bytes(), media_type="image/png", headers=headers)


@router.get("/run", response_class=Response)
def trec_run(studio: Here, wanted: Same) -> Response:
    """Send what a search finds as a TREC run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.run"
        write_moments_run(path, _moments(studio, wanted), wanted.text or "like-this")
        headers = {"Content-Disposition": 'attachment; filename="found.run"'}
        return Response(path.read_bytes(), media_type="text/plain", headers=headers)


@router.post("/queries", status_code=202)
def ask_many(
    studio: Here,
    queries: Annotated[UploadFile, File(description="on each line an id and the words")],
    top: Annotated[int, Form(ge=1, le=1000)] = 100,
    expand: Annotated[bool, Form()] = False,
    engine: Annotated[Engine, Form()] = None,
    device: Annotated[Device, Form()] = None,
) -> JobInfo:
    """Answer many queries at once and keep the ranking as a TREC run, in a job."""
    name = secrets.token_hex(6)
    kept = keep_file(queries, studio.folder / QUERIES / name, _TEXTS, "file of queries")
    try:
        count = len(read_queries(kept))
    except WordsightError as error:
        kept.unlink()
        raise WordsightError(str(error).replace(str(kept), kept.name)) from None
    asked = {"top": top, "expand": expand, "engine": engine, "device": device}
    return JobInfo.of(studio.begin("queries", name=name, file=kept.name, count=count, **asked))


@router.post("/evaluate")
def evaluate(
    run: Annotated[UploadFile, File(description="a ranking, as a TREC run")],
    qrels: Annotated[UploadFile, File(description="judgements, as TREC qrels")],
    measures: Annotated[str, Form(max_length=1000)] = MEASURES,
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


def _moments(studio: Studio, wanted: SearchBody) -> list[FoundMoment]:
    found, names = answer(studio, wanted.request()), names_of(studio)
    moments = [one for one in found.moments if one.video_id in names]
    if not moments:
        raise WordsightError(" ".join(found.notes) or "Nothing was found to export.")
    return moments
