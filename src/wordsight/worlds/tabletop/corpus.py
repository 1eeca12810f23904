"""The corpus of the tabletop: films of a hand and blocks, the same number of every event."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from wordsight.worlds.camera import Effects
from wordsight.worlds.chance import film_rng
from wordsight.worlds.checks import WorldError, require_count, require_names, require_number
from wordsight.worlds.film import RenderedFilm
from wordsight.worlds.picture import shoot
from wordsight.worlds.tabletop.blocks import COLOURS
from wordsight.worlds.tabletop.events import EVENTS, TabletopEvent
from wordsight.worlds.tabletop.picture import TabletopPicture
from wordsight.worlds.tabletop.recording import cast_scenario, perform
from wordsight.worlds.tabletop.truth import TabletopTruth

__all__ = ["TabletopFilm", "tabletop"]

_WORLD = "tabletop"


@dataclass(frozen=True)
class TabletopFilm(RenderedFilm):
    """A film of the tabletop.

    Attributes:
        truth: Ground truth, frame by frame.
    """

    truth: TabletopTruth


def tabletop(
    films_per_event: int = 30,
    random_state: int = 0,
    *,
    events: Sequence[str] | None = None,
    colours: Sequence[str] | None = None,
    noise: float = 0.3,
    effects: Effects | None = None,
    frame_rate: float = 30.0,
) -> Iterator[TabletopFilm]:
    """Make films of a hand that plays with coloured blocks.

    Film number k of an event is the same however many are made, and whatever other events.

    Args:
        films_per_event: Number of films of each event.
        random_state: The seed.
        events: Which events; by default all seven.
        colours: Which colours the blocks have; a film takes two to six of them.
        noise: How rich and how degraded the pictures are, 0 to 1.
        effects: Strengths one by one instead of ``noise``.
        frame_rate: Frames per second.

    Returns:
        The films, each made when it is asked for, event after event.

    Raises:
        WorldError: If a name is unknown, or a number out of range.

    Examples:
        >>> film = next(tabletop(films_per_event=1, events=["stack"]))
        >>> film.name, film.truth.event
        ('tabletop-stack-000', 'stack(hand,black,red,white)')
    """
    count = require_count("films_per_event", films_per_event)
    names = EVENTS.check(require_names("event", tuple(EVENTS) if events is None else events))
    strengths = Effects.at(noise) if effects is None else effects
    if len(set(names)) < len(names):
        raise WorldError(f"name each event once, got {', '.join(names)}.")
    wanted = require_names("colour", tuple(COLOURS) if colours is None else colours)
    paints = COLOURS.check(dict.fromkeys(wanted))
    for name in names:
        needed = len(EVENTS[name].roles)
        if len(paints) < needed:
            raise WorldError(
                f"{name} needs {needed} blocks of different colours, "
                f"got {', '.join(paints)}; name more colours."
            )
    rate = require_number("frame_rate", frame_rate, 10.0, 120.0)
    film_rng(random_state, _WORLD, 0)  # refuses a bad seed now rather than at the first film

    def film(event: TabletopEvent, index: int, number: int) -> TabletopFilm:
        rng = partial(film_rng, random_state, f"{_WORLD}/{event.name}", index)
        scenario = cast_scenario(event, paints, rng("script"))
        blocks = {role: f"{colour} block" for role, colour in scenario.cast.items()}
        recording = perform(scenario, rate)
        return TabletopFilm(
            name=f"{_WORLD}-{event.name}-{index:03d}",
            world=_WORLD,
            index=number,
            random_state=int(random_state),
            sentences=tuple(sentence.format(**blocks) for sentence in event.sentences),
            **shoot(recording, strengths, rng, TabletopTruth, TabletopPicture),
        )

    return (
        film(EVENTS[name], index, number * count + index)
        for number, name in enumerate(names)
        for index in range(count)
    )
