"""The corpus of the tabletop: films of a hand and blocks, the same number of every event."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wordsight.worlds.camera import Effects, FilmCamera
from wordsight.worlds.checks import WorldError, checked_count, checked_names, checked_number
from wordsight.worlds.film import RenderedFilm, generator
from wordsight.worlds.tabletop.blocks import COLOURS
from wordsight.worlds.tabletop.events import EVENTS, TabletopEvent
from wordsight.worlds.tabletop.picture import TabletopPicture
from wordsight.worlds.tabletop.recording import TabletopRecording, cast_scenario, perform
from wordsight.worlds.tabletop.settings import SIZE
from wordsight.worlds.tabletop.truth import TabletopTruth

__all__ = ["TabletopFilm", "tabletop"]

_WORLD = "tabletop"


@dataclass(frozen=True)
class TabletopFilm(RenderedFilm):
    """A film of the tabletop.

    Attributes:
        truth: What is known about it, frame by frame.
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
        films_per_event: How many films of each event.
        random_state: The seed.
        events: Which events; by default all seven.
        colours: Which colours the blocks have; a film takes two to six of them.
        noise: How rich and how spoiled the pictures are, 0 to 1.
        effects: Strengths one by one instead of ``noise``.
        frame_rate: Frames per second.

    Returns:
        The films, made one after the other as they are asked for, event after event.

    Raises:
        WorldError: If a name is unknown, or a number out of range.

    Examples:
        >>> film = next(tabletop(films_per_event=1, events=["stack"]))
        >>> film.name, film.truth.event
        ('tabletop-stack-000', 'stack(hand,black,red,white)')
    """
    count = checked_count("films_per_event", films_per_event)
    names = EVENTS.check(checked_names("event", tuple(EVENTS) if events is None else events))
    strengths = Effects.at(noise) if effects is None else effects
    studio = _Studio(names, colours, frame_rate, random_state)
    return (
        studio.film(event, index, number * count + index, strengths)
        for number, event in enumerate(names)
        for index in range(count)
    )


class _Studio:
    """Checks what was asked for once, then makes any film by its event and number."""

    def __init__(
        self,
        events: Sequence[str],
        colours: Sequence[str] | None,
        frame_rate: float,
        random_state: int,
    ) -> None:
        if len(set(events)) < len(events):
            raise WorldError(f"name each event once, got {', '.join(events)}.")
        names = tuple(COLOURS) if colours is None else colours
        self._colours = COLOURS.check(dict.fromkeys(checked_names("colour", names)))
        for name in events:
            self._check_enough(EVENTS[name])
        self._frame_rate = checked_number("frame_rate", frame_rate, 10.0, 120.0)
        generator(random_state, _WORLD, 0)  # refuses a bad seed now rather than at the first film
        self._random_state = random_state

    def film(self, event: str, index: int, number: int, effects: Effects) -> TabletopFilm:
        """Make film ``index`` of an event, which is ``number`` in the corpus."""
        scenario = cast_scenario(EVENTS[event], self._colours, self._chance(event, index, "script"))
        recording = perform(scenario, self._frame_rate)
        camera = FilmCamera(
            effects, SIZE, recording.num_frames, self._chance(event, index, "camera")
        )
        return TabletopFilm(
            name=f"{_WORLD}-{event}-{index:03d}",
            world=_WORLD,
            index=number,
            random_state=int(self._random_state),
            frame_rate=self._frame_rate,
            size=SIZE,
            num_frames=recording.num_frames,
            sentences=tuple(told.format(**scenario.cast) for told in scenario.event.tellings),
            truth=TabletopTruth(recording, effects, camera.offsets),
            crf=effects.crf,
            make_picture=lambda: self._picture(event, index, recording, effects, camera),
        )

    def _picture(
        self,
        event: str,
        index: int,
        recording: TabletopRecording,
        effects: Effects,
        camera: FilmCamera,
    ) -> TabletopPicture:
        return TabletopPicture(recording, effects, camera, self._chance(event, index, "picture"))

    def _check_enough(self, event: TabletopEvent) -> None:
        needed = len(event.roles)
        if len(self._colours) < needed:
            raise WorldError(
                f"{event.name} needs {needed} blocks of different colours, "
                f"got {', '.join(self._colours)}; name more colours."
            )

    def _chance(self, event: str, index: int, purpose: str) -> np.random.Generator:
        return generator(self._random_state, f"{_WORLD}/{event}", index, purpose)
