"""The visitors of a soak: what they ask a studio for, and which answers are right."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np

__all__ = ["ACTIONS", "Action", "Visit"]

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
    return visit.client.get("/api/v1/search", params={"text": _SENTENCE, "by": "meaning"})


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
