"""Sets of rules: learning them from labelled films, comparing, using and taking them away."""

import secrets
import shutil
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, UploadFile
from fastapi import Path as InPath
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from wordsight.errors import WordsightError
from wordsight.states import parse_rules, parse_vocabulary
from wordsight.studio.api.compute_options import Engine
from wordsight.studio.api.exports import zipped
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.api.states import RulesBody
from wordsight.studio.jobs.learn_rules import BOX_ENDINGS, LABEL_ENDINGS, LESSONS
from wordsight.studio.rule_sets import (
    RuleSet,
    list_sets,
    model_folder,
    read_set,
    remove_set,
    use_set,
)
from wordsight.studio.states import read_rules
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.uploads.upload_files import keep_file
from wordsight.workflows.state_inputs import parse_kinds

__all__ = ["RuleSetInfo", "router"]

router = APIRouter(prefix="/states", tags=["states"])
Here = Annotated[Studio, Depends(studio_of)]
Name = Annotated[str, InPath(pattern="^[0-9a-f]{12}$")]
Text = Annotated[str, Form(max_length=100_000)]


class RuleSetInfo(BaseModel):
    """Rules that can be used; ``learned`` says how they were learned, if they were."""

    name: str
    title: str
    time: float
    used: bool
    learned: dict[str, Any]
    rules: RulesBody

    @classmethod
    def of(cls, one: RuleSet, used: bool) -> "RuleSetInfo":
        """Tell of a set."""
        told = {name: getattr(one, name) for name in ("name", "title", "time", "learned")}
        return cls(**told, used=used, rules=RulesBody.of(one.book))


@router.post("/learn", status_code=202)
def learn(
    studio: Here,
    labels: Annotated[UploadFile, File(description="video, start, end, fact as CSV, or JSON")],
    boxes: Annotated[list[UploadFile], File(max_length=2000)] = [],  # noqa: B006
    videos: Annotated[list[str], Form(max_length=2000)] = [],  # noqa: B006
    title: Annotated[str, Form(max_length=100)] = "",
    kinds: Text = "",
    rules: Text = "",
    vocabulary: Text = "",
    steady: Annotated[bool, Form(description="take the shake of the camera out")] = False,
    seed: Annotated[int, Form(ge=0, le=2**31)] = 0,
    engine: Annotated[Engine, Form()] = None,
) -> JobInfo:
    """Learn weighted rules from films of the library or files of boxes and labels, in a job."""
    told = [line.strip() for line in kinds.splitlines() if line.strip()]
    # What is wrong with a text is said at once, not by a job.
    parse_kinds(told), parse_rules(rules), parse_vocabulary(vocabulary)
    chosen = [studio.library.resolve(video) for video in videos]
    if not chosen and not boxes:
        raise WordsightError("choose films of the library, or send files of boxes.")
    lesson, name = secrets.token_hex(8), secrets.token_hex(6)
    folder = studio.folder / LESSONS / lesson
    try:
        keep_file(labels, folder / "labels", LABEL_ENDINGS, "file of labels")
        for one in boxes:
            keep_file(one, folder / "boxes", BOX_ENDINGS, "file of boxes")
    except (WordsightError, HTTPException):
        shutil.rmtree(folder, ignore_errors=True)
        raise
    job = studio.begin(
        "learn-rules",
        name=name,
        title=title.strip() or f"Learned from {len(chosen) + len(boxes)} films",
        lesson=lesson,
        videos=chosen,
        kinds=told,
        rules=rules,
        vocabulary=vocabulary,
        steady=steady,
        seed=seed,
        engine=engine,
    )
    return JobInfo.of(job)


@router.get("/sets")
def show_sets(studio: Here) -> list[RuleSetInfo]:
    """List the sets of rules, the newest first."""
    now = read_rules(studio.folder)
    return [RuleSetInfo.of(one, one.book == now) for one in list_sets(studio.folder)]


@router.get("/sets/{name}")
def show_set(studio: Here, name: Name) -> RuleSetInfo:
    """Show one set of rules."""
    one = read_set(studio.folder, name)
    return RuleSetInfo.of(one, one.book == read_rules(studio.folder))


@router.post("/sets/{name}/use")
def use(studio: Here, name: Name) -> RulesBody:
    """Infer with these rules from now on; those in use become a set."""
    return RulesBody.of(use_set(studio.folder, name).book)


@router.post("/sets/{name}/compare", status_code=202)
def compare(studio: Here, name: Name) -> JobInfo:
    """Compare a set with the rules in use, on the films it was learned from, in a job."""
    read_set(studio.folder, name)
    return JobInfo.of(studio.begin("compare-rules", name=name))


@router.get("/sets/{name}/model", response_class=Response)
def take_away(studio: Here, name: Name) -> Response:
    """Send a learned model as a ZIP of the folder that ``wordsight states --model`` reads."""
    return zipped(model_folder(studio.folder, name))


@router.delete("/sets/{name}")
def forget(studio: Here, name: Name) -> dict[str, str]:
    """Forget a set of rules; the rules in use stay."""
    remove_set(studio.folder, name)
    return {"removed": name}
