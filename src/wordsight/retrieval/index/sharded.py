"""`ShardedSearch`: joint search of an index whose shards are searched in parallel.

A shard is one segment of the index. Every shard is compared with the statistics of the whole
collection and returns its best documents; merging these gives exactly the best of the collection.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.closing import Closing
from wordsight.engine import Engine, HeldParts
from wordsight.retrieval.index.reader import Index
from wordsight.retrieval.index.segments import Manifest, SegmentEntry
from wordsight.retrieval.joint import DEFAULT_WEIGHT, JointHit, JointQuery, JointSearch
from wordsight.retrieval.text.index import text_shards
from wordsight.retrieval.text.model import LanguageModel
from wordsight.retrieval.text.smoothing import Interpolation
from wordsight.retrieval.visual.scoring import CollectionBackground

if TYPE_CHECKING:
    from wordsight.retrieval.visual.packing import PackedMixtures

__all__ = ["ShardedSearch"]

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
    """What a worker holds of a shard: its location, and the reference models of the collection."""

    place: _ShardPlace
    reference: "PackedMixtures"


@dataclass(frozen=True)
class _ShardQuery:
    """A query with the statistics that need the whole collection."""

    query: JointQuery
    weight: float
    k: int
    everything: bool
    exact: bool
    smoothing: Interpolation
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
        terms = () if query.text is None else query.text.weights
        shares = {term: self.text.model.share(term) for term in terms}
        request = _ShardQuery(
            query, self.weight, k, everything, self.exact, self.text.smoothing, shares
        )
        hits = [hit for part in self._hold().map(_search_shard, request) for hit in part]
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
            reference = self.index.visual.background.reference
            shards, start = [], 0
            for entry in manifest.segments:
                place = _ShardPlace(folder, entry, manifest.generation, settings, start)
                shards.append(_HeldShard(place, reference))
                start += entry.num_live
            self._held = self._engine.hold(shards).__enter__()
        return self._held


class _ShardLanguageModel(LanguageModel):
    """The language model of a shard, with term shares of the whole collection."""

    known_shares: Mapping[str, float] = {}

    def share(self, term: str) -> float:
        return self.known_shares.get(term, 0.0)


def _search_shard(shard: _HeldShard, request: _ShardQuery) -> list[JointHit]:
    """Search one shard; runs in the worker that holds it."""
    search = _open_shard(shard.place)
    visual = search.index.visual
    # Replace what would otherwise be computed from this shard alone.
    visual.__dict__["background"] = _background(shard, visual.settings.floor)
    search.weight, search.exact = request.weight, request.exact
    model = _ShardLanguageModel(text_shards(search.index.segments), request.smoothing)
    model.known_shares = request.shares
    search.text.__dict__["model"] = model
    start, end = shard.place.start, shard.place.start + shard.place.entry.num_live
    excluded = frozenset(at - start for at in request.query.exclude if start <= at < end)
    query = replace(request.query, exclude=excluded)
    hits = search.search(query, request.k, everything=request.everything)
    return [replace(hit, position=hit.position + start) for hit in hits]


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
