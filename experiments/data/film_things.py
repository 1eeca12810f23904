"""What can be seen in the three films of ``films/``, counted by eye on frames three a second apart.

A *thing* is one however often it comes back; a *visit* is a thing from when it enters the picture
until it leaves it, which is what a tracker that does not recognise things can be asked to find.
"""

from dataclasses import dataclass

__all__ = ["FILM_THINGS", "FilmThings"]


@dataclass(frozen=True)
class FilmThings:
    """The count of one film.

    Attributes:
        things: Things that are seen at some time.
        visits: The same, each counted as often as it enters the picture.
    """

    things: int
    visits: int


FILM_THINGS = {
    # Three bottles (in the picture 3, 2 and 2 times), two arms (8 times in all), one table.
    "bottle-detection.mp4": FilmThings(6, 16),
    # Six people, one after the other, a table and a screen on the wall.
    "one-by-one-person-detection.mp4": FilmThings(8, 8),
    # A white car, a silver one, a red one, another white one.
    "car-detection.mp4": FilmThings(4, 4),
}
