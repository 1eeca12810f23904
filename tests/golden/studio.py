"""The studio as a browser sees it: a server started by the command line, asked over HTTP."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from tests.golden.harness import Book

API = "/api/v1"
_PATIENCE = 300.0  # seconds


class StudioServer:
    """A running studio.

    Args:
        folder: Where it is started.
        library: Its library, in that folder.
    """

    def __init__(self, folder: Path, library: str) -> None:
        command = [sys.executable, "-m", "wordsight", "studio", "--port", "0", "--no-browser"]
        self._process = subprocess.Popen(
            [*command, "-L", library],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1", "COLUMNS": "200"},
        )
        assert self._process.stdout is not None
        address = None
        while address is None:
            line = self._process.stdout.readline()
            assert line, "the studio did not start"
            address = re.search(r"http://[\w.:]+", line)
        self.client = httpx.Client(base_url=address[0], timeout=_PATIENCE)

    def close(self) -> None:
        """End the server."""
        self.client.close()
        self._process.send_signal(signal.SIGINT)
        self._process.wait(30)


class StudioBook:
    """Asks a studio and keeps its answers in a golden book.

    Args:
        server: The studio.
        book: Where answers are kept.
    """

    def __init__(self, server: StudioServer, book: Book) -> None:
        self._client, self._book = server.client, book
        self._jobs: dict[str, int] = {}

    def ask(
        self,
        name: str,
        method: str,
        path: str,
        *,
        status: int = 200,
        brief: bool = False,
        **sent: Any,
    ) -> Any:
        """Ask for JSON and keep it."""
        value = self._send(method, path, status, **sent).json()
        self._book.keep(name, value, brief=brief)
        return value

    def take(self, name: str, path: str, file: str, method: str = "GET", **sent: Any) -> bytes:
        """Ask for a file and keep its contents; the ending says what it is."""
        data = self._send(method, path, 200, **sent).content
        self._book.keep_bytes(name, file, data)
        return data

    def begin(self, name: str, path: str, **sent: Any) -> None:
        """Begin a job."""
        self._jobs[name] = self._send("POST", path, 202, **sent).json()["id"]

    def end(self, name: str, state: str = "done") -> Any:
        """Wait for a job, keep how it ended, and return what it came to."""
        return self.await_job(name, self._jobs.pop(name), state)

    def await_job(self, name: str, number: int, state: str = "done") -> Any:
        """Wait for a job by its number, keep how it ended, and return what it came to."""
        last = time.monotonic() + _PATIENCE
        while True:
            job = self._send("GET", f"/jobs/{number}", 200).json()
            if job["state"] in ("done", "failed", "cancelled"):
                break
            assert time.monotonic() < last, f"{name} does not end: {job}"
            time.sleep(0.05)
        assert job["state"] == state, job
        job.pop("id")
        self._book.keep(name, job)
        return job["result"]

    def job(self, name: str, path: str, **sent: Any) -> Any:
        """Begin a job and wait for it."""
        self.begin(name, path, **sent)
        return self.end(name)

    def page(self, path: str) -> int:
        """Return the status of a page for people."""
        return self._client.get(path).status_code

    def _send(self, method: str, path: str, status: int, **sent: Any) -> httpx.Response:
        answer = self._client.request(method, f"{API}{path}", **sent)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer


def outline(schema: dict[str, Any]) -> dict[str, Any]:
    """Return what routes there are and what they take, without wording and names of classes."""

    def fields(one: dict[str, Any], depth: int = 0) -> Any:
        one = resolve(one)
        if "properties" in one and depth < 4:
            inner = one["properties"].items()
            return {name: fields(value, depth + 1) for name, value in inner}
        if one.get("type") == "array":
            return [fields(one.get("items", {}), depth + 1)]
        if "anyOf" in one:
            return [fields(option, depth + 1) for option in one["anyOf"]]
        return one.get("enum") or one.get("type", "any")

    def resolve(one: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in one:
            return one
        return resolve(schema["components"]["schemas"][one["$ref"].rsplit("/", 1)[-1]])

    found = {}
    for path, methods in schema["paths"].items():
        for method, one in methods.items():
            if not path.startswith(API):
                continue
            told: dict[str, Any] = {
                each["name"]: [each["in"], fields(each["schema"]), each["schema"].get("default")]
                for each in one.get("parameters", [])
            }
            for kind, body in one.get("requestBody", {}).get("content", {}).items():
                told[kind] = fields(body["schema"])
            for status, answer in one["responses"].items():
                for kind, body in answer.get("content", {}).items():
                    if status.startswith("2"):
                        told[f"{status} {kind}"] = fields(body.get("schema", {}))
            found[f"{method.upper()} {path.removeprefix(API)}"] = told
    return found
