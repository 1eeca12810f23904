"""Jobs: seeing how far they are, stopping them, trying them again."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from wordsight.studio.api.fields import Here
from wordsight.studio.jobs.store import JobRecord

__all__ = ["JobInfo", "router"]

router = APIRouter(prefix="/jobs", tags=["jobs"])
Number = Annotated[int, Path(ge=1, le=2**53)]


class JobInfo(BaseModel):
    """One piece of work."""

    id: int
    kind: str
    title: str
    state: str
    progress: float
    message: str
    result: dict[str, Any] | None
    attempt: int
    created: float
    changed: float

    @classmethod
    def of(cls, job: JobRecord) -> "JobInfo":
        """Tell what people may know of a job."""
        return cls(**{name: getattr(job, name) for name in cls.model_fields})


@router.get("")
def list_jobs(
    studio: Here,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> list[JobInfo]:
    """List jobs, the newest first."""
    return [JobInfo.of(job) for job in studio.jobs.list(limit=limit, offset=offset)]


@router.post("/verify", status_code=202)
def verify(studio: Here) -> JobInfo:
    """Check every file of the library against its catalogue, in a job."""
    return JobInfo.of(studio.begin("verify"))


@router.post("/demo", status_code=202)
def add_demo(studio: Here) -> JobInfo:
    """Render a dozen short films with sentences and add them to the library, in a job."""
    running = studio.running("demo")
    return JobInfo.of(running or studio.begin("demo"))


@router.get("/{number}")
def show_job(studio: Here, number: Number) -> JobInfo:
    """Show one job."""
    return JobInfo.of(studio.jobs.get(number))


@router.post("/{number}/cancel")
def cancel_job(studio: Here, number: Number) -> JobInfo:
    """Stop a job that waits or runs."""
    job = studio.jobs.cancel(number)
    studio.runner.wake()
    return JobInfo.of(job)


@router.post("/{number}/retry")
def retry_job(studio: Here, number: Number) -> JobInfo:
    """Try a job again that failed or was cancelled."""
    job = studio.jobs.retry(number)
    studio.runner.wake()
    return JobInfo.of(job)
