"""The table of contents of the ``wordsight`` program: its commands, in groups."""

from typing import Annotated

import typer

from wordsight import __version__
from wordsight.cli import align, attributes, demo, doctor, evaluate, library, look, meaning, search
from wordsight.cli.learn import learn
from wordsight.cli.states import states
from wordsight.cli.studio import studio
from wordsight.cli.world import world

__all__ = ["app"]

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
_NAMES = {"list_videos": "list"}

for panel, commands in {
    COLLECTION: (
        library.init,
        library.add,
        library.list_videos,
        library.show,
        library.remove,
        library.verify,
    ),
    FINDING: (search.search, search.index, evaluate.evaluate),
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
