"""The pages, over the same functions as the API."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request

from wordsight.attributes.report import used_features
from wordsight.errors import WordsightError
from wordsight.library import ArtefactEntry, VideoDetails
from wordsight.meaning.features import LABEL, get_feature
from wordsight.meaning.model.wording import argument_names, looks_for
from wordsight.retrieval.text import stemming_languages
from wordsight.runs import kept_runs, results_table
from wordsight.studio.api.align import kept_alignments, read_alignment
from wordsight.studio.api.attributes import begun_elsewhere, lessons_of, taught
from wordsight.studio.api.fields import Here, Name, aside
from wordsight.studio.api.lexicon import FeatureTable, LearnBody, examples_of, word_info
from wordsight.studio.api.meaning import ClipBody
from wordsight.studio.api.search import Pictures, SearchBody, SentSearch, search_with
from wordsight.studio.api.states import found_states
from wordsight.studio.jobs.attributes import TAUGHT
from wordsight.studio.jobs.exports import EXPORTERS, list_exports
from wordsight.studio.jobs.questions import ASKED
from wordsight.studio.jobs.states import states_file
from wordsight.studio.networks import list_networks
from wordsight.studio.security import is_from_elsewhere
from wordsight.studio.server import without_paths
from wordsight.studio.studio import Studio, learned_words, words_folder, words_stamp
from wordsight.workflows.align import ALIGNMENT_MODELS
from wordsight.workflows.detect import detector_choices
from wordsight.workflows.evaluate import DEFAULT_MEASURES
from wordsight.workflows.learn_states import LearnStatesRequest
from wordsight.workflows.rule_sets import list_sets, read_rules
from wordsight.workflows.search_query import parse_moment
from wordsight.workflows.settings import settings_of
from wordsight.workflows.teach import TeachSettings
from wordsight.workflows.word_edits import list_versions, load_version

__all__ = ["pages"]

pages = APIRouter(include_in_schema=False)

PER_PAGE = 48
_MOST_TABLES = 12  # features of a word that its page shows
_DIFFERS = 0.02  # how far from the usual a share is that a word looks at
SORTS = {
    "newest": ("added", True, "Newest first"),
    "oldest": ("added", False, "Oldest first"),
    "name": ("name", False, "By name"),
    "longest": ("duration", True, "Longest first"),
    "shortest": ("duration", False, "Shortest first"),
}
"""How the library can be sorted: the order, whether it is turned round, and its title."""


@pages.get("/")
def library_page(
    request: Request,
    studio: Here,
    text: Annotated[str, Query(max_length=500)] = "",
    sort: Literal["newest", "oldest", "name", "longest", "shortest"] = "newest",
    said: Literal["any", "with", "without"] = "any",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Any:
    """Show the videos, some at a time."""
    wanted = text.strip() or None
    described = None if said == "any" else said == "with"
    total = studio.library.count(wanted, said=described)
    order, descending, _ = SORTS[sort]
    videos = studio.library.videos(
        wanted,
        said=described,
        order=order,
        descending=descending,
        limit=PER_PAGE,
        offset=(page - 1) * PER_PAGE,
    )
    steps = _first_steps(studio)
    return studio.page(
        request,
        "library.html",
        here="library",
        videos=videos,
        said_of=studio.library.sentences_by_video([video.id for video in videos]),
        total=total,
        everything=total or len(studio.library),
        text=text,
        sort=sort,
        sorts=[(key, title) for key, (_, _, title) in SORTS.items()],
        said=said,
        page=page,
        pages=max(1, -(-total // PER_PAGE)),
        steps=steps,
        steps_done=all(done for done, *_ in steps),
        jobs=studio.work(),
    )


def _first_steps(studio: Studio) -> list[tuple[bool, str, str, str]]:
    """Return the first things to do in a studio: whether it is done, what, why, and where."""
    return [
        (
            studio.library.count(said=True) > 0,
            "Add films and sentences",
            "A few dozen short films, each with a sentence that says what happens.",
            "/",
        ),
        (
            bool(words_stamp(studio)),
            "Learn",
            "Find out what the words look like, from those films.",
            "/lexicon",
        ),
        (
            (studio.folder / ASKED).exists(),
            "Ask",
            "Open a film, write a sentence and watch it light up.",
            "/search",
        ),
    ]


@pages.get("/parts/add")
def add_part(request: Request, studio: Here) -> Any:
    """Show the sheet on which films are added, on whatever page they are dropped."""
    return studio.page(
        request,
        "parts/add.html",
        detectors=detector_choices(),
        networks=list_networks(studio.folder),
    )


@pages.get("/videos/{video_id}")
def player_page(request: Request, studio: Here, video_id: str) -> Any:
    """Show one video."""
    details = studio.library.show(video_id)
    return studio.page(
        request,
        "player.html",
        here="library",
        own=not is_from_elsewhere(request.headers),
        settings=settings_of(ClipBody),
        details=details,
        video=details.video,
        makers=EXPORTERS,
        detectors=detector_choices(),
        networks=list_networks(studio.folder),
        taught=(studio.folder / TAUGHT).exists(),
        seen=_looks(details),
    )


def _looks(details: VideoDetails) -> list[ArtefactEntry]:
    """Return what was seen in a video, by whom it was seen, the last look first."""
    looks = [one for one in details.artefacts if one.kind == "detections"]
    return sorted(looks, key=lambda one: one.created_at, reverse=True)


Sought = Annotated[SearchBody, Query()]


@pages.get("/search")
def search_page(request: Request, studio: Here, wanted: Sought) -> Any:
    """Show the box; what was found is asked for by the page itself, since it may take a while.

    Not where another site led here: a link must not begin a job.
    """
    return studio.page(
        request,
        "search.html",
        here="search",
        settings=settings_of(SearchBody),
        **wanted.model_dump(),
        own=not is_from_elsewhere(request.headers),
        moment=_moment(studio, wanted.like),
        languages=(*stemming_languages(), "none"),
        known=bool(words_stamp(studio)),
        taught=(studio.folder / TAUGHT).exists(),
    )


@pages.post("/parts/search")
@aside
def found_part(request: Request, studio: Here, wanted: SentSearch, image: Pictures = []) -> Any:  # noqa: B006
    """Show what was found."""
    try:
        # A page shows a bar and a way to stop: nothing is looked at closely in the server.
        found = search_with(studio, wanted, image, in_job=True)
    except WordsightError as error:
        return studio.page(request, "parts/found.html", problem=without_paths(str(error)))
    # What was found by words can be asked for again by an address, what was by pictures cannot.
    same = "" if image else urlencode(wanted.model_dump(exclude_defaults=True))
    asked = None if image else wanted
    return studio.page(request, "parts/found.html", found=found, asked=asked, same=same)


def _moment(studio: Studio, like: str) -> dict[str, Any] | None:
    """Return the moment to look for more of, if there is one."""
    try:
        moment = parse_moment(like or None)
        if moment is None:
            return None
        video = studio.library.video(studio.library.resolve(moment[0]))
    except WordsightError:
        return None  # what is wrong is said where the results would be
    return {"id": video.id, "name": video.name, "time": moment[1]}


@pages.get("/lexicon")
def lexicon_page(request: Request, studio: Here) -> Any:
    """Show all words by part of speech, and how to learn."""
    parts: dict[str, list[Any]] = defaultdict(list)
    try:
        lexicon = learned_words(studio)
        for entry in sorted(lexicon.words):
            parts[str(lexicon[entry].part)].append(lexicon[entry])
    except WordsightError:
        lexicon = None
    return studio.page(
        request,
        "lexicon.html",
        here="lexicon",
        settings=settings_of(LearnBody),
        parts=dict(sorted(parts.items())),
        known=lexicon is not None,
        sets=[one for one in list_sets(studio.folder) if one.learned],
        taught=(studio.folder / TAUGHT).exists(),
        notes={} if lexicon is None else lexicon.notes,
        sentences=sum(video.num_sentences for video in studio.library.videos()),
        running=studio.running("learn"),
    )


@pages.get("/lexicon/{entry}")
def word_page(
    request: Request,
    studio: Here,
    entry: str,
    version: Annotated[int | None, Query(ge=1, le=10**6)] = None,
) -> Any:
    """Show one word, beside what it was in an earlier version if one is named."""
    lexicon = learned_words(studio)
    word, things = word_info(lexicon, entry), argument_names(lexicon, entry)
    shares: dict[tuple[str, tuple[int, ...]], Any] = {}
    if version is not None:
        was = word_info(load_version(words_folder(studio), version), entry)
        shares = {(table.feature, tuple(table.roles)): table.shares for table in was.features}
    return studio.page(
        request,
        "word.html",
        here="lexicon",
        word=word,
        looks_for=looks_for(lexicon, entry),
        tables=[_beside(table, shares, things) for table in word.features[:_MOST_TABLES]],
        earlier=version,
        versions=list_versions(words_folder(studio))[:20],
    )


@pages.post("/parts/examples/{entry}")
def examples_part(request: Request, studio: Here, entry: str) -> Any:
    """Show where a word fits best and worst; it takes time, so the page asks until it is known."""
    found = examples_of(studio, entry, 4, begin=True)
    durations = {one.video_id: 0.0 for one in found.surest}
    for number in durations:
        with suppress(WordsightError):  # it has just been removed
            durations[number] = studio.library.video(number).duration
    return studio.page(
        request, "parts/examples.html", examples=found, entry=entry, durations=durations
    )


def _beside(
    table: FeatureTable,
    earlier: Mapping[tuple[str, tuple[int, ...]], Any],
    things: Sequence[str],
) -> Any:
    """Return a table with the earlier shares of each state, where they are known and fit."""
    was = earlier.get((table.feature, tuple(table.roles)), [])
    fits = [len(row) for row in was] == [len(row) for row in table.shares]
    states = zip(table.shares, was if fits else [None] * len(table.shares), strict=True)
    about = "" if table.feature == LABEL else get_feature(table.feature).about.rstrip(".")
    named = [things[role] for role in table.roles]
    differs = max(
        abs(share - usual)
        for rows in (table.shares, was if fits else ())
        for row in rows
        for share, usual in zip(row, table.usual, strict=True)
    )
    return {
        "table": table,
        "states": list(states),
        "things": named,
        "about": about,
        "matters": differs >= _DIFFERS,
    }


PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]


def _paged(items: Sequence[Any], page: int, size: int) -> dict[str, Any]:
    """Return the part of a list that a page shows, and how many pages there are."""
    shown = items[(page - 1) * size : page * size]
    return {"items": shown, "page": page, "pages": max(1, -(-len(items) // size))}


@pages.get("/align")
def align_page(request: Request, studio: Here, video: str = "", page: PageNumber = 1) -> Any:
    """Show the alignments, and a form for another one."""
    listed = _paged(kept_alignments(studio), page, 20)
    return studio.page(
        request,
        "align.html",
        here="align",
        alignments=listed.pop("items"),
        **listed,
        videos=studio.library.videos(order="added", descending=True, limit=500),
        chosen=video,
        models=ALIGNMENT_MODELS,
    )


@pages.get("/align/{name}")
def alignment_page(request: Request, studio: Here, name: Name) -> Any:
    """Show one alignment."""
    return studio.page(request, "alignment.html", here="align", kept=read_alignment(studio, name))


@pages.get("/states")
def states_page(request: Request, studio: Here, video: str = "") -> Any:
    """Show a video's states, and the rules; unless one is named, of a video that has facts."""
    videos = studio.library.videos(order="added", descending=True, limit=500)
    known = (one.id for one in videos if (studio.folder / states_file(one.id)).is_file())
    first = video or next(known, videos[0].id if videos else "")
    chosen = studio.library.video(first) if first else None
    return studio.page(
        request,
        "states.html",
        here="states",
        videos=videos,
        chosen=chosen,
        found=found_states(studio, chosen.id) if chosen else None,
        book=read_rules(studio.folder),
        makers=EXPORTERS,
        sets=list_sets(studio.folder),
        running=studio.running("learn-rules"),
        settings=settings_of(LearnStatesRequest),
    )


@pages.get("/attributes")
def attributes_page(request: Request, studio: Here, page: PageNumber = 1) -> Any:
    """Show the lessons and what was learned from them."""
    try:
        learner = taught(studio)
        groups = learner.attributes()
        looks = [used_features(learner, recall) for recall in learner.recalls_]
        heard = {word.name for word in learner.words_ if learner.sounds_[word.example]}
    except WordsightError:
        groups, looks, heard = [], [], set()
    lessons = lessons_of(studio)
    listed = _paged(lessons, page, 24)
    return studio.page(
        request,
        "attributes.html",
        here="attributes",
        settings=settings_of(TeachSettings),
        groups=groups,
        looks=looks + [[]] * len(groups),
        heard=heard,
        lessons=listed.pop("items"),
        **listed,
        count=len(lessons),
        begun=begun_elsewhere(studio),
    )


@pages.get("/live")
def live_page(request: Request, studio: Here) -> Any:
    """Show a watch: what is seen, and sentences as they become true."""
    return studio.page(
        request,
        "live.html",
        here="live",
        learned=bool(words_stamp(studio)),
        videos=studio.library.videos(limit=500),
        detectors=detector_choices(),
    )


@pages.get("/tools")
def tools_page(request: Request, studio: Here) -> Any:
    """Show the tools."""
    return studio.page(request, "tools.html", here="tools", measures=" ".join(DEFAULT_MEASURES))


@pages.get("/benchmarks")
def benchmarks_page(request: Request, studio: Here) -> Any:
    """Show a table per program."""
    runs = [(run, results_table(run.results)) for run in kept_runs()]
    return studio.page(request, "benchmarks.html", here="benchmarks", runs=runs)


@pages.get("/parts/jobs")
def jobs_part(request: Request, studio: Here) -> Any:
    """Show the newest jobs."""
    return studio.page(request, "parts/jobs.html", jobs=studio.work())


@pages.get("/parts/made")
def rankings_part(request: Request, studio: Here) -> Any:
    """Show what was made of no video in particular: rankings."""
    return studio.page(request, "parts/made.html", made=list_exports(studio.folder, ""))


@pages.get("/parts/made/{video_id}")
def made_part(request: Request, studio: Here, video_id: str) -> Any:
    """Show what was made of a video."""
    made = list_exports(studio.folder, studio.library.resolve(video_id))
    return studio.page(request, "parts/made.html", made=made)
