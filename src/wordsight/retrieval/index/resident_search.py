"""Searching shards that stay with the workers of a cluster; see :mod:`.resident`.

What travels are hits, the counts of the words of a query, and once the models of a few hundred
shots as background, so that scores are those of one index with all documents.
"""

import os
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from wordsight.engine import Engine
from wordsight.errors import RetrievalError
from wordsight.retrieval.documents import Document, DocumentTable
from wordsight.retrieval.index.reader import Index, ShardQuery, search_shard, use_statistics
from wordsight.retrieval.index.resident import ShardWorkers, listed_shards
from wordsight.retrieval.joint import JointHit, JointQuery, JointSearch
from wordsight.retrieval.text.analysis import TextQuery, is_pair
from wordsight.retrieval.text.model import PAIR_WEIGHT, LanguageModel, Ranking
from wordsight.retrieval.text.smoothing import TextSmoothing
from wordsight.retrieval.visual.index import VisualIndex
from wordsight.retrieval.visual.packing import PackedMixtures
from wordsight.retrieval.visual.part import VISUAL, VisualSettings
from wordsight.retrieval.visual.scoring import CollectionBackground, reference_rows
from wordsight.retrieval.visual.smoothing import VisualSmoothing

__all__ = ["ResidentIndex", "ResidentSearch"]

_BLOCK = 64  # documents that are fetched together
_KEPT_BACKGROUNDS = 4

_backgrounds: dict[str, tuple[CollectionBackground, VisualSmoothing]] = {}  # of a worker


@dataclass(frozen=True)
class _Summary:
    """What must be known of a shard to search it as a part of the collection."""

    documents: int
    words: int
    total: int
    own_total: int
    smoothing: TextSmoothing


def _summary(search: JointSearch, _: None) -> _Summary:
    # Shares of words are learned again where a query has replaced the model.
    model = search.text.model
    words = sum(shard.levels.postings[0].num_words for shard in model.shards)
    smoothing = search.text.smoothing
    return _Summary(len(search.index), words, model.total, model.own_total, smoothing)


def _counts(search: JointSearch, terms: Sequence[str]) -> list[int]:
    model = search.text.model
    return [sum(s.count(term, model.background) for s in model.shards) for term in terms]


def _models(search: JointSearch, _: None) -> tuple[Any, PackedMixtures]:
    """Return the keys and models of the shots that may be in the background."""
    visual = search.index.visual
    keys = [live.segment.array(VISUAL, "lots")[live.rows] for live in search.index.segments]
    lots = np.concatenate(keys) if keys else np.zeros(0, np.uint64)
    rows = reference_rows(lots)
    if not len(rows):
        return lots, PackedMixtures(np.zeros((0, 1, 2), np.float32), np.zeros((0, 1)))
    return lots[rows], visual.models(rows)


def _keep_background(_: JointSearch, kept: tuple[str, CollectionBackground, Any]) -> None:
    key, background, smoothing = kept
    while len(_backgrounds) >= _KEPT_BACKGROUNDS:
        _backgrounds.pop(next(iter(_backgrounds)))
    _backgrounds[key] = (background, smoothing)


def _search(
    search: JointSearch, asked: tuple[ShardQuery, int, str | None]
) -> list[tuple[JointHit, str]] | None:
    """Return the hits of a shard and their texts; None if the background is not here."""
    request, start, key = asked
    if key is not None:
        if key not in _backgrounds:
            return None
        visual = search.index.visual
        visual.__dict__["background"], visual.__dict__["smoothing"] = _backgrounds[key]
    hits = search_shard(search, request, start)
    return [(hit, search.index.documents.text_of(hit.position - start)) for hit in hits]


def _ranked(
    search: JointSearch, asked: tuple[TextQuery, int, ShardQuery]
) -> list[tuple[int, float]]:
    query, k, request = asked
    use_statistics(search, request)
    found = search.text.model.search(query, k)
    return list(zip(found.documents.tolist(), found.scores.tolist(), strict=True))


def _terms(search: JointSearch, asked: tuple[int, int]) -> dict[str, int]:
    return search.text.model.terms_in(*asked)


def _documents(search: JointSearch, span: tuple[int, int]) -> list[tuple[Document, str]]:
    table = search.index.documents
    return [(table[at], table.text_of(at)) for at in range(span[0], min(span[1], len(table)))]


def _shots(search: JointSearch, video_id: str) -> list[tuple[int, Document]]:
    return search.index.shots_of(video_id)


def _weight(search: JointSearch, _: None) -> float:
    return search.learned_weight()


def _block_of(search: JointSearch, asked: tuple[int]) -> list[tuple[Document, str]]:
    return _documents(search, (asked[0], asked[0] + _BLOCK))


class ResidentIndex(Index):
    """An index whose shards are kept by the workers of a cluster.

    Args:
        folder: The library's index, which lists them.
        engine: The cluster.

    Raises:
        RetrievalError: If none of its shards is there.
    """

    def __init__(self, folder: str | os.PathLike[str], engine: Engine) -> None:
        super().__init__(folder)
        collection, self._listed = listed_shards(self.manifest)
        self.workers = ShardWorkers(engine, collection)
        here = self._listed.keys() & self.workers.found.keys()
        self.stale = any(self._listed[n].generation != self.workers.found[n] for n in here)
        asked: dict[str, None] = dict.fromkeys(sorted(here))
        self.summaries: dict[str, _Summary] = self.workers.ask(_summary, asked)
        counts = [each.documents for each in self.summaries.values()]
        starts = np.cumsum([0, *counts]).tolist()
        self.starts = dict(zip(self.summaries, starts, strict=False))
        self._count = starts[-1]

    def _require_segments(self) -> None:
        """All documents are elsewhere."""

    def __len__(self) -> int:
        return int(self._count)

    def ask(self, function: Callable[[JointSearch, Any], Any], argument: Any) -> dict[str, Any]:
        """Ask all shards that are there; what was lost since is left out from now on."""
        given = argument if isinstance(argument, dict) else dict.fromkeys(self.starts, argument)
        answers = self.workers.ask(function, {n: given[n] for n in self.starts})
        self.starts = {name: start for name, start in self.starts.items() if name in answers}
        return {name: answers[name] for name in self.starts}

    @property
    def missing(self) -> str | None:
        """What is not searched, as a sentence for the user."""
        gone = [shard for name, shard in self._listed.items() if name not in self.starts]
        if not gone:
            return None
        count, homes = sum(len(s.videos) for s in gone), sorted({s.home for s in gone})
        return (
            f"{count} video{'' if count == 1 else 's'} not searched: no worker serves the shards "
            f"in {', '.join(homes)}. Start one there (dask worker ADDRESS), or index these videos "
            "elsewhere: wordsight index --engine ADDRESS"
        )

    @cached_property
    def largest(self) -> str:
        """The shard with most words, which stands for all where numbers are learned."""
        if not self.summaries:
            raise RetrievalError(self.missing or "the index is empty; add videos first.")
        return max(self.summaries, key=lambda name: self.summaries[name].words)

    @cached_property
    def documents(self) -> "_Documents":
        """The documents, fetched when they are looked at."""
        return _Documents(self)

    @cached_property
    def visual(self) -> VisualIndex:
        """The background of the collection and its settings; models are with the workers."""
        return _VisualStatistics(self)

    def shots_of(self, video_id: str) -> list[tuple[int, Document]]:
        """Return the documents of a video with their positions."""
        found = self.ask(_shots, video_id)
        return [(self.starts[n] + at, one) for n, shots in found.items() for at, one in shots]

    def place_of(self, position: int) -> tuple[str, int]:
        """Return the shard of a document, and its position there."""
        name = max((s, n) for n, s in self.starts.items() if s <= position)[1]
        return name, position - self.starts[name]

    def ask_about(
        self, position: int, function: Callable[[JointSearch, Any], Any], *arguments: Any
    ) -> Any:
        """Ask the shard of a document about it."""
        name, at = self.place_of(position)
        answer = self.workers.ask(function, {name: (at, *arguments)})
        if name not in answer:
            raise RetrievalError(f"the worker that keeps {self._listed[name].home} was lost.")
        return answer[name]


class _Documents(DocumentTable):
    """The documents of a collection, fetched in blocks when they are looked at."""

    def __init__(self, index: ResidentIndex) -> None:
        super().__init__([])
        self._index = index
        self.known: dict[int, tuple[Document, str]] = {}

    def __len__(self) -> int:
        return len(self._index)

    @overload
    def __getitem__(self, index: int) -> Document: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...

    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        return self._fetched(index)[0]

    def id_of(self, index: int) -> str:
        return self._fetched(index)[0].id

    def text_of(self, index: int) -> str:
        return self._fetched(index)[1]

    def _fetched(self, position: int) -> tuple[Document, str]:
        if position not in self.known:
            if not 0 <= position < len(self):
                raise IndexError(f"document {position} of {len(self)}")
            first = position - self._index.place_of(position)[1] % _BLOCK
            block = self._index.ask_about(first, _block_of)
            self.known |= dict(enumerate(block, start=first))
        return self.known[position]


class _VisualStatistics(VisualIndex):
    """The visual part of a collection without its models."""

    def __init__(self, index: ResidentIndex) -> None:
        settings = VisualSettings.from_json(index.settings(VISUAL))
        super().__init__((), DocumentTable([]), settings, folder=index.folder)
        self._index, self._generation = index, index.generation

    @cached_property
    def _own_background(self) -> CollectionBackground:
        told = [each for each in self._index.ask(_models, None).values() if len(each[0])]
        if not told:
            raise RetrievalError("the index is empty; add videos to it before searching.")
        chosen = reference_rows(np.concatenate([lots for lots, _ in told]))
        factors = np.concatenate([models.factors for _, models in told])[chosen]
        constants = np.concatenate([models.constants for _, models in told])[chosen]
        return CollectionBackground(PackedMixtures(factors, constants), self.settings.floor)


class _WordStatistics(LanguageModel):
    """The language model of a collection, whose counts are asked for."""

    def __init__(self, index: ResidentIndex) -> None:
        super().__init__((), index.summaries[index.largest].smoothing, "documents")
        self._index = index
        told = index.summaries.values()
        self.__dict__["total"] = sum(each.total for each in told)
        self.__dict__["own_total"] = sum(each.own_total for each in told)

    @property
    def num_documents(self) -> int:
        return len(self._index)

    def share(self, term: str) -> float:
        if term not in self._shares:
            self.count([term])
        return self._shares[term]

    def count(self, terms: Iterable[str]) -> None:
        """Learn how often terms are in the collection, of all shards at once."""
        unknown = [term for term in dict.fromkeys(terms) if term not in self._shares]
        if not unknown:
            return
        sums = np.sum([np.zeros(len(unknown)), *self._index.ask(_counts, unknown).values()], axis=0)
        for term, count in zip(unknown, sums.tolist(), strict=True):
            total = self.own_total if is_pair(term) else self.total
            self._shares[term] = count / max(1, total)

    def counted(self, query: TextQuery) -> dict[str, float]:
        """Return the weights of a query's terms and neighbours; they are counted together."""
        pairs = {pair: PAIR_WEIGHT * weight for pair, weight in query.pairs.items()}
        weights = dict(query.weights) | pairs
        self.count(weights)
        return weights

    def terms_in(self, document: int, level: int = 0) -> dict[str, int]:
        found = self._index.ask_about(document, _terms, level)
        self.count(found)
        return dict(found)

    def search(self, query: TextQuery, top: int | None = 10) -> Ranking:
        k = len(self._index) if top is None else top
        shares = {term: self.share(term) for term in self.counted(query)}
        request = ShardQuery(JointQuery(query), 0.0, k, False, True, self.smoothing, shares)
        found = self._index.ask(_ranked, (query, k, request))
        best = sorted(
            (
                (self._index.starts[n] + at, score)
                for n, each in found.items()
                for at, score in each
            ),
            key=lambda pair: (-pair[1], pair[0]),
        )[:k]
        return Ranking(
            np.array([at for at, _ in best], np.int64), np.array([score for _, score in best])
        )


class ResidentSearch(JointSearch):
    """Searches shards where they are kept; as :class:`JointSearch` otherwise.

    Args:
        index: The index.
        exact: As for :class:`JointSearch`; candidates are chosen per shard.
    """

    def __init__(self, index: ResidentIndex, exact: bool | None = None) -> None:
        super().__init__(index, exact=exact)
        self._resident = index
        if len(index):
            model = _WordStatistics(index)
            self.text.__dict__.update(model=model, smoothing=model.smoothing)
        elif index.missing:
            raise RetrievalError(index.missing)

    def learned_weight(self) -> float:
        """Return the share of the picture that was learned from the largest shard."""
        index = self._resident
        return float(index.workers.ask(_weight, {index.largest: None})[index.largest])

    def search(self, query: JointQuery, k: int = 10, *, everything: bool = False) -> list[JointHit]:
        """Return the best documents; see :meth:`JointSearch.search`."""
        index = self._resident
        if len(index) == 0 or (query.text is None and query.samples is None):
            return super().search(query, k, everything=everything)
        model = self.text.model
        terms = () if query.text is None else model.counted(query.text)
        request = ShardQuery(
            query,
            self.weight,
            k,
            everything,
            self.exact,
            self.text.smoothing,
            {term: model.share(term) for term in terms},
        )
        key = None if query.samples is None else self._background_key
        asked = {name: (request, start, key) for name, start in index.starts.items()}
        answers = index.ask(_search, asked)
        if key is not None and None in answers.values():  # workers that have not heard of it
            visual = index.visual
            index.ask(_keep_background, (key, visual.background, visual.smoothing))
            answers = index.ask(_search, {name: asked[name] for name in index.starts})
        hits = [hit for told in answers.values() for hit in told or ()]
        index.documents.known |= {hit.position: (hit.document, text) for hit, text in hits}
        best = sorted((hit for hit, _ in hits), key=lambda hit: (-hit.score, hit.document.id))
        return best[:k]

    @cached_property
    def _background_key(self) -> str:
        return uuid.uuid4().hex
