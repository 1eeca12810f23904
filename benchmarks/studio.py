"""The studio under load: fifty people searching a thousand shots, and pages beside slow questions.

Run with ``python -m benchmarks.studio [--videos N] [--users N] [--folder DIR] [--json]``. A
thousand small videos of one shot each are made, every one with a sentence; a studio is started in a
process of its own, and users ask it for words one after the other, first without ever pausing to
read, then with a second between two searches. All of it shares the machine's cores: server, users,
whatever else runs. The processor time of the server and of the users is measured beside. The first
page is timed for one visitor, from request to the last byte of HTML; then pages of a library of
rendered films, opened one after the other while six questions that take seconds are asked again and
again.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np

from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.video import VideoWriter
from wordsight.workflows.index import index_folder, update_index
from wordsight.worlds import street, write_world

__all__ = ["main", "measure"]

GOALS = {"first_page_ms": 100.0, "p95_ms": 300.0, "page_beside_questions_ms": 200.0}
_ADJECTIVES = ["red", "green", "blue", "small", "large", "old", "new", "round"]
_THINGS = ["cup", "chair", "door", "lamp", "bag", "wheel", "table", "bottle"]
_SEARCHES = 20  # per user
_PATIENCE = 60.0  # seconds
_QUESTIONS = 6  # at once
_PAGES_TIMED = 60


def make_library(folder: Path, videos: int, seed: int = 0) -> Path:
    """Make a library of tiny videos, each of one shot with a sentence, and index it."""
    rng = np.random.default_rng(seed)
    (folder / "films").mkdir()
    with Library.create(folder / "library") as library:
        for number in range(videos):
            path = folder / "films" / f"film-{number:04d}.mp4"
            image = np.kron(
                rng.integers(30, 225, (6, 8, 3), dtype=np.uint8), np.ones((12, 12, 1), np.uint8)
            )
            with VideoWriter(path, (96, 72), 10.0) as writer:
                for _ in range(5):
                    writer.write(image)
            first, second = rng.choice(_THINGS, 2)
            said = f"The {rng.choice(_ADJECTIVES)} {first} stands by the {second}."
            library.add(path, sentences=[said], detector="rendered", workers=1)
            if number % 100 == 99:
                say(f"{number + 1} videos")
        update_index(library, index_folder(library, None))
    return folder / "library"


async def ask(address: str, users: int, pause: float, *, repeated: bool = True) -> dict[str, Any]:
    """Let users search, each one search at a time, and time every answer.

    Args:
        address: Of the studio.
        users: How many.
        pause: Seconds between two searches of one of them.
        repeated: Whether they ask for the same 64 things again and again, or each search is new.
    """
    times: list[float] = []
    errors: Counter[str] = Counter()

    async def user(number: int) -> None:
        rng = np.random.default_rng(number)
        await asyncio.sleep(float(rng.random()) * pause)
        # One connection for each, kept as a browser keeps it.
        reader, writer = await asyncio.open_connection(*address.removeprefix("http://").split(":"))
        for turn in range(_SEARCHES):
            text = f"{rng.choice(_ADJECTIVES)} {rng.choice(_THINGS)}"
            text = text if repeated else _new_text(number * _SEARCHES + turn)
            begun = time.perf_counter()
            status, body = await asyncio.wait_for(_got(reader, writer, text), _PATIENCE)
            times.append(time.perf_counter() - begun)
            if status != 200 or not json.loads(body)["moments"]:
                errors[f"{status}: {body[:200]!r}"] += 1
            await asyncio.sleep(pause)
        writer.close()

    begun = time.perf_counter()
    await asyncio.gather(*(user(number) for number in range(users)))
    whole = time.perf_counter() - begun
    return {
        "users": users,
        "repeated": repeated,
        "pause_s": pause,
        "searches": len(times),
        "p50_ms": round(float(np.percentile(times, 50)) * 1000, 1),
        "p95_ms": round(float(np.percentile(times, 95)) * 1000, 1),
        "per_second": round(len(times) / whole, 1),
        "error_rate": errors.total() / len(times),
        "errors": dict(errors),
    }


def _new_text(number: int) -> str:
    """Return words that no other number has: of two things, each of some kind."""
    first, second, third, fourth = np.unravel_index(number, (8, 8, 8, 8))
    return f"{_ADJECTIVES[first]} {_THINGS[second]} {_ADJECTIVES[third]} {_THINGS[fourth]}"


async def _got(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str
) -> tuple[int, bytes]:
    """Search once; give status and body of the answer.

    By hand, since a whole library for HTTP takes as long as the studio, on the same cores.
    """
    asked = f"GET /api/v1/search?text={quote(text)}&by=said HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    writer.write(asked.encode())
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length:")[2].split()[0])
    return int(head.split()[1]), await reader.readexactly(length)


def first_page(address: str, turns: int = 20) -> float:
    """Return the median milliseconds of the first page."""
    with httpx.Client(base_url=address, timeout=_PATIENCE) as client:
        client.get("/")
        took = []
        for _ in range(turns):
            begun = time.perf_counter()
            assert "film-" in client.get("/").text
            took.append(time.perf_counter() - begun)
    return round(float(np.median(took)) * 1000, 1)


def measure(library: Path, users: int) -> dict[str, Any]:
    """Start a studio on a library and let users search it."""
    with serving(library) as (address, server):
        httpx.post(f"{address}/api/v1/search", data={"text": "cup"}, timeout=_PATIENCE)
        found: dict[str, Any] = {
            "load_before": round(os.getloadavg()[0], 1),
            "cores": len(os.sched_getaffinity(0)),
            "first_page_ms": first_page(address),
        }
        for name, pause, repeated in (
            ("never_asked_before", 0.0, False),
            ("without_pause", 0.0, True),
            ("with_pause", 1.0, True),
        ):
            before, own = _processor_time(server), time.process_time()
            asked = asyncio.run(ask(address, users, pause, repeated=repeated))
            spent, own = _processor_time(server) - before, time.process_time() - own
            asked["server_ms"] = round(1000 * spent / asked["searches"], 2)
            asked["users_ms"] = round(1000 * own / asked["searches"], 2)
            found[name] = asked
        return found


@contextmanager
def serving(library: Path) -> "Iterator[tuple[str, subprocess.Popen[bytes]]]":
    """Run a studio in a process of its own; give its address and the process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "wordsight", "studio", "--no-browser", "--port", str(port)]
    server = subprocess.Popen([*command, "--library", str(library)], stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(server, address)
        yield address, server
    finally:
        server.terminate()
        server.wait(20)


def _processor_time(process: "subprocess.Popen[bytes]") -> float:
    """Return the seconds of processor time that a process has used, without its children."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def make_films(folder: Path) -> Path:
    """Make a library of rendered films with words written by hand, which can be asked about."""
    folder.mkdir()
    write_world(street(4, 5), folder / "films")
    with Library.create(folder / "library") as library:
        library.add(folder / "films", detector="rendered", workers=1)
        labels = library.detections(library.videos()[0].id).label_names
    hand_lexicon(labels).save(folder / "library" / "studio" / "lexicon")
    return folder / "library"


async def pages_beside_questions(address: str) -> dict[str, Any]:
    """Open pages one after the other while slow questions are asked, each by one who waits."""
    took: list[float] = []
    asked: list[float] = []
    async with httpx.AsyncClient(base_url=address, timeout=10 * _PATIENCE) as client:
        found = (await client.get("/api/v1/videos")).json()["videos"]

        async def question() -> None:
            while len(took) < _PAGES_TIMED:
                video = found[len(asked) % len(found)]["id"]
                wanted = {"top": 5, "whole": True, "prune": 999 - len(asked) % 900}
                place, begun = len(asked), time.perf_counter()
                asked.append(0.0)
                answer = await client.post(f"/api/v1/videos/{video}/describe", json=wanted)
                answer.raise_for_status()
                asked[place] = time.perf_counter() - begun

        questions = [asyncio.create_task(question()) for _ in range(_QUESTIONS)]
        await asyncio.sleep(2.0)  # the processes that answer have started
        film = f"/videos/{found[0]['id']}"
        for page in cycle(("/", "/search?text=person", "/lexicon", film, "/align", "/states")):
            begun = time.perf_counter()
            (await client.get(page)).raise_for_status()
            took.append(time.perf_counter() - begun)
            if len(took) >= _PAGES_TIMED:
                break
            await asyncio.sleep(0.2)
        await asyncio.gather(*questions)
    return {
        "pages": len(took),
        "questions": len(asked),
        "question_s": round(float(np.median(asked)), 2),
        "p50_ms": round(float(np.percentile(took, 50)) * 1000, 1),
        "p95_ms": round(float(np.percentile(took, 95)) * 1000, 1),
        "max_ms": round(max(took) * 1000, 1),
    }


def _wait(server: "subprocess.Popen[bytes]", address: str) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            httpx.get(f"{address}/api/v1/jobs")
            return
        except httpx.TransportError:
            if time.monotonic() > end or server.poll() is not None:
                raise WordsightError("the studio did not start.") from None
            time.sleep(0.2)


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = report_parser("benchmarks.studio", __doc__ or "")
    parser.add_argument("--videos", type=int, default=1000, help="how many to make")
    parser.add_argument("--users", type=int, default=50, help="how many search at once")
    parser.add_argument("--folder", type=Path, help="an empty one, to keep the videos for again")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if not (folder / "library").exists():
            say("making videos")
            make_library(folder, options.videos)
        if not (folder / "asked").exists():
            say("making films to ask about")
            make_films(folder / "asked")
        results = {"videos": options.videos, **measure(folder / "library", options.users)}
        with serving(folder / "asked" / "library") as (address, _):
            results["beside_questions"] = asyncio.run(pages_beside_questions(address))
    beside = results["beside_questions"]
    print_report(
        results,
        as_json=options.json,
        title=f"{options.users} users, {options.videos:,} shots",
        columns=[
            Column("pause_s", "pause, s"),
            Column("repeated", "same searches", "d"),
            Column("searches", "searches", ",d"),
            Column("p50_ms", "p50, ms", ",.0f"),
            Column("p95_ms", "p95, ms", ",.0f"),
            Column("per_second", "per second"),
            Column("server_ms", "server, ms each"),
            Column("users_ms", "users, ms each"),
            Column("error_rate", "errors", ".4f"),
        ],
        rows=[results[name] for name in ("never_asked_before", "without_pause", "with_pause")],
        notes=[
            f"first page {results['first_page_ms']} ms (goal {GOALS['first_page_ms']:.0f}); load "
            f"of the machine before: {results['load_before']} on {results['cores']} cores",
            f"pages beside {_QUESTIONS} slow questions: median {beside['p50_ms']} ms, 95 of 100 "
            f"within {beside['p95_ms']} ms, at most {beside['max_ms']} ms (goal "
            f"{GOALS['page_beside_questions_ms']:.0f}); {beside['questions']} were answered, "
            f"each in {beside['question_s']} s",
        ],
    )


if __name__ == "__main__":
    run_main(main)
