"""``studio``: the library in the browser."""

import threading
import webbrowser
from contextlib import suppress
from typing import Annotated

import typer

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, speaking
from wordsight.cli.output import Output

__all__ = ["studio"]

_KEEP_ALIVE = 330
"""Seconds an idle connection is kept. Closing one while the other side is about to use it makes a
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
    from wordsight.studio.server import keep_for_good, share_heaps, take_port, take_taught

    share_heaps()
    # The port first: if it is taken, that is said before films are rendered.
    with take_port(host, port) as taken:
        if demo:
            output.note("Opening a library of rendered videos; making it takes about a minute.")
            where = str(demo_library(output))
        else:
            where = library
            take_taught(output, where)
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
        keep_for_good()
        with suppress(KeyboardInterrupt):  # that is how it is closed
            server.run(sockets=[taken])


def _open_soon(address: str) -> None:
    opening = threading.Timer(1.0, webbrowser.open, [address])
    opening.daemon = True  # the program ends without waiting for it
    opening.start()
