"""Rendered films whose cuts and fades are known, with things between that are taken for cuts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from wordsight.video import VideoWriter

__all__ = ["FILMS", "Film", "render"]

Image = NDArray[np.uint8]
Camera = Callable[[float, np.random.Generator], tuple[float, float, float]]

WIDTH, HEIGHT, RATE = 426, 240, 25.0
_WORLD = (3 * WIDTH, 2 * HEIGHT)


@dataclass
class Film:
    """Frames being put together, and where its shots begin.

    Attributes:
        rng: Where all chance comes from.
        images: The frames.
        truth: First and last acceptable frame number of each boundary after the first shot.
    """

    rng: np.random.Generator
    images: list[Image] = field(default_factory=list)
    truth: list[tuple[int, int]] = field(default_factory=list)

    def cut(self) -> None:
        """Begin another shot with the next frame; being off by one is forgiven."""
        if self.images:
            self.truth.append((len(self.images) - 1, len(self.images) + 1))

    def soft_cut(self, following: list[Image]) -> None:
        """Cut over one frame blended from both sides, as conversion of frame rates leaves it."""
        share = self.rng.uniform(0.3, 0.7)
        blend = cv2.addWeighted(self.images[-1], 1 - share, following[0], share, 0)
        self.truth.append((len(self.images) - 1, len(self.images) + 2))
        self.images += [blend, *following]

    def fade(self, following: list[Image], *, out: int, black: int, into: int) -> None:
        """Fade out, stay black and fade in; any frame of the darkness is a good boundary."""
        last, first = self.images[-1], following[0]
        fading = [_dim(last, 1 - (n + 1) / out) for n in range(out)]
        rising = [_dim(first, (n + 1) / into) for n in range(into)]
        start = len(self.images) + out * 2 // 3
        self.images += fading + [last * 0] * black + rising
        self.truth.append((start - 1, len(self.images) - into * 2 // 3 + 1))
        self.images += following


def scenery(rng: np.random.Generator, light: float = 1.0) -> Image:
    """Paint a place: sky or wall, ground, buildings and things, in colours of its own."""
    width, height = _WORLD
    picture = np.empty((height, width, 3), np.float32)
    horizon = int(height * rng.uniform(0.35, 0.7))
    picture[:horizon] = rng.uniform(60, 230, 3)
    picture[horizon:] = rng.uniform(30, 170, 3)
    for _ in range(int(rng.integers(12, 40))):
        x, w = rng.integers(0, width), rng.integers(20, 180)
        top, bottom = sorted(rng.integers(height // 8, height, 2))
        picture[top:bottom, x : x + w] = rng.uniform(20, 235, 3)
    for _ in range(int(rng.integers(5, 25))):
        centre = int(rng.integers(0, width)), int(rng.integers(0, height))
        colour = rng.uniform(10, 250, 3).tolist()
        cv2.circle(picture, centre, int(rng.integers(8, 60)), colour, -1, cv2.LINE_AA)
    coarse = rng.normal(0, 1, (height // 16, width // 16, 1)).astype(np.float32)
    picture += 12 * cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)[..., None]
    return np.clip(picture * light, 0, 255).astype(np.uint8)


def still(time: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """A camera on a tripod."""
    return 0.5, 0.5, 1.0


def hand_held(time: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """A camera in the hand: drifting, with a tremor."""
    sway = 0.03 * np.sin(2.1 * time), 0.03 * np.cos(1.7 * time)
    return 0.5 + sway[0] + rng.normal(0, 0.004), 0.5 + sway[1] + rng.normal(0, 0.004), 1.0


def pan(time: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """A steady pan."""
    return 0.1 + 0.25 * time, 0.5, 1.0


def whip(time: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """A camera that rests, is thrown around within a third of a second, and rests."""
    turn = np.clip((time - 0.8) / 0.35, 0, 1)
    return 0.05 + 0.9 * turn * turn * (3 - 2 * turn), 0.5, 1.0


def zoom(time: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """A quick zoom."""
    return 0.5, 0.5, 1.0 - 0.18 * min(time, 3.0)


def take(
    film: Film, camera: Camera, seconds: float, *, light: float = 1.0, crowd: int = 2
) -> list[Image]:
    """Film a new place with some things moving through it."""
    rng = film.rng
    world = scenery(rng, light)
    sizes = rng.integers(20, 70, (crowd, 2))
    colours = rng.uniform(10, 245, (crowd, 3)) * light
    starts, speeds = rng.uniform(0, 1, crowd), rng.uniform(-0.4, 0.4, crowd)
    images = []
    for number in range(round(seconds * RATE)):
        time = number / RATE
        image = _look(world, *camera(time, rng))
        for size, colour, start, speed in zip(sizes, colours, starts, speeds, strict=True):
            x = int((start + speed * time) * WIDTH)
            cv2.rectangle(image, (x, HEIGHT - 2 * size[1]), (x + size[0], HEIGHT - 20), colour, -1)
        images.append(_grain(image, rng))
    return images


def _look(world: Image, x: float, y: float, share: float) -> Image:
    width, height = WIDTH * share, HEIGHT * share
    centre = (
        width / 2 + x * (_WORLD[0] - width),
        height / 2 + y * (_WORLD[1] - height),
    )
    # Float positions, so that slow motion does not advance in jumps of whole pixels.
    view = cv2.getRectSubPix(world, (round(width), round(height)), centre)
    return np.asarray(cv2.resize(view, (WIDTH, HEIGHT)), dtype=np.uint8)


def _grain(image: Image, rng: np.random.Generator) -> Image:
    noise = rng.normal(0, 3, (HEIGHT, WIDTH, 1)).astype(np.int16)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def _dim(image: Image, share: float) -> Image:
    return (image * share).astype(np.uint8)


def _seconds(film: Film) -> float:
    return float(film.rng.uniform(0.6, 3.0))


def cuts(film: Film) -> None:
    """Cuts between cameras that stand, drift and pan."""
    for number in range(12):
        film.cut()
        film.images += take(film, (still, hand_held, pan)[number % 3], _seconds(film))


def quick_cuts(film: Film) -> None:
    """A montage: shots of half a second and less."""
    for _ in range(24):
        film.cut()
        film.images += take(film, hand_held, film.rng.uniform(0.36, 0.7))


def soft_cuts(film: Film) -> None:
    """Cuts smeared over a frame."""
    film.images += take(film, still, 1.5)
    for _ in range(10):
        film.soft_cut(take(film, hand_held, _seconds(film)))


def fades(film: Film) -> None:
    """Fades through black, quick and slow, and hard cuts to black and back."""
    film.images += take(film, hand_held, 1.5)
    for number in range(10):
        out, into = (1, 1) if number % 3 == 0 else film.rng.integers(8, 30, 2).tolist()
        black = int(film.rng.integers(6, 25))
        film.fade(take(film, hand_held, _seconds(film)), out=out, black=black, into=into)


def restless(film: Film) -> None:
    """Whip pans, zooms, tremor and things that fill the picture; a cut now and then."""
    for number in range(8):
        film.cut()
        images = take(film, (whip, zoom, hand_held, pan)[number % 4], 2.0, crowd=6)
        if number % 4 == 2:
            images = _passed_by(film, images)
        film.images += images


def lights(film: Film) -> None:
    """Flashes, sharp and dying away, lamps going on and off; a cut now and then."""
    for number in range(8):
        film.cut()
        images = take(film, still, 2.4)
        at = int(film.rng.integers(15, 30))
        if number % 2:
            images[at:] = [_dim(image, 0.45) for image in images[at:]]
        else:
            lasting = int(film.rng.integers(1, 7))
            for n in range(lasting):
                share = 0.75 * (1 - n / lasting if number % 4 else 1)
                lit = cv2.addWeighted(
                    images[at + n], 1 - share, np.full_like(images[0], 255), share, 0
                )
                images[at + n] = np.asarray(lit, dtype=np.uint8)
        film.images += images


def night(film: Film) -> None:
    """Dark places with cuts between them."""
    for number in range(10):
        film.cut()
        film.images += take(film, (still, hand_held)[number % 2], _seconds(film), light=0.18)


def surveillance(film: Film) -> None:
    """One still camera for half a minute: no boundary at all."""
    film.images += take(film, still, 30.0, crowd=8)


def _passed_by(film: Film, images: list[Image]) -> list[Image]:
    # A dark van crosses close to the camera within half a second.
    colour = film.rng.uniform(20, 90, 3).tolist()
    for number, image in enumerate(images[20:34]):
        x = int(WIDTH * (1.3 - 0.2 * number))
        cv2.rectangle(image, (x, 20), (x + WIDTH, HEIGHT), colour, -1)
    return images


FILMS: dict[str, Callable[[Film], None]] = {
    play.__name__: play
    for play in (cuts, quick_cuts, soft_cuts, fades, restless, lights, night, surveillance)
}


def render(name: str, folder: Path, seed: int) -> tuple[Path, list[tuple[int, int]]]:
    """Render a film to an H.264 file and return it with the boundaries to be found."""
    film = Film(np.random.default_rng([seed, sorted(FILMS).index(name)]))
    FILMS[name](film)
    assert all(first[1] < second[0] for first, second in pairwise(film.truth))
    path = folder / f"{name}-{seed}.mp4"
    with VideoWriter(path, (WIDTH, HEIGHT), RATE) as writer:
        for image in _frames(film):
            writer.write(image)
    return path, film.truth


def _frames(film: Film) -> Iterator[Image]:
    yield from (np.ascontiguousarray(image) for image in film.images)
