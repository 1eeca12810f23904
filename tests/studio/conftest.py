"""A small real library behind a real studio, made once for all tests that only look at it."""

import os
import shutil
import subprocess
import time

import pytest
from fastapi.testclient import TestClient

from tests.studio.browsing import address, browser, page
from wordsight.library import Library
from wordsight.studio import StudioSettings, create_app, searching
from wordsight.workflows.index import index_folder, update_index
from wordsight.worlds import street, write_world

__all__ = ["address", "browser", "page"]  # fixtures are found where they are imported


class LocalClient(TestClient):
    """A client that names the studio as people do; no other host is let in."""

    def __init__(self, app, **how):
        super().__init__(app, base_url="http://localhost", **how)


@pytest.fixture(scope="session")
def street_library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    write_world(street(4, 3, noise=0.0), folder / "films")
    with Library.create(folder / "library") as library:
        library.add(folder / "films", detector="rendered", workers=1)
    return folder


@pytest.fixture
def library(street_library, tmp_path):
    shutil.copytree(street_library / "library", tmp_path / "library")
    return tmp_path / "library"


@pytest.fixture
def client(library):
    with LocalClient(create_app(StudioSettings(library=str(library)))) as client:
        yield client


@pytest.fixture
def film(street_library):
    return next((street_library / "films").glob("*.mp4"))


def finished(client, number, seconds=300.0):
    """Wait until a job is over and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = client.get(f"/api/v1/jobs/{number}").json()
        if job["state"] in ("done", "failed", "cancelled"):
            return job
        time.sleep(0.1)
    raise AssertionError(f"job {number} did not end in {seconds} s: {job}")


@pytest.fixture(scope="module")
def indexed_library(street_library):
    """The library with its index, made once for all tests that only ask."""
    with Library.open(street_library / "library") as opened:
        update_index(opened, index_folder(opened, None))
    yield street_library / "library"
    shutil.rmtree(street_library / "library" / "search-index")


@pytest.fixture
def indexed(indexed_library, library):
    searching._looked.clear()
    with LocalClient(create_app(StudioSettings(library=str(library)))) as client:
        yield client


@pytest.fixture
def small_disk(tmp_path):
    """A disk of its own that can be filled, where the tests may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)
