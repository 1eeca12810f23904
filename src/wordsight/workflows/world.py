"""``world``: rendered videos whose truth is known, with sentences, ready for ``add``."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, setting
from wordsight.workflows.workflow import Result, as_json, workflow

if TYPE_CHECKING:
    from wordsight.worlds import RenderedFilm

__all__ = [
    "StreetRequest",
    "TabletopRequest",
    "WorkbenchRequest",
    "WorldRequest",
    "WorldResult",
    "render_street",
    "render_tabletop",
    "render_workbench",
]


class WorldRequest(Request):
    """Where films are rendered to, and how they look."""

    output: Path = setting(..., "Where to; new or empty.", "--output", "-o", metavar="FOLDER")
    seed: int = setting(0, "The same seed gives the same films.", ge=0)
    noise: float = setting(0.3, "How rich and how spoiled the pictures are.", ge=0, le=1)
    frame_rate: float = setting(30.0, "Frames per second.")
    force: bool = setting(False, "Replace a world that is there.")


class StreetRequest(WorldRequest):
    """How many films of the street, and where."""

    clips: int = setting(61, "How many films.")
    place: tuple[str, ...] = setting(
        (), "Where: courtyard, park, kerb, harbour; may be repeated.", default_text="three of them"
    )
    language: Literal["english", "german", "spanish"] = setting(
        "english", "Language of the sentences."
    )


class TabletopRequest(WorldRequest):
    """How many films of which events."""

    films: int = setting(30, "How many films of each event.")
    event: tuple[str, ...] = setting(
        (),
        "pick-up, put-down, stack, unstack, move, assemble, disassemble; may be repeated.",
        default_text="all",
    )


class WorkbenchRequest(WorldRequest):
    """How many films of protocols, and with which mistakes."""

    films: int = setting(6, "How many films.")
    videos_per_protocol: int = setting(2, "How many films carry out the same text.")
    steps: int | None = setting(None, "Steps of a protocol.", default_text="10 to 25")
    skip: float = setting(0.0, "Chance of a step to be left out.")
    repeat: float = setting(0.0, "Chance of a step to be done twice.")
    swap: float = setting(0.0, "Chance of neighbours to change places.")
    frame_rate: float = setting(15.0, "Frames per second.")


@dataclass(frozen=True)
class WorldResult(Result):
    """What was rendered.

    Attributes:
        folder: The folder of the films.
        films: How many there are.
    """

    folder: Path
    films: int

    def to_json(self) -> Any:
        """Return what ``wordsight world NAME --json`` prints."""
        return as_json({"folder": self.folder, "films": self.films})


@workflow(StreetRequest)
def render_street(request: StreetRequest, *, reporter: RecordingReporter) -> WorldResult:
    """Render people outdoors who pick up, put down, carry and approach things."""
    from wordsight.worlds import street

    how: dict[str, Any] = {"noise": request.noise, "frame_rate": request.frame_rate}
    how["language"] = request.language
    films = street(request.clips, request.seed, places=request.place or None, **how)
    return _render(films, request.clips, request, reporter)


@workflow(TabletopRequest)
def render_tabletop(request: TabletopRequest, *, reporter: RecordingReporter) -> WorldResult:
    """Render a hand that plays with coloured blocks: seven events, facts for every frame."""
    from wordsight.worlds import tabletop
    from wordsight.worlds.tabletop import EVENTS

    how: dict[str, Any] = {"noise": request.noise, "frame_rate": request.frame_rate}
    films = tabletop(request.films, request.seed, events=request.event or None, **how)
    total = request.films * len(request.event or EVENTS)
    return _render(films, total, request, reporter)


@workflow(WorkbenchRequest)
def render_workbench(request: WorkbenchRequest, *, reporter: RecordingReporter) -> WorldResult:
    """Render two hands that carry out a written protocol, with the mistakes asked for."""
    from wordsight.worlds import workbench

    names = {"videos_per_protocol", "steps", "skip", "repeat", "swap", "noise", "frame_rate"}
    films = workbench(request.films, request.seed, **request.model_dump(include=names))
    return _render(films, request.films, request, reporter)


def _render(
    films: "Iterable[RenderedFilm[Any]]",
    total: int,
    request: WorldRequest,
    reporter: RecordingReporter,
) -> WorldResult:
    from wordsight.worlds import write_world

    with reporter.progress("Rendering") as progress:
        write_world(films, request.output, force=request.force, total=total, progress=progress)
    return WorldResult(request.output, total)
