"""``wordsight world``: rendered videos whose truth is known, ready for ``wordsight add``."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.options import speaking
from wordsight.cli.output import Output
from wordsight.workflows.units import count

if TYPE_CHECKING:
    from wordsight.worlds import RenderedFilm

__all__ = ["street", "tabletop", "workbench", "world"]

world = typer.Typer(
    no_args_is_help=True,
    help="Render videos whose truth is known, with sentences, ready for `wordsight add`.",
)

FolderOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to; new or empty.")
]
SeedOption = Annotated[int, typer.Option(min=0, help="The same seed gives the same films.")]
NoiseOption = Annotated[
    float,
    typer.Option(min=0, max=1, help="How rich and how spoiled the pictures are."),
]
ForceFlag = Annotated[
    bool, typer.Option("--force", help="Replace a world that is there.", show_default=False)
]


@world.command()
@speaking
def street(
    output: Output,
    output_folder: FolderOption,
    clips: Annotated[int, typer.Option(help="How many films.")] = 61,
    place: Annotated[
        list[str] | None,
        typer.Option(help="Where: courtyard, park, kerb, harbour; may be repeated."),
    ] = None,
    seed: SeedOption = 0,
    noise: NoiseOption = 0.3,
    frame_rate: Annotated[float, typer.Option(help="Frames per second.")] = 30.0,
    force: ForceFlag = False,
) -> None:
    """People outdoors pick up, put down, carry and approach things."""
    from wordsight import worlds

    films = worlds.street(clips, seed, places=place, noise=noise, frame_rate=frame_rate)
    _render(output, films, clips, output_folder, force)


@world.command()
@speaking
def tabletop(
    output: Output,
    output_folder: FolderOption,
    films: Annotated[int, typer.Option(help="How many films of each event.")] = 30,
    event: Annotated[
        list[str] | None,
        typer.Option(
            help="pick-up, put-down, stack, unstack, move, assemble, disassemble; "
            "may be repeated; all if left out."
        ),
    ] = None,
    seed: SeedOption = 0,
    noise: NoiseOption = 0.3,
    frame_rate: Annotated[float, typer.Option(help="Frames per second.")] = 30.0,
    force: ForceFlag = False,
) -> None:
    """A hand plays with coloured blocks: seven events, facts for every frame."""
    from wordsight import worlds
    from wordsight.worlds.tabletop import EVENTS

    made = worlds.tabletop(films, seed, events=event, noise=noise, frame_rate=frame_rate)
    _render(output, made, films * len(event or EVENTS), output_folder, force)


@world.command()
@speaking
def workbench(
    output: Output,
    output_folder: FolderOption,
    films: Annotated[int, typer.Option(help="How many films.")] = 6,
    videos_per_protocol: Annotated[
        int, typer.Option(help="How many films carry out the same text.")
    ] = 2,
    steps: Annotated[
        int | None, typer.Option(help="Steps of a protocol; by default 10 to 25.")
    ] = None,
    skip: Annotated[float, typer.Option(help="Chance of a step to be left out.")] = 0.0,
    repeat: Annotated[float, typer.Option(help="Chance of a step to be done twice.")] = 0.0,
    swap: Annotated[float, typer.Option(help="Chance of neighbours to change places.")] = 0.0,
    seed: SeedOption = 0,
    noise: NoiseOption = 0.3,
    frame_rate: Annotated[float, typer.Option(help="Frames per second.")] = 15.0,
    force: ForceFlag = False,
) -> None:
    """Two hands carry out a written protocol, silently, with the mistakes you ask for."""
    from wordsight import worlds

    made = worlds.workbench(
        films,
        seed,
        videos_per_protocol=videos_per_protocol,
        steps=steps,
        skip=skip,
        repeat=repeat,
        swap=swap,
        noise=noise,
        frame_rate=frame_rate,
    )
    _render(output, made, films, output_folder, force)


def _render(
    output: Output, films: "Iterable[RenderedFilm]", total: int, folder: Path, force: bool
) -> None:
    from wordsight.worlds import write_world

    with output.progress("Rendering") as progress:
        write_world(films, folder, force=force, total=total, progress=progress)
    report = {"folder": folder, "films": total}
    output.result(
        report,
        lambda out: out.line(
            f"{count(total, 'film')} in {folder}; look at them with: wordsight add {folder}"
        ),
    )
