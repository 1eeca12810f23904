"""Uploads wait for their job; those that nobody asked a job for do not stay for ever."""

import os
import time

import pytest

from wordsight.studio import StudioSettings
from wordsight.studio.studio import Studio
from wordsight.studio.uploads import new_upload, sweep_uploads, upload_folder

DAY = 86400.0


def uploaded(folder, name, days_ago):
    """Leave an upload of one film that came some days ago."""
    place = upload_folder(folder, name)
    place.mkdir(parents=True)
    (place / "film.mp4").write_bytes(b"film")
    then = time.time() - days_ago * DAY
    os.utime(place / "film.mp4", (then, then))
    os.utime(place, (then, then))
    return place


def test_only_what_is_old_and_unwanted_goes(tmp_path):
    old = uploaded(tmp_path, "a" * 16, 8)
    fresh = uploaded(tmp_path, "b" * 16, 6)
    wanted = uploaded(tmp_path, "c" * 16, 30)
    assert sweep_uploads(tmp_path, {"c" * 16}) == 1
    assert not old.exists() and fresh.exists() and wanted.exists()
    assert sweep_uploads(tmp_path / "nowhere", ()) == 0


def test_an_upload_that_still_grows_stays(tmp_path):
    place = uploaded(tmp_path, "a" * 16, 8)
    (place / "boxes").mkdir()
    (place / "boxes" / "film.csv").write_text("frame\n")
    then = time.time() - 8 * DAY
    os.utime(place, (then, then))
    assert sweep_uploads(tmp_path, ()) == 0 and place.exists()


@pytest.mark.parametrize("name", ["../../elsewhere", "/etc", "a/b", "", ".", ".."])
def test_no_name_leads_elsewhere(tmp_path, name):
    place = upload_folder(tmp_path, name).resolve()
    assert place.parent == (tmp_path / "uploads").resolve()


def test_names_differ():
    assert len({new_upload() for _ in range(100)}) == 100


def test_the_studio_sweeps_when_it_starts_and_keeps_what_jobs_wait_for(tmp_path):
    settings = StudioSettings(str(tmp_path / "library"), jobs_at_once=0)
    studio = Studio(settings)
    studio.begin("add", name="film.mp4", upload="c" * 16)
    cancelled = studio.begin("add", name="film.mp4", upload="d" * 16)
    studio.jobs.cancel(cancelled.id)
    studio.close()
    places = [uploaded(studio.folder, letter * 16, 8) for letter in "acd"]
    Studio(settings).close()
    assert [place.exists() for place in places] == [False, True, False]


@pytest.mark.parametrize("address", ["/api/v1/uploads", f"/api/v1/uploads/{'0' * 16}/a.mp4"])
def test_an_upload_that_is_broken_off_leaves_nothing(client, address):
    coming = [{"type": "http.request", "body": b"beginning", "more_body": True}]
    sent = []
    scope = {
        "type": "http",
        "method": "PUT" if address.endswith("mp4") else "POST",
        "path": address,
        "query_string": b"name=a.mp4",
        "headers": [(b"host", b"localhost")],
    }

    async def receive():
        return coming.pop() if coming else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    client.portal.call(client.app, scope, receive, send)  # raises nothing
    assert sent[0]["status"] == 400
    assert not list(client.app.state.studio.folder.rglob("*.mp4"))
