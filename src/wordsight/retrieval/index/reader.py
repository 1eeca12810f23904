"""`Index`: an index opened for searching; its files are mapped, so that opening is immediate.

`ShardedSearch` searches its shards in parallel. A shard is one segment of the index. Every shard is
compared with the statistics of the whole collection and returns its best documents; merging these
gives exactly the best of the collection.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordsight.closing import Closing
from wordsight.engine import Engine, HeldParts
from wordsight.errors import RetrievalError
from wordsight.retrieval.documents import (
    Document,
    DocumentSource,
    DocumentTable,
    document_columns,
    merge_columns,
)
from wordsight.retrieval.index.segments import (
    LiveSegment,
    Manifest,
    PartData,
    Segment,
    SegmentEntry,
)
from wordsight.retrieval.joint import DEFAULT_WEIGHT, JointHit, JointQuery, JointSearch
from wordsight.retrieval.text.model import LanguageModel
from wordsight.retrieval.text.smoothing import TextSmoothing
from wordsight.retrieval.visual.index import VisualIndex
from wordsight.retrieval.visual.part import VISUAL, VisualSettings
from wordsight.retrieval.visual.scoring import CollectionBackground
from wordsight.retrieval.visual.stills import Stills

if TYPE_CHECKING:
    from wordsight.retrieval.visual.packing import PackedMixtures
    from wordsight.retrieval.visual.smoothing import VisualSmoothing

__all__ = [
    "DOCUMENTS",
    "RESIDENT",
    "DocumentsPart",
    "Index",
    "ShardQuery",
    "ShardedSearch",
    "search_shard",
    "use_statistics",
    "videos_of",
]


DOCUMENTS = "documents"

RESIDENT = "resident"
"""The entry of a manifest's settings that lists shards kept by workers of a cluster."""


class DocumentsPart:
    """The part that every segment has: its documents and videos.

    Args:
        fingerprints: The fingerprint of each video, which changes with its documents.
    """

    name = DOCUMENTS
    batched = False

    def __init__(self, fingerprints: dict[str, str]) -> None:
        self.fingerprints = fingerprints

    def build(self, sources: Sequence[DocumentSource]) -> PartData:
        """Convert the documents to columns."""
        documents = [source.document for source in sources]
        texts = [" ".join(source.text) for source in sources]
        names = [document.video_id for document in documents]
        return PartData(document_columns(documents, texts), {"videos": self._runs(names)})

    def merge(self, segments: Sequence[LiveSegment]) -> PartData:
        """Copy the columns of the documents that are left."""
        tables = [each.segment.arrays(DOCUMENTS) for each in segments]
        columns = merge_columns(tables, [each.rows for each in segments])
        names = [name for each in segments for name in _video_ids(each)]
        return PartData(columns, {"videos": self._runs(names)})

    def _runs(self, names: Sequence[str]) -> list[list[Any]]:
        """Return per video its id, fingerprint, first row and number of rows."""
        runs: list[list[Any]] = []
        for row, name in enumerate(names):
            if runs and runs[-1][0] == name:
                runs[-1][3] += 1
            else:
                runs.append([name, self.fingerprints.get(name, ""), row, 1])
        return runs


def videos_of(segment: Segment) -> list[tuple[str, str, int, int]]:
    """Return per video of a segment its id, fingerprint, first row and number of rows."""
    return [
        (str(v[0]), str(v[1]), int(v[2]), int(v[3])) for v in segment.values(DOCUMENTS)["videos"]
    ]


def _video_ids(live: LiveSegment) -> list[str]:
    rows = set(live.rows.tolist())
    return [
        name
        for name, _, first, count in videos_of(live.segment)
        for row in range(first, first + count)
        if row in rows
    ]


class Index:
    """A snapshot of an index on disk; later changes are seen only after opening it again.

    Args:
        folder: The folder of the index.
        device: Device that scores pictures, such as ``cuda``; None for the CPU.
        manifest: The manifest, to open only some of the segments; read from the folder by default.

    Attributes:
        folder: The folder of the index.
        manifest: The manifest.
        segments: The segments with their remaining documents, in order.
        documents: All remaining documents, in that order.

    Raises:
        RetrievalError: If there is no index.
        IndexDamagedError: If it is damaged or was written by a newer version.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        device: str | None = None,
        manifest: Manifest | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.device = device
        self.manifest = manifest or Manifest.read(self.folder)
        self._require_segments()
        self.segments: tuple[LiveSegment, ...] = tuple(
            entry.open(self.folder) for entry in self.manifest.segments
        )

    def __len__(self) -> int:
        return sum(len(live.rows) for live in self.segments)

    def _require_segments(self) -> None:
        if RESIDENT in self.manifest.settings:
            raise RetrievalError(
                f"the shards of the index in {self.folder} are kept by the workers of a Dask "
                "cluster; use `wordsight search` with its address, --engine tcp://host:8786."
            )

    @property
    def generation(self) -> int:
        """Incremented by every change of the index."""
        return self.manifest.generation

    @property
    def changed(self) -> bool:
        """Whether the index on disk has changed since it was opened."""
        return Manifest.read(self.folder).generation != self.generation

    @cached_property
    def documents(self) -> DocumentTable:
        """The documents, in the order of all scores."""
        tables = [live.segment.arrays(DOCUMENTS) for live in self.segments]
        return DocumentTable(tables, [live.rows for live in self.segments])

    def settings(self, part: str) -> dict[str, Any]:
        """Return the settings of a part.

        Raises:
            RetrievalError: If the index has no such part.
        """
        if part not in self.manifest.settings:
            raise RetrievalError(
                f"the index in {self.folder} has no {part} part, only "
                f"{', '.join(sorted(self.manifest.settings)) or 'none'}; build it again with it."
            )
        return dict(self.manifest.settings[part])

    @cached_property
    def visual(self) -> VisualIndex:
        """The visual models of the documents."""
        settings = VisualSettings.from_json(self.settings(VISUAL))
        return VisualIndex(
            self.segments,
            self.documents,
            settings,
            device=self.device,
            folder=self.folder,
            generation=self.generation,
        )

    @cached_property
    def stills(self) -> Stills:
        """Small frames of the documents, in which pictures are found."""
        return Stills(self.segments, self.documents)

    def videos(self) -> dict[str, str]:
        """Return the fingerprint of each video that has documents."""
        fingerprints: dict[str, str] = {}
        for live in self.segments:
            rows = set(live.rows.tolist())
            for name, fingerprint, first, _ in videos_of(live.segment):
                if first in rows:  # the documents of a video are added and removed together
                    fingerprints[name] = fingerprint
        return fingerprints

    def shots_of(self, video_id: str) -> list[tuple[int, Document]]:
        """Return the documents of a video with their positions."""
        numbers, names = self.documents.video_numbers()
        if video_id not in names:
            return []
        at = np.flatnonzero(numbers == names.index(video_id)).tolist()
        return [(position, self.documents[position]) for position in at]

    def __repr__(self) -> str:
        return f"Index({str(self.folder)!r}, {len(self)} documents)"


_OPEN_SHARDS = 256  # shards a worker keeps mapped between queries

_backgrounds: dict[tuple[str, int], CollectionBackground] = {}


@dataclass(frozen=True)
class _ShardPlace:
    """The location of a shard, and the manifest data needed to open it."""

    folder: str
    entry: SegmentEntry
    generation: int
    settings: str
    start: int


@dataclass(frozen=True)
class _HeldShard:
    """What a worker holds of a shard: its location, and what is the same for all of them.

    Attributes:
        place: The shard.
        reference: The models of the background.
        smoothing: How samples are weighed.
    """

    place: _ShardPlace
    reference: "PackedMixtures"
    smoothing: "VisualSmoothing"


@dataclass(frozen=True)
class ShardQuery:
    """A query with the statistics that need the whole collection.

    Attributes:
        query: The query.
        weight: Share of the picture beside words.
        k: Number of hits at most.
        everything: Whether documents without any of the words count.
        exact: Whether a picture is compared with every document.
        smoothing: The smoothing of words.
        shares: The collection probabilities of the terms.
    """

    query: JointQuery
    weight: float
    k: int
    everything: bool
    exact: bool
    smoothing: TextSmoothing
    shares: Mapping[str, float]


class ShardedSearch(JointSearch, Closing):
    """Searches as :class:`JointSearch` does, with the shards distributed over an engine.

    Close it, or use it in a ``with`` block; workers keep their shards open until then.

    Args:
        index: The index; its folder must be at the same path for all workers.
        engine: Runs the searches of the shards.
        weight: Share of the picture in queries with both, from 0 to 1.
        exact: As for :class:`JointSearch`; candidates are chosen per shard.
    """

    def __init__(
        self,
        index: Index,
        engine: Engine,
        weight: float = DEFAULT_WEIGHT,
        exact: bool | None = None,
    ) -> None:
        super().__init__(index, weight, exact)
        self._engine = engine
        self._held: HeldParts | None = None

    def search(self, query: JointQuery, k: int = 10, *, everything: bool = False) -> list[JointHit]:
        """Return the best documents; see :meth:`JointSearch.search`."""
        if len(self.index) == 0 or (query.text is None and query.samples is None):
            return super().search(query, k, everything=everything)
        model = self.text.model
        terms = () if query.text is None else model.counted(query.text)
        shares = {term: model.share(term) for term in terms}
        request = ShardQuery(
            query, self.weight, k, everything, self.exact, self.text.smoothing, shares
        )
        hits = [hit for part in self._hold().map(_search_held, request) for hit in part]
        return sorted(hits, key=lambda hit: (-hit.score, hit.document.id))[:k]

    def close(self) -> None:
        """Release the workers."""
        if self._held is not None:
            self._held.__exit__(None, None, None)
            self._held = None

    def _hold(self) -> HeldParts:
        if self._held is None:
            manifest, folder = self.index.manifest, str(self.index.folder.absolute())
            settings = json.dumps(dict(manifest.settings))
            # Small, drawn from all shards and the same for all of them.
            visual = self.index.visual
            reference, smoothing = visual.background.reference, visual.smoothing
            shards, start = [], 0
            for entry in manifest.segments:
                place = _ShardPlace(folder, entry, manifest.generation, settings, start)
                shards.append(_HeldShard(place, reference, smoothing))
                start += entry.num_live
            self._held = self._engine.hold(shards).__enter__()
        return self._held


class _ShardLanguageModel(LanguageModel):
    """The language model of a shard, with term shares of the whole collection."""

    known_shares: Mapping[str, float] = {}

    def share(self, term: str) -> float:
        return self.known_shares.get(term, 0.0)


def _search_held(shard: _HeldShard, request: ShardQuery) -> list[JointHit]:
    """Search one shard; runs in the worker that holds it."""
    search = _open_shard(shard.place)
    visual = search.index.visual
    # Replace what would otherwise be computed from this shard alone.
    visual.__dict__["background"] = _background(shard, visual.settings.floor)
    visual.__dict__["smoothing"] = shard.smoothing
    return search_shard(search, request, shard.place.start)


def search_shard(search: JointSearch, request: ShardQuery, start: int) -> list[JointHit]:
    """Search a shard whose visual models have the background of the collection.

    Args:
        search: The shard, opened as an index of its own.
        request: What is looked for.
        start: Position of its first document in the collection.
    """
    use_statistics(search, request)
    end = start + len(search.index)
    excluded = frozenset(at - start for at in request.query.exclude if start <= at < end)
    query = replace(request.query, exclude=excluded)
    hits = search.search(query, request.k, everything=request.everything)
    return [replace(hit, position=hit.position + start) for hit in hits]


def use_statistics(search: JointSearch, request: ShardQuery) -> None:
    """Have a shard weigh words by what they are in the whole collection."""
    search.weight, search.exact = request.weight, request.exact
    model = _ShardLanguageModel(search.text.shards, request.smoothing, search.text.model.background)
    model.known_shares = request.shares
    search.text.__dict__["model"] = model


def _background(shard: _HeldShard, floor: float) -> CollectionBackground:
    """Return the background that all shards of an index share in this process."""
    key = (shard.place.folder, shard.place.generation)
    known = _backgrounds.get(key)
    if known is None:
        _backgrounds.clear()  # a worker serves one index at a time
        known = _backgrounds[key] = CollectionBackground(shard.reference, floor)
    return known


@lru_cache(maxsize=_OPEN_SHARDS)
def _open_shard(place: _ShardPlace) -> JointSearch:
    """Open a shard as an index of its own, read lazily."""
    manifest = Manifest(place.generation, json.loads(place.settings), (place.entry,))
    return JointSearch(Index(Path(place.folder), manifest=manifest))
