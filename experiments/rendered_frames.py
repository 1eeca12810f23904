"""Painted frames of all worlds with their boxes, for training the detector ``rendered``."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from experiments.rendered_places import random_place
from experiments.report import say
from wordsight.perception.detectors.rendered import RENDERED_THINGS
from wordsight.worlds import RenderedFilm, street, tabletop, workbench
from wordsight.worlds.street.corpus import DEFAULT_PLACES, GENERALISATION_PLACE

__all__ = ["HEIGHT", "WIDTH", "Frames", "render_frames"]

WIDTH, HEIGHT = 320, 240
_FIRST_SEED = 20_000  # far from the seeds of every experiment
_PER_SEED = 6  # films of the street
_KEPT_SHARE = 8  # for so many seeds to learn from, one is kept for measuring
_ACTS = ("approached", "picked-up", "put-down", "carried")
_OBJECTS = ("backpack", "chair", "trash-can")
_SMALLEST = 4.0  # pixels of the full frame; smaller slivers at its edge teach nothing


@dataclass(frozen=True)
class Frames:
    """Small frames and what is in them.

    Attributes:
        images: ``(N, 240, 320, 3)`` RGB.
        boxes: ``(N, M, 4)`` pixels of the small frames, NaN where there are fewer than M things.
        labels: ``(N, M)`` index into the names of things.
        worlds: Which world each frame is from; of the street to measure with, which place, too.
    """

    images: NDArray[np.uint8]
    boxes: NDArray[np.float32]
    labels: NDArray[np.int64]
    worlds: tuple[str, ...]

    def __iter__(self) -> Iterator[tuple[Any, Any, Any, str]]:
        return iter(zip(self.images, self.boxes, self.labels, self.worlds, strict=True))


def render_frames(films: int) -> tuple[Frames, Frames]:
    """Paint frames of ``films`` films of the street and fewer of the other worlds.

    Returns:
        Frames to learn from, the street's in random places only, and frames of other films to
        measure with, the street's in the places of the corpus and in the harbour.
    """
    rng = np.random.default_rng(0)
    say(f"painting frames of about {2 * films} films")
    seeds = range(_FIRST_SEED, _FIRST_SEED + max(1, films // _PER_SEED))
    kept = range(seeds.stop, seeds.stop + max(1, len(seeds) // _KEPT_SHARE))
    return _packed(_rows(seeds, rng, known_places=False)), _packed(_rows(kept, rng))


def _rows(
    seeds: Iterable[int], rng: np.random.Generator, *, known_places: bool = True
) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for seed in seeds:
        noise = float(rng.uniform() ** 1.2)
        for k in range(_PER_SEED):
            known = (*DEFAULT_PLACES, GENERALISATION_PLACE)[k % 4]
            place = known if known_places else random_place(f"random-{seed}-{k}", rng)
            film = _street_film(seed * _PER_SEED + k, place, noise)
            name = f"street, {known}" if known_places else "street"
            rows.extend(_frames(film, film.truth.kinds.__getitem__, name, 6, rng))
        if seed % 4 == 0:
            for block_film in tabletop(1, seed, noise=noise):
                rows.extend(_frames(block_film, _block, "tabletop", 6, rng))
        if seed % 2 == 0:
            for bench_film in workbench(2, seed, noise=noise):
                rows.extend(_frames(bench_film, _bench_thing, "workbench", 16, rng))
    return rows


def _street_film(seed: int, place: str, noise: float) -> RenderedFilm[Any]:
    """One film whose act and thing follow from the seed, as those of a corpus do from its order."""
    act, first = _ACTS[seed % len(_ACTS)], seed % len(_OBJECTS)
    objects = (*_OBJECTS[first:], *_OBJECTS[:first])
    return next(street(1, seed, places=[place], actions=[act], objects=objects, noise=noise))


def _block(name: str) -> str:
    return name if name == "hand" else f"{name} block"


def _bench_thing(name: str) -> str:
    return "hand" if name.endswith("hand") else name


def _frames(
    film: RenderedFilm[Any],
    name_of: Callable[[str], str],
    world: str,
    count: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Any, ...]]:
    paint = film.make_picture()
    shrink = np.array([WIDTH / film.size[0], HEIGHT / film.size[1]] * 2)
    for index in np.sort(rng.choice(film.num_frames, min(count, film.num_frames), replace=False)):
        image = cv2.resize(paint(int(index)), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
        boxes, labels = [], []
        for name, path in film.truth.boxes.items():
            box = path[index]
            if np.isfinite(box).all() and (box[2:] - box[:2]).min() > _SMALLEST:
                boxes.append(box * shrink)
                labels.append(RENDERED_THINGS.index(name_of(name)))
        yield _as_compressed(image, rng), boxes, labels, world


def _as_compressed(image: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Lose what a video's compression loses."""
    soft = cv2.GaussianBlur(image, (3, 3), 0.4 + 0.3 * rng.random())
    quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(45, 66))]
    return np.asarray(cv2.imdecode(cv2.imencode(".jpg", soft, quality)[1], cv2.IMREAD_COLOR))


def _packed(rows: list[tuple[Any, ...]]) -> Frames:
    most = max((len(boxes) for _, boxes, _, _ in rows), default=1)
    boxes = np.full((len(rows), most, 4), np.nan, np.float32)
    labels = np.zeros((len(rows), most), np.int64)
    for row, (_, found, kinds, _) in enumerate(rows):
        boxes[row, : len(found)] = np.reshape(found, (-1, 4))
        labels[row, : len(kinds)] = kinds
    images = np.stack([image for image, *_ in rows])
    return Frames(images, boxes, labels, tuple(world for *_, world in rows))
