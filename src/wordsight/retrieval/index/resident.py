"""Shards of an index that stay on the machines that made them.

Each worker of a cluster keeps a shard in a folder of its own disk, adds videos to it and searches
it; the library's own index only lists the shards. A shard belongs to a disk, not to a process: a
worker that is started again finds it.
"""

import os
import shutil
import socket
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from wordsight.closing import Closing
from wordsight.engine import Engine
from wordsight.engine.cluster import this_station
from wordsight.errors import RetrievalError
from wordsight.retrieval.index.build import IndexWriter, lock_index
from wordsight.retrieval.index.reader import (
    RESIDENT,
    Index,
)
from wordsight.retrieval.index.segments import MANIFEST, IndexPart, Manifest
from wordsight.retrieval.index.video import VideoJob, build_video
from wordsight.retrieval.joint import JointSearch

__all__ = [
    "ResidentWriter",
    "ShardWorkers",
    "is_resident",
    "listed_shards",
    "shards_home",
    "writer_of",
]

HOME = "WORDSIGHT_SHARDS"
"""The variable that names the folder of a worker's shards."""

_BACK = 10.0  # seconds for a worker that was lost in the middle to be there again


# In the workers.


def shards_home() -> Path:
    """Return where the shards of this machine are kept: in the user's data, unless HOME says."""
    if os.environ.get(HOME):
        return Path(os.environ[HOME])
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "wordsight" / "shards"


@dataclass(frozen=True)
class _Question:
    """What some shards of one worker are asked."""

    collection: str
    shards: tuple[str, ...]
    ask: Callable[[JointSearch, Any], Any]
    arguments: Mapping[str, Any]


_busy = threading.RLock()  # a worker may have several threads
_writers: dict[Path, IndexWriter] = {}
_new: dict[str, str] = {}  # shards that this process began, by collection


def _found(collection: str) -> tuple[str, dict[str, int]]:
    """Return where this worker keeps shards, and the generation of each that is there."""
    home = shards_home()
    with _busy:
        _close_writers(home / collection)
        there = (home / collection).iterdir() if (home / collection).is_dir() else ()
        kept = {path.name: path for path in there if (path / MANIFEST).exists()}
        place = f"{socket.gethostname()}:{home}"
        return place, {name: Manifest.read(path).generation for name, path in kept.items()}


def _close_writers(folder: Path) -> None:
    for path in [path for path in _writers if path.parent == folder]:
        _writers.pop(path).close()


def _build_here(
    job: VideoJob, *, collection: str, shards: Mapping[str, str], settings: Mapping[str, Any]
) -> str:
    """Add a video to the shard of this worker; return the shard's name."""
    built = build_video(job)
    with _busy:
        name = shards.get(this_station()) or _new.setdefault(
            collection, f"shard-{uuid.uuid4().hex}"
        )
        folder = shards_home() / collection / name
        if folder not in _writers:
            _writers[folder] = IndexWriter(folder, job.parts, settings)
        if _writers[folder].videos().get(job.video_id) != job.fingerprint:
            _writers[folder].add_built(job.video_id, job.fingerprint, built)
    return name


def _settle(orders: tuple[str, Mapping[str, Sequence[str] | None], Any, Any]) -> dict[str, Any]:
    """Take videos out of shards, or delete those with None; tell what is in the others."""
    collection, shards, parts, settings = orders
    home, states = shards_home() / collection, {}
    with _busy:
        _close_writers(home)
        _open.cache_clear()
        for name, gone in shards.items():
            if gone is None:
                shutil.rmtree(home / name, ignore_errors=True)
                continue
            with IndexWriter(home / name, parts, settings) as writer:
                if writer.videos().keys() & set(gone):
                    writer.remove(gone)
                videos = writer.videos()
            states[name] = (Manifest.read(home / name).generation, videos)
    return states


def _answer(question: _Question) -> dict[str, Any]:
    """Ask the shards of this worker."""
    home = shards_home() / question.collection
    with _busy:
        return {
            name: question.ask(_opened(home / name), question.arguments[name])
            for name in question.shards
        }


def _opened(folder: Path) -> JointSearch:
    return _open(folder, Manifest.read(folder).generation)


@lru_cache(maxsize=16)
def _open(folder: Path, generation: int) -> JointSearch:
    return JointSearch(Index(folder))


# Where they are asked from.


@dataclass(frozen=True)
class _Shard:
    """A shard as the library's index lists it.

    Attributes:
        home: The machine, and the folder on it.
        generation: What it was when it was listed.
        videos: The fingerprint of each video in it.
    """

    home: str
    generation: int
    videos: dict[str, str]


def is_resident(folder: Path) -> bool:
    """Return whether an index lists shards that workers keep."""
    return (folder / MANIFEST).exists() and RESIDENT in Manifest.read(folder).settings


def listed_shards(manifest: Manifest) -> tuple[str, dict[str, _Shard]]:
    """Return the collection's name and its shards."""
    kept = manifest.settings[RESIDENT]
    return str(kept["collection"]), {n: _Shard(**each) for n, each in kept["shards"].items()}


class ShardWorkers:
    """The workers that keep the shards of a collection.

    Attributes:
        found: Per shard that is there, its generation.
        homes: Per station, where it keeps shards.
        at: Per shard that is there, the station that serves it.
    """

    def __init__(self, engine: Engine, collection: str) -> None:
        self.engine, self.collection = engine, collection
        self.look()

    def look(self) -> None:
        """See who is there. Workers that share a disk see the same shards, and share them."""
        stations = self.engine.stations()
        outcomes = self.engine.map_at(_found, dict.fromkeys(stations, self.collection))
        told = {at: one.result for at, one in outcomes.items() if one.result is not None}
        failed = next((one.error for one in outcomes.values() if one.result is None), None)
        if not told:
            raise RetrievalError(f"no worker of the cluster answers: {failed or 'there is none'}.")
        self.homes = {at: home for at, (home, _) in told.items()}
        self.found = {name: mark for _, shards in told.values() for name, mark in shards.items()}
        self.at: dict[str, str] = {}
        load = Counter[str]()
        for name in sorted(self.found):
            seeing = [at for at, (_, shards) in sorted(told.items()) if name in shards]
            self.at[name] = min(seeing, key=lambda at: load[at])
            load[self.at[name]] += 1

    def ask(
        self, function: Callable[[JointSearch, Any], Any], arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return what shards answer, by name; those that are lost are missing.

        Raises:
            RetrievalError: If a shard cannot answer although its worker is there.
        """
        answers: dict[str, Any] = {}
        end = None
        while waiting := arguments.keys() - answers.keys():
            calls: dict[str, _Question] = {}
            for station in {self.at[name] for name in waiting & self.at.keys()}:
                here = tuple(sorted(n for n in waiting if self.at.get(n) == station))
                calls[station] = _Question(self.collection, here, function, arguments)
            for outcome in self.engine.map_at(_answer, calls).values():
                if outcome.result is not None:
                    answers |= outcome.result
                elif not outcome.crashed:
                    raise RetrievalError(f"a shard of the index failed: {outcome.error}.")
            if arguments.keys() <= answers.keys():
                break
            end = end or time.monotonic() + _BACK
            if time.monotonic() > end:  # a worker that is started again is there by now
                break
            time.sleep(0.2)
            with suppress(RetrievalError):
                self.look()
        return answers


def writer_of(folder: Path, engine: Engine | None, *, resident: bool, anew: bool) -> Any:
    """Return what opens an index for writing: here, or with the workers that keep its shards.

    Args:
        folder: The library's index.
        engine: Who works.
        resident: Whether a new index is kept by workers.
        anew: As for :class:`ResidentWriter`.

    Raises:
        RetrievalError: If it is kept by workers and the engine has none with disks of their own.
    """
    if not resident and not is_resident(folder):
        return IndexWriter
    if engine is None or not engine.stations():
        raise RetrievalError(
            "the shards of the index stay with the workers of a Dask cluster; give its address: "
            "--engine tcp://host:8786 (or dask:2 to try it on this machine)."
        )
    return partial(ResidentWriter, engine=engine, anew=anew)


class ResidentWriter(Closing):
    """Adds videos to the shards that workers keep; takes the place of :class:`IndexWriter`.

    Args:
        folder: The library's index, which lists the shards.
        parts: The parts of every segment.
        settings: The settings of each part.
        engine: The cluster.
        anew: Whether videos of shards that are not there are indexed again elsewhere.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        parts: Sequence[IndexPart],
        settings: Mapping[str, Any],
        *,
        engine: Engine,
        anew: bool = True,
    ) -> None:
        self.folder, self._parts, self._settings = Path(folder), tuple(parts), dict(settings)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock: int | None = lock_index(self.folder)
        try:
            self._before = self._read()
            self.collection, listed = listed_shards(self._before)
            self._workers = ShardWorkers(engine, self.collection)
            away = {n: s for n, s in listed.items() if n not in self._workers.found}
            self.away = {} if anew else away
            # Shards that are not listed were begun by a build that was broken off.
            dropped = self._workers.found.keys() - listed.keys()
            self._kept = self._settled({n: None if n in dropped else () for n in self._workers.at})
        except BaseException:
            self.close()
            raise
        self._places = {video: n for n, one in self._kept.items() for video in one.videos}
        self._gone: dict[str, set[str]] = {name: set() for name in self._kept}
        for name, one in self._kept.items():  # of two copies one is taken out
            self._gone[name] |= {video for video in one.videos if self._places[video] != name}

    def _read(self) -> Manifest:
        if not (self.folder / MANIFEST).exists():
            listing = {"collection": uuid.uuid4().hex, "shards": {}}
            return Manifest(0, self._settings | {RESIDENT: listing})
        manifest = Manifest.read(self.folder)
        kept = dict(manifest.settings)
        if RESIDENT not in kept:
            raise RetrievalError(
                f"the index in {self.folder} is kept there; delete the folder to have its shards "
                "stay with the workers of a cluster."
            )
        if {name: each for name, each in kept.items() if name != RESIDENT} != self._settings:
            raise RetrievalError(
                f"the index in {self.folder} was built with other settings; delete the folder to "
                "start over."
            )
        return manifest

    def videos(self) -> dict[str, str]:
        """Return the fingerprint of each video in the index."""
        shards = [*self.away.values(), *self._kept.values()]
        return {video: mark for shard in shards for video, mark in shard.videos.items()}

    def work(self) -> Callable[[VideoJob], str]:
        """Return what adds a video to the shard of the worker that does it."""
        shards = {station: name for name, station in sorted(self._workers.at.items())}
        return partial(
            _build_here, collection=self.collection, shards=shards, settings=self._settings
        )

    def add_built(self, video_id: str, fingerprint: str, built: str) -> None:
        """Note in which shard a video is now."""
        self._forget_away({video_id})
        before = self._places.get(video_id)
        if before is not None and before != built:
            self._gone[before].add(video_id)
        self._gone.setdefault(built, set()).discard(video_id)
        self._places[video_id] = built

    def remove(self, video_ids: str | Iterable[str]) -> None:
        """Take videos out of their shards when this is closed."""
        videos = {video_ids} if isinstance(video_ids, str) else set(video_ids)
        self._forget_away(videos)
        for video in videos & self._places.keys():
            self._gone[self._places.pop(video)].add(video)

    def _forget_away(self, videos: set[str]) -> None:
        """Note that what shards that are not there hold of some videos does not count any more."""
        for name, shard in self.away.items():
            if videos & shard.videos.keys():
                left = {v: mark for v, mark in shard.videos.items() if v not in videos}
                self.away[name] = replace(shard, generation=-1, videos=left)

    def close(self) -> None:
        """Have the workers finish, and list the shards as they are then."""
        if self._lock is None:
            return
        try:
            if "_places" in vars(self):
                self._workers.look()
                there = {n: sorted(g) for n, g in self._gone.items() if n in self._workers.at}
                kept = self._lost() | self.away | self._settled(there)
                shards = {name: asdict(kept[name]) for name in sorted(kept)}
                listing = {"collection": self.collection, "shards": shards}
                settings = self._settings | {RESIDENT: listing}
                Manifest(self._before.generation + 1, settings).write(self.folder)
        finally:
            os.close(self._lock)
            self._lock = None

    def _lost(self) -> dict[str, _Shard]:
        """Return the shards as they should be, for those whose worker is lost by now."""
        videos: dict[str, dict[str, str]] = {name: {} for name in self._gone}
        for video, name in self._places.items():
            videos[name][video] = ""
        unknown = _Shard("a worker that was lost", -1, {})
        return {
            name: replace(self._kept.get(name, unknown), generation=-1, videos=held)
            for name, held in videos.items()
            if held
        }

    def _settled(self, orders: Mapping[str, Sequence[str] | None]) -> dict[str, _Shard]:
        """Have shards changed, and return those that are left."""
        calls: dict[str, dict[str, Sequence[str] | None]] = {}
        for name, gone in orders.items():
            calls.setdefault(self._workers.at[name], {})[name] = gone
        fixed = (self._parts, self._settings)
        items = {at: (self.collection, mine, *fixed) for at, mine in calls.items()}
        shards: dict[str, _Shard] = {}
        for at, outcome in self._workers.engine.map_at(_settle, items).items():
            if outcome.result is None and not outcome.crashed:
                raise RetrievalError(f"a shard of the index cannot be changed: {outcome.error}.")
            for name, (generation, videos) in (outcome.result or {}).items():
                shards[name] = _Shard(self._workers.homes[at], generation, videos)
        return shards
