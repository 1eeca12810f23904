"""``studio``: the library in the browser."""

import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, speaking
from wordsight.cli.output import Output
from wordsight.errors import WordsightError
from wordsight.workflows.lexicon import DEFAULT_LEXICON, load_lexicon
from wordsight.workflows.teach import DEFAULT_TAUGHT

__all__ = ["studio", "take_taught", "take_words"]

_KEEP_ALIVE = 330
"""Seconds an idle connection is kept. Whoever closes one while the other is about to use it makes a
request fail, so the client has to be first: programs give up after 5 s, browsers after 300 s."""


@speaking
def studio(
    output: Output,
    library: LibraryOption = DEFAULT_LIBRARY,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen.")] = 8321,
    host: Annotated[
        str, typer.Option(help="Address to listen at; others than loopback ask for a token.")
    ] = "127.0.0.1",
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser.", show_default=False)
    ] = False,
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Open a library of rendered videos.", show_default=False),
    ] = False,
) -> None:
    """See, search and teach the library in the browser."""
    import uvicorn

    from wordsight.studio import StudioSettings, create_app
    from wordsight.studio.demo import demo_library
    from wordsight.studio.server import share_heaps, take_port

    share_heaps()
    where = str(demo_library(output)) if demo else library
    if not demo:
        take_words(output, where)
        take_taught(output, where)
    with take_port(host, port) as taken, suppress(KeyboardInterrupt):  # that is how it is closed
        settings = StudioSettings(library=where, host=host, port=taken.getsockname()[1])
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(settings),
                log_level="warning",
                timeout_graceful_shutdown=3,
                timeout_keep_alive=_KEEP_ALIVE,
            )
        )
        output.line(f"Wordsight studio: {settings.address}")
        if not no_browser:
            _open_soon(settings.address)
        server.run(sockets=[taken])


def take_words(output: Output, library: str, words: Path = DEFAULT_LEXICON) -> None:
    """Let a studio that knows no words yet begin with those of `wordsight learn`.

    Args:
        output: Told what is done, and what cannot be.
        library: The studio's library; made if it is not there.
        words: The learned words.
    """
    from wordsight.library import Library
    from wordsight.studio.jobs.learn import LEXICON
    from wordsight.workflows.annotator import load_annotator, save_lexicon

    with Library.open(library, create=True) as opened:
        kept = opened.folder / "studio" / LEXICON
    if kept.exists() or not words.exists():
        return
    try:
        save_lexicon(load_lexicon(words), kept, load_annotator(words))
    except WordsightError as error:
        output.warn(f"the studio begins without words: {error}")  # it can learn its own
    else:
        output.note(f"The studio begins with the words of {words}.")


def take_taught(output: Output, library: str, taught: Path = DEFAULT_TAUGHT) -> None:
    """Let a studio that was taught nothing yet begin with the words of `wordsight teach`.

    Args:
        output: Told what is done, and what cannot be.
        library: The studio's library; made if it is not there.
        taught: The taught words.
    """
    from wordsight.library import Library
    from wordsight.studio.jobs.teach import LESSONS, TAUGHT, begin_with
    from wordsight.workflows.teach import load_taught

    with Library.open(library, create=True) as opened:
        folder = opened.folder / "studio"
    if not taught.exists() or (folder / TAUGHT).exists() or (folder / LESSONS).exists():
        return
    try:
        begin_with(load_taught(taught), folder)
    except WordsightError as error:
        output.warn(f"the studio begins without taught words: {error}")  # it can be taught its own
    else:
        output.note(f"The studio begins with the taught words of {taught}.")


def _open_soon(address: str) -> None:
    opening = threading.Timer(1.0, webbrowser.open, [address])
    opening.daemon = True  # nobody waits for it who has closed the studio again
    opening.start()
