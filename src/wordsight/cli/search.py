"""``search``: one command for words, pictures, regions, moments and meanings; and ``index``."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.devices import DeviceOption, device_of
from wordsight.cli.engines import EngineOption, engine_of
from wordsight.cli.limits import PruneOption, tell_lost
from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, speaking
from wordsight.cli.output import Output
from wordsight.errors import WordsightError
from wordsight.workflows.compute import pruning
from wordsight.workflows.lexicon import DEFAULT_LEXICON, load_lexicon
from wordsight.workflows.search_query import SearchQuery, parse_moment, parse_region, read_queries
from wordsight.workflows.units import clock, count
from wordsight.workflows.workflow import refuse_existing

if TYPE_CHECKING:
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon
    from wordsight.retrieval import BuildReport
    from wordsight.workflows.found_moments import FoundMoment

__all__ = ["index", "search"]


IndexOption = Annotated[
    Path | None,
    typer.Option("--index", metavar="FOLDER", help="The index; by default inside the library."),
]
LexiconOption = Annotated[
    Path | None,
    typer.Option(
        "--words", "-w", metavar="FOLDER", help="A learned lexicon.", show_default="lexicon"
    ),
]


TextArgument = Annotated[
    str | None, typer.Argument(metavar="TEXT", help="Words or a sentence.", show_default=False)
]
ImageOption = Annotated[
    list[Path] | None,
    typer.Option("--image", metavar="FILE", help="An example picture; may be repeated."),
]
RegionOption = Annotated[
    str | None, typer.Option(metavar="x,y,w,h", help="Only this part of the picture, pixels.")
]
LikeOption = Annotated[
    str | None, typer.Option(metavar="VIDEO@TIME", help="Shots like the one shown then.")
]
TopOption = Annotated[int, typer.Option("-k", min=1, help="How many moments.")]
AllFlag = Annotated[
    bool, typer.Option("--all", help="Also what nothing speaks for.", show_default=False)
]
ByOption = Annotated[
    str,
    typer.Option(
        metavar="auto|said|meaning",
        help="Whether a sentence is judged by learned meanings (auto: if they can read it).",
    ),
]
WeightOption = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="Share of the picture beside words; by default learned."),
]
ExpandFlag = Annotated[
    bool, typer.Option("--expand", help="Let words of the best shots join in.", show_default=False)
]
ExactFlag = Annotated[
    bool,
    typer.Option(
        "--exact",
        help="Compare a picture with every shot, also of more than 100,000, where a first look "
        "chooses candidates.",
        show_default=False,
    ),
]
SheetOption = Annotated[
    Path | None, typer.Option(metavar="PNG", help="Also write a contact sheet.")
]
RunOption = Annotated[
    Path | None, typer.Option(metavar="TREC", help="Also write the ranking as a TREC run.")
]
QueriesOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Many queries, a line each: id words. Needs --run."),
]
ForceFlag = Annotated[
    bool, typer.Option("--force", help="Replace files that exist.", show_default=False)
]


@speaking
def search(
    output: Output,
    text: TextArgument = None,
    image: ImageOption = None,
    region: RegionOption = None,
    like: LikeOption = None,
    top: TopOption = 10,
    everything: AllFlag = False,
    by: ByOption = "auto",
    weight: WeightOption = None,
    expand: ExpandFlag = False,
    exact: ExactFlag = False,
    sheet: SheetOption = None,
    run: RunOption = None,
    queries: QueriesOption = None,
    force: ForceFlag = False,
    prune: PruneOption = None,
    words: LexiconOption = None,
    engine: EngineOption = None,
    device: DeviceOption = None,
    index: IndexOption = None,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Search for moments by words, a sentence, a picture, a part of it, or a moment.

    Words find shots in which they are said or written; a sentence that learned words can read
    finds moments it is true of; a picture finds shots that look like it. The answer says which
    evidence counted. The index is brought up to date first.
    """
    from wordsight.cli.search_results import render
    from wordsight.library import Library
    from wordsight.workflows.annotator import load_annotator
    from wordsight.workflows.searcher import Searcher

    refuse_existing(sheet, run, force=force)
    if by not in ("auto", "said", "meaning"):
        raise WordsightError(f"--by takes auto, said or meaning, got {by!r}.")
    if queries is not None and (run is None or text or image or like):
        raise WordsightError("--queries needs --run FILE, and no other query.")
    with Library.open(library) as opened, engine_of(output, engine) as who:
        if queries is not None and run is not None:
            with closing(Searcher(output, opened, index, top, engine=who)) as searching:
                answers = searching.run(read_queries(queries), expand)
            _write_queries(output, answers, run, force)
            return
        asked = SearchQuery(
            text, tuple(image or ()), parse_region(region), parse_moment(like), expand
        )
        learned = _words(words, required=words is not None or by == "meaning") if text else None
        searching = Searcher(
            output,
            opened,
            index,
            top,
            everything,
            weight,
            device=device_of(output, device),
            engine=who,
            namer=None if learned is None else load_annotator(words or DEFAULT_LEXICON),
            exact=exact or None,
        )
        with closing(searching), pruning(prune):
            found, how = searching.answer(asked, by, learned, named=words is not None)
        _write(output, opened, found, sheet, run, text or "like-this", force)
    if any("meaning" in each.by for each in found):
        tell_lost(output, max(each.lost_mass for each in found), prune)
    output.result(found, lambda out: render(out, found, how))


@speaking
def index(
    output: Output,
    describe: Annotated[
        bool,
        typer.Option(
            "--describe",
            help="Also write down what learned words say of every shot, to be searched.",
            show_default=False,
        ),
    ] = False,
    attributes: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER|none",
            help="Also name the things in every shot by words of `wordsight teach`; remembered, "
            "until `none`.",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="Of the words, for their endings: english, german, …, or none."),
    ] = None,
    words: LexiconOption = None,
    engine: EngineOption = None,
    device: DeviceOption = None,
    index: IndexOption = None,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Make or update the search index; `search` also updates it when needed."""
    from wordsight.library import Library
    from wordsight.workflows.index import describe_shots, index_folder, update_index

    with Library.open(library) as opened:
        folder = index_folder(opened, index)
        if describe:
            learned = load_lexicon(words or DEFAULT_LEXICON)
            with output.progress("Describing") as progress:
                number = describe_shots(opened, folder, learned, progress)
            output.note(f"Wrote down {count(number, 'description')}.")
        if attributes is not None:
            _remember(output, folder, attributes)
        place = device_of(output, device)
        with engine_of(output, engine) as who, output.progress("Indexing") as progress:
            report = update_index(
                opened, folder, language=language, progress=progress, engine=who, device=place
            )
    output.result({"index": folder, **vars(report)}, lambda out: _render_report(out, report))
    if report.failed:
        raise typer.Exit(1)


def _remember(output: Output, folder: Path, attributes: Path) -> None:
    from wordsight.workflows.annotator import load_taught
    from wordsight.workflows.named_shots import forget_words, remember_words

    if str(attributes) == "none":
        if forget_words(folder):
            output.note("Things in shots are named no longer.")
    elif remember_words(folder, load_taught(attributes)):
        output.note(f"Naming the things in every shot by the words of {attributes}.")


def _words(folder: Path | None, *, required: bool) -> "LearnedLexicon | None":
    place = folder or DEFAULT_LEXICON
    return load_lexicon(place) if required or place.exists() else None


def _write_queries(
    output: Output, answers: dict[str, list[tuple[str, float]]], run: Path, force: bool
) -> None:
    from wordsight.retrieval.trec import write_run

    write_run(run, answers, overwrite=force)
    hits = sum(map(len, answers.values()))
    told = {"run": run, "queries": len(answers), "hits": hits}
    line = f"Wrote {count(hits, 'hit')} of {len(answers)} queries to {run}"
    output.result(told, lambda out: out.line(line))


def _write(
    output: Output,
    opened: "Library",
    found: list["FoundMoment"],
    sheet: Path | None,
    run: Path | None,
    query: str,
    force: bool,
) -> None:
    from wordsight.cli.search_results import write_sheet
    from wordsight.retrieval.trec import write_run

    if run is not None:
        best: dict[str, float] = {}
        for each in found:
            name = each.shot or f"{each.video_id}@{clock(each.start)}"
            best.setdefault(name, each.score)
        write_run(run, {query: best.items()}, overwrite=force)
        output.note(f"Run: {run}")
    if sheet is not None and found:
        write_sheet(sheet, found, opened, query, overwrite=force)
        output.note(f"Contact sheet: {sheet}")


def _render_report(output: Output, report: "BuildReport") -> None:
    output.line(
        f"Indexed {count(len(report.added), 'video')}; {len(report.unchanged)} as they were, "
        f"{len(report.removed)} gone, {len(report.failed)} failed."
    )
    for video_id, reason in report.failed:
        output.warn(f"{video_id}: {reason}")
