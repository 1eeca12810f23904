"""``init``, ``add``, ``list``, ``show``, ``remove`` and ``verify``: care for a collection."""

from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, speaking, verb
from wordsight.cli.output import Output
from wordsight.workflows.add import AddResult
from wordsight.workflows.add import add as add_videos
from wordsight.workflows.units import bytes_text, clock, count

if TYPE_CHECKING:
    from wordsight.library import VerifyReport, VideoDetails, VideoEntry

__all__ = ["add", "init", "list_videos", "remove", "show", "verify"]

ArtefactsOption = Annotated[
    str | None,
    typer.Option(
        "--artefacts",
        metavar="FOLDER|URL",
        help="Where a new library keeps its files, if not beside its catalogue: a shared folder, "
        "or a bucket such as s3://bucket/folder. It is remembered.",
        show_default=False,
    ),
]
VideoIds = Annotated[
    list[str],
    typer.Argument(
        metavar="ID...", help="Videos as `wordsight list` names them; a start is enough."
    ),
]


@speaking
def init(
    output: Output,
    where: Annotated[
        str | None,
        typer.Argument(metavar="FOLDER|URL", help="Where; by default what --library says."),
    ] = None,
    artefacts: ArtefactsOption = None,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Make an empty library: a folder, or a database with a folder beside it."""
    from wordsight.library import Library

    with Library.create(where or library, artefacts=artefacts) as made:
        made_at = {"library": str(made.location), "artefacts": made.artefacts_at}
    line = f"Made an empty library at {made_at['library']}"
    if artefacts is not None:
        line += f", its files in {made_at['artefacts']}"
    output.result(made_at, lambda out: out.line(line))


@speaking
def list_videos(
    output: Output,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="Only videos with this in their name or sentences."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at most.")] = 100,
    offset: Annotated[int, typer.Option(min=0, help="Leave out so many first.")] = 0,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """List the videos of the library."""
    from wordsight.library import Library

    with Library.open(library) as opened:
        videos = opened.videos(text, limit=limit, offset=offset)
        total = opened.count(text)
    output.result(videos, lambda out: _render_list(out, videos, total, text))


@speaking
def show(
    output: Output,
    video: Annotated[str, typer.Argument(metavar="ID", help="A video as `list` names it.")],
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Show all the library knows of one video: sentences, shots and detections."""
    from wordsight.library import Library

    with Library.open(library) as opened:
        details = opened.show(video)
    output.result(details, lambda out: _render_details(out, details))


@speaking
def remove(
    output: Output,
    videos: VideoIds,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Take videos out of the library; your own video files stay where they are."""
    from wordsight.library import Library

    with Library.open(library) as opened:
        removed = opened.remove(videos)
    output.result(
        {"removed": removed}, lambda out: out.line(f"Removed {count(len(removed), 'video')}.")
    )


@speaking
def verify(
    output: Output,
    library: LibraryOption = DEFAULT_LIBRARY,
) -> None:
    """Check every file of the library against the catalogue by its hash."""
    from wordsight.library import Library

    with Library.open(library) as opened, output.progress("Checking") as progress:
        report = opened.verify(progress=progress)
    output.result({"ok": report.ok, **vars(report)}, lambda out: _render_verified(out, report))
    if not report.ok:
        raise typer.Exit(1)


def _render_list(output: Output, videos: list["VideoEntry"], total: int, text: str | None) -> None:
    if not videos:
        what = f" with {text!r}" if text else ""
        output.line(f"No videos{what} yet. Add some with: wordsight add PATH")
        return
    rows = [
        (
            video.id,
            clock(video.duration),
            f"{video.width}x{video.height}",
            video.num_shots,
            video.num_sentences,
            f"{video.added_at:%Y-%m-%d}",
        )
        for video in videos
    ]
    output.table(["video", "length", "size", "shots", "sentences", "added"], rows)
    if total > len(videos):
        output.line(f"{len(videos)} of {total}; see more with --limit and --offset.")


def _render_details(output: Output, details: "VideoDetails") -> None:
    video = details.video
    output.line(f"{video.id}\n  {video.path}")
    output.line(
        f"  {clock(video.duration)}, {video.width}x{video.height}, {video.codec}, "
        f"{count(video.num_frames, 'frame')} at {video.frame_rate:.3g}/s, {bytes_text(video.size)}"
    )
    if details.sentences:
        rows = [
            (
                clock(s.start) if s.start is not None else None,
                clock(s.end) if s.end is not None else None,
                s.text,
            )
            for s in details.sentences
        ]
        output.table(["from", "to", "sentence"], rows)
    shots = [
        (number, scene, clock(shot.start), clock(shot.end), shot.start_frame, shot.end_frame)
        for number, (shot, scene) in enumerate(zip(details.shots, details.scenes, strict=True))
    ]
    output.table(["shot", "scene", "from", "to", "first frame", "end frame"], shots)
    kept = [(a.kind, bytes_text(a.size), a.path) for a in details.artefacts]
    output.table(["kept", "size", "file"], kept)


def _render_verified(output: Output, report: "VerifyReport") -> None:
    for problem in report.problems:
        output.line(f"{problem.kind}: {problem.path}: {problem.message}")
    for path in report.orphans:
        output.line(f"not in the catalogue: {path}")
    if report.removed:
        output.line(f"Cleared {count(len(report.removed), 'leftover')} of interrupted work.")
    checked = f"{count(report.num_videos, 'video')} and {count(report.num_artefacts, 'file')}"
    verdict = "all as they should be" if report.ok else count(len(report.problems), "problem")
    output.line(f"Checked {checked}: {verdict}.")


@verb(add_videos)
def add(output: Output, result: AddResult) -> None:
    """Add videos with what is said of them; what is there already is skipped.

    The library is made if it does not exist. Interrupted? The same command resumes it.
    """
    report = result.report
    output.line(
        f"Added {count(len(report.added), 'video')} and "
        f"{count(report.num_sentences, 'sentence')}; {len(report.skipped)} already there, "
        f"{len(report.failed)} failed."
    )
