"""The table of contents of the ``wordsight`` program: its commands, in groups.

A command's module is imported when the command is called, so that ``wordsight --help`` answers at
once. What the table says of a command is the first line of its own help; a test compares them.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from wordsight import __version__

__all__ = ["app", "load_command"]

_STYLE: dict[str, Any] = {
    "rich_markup_mode": "rich",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
# Per group of the help: its module, and each command with the first line of its own help.
_CONTENTS = {
    ("Your collection", "library"): {
        "init": "Make an empty library: a folder, or a database with a folder beside it.",
        "add": "Add videos with what is said of them; what is there already is skipped.",
        "list": "List the videos of the library.",
        "show": "Show all the library knows of one video: sentences, shots and detections.",
        "remove": "Take videos out of the library; your own video files stay where they are.",
        "verify": "Check every file of the library against the catalogue by its hash.",
    },
    ("Find moments", "search"): {
        "search": "Search for moments by words, a sentence, a picture, a part of it, or a moment.",
        "index": "Make or update the search index; `search` also updates it when needed.",
        "watch": "Watch a camera or stream, and report when what a sentence says happens.",
        "evaluate": "Measure rankings of `search --run`, how good words are, or aligned steps.",
    },
    ("Learn words and use them", "words"): {
        "learn": "Learn what words mean from the library's videos and sentences.",
        "score": "Say how well sentences fit a video, and whether they are true of it.",
        "track": "Find who is who in a video, given a sentence, and the states of words over time.",
        "describe": "Say in sentences what happens in a video, the likeliest first.",
        "explain": "Say which word of a sentence fits a video when, and which one fails.",
        "lexicon": "Open the dictionary: what a learned word looks for, state by state.",
    },
    ("Name things in pictures", "attributes"): {
        "teach": "Teach words by pictures: one word each; which attribute it names is learned.",
        "name": "Say all words for pictures, a part of one, or the things in a video.",
        "attributes": "Show which words belong to which attribute, and what each looks at.",
    },
    ("Time instructions against video", "align"): {
        "align": "Find when each line of written instructions happens in a silent video.",
        "dictionary": "Open the dictionary an aligner learned: which noun names which thing.",
    },
    ("States and events", "states"): {
        "states": "Learn and infer states over time: what holds what, what rests on what, events.",
    },
    ("In the browser, and for assistants", "studio"): {
        "studio": "See, search and teach the library in the browser.",
        "mcp": "Serve the library to assistants, by the Model Context Protocol.",
    },
    ("Look into one video", "video"): {
        "shots": "Find the shots of a video: cuts and fades, in seconds and frames.",
        "detect": "Find things in a video frame by frame, and follow them with --follow.",
        "export": "Write a film, boxes or a sheet of a video, or annotations for other tools.",
        "import": "Put annotations that were corrected in another tool in the place of ours.",
        "convert": "Convert captions (srt vtt txt jsonl) or boxes (mot coco cvat csv).",
    },
    ("Set-up", "setup"): {
        "demo": "Make videos with sentences, learn the words, and find moments in new videos.",
        "detectors": "List detectors, and fetch the networks of those that have one.",
        "doctor": "Report what is installed and which extras are missing.",
        "world": "Render videos whose truth is known, with sentences, ready for `wordsight add`.",
    },
}
_PLACES = {name: module for (_, module), rows in _CONTENTS.items() for name in rows}
_PLACES["mcp"] = "mcp"
_PLACES["demo"] = "demo"  # on its own, because it loads everything


class _OnDemand(TyperGroup):
    """A group that imports a command's module when the command is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name in _PLACES else command, rest


app = typer.Typer(name="wordsight", cls=_OnDemand, no_args_is_help=True, **_STYLE)


def load_command(name: str) -> Any:
    """Return a command, or a group of commands, ready to be called.

    Raises:
        KeyError: If there is none of that name.
    """
    function = {"list": "list_videos", "import": "import_annotations"}.get(name, name)
    loaded = getattr(import_module(f"wordsight.cli.{_PLACES[name]}"), function)
    alone = typer.Typer(add_completion=False, **_STYLE)
    if isinstance(loaded, typer.Typer):
        alone.add_typer(loaded, name=name)
        return typer.main.get_group(alone).commands[name]
    alone.command(name)(loaded)
    return typer.main.get_command(alone)


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


def _listed(text: str) -> Callable[[], None]:
    """Return what stands for a command in the table of contents."""

    def command() -> None:
        raise AssertionError("the command itself is called")

    command.__doc__ = text
    return command


for (panel, _), rows in _CONTENTS.items():
    for name, text in rows.items():
        app.command(name, rich_help_panel=panel)(_listed(text))
