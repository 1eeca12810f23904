"""Results of experiments and benchmarks as last run on this machine."""

from fastapi import APIRouter

from wordsight.runs import KeptRun, kept_runs

__all__ = ["router"]

router = APIRouter(prefix="/benchmarks", tags=["benchmarks"])


@router.get("")
def list_runs() -> list[KeptRun]:
    """Return the last results of every program."""
    return kept_runs()
