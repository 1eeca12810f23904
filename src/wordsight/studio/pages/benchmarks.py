"""The page of experiments and benchmarks: their results as last run on this machine."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from wordsight.runs import kept_runs
from wordsight.studio.studio import Studio, studio_of

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]


@router.get("/benchmarks")
def benchmarks_page(request: Request, studio: Here) -> Any:
    """Show a table per program."""
    runs = [(run, _table(run.results)) for run in kept_runs()]
    return studio.page(request, "benchmarks.html", here="benchmarks", runs=runs)


def _table(results: Mapping[str, Any]) -> dict[str, Any]:
    """Lay results out: rows with the same columns where they are objects, else pairs."""
    rows = {name: value for name, value in results.items() if isinstance(value, dict)}
    lists = {name: value for name, value in results.items() if _is_table(value)}
    for name, value in lists.items():
        rows |= {f"{name} {number}": row for number, row in enumerate(value, start=1)}
    single = {
        name: value
        for name, value in results.items()
        if not isinstance(value, dict) and name not in lists
    }
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    return {
        "columns": columns,
        "rows": {name: [_short(row.get(key)) for key in columns] for name, row in rows.items()},
        "single": {name: _short(value) for name, value in single.items()},
    }


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _short(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_short(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(_short(one) for one in value[:12]) + (" …" if len(value) > 12 else "")
    return str(value)
