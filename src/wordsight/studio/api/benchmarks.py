"""Results of experiments and benchmarks as last run on this machine."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from wordsight.runs import kept_runs

__all__ = ["router"]

router = APIRouter(prefix="/benchmarks", tags=["benchmarks"])


class Run(BaseModel):
    """What one program found the last time it ran."""

    name: str
    command: str
    time: float
    machine: str
    results: dict[str, Any]


@router.get("")
def list_runs() -> list[Run]:
    """Return the last results of every program."""
    return [Run(**vars(run)) for run in kept_runs()]
