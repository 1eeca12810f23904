"""Answering a search: by what is said, by what it looks like, or by what the words mean."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.errors import LibraryError, WordsightError
from wordsight.workflows.lexicon import understood_query
from wordsight.workflows.reporter import Reporter
from wordsight.workflows.search_query import SearchQuery
from wordsight.workflows.units import count

if TYPE_CHECKING:
    from wordsight.engine import Engine
    from wordsight.inference import Limits
    from wordsight.language import Understood
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon, SentenceHit
    from wordsight.meaning.tasks.answer import Answer, Participant
    from wordsight.records import Clip
    from wordsight.retrieval import Index
    from wordsight.retrieval.joint import JointHit, JointQuery, JointSearch
    from wordsight.workflows.annotator import ClipAnnotator
    from wordsight.workflows.found_moments import FoundMoment, NamedTerms
    from wordsight.workflows.index_words import NamedShots

__all__ = ["MOST_VIDEOS", "Searcher", "grounded_hits"]


MOST_VIDEOS = 200
"""Videos the sentence tracker looks through; of more, those in which the words are said."""


def grounded_hits(
    library: "Library",
    learned: "LearnedLexicon",
    query: "Understood",
    likely: Sequence[str],
    reporter: Reporter,
    *,
    top: int,
    everything: bool,
    most: int = MOST_VIDEOS,
    engine: "Engine | None" = None,
    annotator: "ClipAnnotator | None" = None,
) -> "tuple[list[SentenceHit], Answer | None]":
    """Find the moments a query describes, and the answer if it is a question.

    Args:
        library: The library.
        learned: The words.
        query: What is looked for.
        likely: Ids of videos in which its words are said, best first.
        reporter: Takes progress.
        top: How many moments at most.
        everything: Whether to return moments the sentence is not said to be true of.
        most: How many videos are looked at; of more, those in which the words are said.
        engine: Where videos are looked at; this process if left out.
        annotator: Annotates clips for a lexicon that was learned with taught words or states.
    """
    from wordsight.engine import Serial
    from wordsight.inference import current_limits
    from wordsight.meaning.tasks.answer import sum_up

    videos = [video.id for video in library.videos()]
    if len(videos) > most:
        said = list(dict.fromkeys(likely))[:most]
        which = "in which the words are said" if said else "that came first"
        videos = said or videos[:most]
        reporter.note(f"Looking closely at the {len(videos)} videos {which}.")
    kept = None if query.question == "how often" else top  # all are counted
    look = partial(
        _moments,
        learned=learned,
        query=query,
        top=kept,
        # How sure an answer is depends on the best moment, also where that is not good enough.
        only_true=not everything and query.question is None,
        limits=current_limits(),  # in other processes as well
    )
    clips = _clips(library, videos, annotator)
    hits: list[SentenceHit] = []
    participants: list[Participant] = []
    with (
        reporter.progress("Searching") as progress,
        closing((engine or Serial()).map(look, clips, ordered=True)) as outcomes,
    ):
        for done, outcome in enumerate(outcomes, start=1):
            if outcome.result is None:
                raise WordsightError(f"{outcome.item.video_id}: {outcome.error}")
            # Hits of all videos are never kept longer than needed.
            moments, asked_for = outcome.result
            hits = sorted(hits + moments, key=lambda hit: -hit.score)[:kept]
            participants += asked_for
            progress(done, len(videos), "searching")
    found = sum_up(learned, query, hits, participants)
    if found is not None and not everything:
        hits = [hit for hit in hits if hit.holds]
    return hits[:top], found


def _clips(
    library: "Library", videos: Sequence[str], annotator: "ClipAnnotator | None"
) -> "Iterator[Clip]":
    """Yield what is seen in videos, leaving out those that are removed meanwhile."""
    from wordsight.workflows.clips import whole_clip

    for video in videos:
        try:
            clip = whole_clip(library, video, annotator)
        except LibraryError:
            if video in {each.id for each in library.videos()}:
                raise
            continue
        yield clip


def _moments(
    clip: "Clip",
    *,
    learned: "LearnedLexicon",
    query: "Understood",
    top: int | None,
    only_true: bool,
    limits: "Limits",
) -> "tuple[list[SentenceHit], list[Participant]]":
    from wordsight.inference import using_limits
    from wordsight.meaning.tasks.answer import answer, find

    with using_limits(limits):
        hits = find(learned, clip, query, top=top, only_true=only_true)
        return hits, answer(learned, clip, query, [hit for hit in hits if hit.holds])


_RECALL = 2000  # shots whose videos are candidates for a closer look


@dataclass(frozen=True)
class Searcher:
    """One search of a library.

    Attributes:
        reporter: Takes progress, and which words no video mentions.
        library: The library.
        index: Where the index is, if not inside the library.
        top: Number of moments at most.
        everything: Whether to return moments without evidence for them.
        weight: Share of the picture beside words; learned if ``None``.
        most_videos: How many videos a sentence's meaning is looked for in.
        device: Where pictures are compared, such as ``cuda``; the processor if ``None``.
        engine: Where shards are searched and videos are looked at; this process if ``None``.
        ready: An index that is open already; otherwise it is library, and brought up to date first.
        annotator: Annotates clips for a lexicon that was learned with taught words or states.
        exact: Whether a picture is compared with every shot; if ``None``, unless there are many.
        background: What pictures are compared with: ``own``, or the folder of another library.
        rank: What is ranked by words and pictures: ``shot``, or ``scene`` or ``video`` by its best.
    """

    reporter: Reporter
    library: "Library"
    index: Path | None = None
    top: int = 10
    everything: bool = False
    weight: float | None = None
    most_videos: int = MOST_VIDEOS
    device: str | None = None
    engine: "Engine | None" = None
    ready: "JointSearch | None" = None
    annotator: "ClipAnnotator | None" = None
    exact: bool | None = None
    background: str = "own"
    rank: str = "shot"

    def answer(
        self, query: SearchQuery, by: str, learned: "LearnedLexicon | None", *, named: bool = False
    ) -> "tuple[list[FoundMoment], str, Answer | None]":
        """Return the moments, best first, in a sentence what they were judged by, and the answer.

        Args:
            query: What is looked for.
            by: ``auto``, ``said`` or ``meaning``.
            learned: The learned lexicon, if there is one.
            named: Whether that lexicon was asked for, so that it is worth a note if it cannot read
                the text.
        """
        aloud = named or by == "meaning"
        text = None if query.images or query.like or by == "said" else query.text
        asked = None
        if text and learned is not None:
            asked = understood_query(learned, text, self.reporter, aloud=aloud)
        if asked is not None and learned is not None:
            return self._by_meaning(asked, learned)
        if by == "meaning":
            raise WordsightError(
                "searching by meaning needs a sentence that the learned words can read."
            )
        return *self._by_models(query), None

    def run(self, queries: Mapping[str, SearchQuery]) -> dict[str, list[tuple[str, float]]]:
        """Return for each of many queries its shots, scenes or videos with their scores."""
        answers = {}
        for name, asked in queries.items():
            try:
                hits = self._ranked(self._prepared(asked))
            except WordsightError as error:
                raise WordsightError(f"query {name}: {error}") from error
            answers[name] = [(self._unit_name(hit), hit.score) for hit in hits]
        empty = [name for name, found in answers.items() if not found]
        if empty:
            named = ", ".join(empty[:5]) + (", …" if len(empty) > 5 else "")
            self.reporter.warn(
                f"nothing was found for {len(empty)} of {count(len(answers), 'query')} ({named}): "
                "their words are stop words, or in no video."
            )
        return answers

    def _prepared(self, asked: SearchQuery) -> "JointQuery":
        """Turn what was asked into terms and samples, and learn how they are weighed."""
        from wordsight.workflows.search_query import joint_query

        search = self._search
        query = joint_query(asked, search, self.library)
        if query.text and query.samples is not None:
            known = self.weight
            search.weight = search.learned_weight() if known is None else known
        return query

    def _ranked(self, query: "JointQuery") -> "list[JointHit]":
        """Return the best shots, or the best shot of each of the best scenes or videos."""
        number = self.top
        while True:
            hits = self._search.search(query, number, everything=self.everything)
            best = {self._unit_name(hit): hit for hit in reversed(hits)}  # the first one stays
            if self.rank == "shot" or len(best) >= self.top or len(hits) < number:
                return sorted(best.values(), key=lambda hit: (-hit.score, hit.document.id))[
                    : self.top
                ]
            number *= 4

    def _unit_name(self, hit: "JointHit") -> str:
        shot = hit.document
        video = "_".join(shot.video_id.split())
        names = {"shot": shot.id, "scene": f"{video}:scene-{shot.scene}", "video": video}
        return names[self.rank]

    def _whole(self, found: "FoundMoment", hit: "JointHit") -> "FoundMoment":
        """Return a scene or video instead of its best shot."""
        documents, name = self._search.index.documents, self._unit_name(hit)
        first = last = hit.position  # the shots of a video are next to one another
        while first and self._unit_name(replace(hit, document=documents[first - 1])) == name:
            first -= 1
        while (
            last + 1 < len(documents)
            and self._unit_name(replace(hit, document=documents[last + 1])) == name
        ):
            last += 1
        return replace(found, start=documents[first].start, end=documents[last].end, shot=name)

    def _by_models(self, asked: SearchQuery) -> tuple[list["FoundMoment"], str]:
        from wordsight.workflows.found_moments import at_caption, at_picture, from_joint

        search = self._search
        query = self._prepared(asked)
        self._note_unknown(query)
        hits = self._ranked(query)
        if hits and all(hit.visual is not None and hit.visual <= 0 for hit in hits):
            self.reporter.note(
                "No shot explains the picture better than the collection as a whole does; these "
                "are the nearest."
            )
        found = [from_joint(hit, query, self._said(hit), self._named(hit)) for hit in hits]
        if self.rank != "shot":
            found = [self._whole(one, hit) for one, hit in zip(found, hits, strict=True)]
        elif query.text and query.samples is None:
            weights, terms = query.text.weights, search.text.analyser.terms
            said = self.library.sentences_by_video([one.video_id for one in found])
            found = [at_caption(one, said.get(one.video_id, ()), weights, terms) for one in found]
        elif query.samples is not None:
            paths = [self.library.video(one.video_id).path for one in found]
            wanted = query.samples
            found = [at_picture(*each, wanted, search) for each in zip(found, paths, strict=True)]
        if query.samples is not None and not query.text and not search.exact:
            self.reporter.detail("A first look chose the shots that were compared; --exact: all.")
        named = any("named" in each.by for each in found)
        return found, _how(query, search.weight, named=named)

    def _by_meaning(
        self, asked: "Understood", learned: "LearnedLexicon"
    ) -> "tuple[list[FoundMoment], str, Answer | None]":
        from wordsight.retrieval.index.resident import is_resident
        from wordsight.retrieval.index.segments import MANIFEST
        from wordsight.retrieval.joint import JointQuery
        from wordsight.workflows.found_moments import from_meaning
        from wordsight.workflows.index import index_folder

        shots: list[JointHit] = []
        query = None
        # A small library needs no recall: the tracker looks at all of it, indexed or not.
        folder = index_folder(self.library, self.index)
        indexed = (folder / MANIFEST).exists() and (self.engine or not is_resident(folder))
        if indexed or self.library.count() > self.most_videos:
            query = self._search.text.query(asked.text)
            shots = self._search.search(JointQuery(query), _RECALL)
        likely = [shot.document.video_id for shot in shots]
        hits, answer = grounded_hits(
            self.library,
            learned,
            asked,
            likely,
            self.reporter,
            top=self.top,
            everything=self.everything,
            most=self.most_videos,
            engine=self.engine,
            annotator=self.annotator,
        )
        if not hits and shots:
            said = f"{len(shots):,} shot{'' if len(shots) == 1 else 's'}"
            self.reporter.note(f"Its words are said in {said}: look by what is said to see them.")
        found = []
        for hit in hits:
            shot = _shot_of(shots, hit.video_id, hit.start, hit.end)
            said = self._said(shot) if shot else ""
            named = self._named(shot) if shot else None
            found.append(from_meaning(hit, shot, query, said, named, threshold=learned.threshold))
        how = "By what the learned words mean."
        if answer is not None:
            how = f"{answer.text.capitalize()} ({answer.probability:.2f} sure). {how}"
        return found, how, answer

    def _said(self, hit: "JointHit") -> str:
        text = self._search.index.documents.text_of(hit.position)
        shot = hit.document
        return self._names.said(text, shot.video_id, shot.start) if self._names else text

    def _named(self, hit: "JointHit") -> "NamedTerms | None":
        """Return the taught words for what is seen in a shot."""
        from wordsight.workflows.found_moments import NamedTerms
        from wordsight.workflows.index_words import named_terms

        if self._names is None:
            return None
        video, terms = hit.document.video_id, self._search.text.analyser.terms
        return NamedTerms(
            named_terms(self._names.confidences(video, hit.document.start), terms),
            named_terms(self._names.confidences(video), terms),
        )

    @cached_property
    def _names(self) -> "NamedShots | None":
        from wordsight.workflows.index import index_folder
        from wordsight.workflows.index_words import NamedShots

        return NamedShots.read(index_folder(self.library, self.index))

    def _note_unknown(self, query: "JointQuery") -> None:
        if query.text is None:
            return
        if not query.text:
            self.reporter.note(
                "No word of the query distinguishes moments; name what you look for."
            )
        known, words = self._search.text.model.known_terms(query.text), query.text.words
        unknown = [words.get(term, term) for term in query.text.weights if term not in known]
        if unknown:
            self.reporter.note(f"No video mentions {', '.join(map(repr, unknown))}.")

    def close(self) -> None:
        """Stop the workers that searched."""
        search = self.__dict__.get("_search")
        missing = getattr(getattr(search, "index", None), "missing", None)
        if missing:
            self.reporter.warn(missing)
        close = getattr(search, "close", None)
        if close is not None:
            close()

    @cached_property
    def _search(self) -> "JointSearch":
        from wordsight.retrieval.index.reader import ShardedSearch
        from wordsight.retrieval.index.resident_search import ResidentIndex, ResidentSearch
        from wordsight.retrieval.joint import JointSearch
        from wordsight.workflows.index import index_folder, open_index

        if self.ready is not None and self.background == "own":
            own = copy.copy(self.ready)  # its weight is this search's own, and how closely it looks
            own.exact = own.exact if self.exact is None else self.exact
            return own
        folder = index_folder(self.library, self.index)
        index = open_index(
            self.library, folder, self.reporter, engine=self.engine, device=self.device
        )
        if self.background != "own":
            index.visual.use_background(_index_of(Path(self.background)).visual)
        if isinstance(index, ResidentIndex):
            return ResidentSearch(index, exact=self.exact)
        if self.engine is None:
            return JointSearch(index, exact=self.exact)
        return ShardedSearch(index, self.engine, exact=self.exact)


def _index_of(folder: Path) -> "Index":
    """Open the index of another library, as it is."""
    from wordsight.library import Library
    from wordsight.retrieval import Index
    from wordsight.workflows.index import index_folder

    with Library.open(folder) as library:
        return Index(index_folder(library, None))


def _how(query: "JointQuery", weight: float, *, named: bool) -> str:
    said = "what is said and taught words for what is seen" if named else "what is said"
    if query.text and query.samples is not None:
        return f"By {said} ({_percent(1 - weight)}) and what it looks like ({_percent(weight)})."
    if query.text:
        return f"By {said}."
    looks = "By what it looks like."
    return looks if query.samples is not None else "By nothing: the query has no word to go by."


def _percent(share: float) -> str:
    if 0.0 < share < 0.01:
        return "less than 1 %"
    return "more than 99 %" if 0.99 < share < 1.0 else f"{share:.0%}".replace("%", " %")


def _shot_of(shots: "list[JointHit]", video_id: str, start: float, end: float) -> "JointHit | None":
    """Return the shot that shares most of a moment's time, if any does."""

    def shared(shot: "JointHit") -> float:
        return min(shot.document.end, end) - max(shot.document.start, start)

    near = [shot for shot in shots if shot.document.video_id == video_id and shared(shot) > 0]
    return max(near, key=shared, default=None)
