"""``mcp``: the library for assistants, by the Model Context Protocol on standard input and output.

Tools take ids of videos of the library and texts, never files. They only read, unless the server
was started with ``--write``.
"""

import functools
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, speaking
from wordsight.cli.output import Output
from wordsight.errors import WordsightError
from wordsight.workflows.state_inputs import DEFAULT_STATE_MODEL

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from wordsight.library import Library

__all__ = ["LibraryTools", "make_server", "mcp"]

_INSTRUCTIONS = """Videos of a library. Start with list_videos or search. Times are seconds.
search finds moments by a sentence ("{example}"), a question or words;
show_moment gives pictures of one."""
_MOST_PICTURES = 12


@speaking
def mcp(
    output: Output,
    library: LibraryOption = DEFAULT_LIBRARY,
    words: Annotated[
        Path | None,
        typer.Option(
            "--words",
            "-w",
            help="Folder of the learned lexicon.",
            show_default="inside the library",
        ),
    ] = None,
    states: Annotated[
        Path, typer.Option("--states", help="Folder of a learned model of states.")
    ] = DEFAULT_STATE_MODEL,
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Also offer tools that change the library.", show_default=False
        ),
    ] = False,
) -> None:
    """Serve the library to assistants, by the Model Context Protocol.

    On standard input and output, as assistants start it. It only reads, unless --write is given.
    """
    from wordsight.library import Library

    with (
        Library.open(library) as opened,
        tempfile.TemporaryDirectory(prefix="wordsight-") as own,
    ):
        # A server that only reads keeps the index of searches to itself.
        index = None if write else Path(own) / "index"
        make_server(LibraryTools(opened, words, states, index), write=write).run("stdio")


class LibraryTools:
    """What assistants can do with a library; docstrings are what they read.

    Args:
        library: The library.
        words: Folder of the learned lexicon, which some tools need; the library's own if None.
        states: Folder of a model of states; ``states`` needs it.
        index: Where the index of searches is; inside the library if None.
    """

    def __init__(
        self, library: "Library", words: Path | None, states: Path, index: Path | None = None
    ) -> None:
        self._library, self._words, self._states, self._index = library, words, states, index

    @property
    def example(self) -> str:
        """A sentence that the learned words can read; any plain one where there are none."""
        from wordsight.workflows.lexicon import lexicon_folder, load_lexicon

        with suppress(WordsightError):
            return load_lexicon(lexicon_folder(self._library, self._words)).example
        return "The person picked up the backpack."

    def list_videos(self, text: str = "", top: int = 50) -> str:
        """List videos with their ids, lengths and sentences; ``text`` filters by name."""
        rows = [
            {
                "id": video.id,
                "name": video.name,
                "seconds": round(video.duration, 2),
                "sentences": [one.text for one in self._library.sentences(video.id)][:20],
            }
            for video in self._library.videos()
            if text.lower() in video.name.lower()
        ]
        return _json({"count": len(rows), "videos": rows[: max(1, top)]})

    def search(self, text: str, top: int = 10) -> str:
        """Find moments by a sentence, a question or words; each with video, times and evidence."""
        from wordsight.workflows.search import SearchRequest, search

        request = SearchRequest(text=text, top=top, words=self._words, index=self._index)
        return _json(search(self._library, request).to_json())

    def describe(
        self, video: str, start: float | None = None, end: float | None = None, top: int = 5
    ) -> str:
        """Say in sentences what happens in a video or in a part of it, the likeliest first."""
        from wordsight.workflows.describe import DescribeRequest, describe

        request = DescribeRequest(
            video=self._library.resolve(video), start=start, end=end, top=top, words=self._words
        )
        return _json(describe(self._library, request).to_json())

    def track(
        self, video: str, sentence: str, start: float | None = None, end: float | None = None
    ) -> str:
        """Find who is who in a video, given a sentence: boxes of its participants over time."""
        from wordsight.workflows.track import TrackRequest, track

        request = TrackRequest(
            video=self._library.resolve(video),
            sentence=sentence,
            start=start,
            end=end,
            words=self._words,
        )
        return _json(track(self._library, request).to_json())

    def align(self, video: str, instructions: str) -> str:
        """Find when each line of written instructions happens in a video."""
        from wordsight.workflows.align import AlignRequest, align

        text = instructions if "\n" in instructions else instructions + "\n"  # never a file
        request = AlignRequest(
            video=self._library.resolve(video), text=text, library=self._library.location
        )
        return _json(align(request).to_json())

    def states(self, video: str) -> str:
        """Find events in a video by rules of states: what is picked up, put down, stacked."""
        from wordsight.workflows.states import FindEventsRequest, find_events

        request = FindEventsRequest(
            inputs=(self._library.resolve(video),),
            library=self._library.location,
            model=self._states,
        )
        return _json(find_events(request).to_json())

    def show_moment(self, video: str, start: float, end: float, pictures: int = 6) -> Any:
        """Show a moment of a video: a sheet of a few of its frames, in order."""
        from mcp.server.mcpserver import Image

        from wordsight.video import encode_jpeg
        from wordsight.workflows.export import moment_sheet

        number = min(max(1, pictures), _MOST_PICTURES)
        sheet = moment_sheet(self._library, video, start, end, number)
        return Image(data=encode_jpeg(sheet), format="jpeg")

    def add_video(self, path: str, sentence: str = "") -> str:
        """Add a video file to the library, with what happens in it."""
        from wordsight.workflows.add import AddRequest, add

        said = (sentence,) if sentence else ()
        report = add(self._library, AddRequest(sources=(Path(path),), sentences=said)).report
        return _json(
            {
                "added": [str(one) for one in report.added],
                "failed": [f"{one.path}: {one.message}" for one in report.failed],
            }
        )


def make_server(tools: LibraryTools, *, write: bool = False) -> "MCPServer":
    """Return the server of a library.

    Args:
        tools: What it offers.
        write: Whether tools that change the library are offered, too.

    Raises:
        WordsightError: If the package mcp is not installed.
    """
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ImportError:
        raise WordsightError(
            "assistants need the package mcp: pip install 'wordsight[mcp]'."
        ) from None
    from wordsight import __version__

    server = MCPServer(
        "wordsight",
        instructions=_INSTRUCTIONS.format(example=tools.example),
        version=__version__,
        log_level="WARNING",
    )
    reading = (
        tools.list_videos,
        tools.search,
        tools.describe,
        tools.track,
        tools.align,
        tools.states,
        tools.show_moment,
    )

    def explained(tool: Callable[..., Any]) -> Callable[..., Any]:
        """Return a tool whose refusals reach the assistant in our words."""

        @functools.wraps(tool)
        def run(*given: Any, **named: Any) -> Any:
            try:
                return tool(*given, **named)
            except WordsightError as error:
                raise ToolError(str(error)) from None

        return run

    for tool in reading:
        about = ToolAnnotations(read_only_hint=True)
        server.tool(annotations=about, structured_output=False)(explained(tool))
    if write:
        server.tool(structured_output=False)(explained(tools.add_video))
    return server


def _json(value: Any) -> str:
    from wordsight.workflows.workflow import as_json

    return json.dumps(as_json(value), ensure_ascii=False)
