"""Street scenes drawn at random, for training the detector ``rendered``.

The detector must not know the places that experiments hold out, so it is trained in none of them:
every film of its training has a place of its own, made here of random surfaces, patterns and
clutter. What people do and carry comes from the street world as it is.
"""

from collections.abc import Callable

import numpy as np

from wordsight.worlds.checks import Rng
from wordsight.worlds.painter import Colour, Layer, shade
from wordsight.worlds.sketch import SIZE
from wordsight.worlds.street.places import PLACES, Backdrop, Place

__all__ = ["random_place"]

_WIDTH, _HEIGHT = SIZE


def random_place(name: str, rng: Rng) -> str:
    """Register a random place of the street under ``name``, and return the name."""
    seed = int(rng.integers(2**31))
    PLACES[name] = Place(
        name,
        scale=float(rng.uniform(108, 148)),
        ground=float(rng.uniform(396, 430)),
        light=float(rng.uniform(-1, 1)),
        tint=_tint(rng),
        shadow=float(rng.uniform(0.3, 1)),
        paint=lambda backdrop: _paint(backdrop, np.random.default_rng(seed)),
        paint_occluder=_paint_occluder,
    )
    return name


def _tint(rng: Rng) -> tuple[float, float, float]:
    warmth = rng.uniform(-0.12, 0.12)
    return (float(1 + warmth), float(rng.uniform(0.92, 1.02)), float(1 - warmth))


def _colour(rng: Rng) -> Colour:
    grey, vivid = rng.uniform(50, 230), rng.uniform(0, 0.5) ** 1.5
    red, green, blue = (round((1 - vivid) * grey + vivid * rng.uniform(0, 255)) for _ in "rgb")
    return red, green, blue


def _paint(backdrop: Backdrop, rng: Rng) -> None:
    horizon = int(rng.integers(150, 350))
    edges = [0, horizon, *sorted(rng.integers(horizon + 20, _HEIGHT - 10, rng.integers(0, 3)))]
    for top, bottom in zip(edges, [*edges[1:], _HEIGHT], strict=True):
        if bottom - top > 4:
            colour = _colour(rng)
            below = shade(colour, float(rng.uniform(0.85, 1.15)))
            cell = float(np.exp(rng.uniform(np.log(6), np.log(160))))
            rough = float(rng.uniform(0.2, 1.2))
            backdrop.fill(int(top), int(bottom), colour, below, rough=rough, cell=cell)
    with backdrop.shapes() as layer:
        _WALLS[rng.integers(len(_WALLS))](layer, horizon, rng)
        for _ in range(rng.integers(2, 9)):
            _CLUTTER[rng.integers(len(_CLUTTER))](layer, horizon, rng)
        _GROUNDS[rng.integers(len(_GROUNDS))](layer, horizon, rng)


def _tiles(layer: Layer, horizon: int, rng: Rng) -> None:
    """A wall of bricks, planks or plates."""
    wide, high = rng.uniform(14, 90), rng.uniform(10, 60)
    colour, spread = _colour(rng), rng.uniform(0.05, 0.3)
    for row, y in enumerate(np.arange(0, horizon, high)):
        for x in np.arange(-wide * (row % 2) / 2, _WIDTH, wide):
            tile = shade(colour, float(1 + spread * rng.uniform(-1, 1)))
            layer.rectangle(x, y, x + wide - 2, min(y + high - 2, horizon), tile)


def _greenery(layer: Layer, horizon: int, rng: Rng) -> None:
    for _ in range(rng.integers(2, 8)):
        _blots(layer, (rng.uniform(0, _WIDTH), horizon - rng.uniform(-20, 120)), rng)


def _far_hills(layer: Layer, horizon: int, rng: Rng) -> None:
    colour = _colour(rng)
    for _ in range(rng.integers(1, 4)):
        tops = [(x, horizon - rng.uniform(5, 120)) for x in np.linspace(0, _WIDTH, 6)]
        layer.polygon([(0, horizon), *tops, (_WIDTH, horizon)], colour)
        colour = shade(colour, float(rng.uniform(0.8, 1.2)))


def _plain(layer: Layer, horizon: int, rng: Rng) -> None:
    """Leave the surface as it is."""


def _blots(layer: Layer, centre: tuple[float, float], rng: Rng) -> None:
    """A bush, a heap, a crown of leaves: many ellipses of slightly different colour."""
    colour, size = _colour(rng), rng.uniform(20, 80)
    for _ in range(rng.integers(15, 60)):
        x, y = rng.normal(centre, size * np.array([0.5, 0.35]))
        grain = size * rng.uniform(0.1, 0.35)
        blot = shade(colour, float(rng.uniform(0.7, 1.25)))
        layer.ellipse((x, y), (grain, grain * rng.uniform(0.5, 1)), blot)


def _opening(layer: Layer, horizon: int, rng: Rng) -> None:
    """A window, a door or a board, with a frame and bars."""
    wide, high = rng.uniform(30, 200), rng.uniform(40, 200)
    x, foot = rng.uniform(-20, _WIDTH), horizon - max(0.0, rng.uniform(-60, 120))
    frame, pane = _colour(rng), _colour(rng)
    layer.rectangle(x - 8, foot - high - 8, x + wide + 8, foot + 4, frame)
    layer.rectangle(x, foot - high, x + wide, foot, pane)
    for share in np.linspace(0, 1, rng.integers(2, 6))[1:-1]:
        layer.stroke([(x + wide * share, foot - high), (x + wide * share, foot)], 5, frame)
    streak = [(x + wide * 0.2, foot), (x + wide * 0.5, foot - high), (x + wide * 0.6, foot - high)]
    layer.polygon([*streak, (x + wide * 0.3, foot)], shade(pane, 1.2))


def _pole(layer: Layer, horizon: int, rng: Rng) -> None:
    x, wide = rng.uniform(0, _WIDTH), rng.uniform(3, 16)
    top, foot = rng.uniform(-20, horizon - 60), horizon + rng.uniform(-10, 60)
    colour = _colour(rng)
    layer.stroke([(x, top), (x, foot)], wide, colour)
    layer.stroke([(x - wide / 4, top), (x - wide / 4, foot)], wide / 4, shade(colour, 1.3))
    if rng.random() < 0.5:
        layer.ellipse((x, top), (wide * 2, wide * 2), _colour(rng))


def _railing(layer: Layer, horizon: int, rng: Rng) -> None:
    colour, top = _colour(rng), horizon - rng.uniform(30, 110)
    for x in np.arange(rng.uniform(0, 60), _WIDTH, rng.uniform(14, 120)):
        layer.stroke([(x, top), (x, horizon)], rng.uniform(2, 10), colour)
    for y in np.linspace(top, horizon, rng.integers(2, 5)):
        layer.stroke([(0, y), (_WIDTH, y)], rng.uniform(2, 6), colour)


def _box(layer: Layer, horizon: int, rng: Rng) -> None:
    """Something angular that is none of the things: a crate, a sign, a parked van."""
    centre = (rng.uniform(0, _WIDTH), rng.uniform(60, horizon + 20))
    corners = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 7)))
    radius = rng.uniform(8, 70)
    points = [(centre[0] + radius * np.cos(a), centre[1] + radius * np.sin(a)) for a in corners]
    layer.polygon(points, _colour(rng))


def _heap(layer: Layer, horizon: int, rng: Rng) -> None:
    _blots(layer, (rng.uniform(0, _WIDTH), rng.uniform(80, horizon + 10)), rng)


def _awning(layer: Layer, horizon: int, rng: Rng) -> None:
    x, top, wide = rng.uniform(-60, 500), rng.uniform(10, max(horizon - 120, 20)), 0.0
    pair, stripe = (_colour(rng), _colour(rng)), rng.uniform(10, 30)
    for k in range(rng.integers(4, 14)):
        wide = x + k * stripe
        corners = [(wide, top), (wide + stripe, top), (wide + stripe - 8, top + 40)]
        layer.polygon([*corners, (wide - 8, top + 40)], pair[k % 2])


def _joints(layer: Layer, horizon: int, rng: Rng) -> None:
    """Slabs, planks or boards of the ground in perspective."""
    colour, vanishing = _colour(rng), rng.uniform(100, 540)
    for y in horizon + (_HEIGHT - horizon) * np.linspace(0.1, 1, rng.integers(3, 9)) ** 1.6:
        layer.stroke([(0, y), (_WIDTH, y)], rng.uniform(1, 3), colour)
    if rng.random() < 0.6:
        for x in np.linspace(-500, 1140, rng.integers(8, 24)):
            start = vanishing + (x - vanishing) * 0.45
            layer.stroke([(start, horizon), (x, 490)], 1.5, colour)


def _tufts(layer: Layer, horizon: int, rng: Rng) -> None:
    colour = _colour(rng)
    for _ in range(rng.integers(40, 200)):
        x, y = rng.uniform(0, _WIDTH), rng.uniform(horizon, _HEIGHT)
        end = (x + rng.uniform(-6, 6), y - rng.uniform(0, 8))
        layer.stroke([(x, y), end], 1.5, shade(colour, float(rng.uniform(0.7, 1.3))))


def _paint_occluder(layer: Layer, x: float, size: float, rng: Rng) -> None:
    """A post, or a bush in a tub, close to the camera."""
    wide, colour = 8 + rng.uniform(4, 24) * size, _colour(rng)
    if rng.random() < 0.5:
        layer.rectangle(x - wide, rng.uniform(-20, 380), x + wide, 500, colour)
        layer.stroke([(x + wide / 2, 20), (x + wide / 2, 480)], wide / 5, shade(colour, 1.3))
    else:
        _blots(layer, (x, 470 - 40 * size), rng)


_Painter = Callable[[Layer, int, Rng], None]
_WALLS: tuple[_Painter, ...] = (_tiles, _greenery, _far_hills, _plain)
_CLUTTER: tuple[_Painter, ...] = (_opening, _pole, _railing, _box, _heap, _awning)
_GROUNDS: tuple[_Painter, ...] = (_joints, _tufts, _plain)
