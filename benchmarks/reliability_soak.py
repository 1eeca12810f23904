"""The soak: a studio used by a few visitors for a long while, and its memory meanwhile."""

import io
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
from scipy.stats import theilslopes

from wordsight.errors import WordsightError

__all__ = ["ACTIONS", "Action", "Visit", "make_library", "soak"]

_PAGES = ("/", "/search", "/lexicon", "/states", "/align", "/attributes", "/benchmarks")
_WORDS = ("person", "chair", "backpack", "approached", "picked up", "zebra")
_SENTENCE = "The person approached the backpack."
_BAD_UPLOADS = ("notes.txt", "..", "a" * 299, "film.exe")


@dataclass
class Visit:
    """What a visitor knows.

    Attributes:
        client: The way to the studio.
        rng: Their chance.
        films: Files they may upload.
        added: Videos that came by uploads and may be removed.
        kept: Videos that stay.
    """

    client: httpx.Client
    rng: np.random.Generator
    films: Sequence[Path]
    kept: Sequence[str]
    added: list[str] = field(default_factory=list)

    def one_of(self, what: Sequence[Any]) -> Any:
        """Choose."""
        return what[int(self.rng.integers(len(what)))]

    @property
    def video(self) -> str:
        """A video that is there."""
        return str(self.one_of(self.kept))


@dataclass(frozen=True)
class Action:
    """Something visitors do.

    Attributes:
        name: What.
        weight: How often, beside the others.
        do: Does it and returns the answer; ``None`` where they hung up themselves.
        right: Statuses that are right.
    """

    name: str
    weight: float
    do: Callable[[Visit], httpx.Response | None]
    right: tuple[int, ...]


def _page(visit: Visit) -> httpx.Response:
    pages = (*_PAGES, f"/videos/{visit.video}", "/lexicon/chair", "/parts/jobs")
    return visit.client.get(visit.one_of(pages))


def _data(visit: Visit) -> httpx.Response:
    video = visit.video
    paths = ("jobs", "videos", f"videos/{video}", f"videos/{video}/detections", "lexicon")
    return visit.client.get(f"/api/v1/{visit.one_of(paths)}")


def _search_words(visit: Visit) -> httpx.Response:
    asked = {"text": visit.one_of(_WORDS), "by": "said"}
    return visit.client.get("/api/v1/search", params=asked)


def _search_meaning(visit: Visit) -> httpx.Response:
    return visit.client.post("/api/v1/search", data={"text": _SENTENCE, "by": "meaning"})


def _search_like(visit: Visit) -> httpx.Response:
    return visit.client.get("/api/v1/search", params={"like": f"{visit.video}@1"})


def _search_picture(visit: Visit) -> httpx.Response:
    picture = visit.rng.integers(0, 255, (48, 64, 3), dtype=np.uint8)
    data = cv2.imencode(".jpg", picture)[1].tobytes()
    return visit.client.post("/api/v1/search", files={"image": ("a.jpg", io.BytesIO(data))})


def _range(visit: Visit) -> httpx.Response:
    first = int(visit.rng.integers(0, 100_000))
    asked = {"Range": f"bytes={first}-{first + int(visit.rng.integers(1, 60_000))}"}
    return visit.client.get(f"/api/v1/videos/{visit.video}/file", headers=asked)


def _picture(visit: Visit) -> httpx.Response:
    path = f"/api/v1/videos/{visit.video}"
    if visit.rng.random() < 0.3:
        return visit.client.get(f"{path}/thumbnail")
    return visit.client.get(
        f"{path}/frame", params={"time": float(visit.rng.random()), "width": 96}
    )


def _upload(visit: Visit) -> httpx.Response:
    # Bytes after the end of a film change nothing in it, but make it another file.
    body = Path(visit.one_of(visit.films)).read_bytes() + visit.rng.bytes(8)
    asked = {"name": "visitor.mp4", "sentence": _SENTENCE, "detector": "rendered"}
    return visit.client.post("/api/v1/uploads", params=asked, content=body)


def _upload_and_cancel(visit: Visit) -> httpx.Response:
    answer = _upload(visit)
    if answer.status_code != 202:
        return answer
    return visit.client.post(f"/api/v1/jobs/{answer.json()['id']}/cancel")


def _upload_garbage(visit: Visit) -> httpx.Response:
    asked = {"name": "noise.mp4"}
    return visit.client.post("/api/v1/uploads", params=asked, content=visit.rng.bytes(5000))


def _remove(visit: Visit) -> httpx.Response:
    videos = visit.client.get("/api/v1/videos", params={"limit": 200}).json()["videos"]
    visit.added[:] = [video["id"] for video in videos if video["id"] not in visit.kept]
    if not visit.added:
        return visit.client.get("/api/v1/videos")
    return visit.client.delete(f"/api/v1/videos/{visit.added[0]}")


def _hang_up(visit: Visit) -> None:
    with visit.client.stream("GET", f"/api/v1/videos/{visit.video}/file") as answer:
        for _ in answer.iter_raw(1000):
            return


def _bad(visit: Visit) -> httpx.Response:
    client = visit.client
    asked: list[Callable[[], httpx.Response]] = [
        lambda: client.get("/api/v1/videos/no-such-video"),
        lambda: client.get("/videos/no-such-video"),
        lambda: client.get("/api/v1/search", params={"text": "x" * 600}),
        lambda: client.get("/api/v1/search", params={"like": "nowhere@-1"}),
        lambda: client.get(f"/api/v1/videos/{visit.video}/frame", params={"time": "nan"}),
        lambda: client.post("/api/v1/uploads", params={"name": visit.one_of(_BAD_UPLOADS)}),
        lambda: client.post("/api/v1/search", files={"image": ("a.jpg", b"no picture")}),
        lambda: client.post("/api/v1/explain", content=b"{" * 2000),
        lambda: client.post("/api/v1/jobs/99999999/cancel"),
        lambda: client.get("/api/v1/align/..%2f..%2fetc%2fpasswd"),
        lambda: client.put("/api/v1/states/rules", content=b"\xff\xfe rubbish"),
        lambda: client.get(
            f"/api/v1/videos/{visit.video}/file", headers={"Range": "bytes=999999999-"}
        ),
    ]
    return visit.one_of(asked)()


ACTIONS = (
    Action("pages", 20, _page, (200,)),
    Action("data", 15, _data, (200,)),
    Action("search by words", 15, _search_words, (200,)),
    Action("search by meaning", 4, _search_meaning, (200,)),
    Action("search like a moment", 4, _search_like, (200,)),
    Action("search by a picture", 4, _search_picture, (200,)),
    Action("parts of a video file", 12, _range, (206, 416)),
    Action("pictures", 10, _picture, (200,)),
    Action("hanging up", 3, _hang_up, ()),
    Action("bad input", 12, _bad, (400, 404, 405, 413, 416, 422)),
    Action("uploads", 0.5, _upload, (202,)),
    Action("jobs cancelled", 0.4, _upload_and_cancel, (200, 202, 422)),
    Action("uploads that are no video", 0.3, _upload_garbage, (202, 422)),
    Action("removals", 0.6, _remove, (200, 404)),
)
"""What visitors do; uploads begin jobs, of which some fail and some are cancelled."""


_PATIENCE = 120.0  # seconds for one answer, on a machine that may be very busy
_SAMPLE_EVERY = 5.0  # seconds
_VISITORS = 3


@dataclass
class Tally:
    """What happened so far.

    Attributes:
        done: By action, how often.
        wrong: By what was wrong, how often.
        took: Seconds per answer.
    """

    done: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, action: str, seconds: float, wrong: str | None) -> None:
        """Take down one visit."""
        with self.lock:
            self.done[action] += 1
            self.took.append(seconds)
            if wrong is not None:
                self.wrong[wrong] += 1


def make_library(folder: Path) -> tuple[Path, list[Path]]:
    """Make a library of four rendered films with learned words and an index."""
    from wordsight.worlds import street, write_world

    write_world(street(4, 5, noise=0.0, frame_rate=5.0), folder / "films")
    library = folder / "library"
    _command("add", folder / "films", "--detector", "rendered", "--workers", "1", "-L", library)
    words = ("--quick", "--restarts", "1", "--words", library / "lexicon")
    _command("learn", *words, "-L", library)
    _command("index", "-L", library)
    return library, sorted((folder / "films").glob("*.mp4"))


def soak(
    library: Path, films: Sequence[Path], minutes: float, rate: float, say: Callable[[str], None]
) -> dict[str, Any]:
    """Use a studio for so many minutes, at so many requests a second.

    Returns:
        Requests, errors, times, and the memory of the server over time with its slope.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (library.parent / "studio.log").open("wb")
    command = [sys.executable, "-m", "wordsight", "studio", "--no-browser", "--port", str(port)]
    server = subprocess.Popen([*command, "-L", str(library)], stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    tally = Tally()
    try:
        _wait(server, address)
        end = time.monotonic() + 60.0 * minutes
        visitors = [
            threading.Thread(target=_visit, args=(address, films, n, end, rate / _VISITORS, tally))
            for n in range(_VISITORS)
        ]
        for visitor in visitors:
            visitor.start()
        samples = _samples(server.pid, end, tally, say)
        for visitor in visitors:
            visitor.join()
        jobs = _drain(address)
    finally:
        server.terminate()
        server.wait(30)
        log.close()
    said = (library.parent / "studio.log").read_text(encoding="utf-8", errors="replace")
    return _summary(tally, samples, minutes) | {
        "jobs": dict(jobs),
        "tracebacks": said.count("Traceback"),
        "verify_clean": _verified(library),
        "load": round(os.getloadavg()[0], 1),
    }


def _visit(
    address: str, films: Sequence[Path], number: int, end: float, rate: float, tally: Tally
) -> None:
    rng = np.random.default_rng(number)
    weights = np.array([action.weight for action in ACTIONS])
    with httpx.Client(base_url=address, timeout=_PATIENCE) as client:
        videos = client.get("/api/v1/videos").json()["videos"]
        visit = Visit(client, rng, films, [v["id"] for v in videos if v["name"] != "visitor.mp4"])
        while time.monotonic() < end:
            action = ACTIONS[int(rng.choice(len(ACTIONS), p=weights / weights.sum()))]
            begun = time.monotonic()
            try:
                answer = action.do(visit)
                wrong = None
                if answer is not None and answer.status_code not in action.right:
                    told = f"{answer.request.method} {answer.request.url.path}"
                    wrong = f"{action.name}: {answer.status_code} {told} {answer.text[:200]}"
            except httpx.HTTPError as error:
                wrong = f"{action.name}: {error!r}"
            took = time.monotonic() - begun
            tally.note(action.name, took, wrong)
            time.sleep(max(0.0, float(rng.exponential(1.0 / rate)) - took))


def _samples(
    process: int, end: float, tally: Tally, say: Callable[[str], None]
) -> list[tuple[float, float, int, int]]:
    """Look at the server every few seconds: minutes, megabytes, threads, open files."""
    begun, found, told = time.monotonic(), [], 0.0
    while time.monotonic() < end:
        minutes = (time.monotonic() - begun) / 60
        status = Path(f"/proc/{process}/status").read_text()
        values = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        # What it alone holds; pages of mapped files come and go with the machine's cache.
        megabytes = int(values["RssAnon"].split()[0]) / 1024
        files = len(list(Path(f"/proc/{process}/fd").iterdir()))
        found.append((minutes, megabytes, int(values["Threads"]), files))
        if minutes >= told:
            told = minutes + 1
            say(
                f"{minutes:5.1f} min  {megabytes:6.1f} MB  {values['Threads'].strip()} threads  "
                f"{files} files  {tally.done.total()} requests  {tally.wrong.total()} errors"
            )
        time.sleep(_SAMPLE_EVERY)
    return found


def _summary(
    tally: Tally, samples: Sequence[tuple[float, float, int, int]], minutes: float
) -> dict[str, Any]:
    series = np.array(samples)
    warm = series[series[:, 0] >= minutes / 3]  # before that caches fill
    slope, _, low, high = theilslopes(warm[:, 1], warm[:, 0] / 60)
    every = max(1, len(series) // 30)
    return {
        "minutes": minutes,
        "requests": tally.done.total(),
        "errors": tally.wrong.total(),
        "wrong": dict(tally.wrong.most_common(10)),
        "actions": dict(tally.done),
        "p50_ms": round(1000 * float(np.percentile(tally.took, 50))),
        "p95_ms": round(1000 * float(np.percentile(tally.took, 95))),
        "slope_mb_per_hour": round(float(slope), 2),
        "slope_95": [round(float(low), 2), round(float(high), 2)],
        "warm_mb": [round(float(v), 1) for v in np.percentile(warm[:, 1], [0, 50, 100])],
        "threads": [int(warm[:, 2].min()), int(warm[:, 2].max())],
        "files": [int(warm[:, 3].min()), int(warm[:, 3].max())],
        "series": [[round(t, 1), round(m, 1)] for t, m, *_ in series[::every].tolist()],
    }


def _drain(address: str) -> Counter[str]:
    """Wait until no job is left to do; return how they ended."""
    end = time.monotonic() + 600.0
    with httpx.Client(base_url=address, timeout=_PATIENCE) as client:
        while True:
            jobs: list[dict[str, Any]] = []
            while page := client.get("/api/v1/jobs", params={"limit": 200, "offset": len(jobs)}):
                if not page.json():
                    break
                jobs += page.json()
            states = Counter(str(job["state"]) for job in jobs)
            if not states["queued"] + states["running"] or time.monotonic() > end:
                return states
            time.sleep(1.0)


def _wait(server: "subprocess.Popen[bytes]", address: str) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            httpx.get(f"{address}/api/v1/jobs", timeout=_PATIENCE)
            return
        except httpx.TransportError:
            if time.monotonic() > end or server.poll() is not None:
                raise WordsightError("the studio did not start.") from None
            time.sleep(0.2)


def _verified(library: Path) -> bool:
    command = [sys.executable, "-m", "wordsight", "verify", "-L", str(library)]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def _command(*arguments: object) -> None:
    command = [sys.executable, "-m", "wordsight", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WordsightError(f"{' '.join(command)} failed: {done.stderr}")
