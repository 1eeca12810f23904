"""The ``wordsight`` program: the table of contents of commands, and what happens when one fails."""

import errno
import sys
from typing import Annotated

import typer

from wordsight import __version__
from wordsight.cli import align, attributes, demo, doctor, evaluate, library, look, meaning, search
from wordsight.cli.learn import learn
from wordsight.cli.options import current_output
from wordsight.cli.output import flush_quietly
from wordsight.cli.states import states
from wordsight.cli.studio import studio
from wordsight.cli.world import world
from wordsight.errors import WordsightError

__all__ = ["app", "main"]

COLLECTION = "Your collection"
ONE_VIDEO = "Look into one video"
PICTURES = "Name things in pictures"
TIMING = "Time instructions against video"
FINDING = "Find moments"
MEANING = "Learn words and use them"
STATES = "States and events"
STUDIO = "In the browser"
SETUP = "Set-up"

app = typer.Typer(
    name="wordsight",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"wordsight {__version__}")
        raise typer.Exit


@app.callback()
def wordsight(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and stop.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Learn what words mean from video described with plain sentences.

    Start with [bold]wordsight demo[/], or with your own:
    [bold]wordsight init[/], then [bold]wordsight add FOLDER[/].
    """


# Where the name a user types is not fit for a function.
_NAMES = {"list_": "list", "find": "search"}

for panel, commands in {
    COLLECTION: (
        library.init,
        library.add,
        library.list_,
        library.show,
        library.remove,
        library.verify,
    ),
    FINDING: (search.find, search.index, evaluate.evaluate),
    MEANING: (
        learn,
        meaning.score,
        meaning.track,
        meaning.describe,
        meaning.explain,
        meaning.lexicon,
    ),
    PICTURES: (attributes.teach, attributes.name, attributes.attributes),
    TIMING: (align.align, align.dictionary),
    STUDIO: (studio,),
    ONE_VIDEO: (look.shots, look.detect, look.convert),
    SETUP: (demo.demo, doctor.doctor),
}.items():
    for command in commands:
        app.command(_NAMES.get(command.__name__, command.__name__), rich_help_panel=panel)(command)

app.add_typer(states, name="states", rich_help_panel=STATES)
app.add_typer(world, name="world", rich_help_panel=SETUP)


_NEXT = {  # what to do, after what the system says
    errno.ENOSPC: "free some space and run the same command again.",
    errno.EDQUOT: "free some of your space and run the same command again.",
    errno.EROFS: "name another place, or ask its owner for the right to write there.",
    errno.EACCES: "name another place, or ask its owner for the right.",
    errno.EPERM: "name another place, or ask its owner for the right.",
}

_INTERRUPTED = 130  # as shells have it


def main() -> None:
    """Run the program and exit with 0, 1 (it failed), 2 (called wrongly) or 130 (Ctrl-C)."""
    try:
        app()
    except SystemExit as leaving:
        if leaving.code == _INTERRUPTED:  # Typer takes Ctrl-C for itself and leaves in silence
            _stopped()
        raise
    except WordsightError as error:
        _fail(str(error), type(error).__name__)
    except KeyboardInterrupt:
        _stopped()
    except BrokenPipeError:
        flush_quietly()
        sys.exit(1)
    except OSError as error:
        _fail(_plain(error), type(error).__name__)
    except Exception as error:
        _fail(
            f"this should not have happened ({type(error).__name__}: {error}). Run again with -v "
            "to see where, and please report it.",
            type(error).__name__,
        )


def _stopped() -> None:
    what = "stopped. Nothing is lost: the same command goes on where it was."
    _fail(what, "Interrupted", _INTERRUPTED)


def _fail(message: str, kind: str, code: int = 1) -> None:
    output = current_output()
    if output.style.verbose:
        import traceback

        traceback.print_exc()
    output.error(message, kind)
    sys.exit(code)


def _plain(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    what = f"{where}{error.strerror or error}"
    return f"{what}; {_NEXT[error.errno]}" if error.errno in _NEXT else what
