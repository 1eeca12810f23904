"""`ShardedSearch`: an index whose shards are searched one by one or by many workers at once.

A shard is a segment of the index, of bounded size and mapped into memory by whoever searches it.
All shards are asked the same, compared with the same collection as a whole; each answers with its
best, and the best of those are the best of all, exactly.
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
from wordsight.retrieval.text.analysis import TextQuery
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
class _Place:
    """Where a shard is, and how it is to be read."""

    folder: str
    entry: SegmentEntry
    generation: int
    settings: str
    start: int


@dataclass(frozen=True)
class _Part:
    """What a worker holds of a shard: where it is, and the collection it is compared with."""

    place: _Place
    reference: "PackedMixtures"


@dataclass(frozen=True)
class _Ask:
    """A query, with what it takes to know the whole collection for."""

    query: JointQuery
    weight: float
    k: int
    everything: bool
    exact: bool
    smoothing: Interpolation
    shares: Mapping[str, float]


class ShardedSearch(JointSearch, Closing):
    """Searches as :class:`JointSearch` does, each shard wherever an engine works.

    To be closed, or used in a ``with`` block; workers keep their shards open until then.

    Args:
        index: The index; its folder must be at the same place for all workers.
        engine: Who searches.
        weight: Share of the picture where both are given, from 0 to 1.
        exact: As for :class:`JointSearch`; candidates are chosen shard by shard.
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
        shares = {} if query.text is None else self._shares(query.text)
        ask = _Ask(query, self.weight, k, everything, self.exact, self.text.smoothing, shares)
        found = [hit for hits in self._holding().map(_search_part, ask) for hit in hits]
        return sorted(found, key=lambda hit: (-hit.score, hit.document.id))[:k]

    def close(self) -> None:
        """Let the workers go."""
        if self._held is not None:
            self._held.__exit__(None, None, None)
            self._held = None

    def _shares(self, query: TextQuery) -> dict[str, float]:
        return {term: self.text.model.share(term) for term in query.weights}

    def _holding(self) -> HeldParts:
        if self._held is None:
            manifest, folder = self.index.manifest, str(self.index.folder.absolute())
            settings = json.dumps(dict(manifest.settings))
            # Small, the same for all shards, and drawn from all of them.
            reference = self.index.visual.background.reference
            parts, start = [], 0
            for entry in manifest.segments:
                place = _Place(folder, entry, manifest.generation, settings, start)
                parts.append(_Part(place, reference))
                start += entry.alive
            self._held = self._engine.hold(parts).__enter__()
        return self._held


class _Shares(LanguageModel):
    """The language model of a shard that knows how common words are in the whole collection."""

    known_shares: Mapping[str, float] = {}

    def share(self, term: str) -> float:
        return self.known_shares.get(term, 0.0)


def _search_part(part: _Part, ask: _Ask) -> list[JointHit]:
    """Search one shard; runs where the shard is held."""
    search = _opened(part.place)
    visual = search.index.visual
    # What both would otherwise work out from this shard alone.
    visual.__dict__["background"] = _background(part, visual.settings.floor)
    search.weight, search.exact = ask.weight, ask.exact
    model = _Shares(text_shards(search.index.stretches), ask.smoothing)
    model.known_shares = ask.shares
    search.text.__dict__["model"] = model
    start, end = part.place.start, part.place.start + part.place.entry.alive
    excluded = frozenset(at - start for at in ask.query.exclude if start <= at < end)
    query = replace(ask.query, exclude=excluded)
    hits = search.search(query, ask.k, everything=ask.everything)
    return [replace(hit, position=hit.position + start) for hit in hits]


def _background(part: _Part, floor: float) -> CollectionBackground:
    """Return the one collection that all shards of an index are compared with, here."""
    key = (part.place.folder, part.place.generation)
    known = _backgrounds.get(key)
    if known is None:
        _backgrounds.clear()  # a worker serves one index at a time
        known = _backgrounds[key] = CollectionBackground(part.reference, floor)
    return known


@lru_cache(maxsize=_OPEN_SHARDS)
def _opened(place: _Place) -> JointSearch:
    """Open a shard as an index of its own; nothing is read before it is needed."""
    manifest = Manifest(place.generation, json.loads(place.settings), (place.entry,))
    return JointSearch(Index(Path(place.folder), manifest=manifest))
