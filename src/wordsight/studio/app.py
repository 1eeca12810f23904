"""The web application: pages, API and what guards them."""

import errno
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import sqlalchemy.exc
from anyio import to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from wordsight import __version__
from wordsight.errors import LibraryError, WordsightError
from wordsight.studio.api import api
from wordsight.studio.jobs.store import JobError
from wordsight.studio.pages import pages
from wordsight.studio.security import Guard
from wordsight.studio.server import StudioSettings, without_paths
from wordsight.studio.studio import Studio, studio_at

__all__ = ["create_app"]

_STATIC = Path(__file__).parent / "static"
_THREADS = 6
_SWITCH = 0.001  # seconds


def create_app(settings: StudioSettings) -> FastAPI:
    """Make the studio of a library.

    Args:
        settings: The library, and what is let in.

    Returns:
        The application, to be run by an ASGI server such as uvicorn.
    """

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        # Answers are computed, not waited for: more threads than this only fight for the same core.
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        # A thread that computes gives way sooner to the one that answers all connections.
        sys.setswitchinterval(_SWITCH)
        studio = Studio(settings)
        app.state.studio = studio
        studio.runner.start()
        try:
            yield
        finally:
            studio.close()

    app = FastAPI(
        title="Wordsight studio",
        version=__version__,
        description="A library of videos: what is seen, said and learned.",
        lifespan=life,
        docs_url=None,  # those pages load scripts from elsewhere, and the studio works offline
        redoc_url=None,
    )
    app.add_middleware(Guard, settings=settings)
    app.include_router(api)
    app.include_router(pages)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.add_exception_handler(WordsightError, _answer_error)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(ClientDisconnect, _answer_gone)
    for full in (OSError, sqlite3.OperationalError, sqlalchemy.exc.OperationalError):
        app.add_exception_handler(full, _answer_full)
    return app


async def _answer_error(request: Request, error: Exception) -> Any:
    missing = isinstance(error, LibraryError | JobError) and "there is no" in str(error)
    return _answer(request, 404 if missing else 422, without_paths(str(error)))


async def _answer_gone(request: Request, error: Exception) -> Any:
    return Response(status_code=400)  # an upload that was broken off; there is no reader any more


async def _answer_full(request: Request, error: Exception) -> Any:
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if not full and "disk is full" not in str(error):
        raise error
    where = studio_at(request).library.folder.name
    return _answer(request, 507, f"The disk of the library ({where}) is full; make room and retry.")


async def _answer_http(request: Request, error: Exception) -> Any:
    assert isinstance(error, HTTPException)
    said = "There is nothing at this address." if error.status_code == 404 else error.detail
    return _answer(request, error.status_code, said)


async def _answer_invalid(request: Request, error: Exception) -> Any:
    assert isinstance(error, RequestValidationError)
    # Not what was sent: bytes that are no text cannot be written in JSON.
    problems = [{name: each[name] for name in ("loc", "msg", "type")} for each in error.errors()]
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": problems}, 422)
    return _answer(
        request, 422, "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in problems)
    )


def _answer(request: Request, status: int, message: str) -> Any:
    if request.url.path.startswith("/api/") or not hasattr(request.app.state, "studio"):
        return JSONResponse({"detail": message}, status)
    answer = studio_at(request).page(request, "error.html", status=status, message=message)
    answer.status_code = status
    return answer
