"""``search``: moments by words, a sentence, a picture, a part of it, or another moment."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wordsight.errors import WordsightError
from wordsight.workflows.compute import (
    device_setting,
    engine_setting,
    prune_setting,
    pruning,
    report_lost,
    usable_device,
    using_engine,
)
from wordsight.workflows.found_moments import FoundMoment, evidence_text
from wordsight.workflows.index import index_setting
from wordsight.workflows.lexicon import lexicon_folder, lexicon_setting, library_words
from wordsight.workflows.reporter import RecordingReporter, Reporter
from wordsight.workflows.search_query import (
    SearchQuery,
    parse_moment,
    parse_region,
    read_queries,
    read_topics,
)
from wordsight.workflows.searcher import MOST_VIDEOS, Searcher
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.units import clock
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.engine import Engine
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon
    from wordsight.meaning.tasks.answer import Answer
    from wordsight.retrieval.joint import JointSearch

__all__ = [
    "SearchRequest",
    "SearchResult",
    "SearchSettings",
    "find_moments",
    "search",
    "write_moments_run",
    "write_moments_sheet",
]


class SearchSettings(Request):
    """What is searched for, and how it is judged."""

    text: str | None = argument(
        "Words or a sentence.", metavar="TEXT", default=None, label="Words or a sentence"
    )
    region: str | None = setting(
        None,
        "Only this part of the picture, in pixels: left, top, width, height.",
        metavar="x,y,w,h",
        label="Only this part: left, top, width, height",
    )
    like: str | None = setting(
        None, "Shots like the one shown at this moment.", metavar="VIDEO@TIME"
    )
    by: Literal["auto", "said", "meaning"] = setting(
        "auto",
        "Whether a sentence is judged by learned meanings (auto: if they can read it).",
        label="Search by",
        titles={
            "auto": "meaning, else words",
            "said": "words",
            "meaning": "meaning",
        },
    )
    top: int = setting(10, "Number of moments.", "-k", label="Number of moments", ge=1)
    rank: Literal["shot", "scene", "video"] = setting(
        "shot",
        "What words and pictures rank: shots, or scenes or videos by their best shot.",
        label="Find",
        titles={"shot": "shots", "scene": "scenes", "video": "videos"},
    )
    everything: bool = setting(False, "Also moments without evidence for them.", "--all")
    weight: float | None = setting(
        None,
        "Share of the picture beside words.",
        label="Weight of the picture against words, 0 to 1",
        default_text="learned",
        ge=0.0,
        le=1.0,
    )
    expand: bool = setting(
        False,
        "Let words of the best shots join the query.",
        label="Also search for frequent words of the best shots",
    )
    exact: bool = setting(
        False,
        "Compare a picture with every shot, also of more than 100,000, where a first pass "
        "otherwise chooses candidates.",
        label="Compare pictures with all shots (slower in large libraries)",
    )
    prune: int | None = prune_setting()


class SearchRequest(SearchSettings):
    """What is searched for, where, and what is written."""

    images: tuple[Path, ...] = setting(
        (), "An example picture; may be repeated.", "--image", metavar="FILE"
    )
    sheet: Path | None = setting(None, "Also write a contact sheet.", metavar="PNG")
    run: Path | None = setting(None, "Also write the ranking as a TREC run.", metavar="TREC")
    queries: Path | None = setting(
        None, "Many queries, a line each: id words. Needs --run.", metavar="FILE"
    )
    topics: Path | None = setting(
        None,
        "Many topics, a line of JSON each: id, and text, image, region or like. Needs --run.",
        metavar="JSONL",
    )
    force: bool = setting(False, "Replace files that exist.")
    words: Path | None = lexicon_setting()
    engine: str | None = engine_setting()
    device: str | None = device_setting()
    index: Path | None = index_setting()
    background: str = setting(
        "own",
        "What pictures are compared with: the shots of this library, or of another one (its "
        "folder) that is indexed alike.",
        metavar="own|LIBRARY",
    )

    def query(self) -> SearchQuery:
        """Return what is looked for.

        Raises:
            WordsightError: If nothing is, or a region or moment cannot be read.
        """
        region, like = parse_region(self.region), parse_moment(self.like)
        return SearchQuery(self.text, self.images, region, like, self.expand)


@dataclass(frozen=True)
class SearchResult(Result):
    """What was found.

    Attributes:
        moments: The moments, the best first; empty where many queries were asked.
        how: In a sentence, what they were judged by.
        answers: Of many queries, per query its shots with their scores.
        run: The TREC run that was written, if any.
        answer: The answer, where the text was a question that the learned words can read.
    """

    moments: tuple[FoundMoment, ...]
    how: str
    answers: dict[str, list[tuple[str, float]]] | None = None
    run: Path | None = None
    answer: "Answer | None" = None

    @property
    def num_hits(self) -> int:
        """Number of shots found for many queries."""
        return sum(map(len, (self.answers or {}).values()))

    def to_json(self) -> Any:
        """Return what ``wordsight search --json`` prints."""
        if self.answer is not None:
            return as_json({"answer": _answer_json(self.answer), "moments": self._moments_json})
        if self.answers is None:
            return as_json(self._moments_json)
        return as_json({"run": self.run, "queries": len(self.answers), "hits": self.num_hits})

    @property
    def _moments_json(self) -> list[dict[str, Any]]:
        """The moments without the stretch that was judged, nor sightings and looks of none."""
        kept = [asdict(moment) for moment in self.moments]
        return [
            {
                name: value
                for name, value in each.items()
                if name != "judged" and (value or name not in ("sighting", "looks"))
            }
            for each in kept
        ]


@workflow(SearchRequest)
def search(
    library: "Library", request: SearchRequest, *, reporter: RecordingReporter
) -> SearchResult:
    """Search a library for moments; its index is brought up to date first.

    Words find shots in which they are said or written; a sentence that learned words can read
    finds moments it is true of; a picture finds shots that look like it.
    """
    refuse_existing(request.sheet, request.run, force=request.force)
    if request.queries is not None or request.topics is not None:
        return _answer_queries(library, request, reporter)
    lexicon = None
    if request.text:
        needed = request.words is not None or request.by == "meaning"
        if needed or lexicon_folder(library, None).exists():
            lexicon, _ = library_words(library, request.words, reporter)
    with using_engine(request.engine, reporter) as engine:
        result = find_moments(
            library, request, reporter, lexicon, engine=engine, aloud=request.words is not None
        )
    if any("meaning" in each.by for each in result.moments):
        lost = max(each.lost_mass for each in result.moments)
        report_lost(reporter, lost, request.prune)
    query = request.text or "like-this"
    if request.run is not None:
        write_moments_run(request.run, result.moments, query, overwrite=request.force)
        reporter.note(f"Run: {request.run}")
    if request.sheet is not None and result.moments:
        write_moments_sheet(request.sheet, result.moments, library, query, overwrite=request.force)
        reporter.note(f"Contact sheet: {request.sheet}")
    return SearchResult(result.moments, result.how, answer=result.answer)


def find_moments(
    library: "Library",
    request: SearchRequest,
    reporter: Reporter,
    lexicon: "LearnedLexicon | None",
    *,
    engine: "Engine | None" = None,
    aloud: bool = False,
    ready: "JointSearch | None" = None,
    most_videos: int = MOST_VIDEOS,
) -> SearchResult:
    """Find moments with words that are loaded, and perhaps an index that is open already.

    Args:
        library: The library.
        request: What is looked for.
        reporter: Takes notes and progress.
        lexicon: The learned words, if any: those in ``request.words``, or the library's.
        engine: Who searches shards and looks at videos; this process if ``None``.
        aloud: Whether it is worth a note that the words cannot read the text.
        ready: An index that is open; otherwise it is opened, and brought up to date first.
        most_videos: Number of videos that a sentence's meaning is looked for in.
    """
    from wordsight.workflows.annotator import load_annotator

    folder = lexicon_folder(library, request.words)
    searcher = Searcher(
        reporter,
        library,
        request.index,
        request.top,
        request.everything,
        request.weight,
        most_videos=most_videos,
        device=usable_device(request.device, reporter),
        engine=engine,
        ready=ready,
        annotator=None if lexicon is None else load_annotator(folder),
        exact=request.exact or None,
        background=request.background,
        rank=request.rank,
    )
    with closing(searcher), pruning(request.prune):
        asked = request.query()
        moments, how, answer = searcher.answer(asked, request.by, lexicon, named=aloud)
    return SearchResult(tuple(moments), how, answer=answer)


def _answer_json(answer: "Answer") -> dict[str, Any]:
    return {
        "kind": answer.kind,
        "text": answer.text,
        "sure": round(answer.probability, 4),
        "participants": [
            {
                "video_id": one.video_id,
                "start": one.start,
                "end": one.end,
                "name": one.name,
                "sure": round(one.probability, 4),
                "boxes": [
                    [round(float(value), 2) for value in (time, *box)]
                    for time, box in zip(one.times, one.boxes, strict=True)
                ],
            }
            for one in answer.participants
        ],
    }


def write_moments_run(
    path: Path, moments: Sequence[FoundMoment], query: str, *, overwrite: bool = False
) -> None:
    """Write moments as the ranking of one query, in the TREC format."""
    from wordsight.retrieval.trec import write_run

    best: dict[str, float] = {}
    for each in moments:
        best.setdefault(each.shot or f"{each.video_id}@{clock(each.start)}", each.score)
    write_run(path, {query: best.items()}, overwrite=overwrite)


def write_moments_sheet(
    path: Path,
    moments: Sequence[FoundMoment],
    library: "Library",
    heading: str,
    *,
    overwrite: bool = False,
) -> None:
    """Write a contact sheet of moments, the best first."""
    from wordsight.video import VideoReader, write_contact_sheet

    images, titles = [], []
    for rank, each in enumerate(moments, start=1):
        with VideoReader(library.video(each.video_id).path) as reader:
            info = reader.info
            time = each.key_time if each.key_time is not None else (each.start + each.end) / 2
            size = (320, max(1, round(320 * info.height / info.width)))
            images.append(reader.frame_at(time).scaled(*size))
        span = f"{clock(each.start)} - {clock(each.end)}"
        score, evidence = f"score {each.score:.2f}", evidence_text(each)
        titles.append(f"{rank}  {each.video_id}\n{span}  {score}\n{evidence}")
    write_contact_sheet(path, images, titles, heading=heading, overwrite=overwrite)


def _answer_queries(
    library: "Library", request: SearchRequest, reporter: RecordingReporter
) -> SearchResult:
    from wordsight.retrieval.trec import write_run

    both = request.queries is not None and request.topics is not None
    if both or request.run is None or request.text or request.images or request.like:
        raise WordsightError("--queries or --topics needs --run FILE, and no other query.")
    if request.topics is not None:
        queries = read_topics(request.topics)
    else:
        assert request.queries is not None
        queries = {name: SearchQuery(text) for name, text in read_queries(request.queries).items()}
    queries = {name: replace(query, expand=request.expand) for name, query in queries.items()}
    with (
        using_engine(request.engine, reporter) as engine,
        closing(
            Searcher(
                reporter,
                library,
                request.index,
                request.top,
                weight=request.weight,
                device=usable_device(request.device, reporter),
                engine=engine,
                exact=request.exact or None,
                background=request.background,
                rank=request.rank,
            )
        ) as searcher,
    ):
        answers = searcher.run(queries)
    write_run(request.run, answers, overwrite=request.force)
    return SearchResult((), "", answers, request.run)
