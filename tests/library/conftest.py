"""Both kinds of database, each test with one of its own, and a few real videos."""

import itertools
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks import reliability_places
from wordsight.library.catalog.database import Location
from wordsight.video import VideoWriter

BACKENDS = ("sqlite", "postgresql")
_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres_server():
    """A real PostgreSQL server, started for this session and gone after it."""
    import psycopg

    with reliability_places.postgres_server() as server:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")  # its data need not last
            connection.execute("SELECT pg_reload_conf()")
        yield server


@pytest.fixture
def new_postgres_url(postgres_server):
    """Makes empty databases and returns their URLs; they are gone after the test."""
    import psycopg

    names = []
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:

        def make():
            names.append(f"test_{os.getpid()}_{next(_NUMBERS)}")
            connection.execute(f"CREATE DATABASE {names[-1]}")
            return postgres_server.get_uri(database=names[-1])

        yield make
        for name in names:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_url(new_postgres_url):
    """The URL of a new, empty database."""
    return new_postgres_url()


@pytest.fixture(params=BACKENDS)
def place(request, tmp_path):
    """Where a library can be made, on either backend: keyword arguments of Library.create."""
    if request.param == "sqlite":
        return {"where": tmp_path / "library"}
    url = request.getfixturevalue("postgres_url")
    return {"where": url, "artefacts": tmp_path / "library"}


@pytest.fixture
def location(place):
    """The same place as the inner modules see it."""
    parsed = Location.parse(place["where"])
    folder = Path(place.get("artefacts", parsed.folder))
    folder.mkdir()
    return Location(parsed.url, folder)


def make_video(path, *, seconds=1.0, rate=10.0, size=(64, 48), seed=0):
    """Write a tiny real video: a bright square crosses a noisy background."""
    random = np.random.default_rng(seed)
    width, height = size
    ground = random.integers(40, 90, (height, width, 3), dtype=np.uint8)
    frames = max(1, round(seconds * rate))
    with VideoWriter(path, size, rate) as writer:
        for n in range(frames):
            image = ground.copy()
            left = round((width - 16) * n / max(1, frames - 1))
            image[16:32, left : left + 16] = (230, 60 + seed * 20 % 150, 40)
            writer.write(image)
    return Path(path)


@pytest.fixture(scope="session")
def tiny_videos(tmp_path_factory):
    """Six different videos of a second each, made once; to be copied, not changed."""
    folder = tmp_path_factory.mktemp("videos")
    return [make_video(folder / f"clip {n}.mp4", seed=n) for n in range(6)]


@pytest.fixture
def videos(tiny_videos, tmp_path):
    """A folder of the test's own with three tiny videos."""
    folder = tmp_path / "my videos 🎬"
    folder.mkdir()
    return [Path(shutil.copy2(video, folder)) for video in tiny_videos[:3]]
