"""The Live page: a watch that is begun, looked at and stopped."""

import time

import cv2
import numpy as np
import pytest

from tests.studio.conftest import finished
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.perception.detectors.rendered import RENDERED_THINGS

SENTENCES = [
    f"The person {verb} the {thing}."
    for verb in ("picked up", "put down", "carried", "approached")
    for thing in ("backpack", "chair", "trash-can")
]


@pytest.fixture
def words(library):
    hand_lexicon(RENDERED_THINGS).save(library / "lexicon")


def begin(client, **asked):
    return client.post("/api/v1/live", json={"sentences": SENTENCES, **asked})


@pytest.mark.slow
def test_a_film_is_watched_as_if_it_happened(client, words):
    assert client.get("/api/v1/live").json()["job"] is None
    assert client.get("/api/v1/live/picture").status_code == 404
    video = client.get("/api/v1/videos").json()["videos"][0]["id"]
    answer = begin(client, video=video, detector="rendered")
    assert answer.status_code == 202
    assert "stop it first" in begin(client, video=video).json()["detail"]
    end = time.monotonic() + 60
    while not (seen := client.get("/api/v1/live").json())["frames"] and time.monotonic() < end:
        time.sleep(0.05)
    assert seen["job"]["state"] == "running" and seen["sentences"] == SENTENCES
    sent = client.get("/api/v1/live/picture")
    assert sent.headers["cache-control"] == "no-store"
    picture = cv2.imdecode(np.frombuffer(sent.content, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None and picture.std() > 5
    done = finished(client, answer.json()["id"])
    assert done["state"] == "done", done
    over = client.get("/api/v1/live").json()
    assert len(over["hits"]) == done["result"]["hits"] >= 1
    assert over["hits"][0]["text"] in SENTENCES and over["now"] > 1.0
    page = client.get("/live").text
    assert 'id="picture"' in page and video in page


@pytest.mark.slow
def test_a_watch_of_an_address_says_what_is_wrong_and_can_be_stopped(client, words):
    job = begin(client, source="http://127.0.0.1:9/film", detector="rendered").json()
    assert client.post(f"/api/v1/jobs/{job['id']}/cancel").json()["state"] == "cancelled"
    assert client.get("/api/v1/live").json()["job"]["state"] == "cancelled"
    job = client.post(
        "/api/v1/live", json={"sentences": ["The unicorn sang."], "source": "97"}
    ).json()
    failed = finished(client, job["id"])
    assert failed["state"] == "failed" and "unicorn" in failed["message"]


@pytest.mark.parametrize("asked", [{}, {"source": "/etc/passwd"}, {"source": "0", "video": "x"}])
def test_what_cannot_be_watched_is_refused(client, asked):
    answer = begin(client, **asked)
    assert answer.status_code == 422 and answer.json()["detail"]


def test_the_page_says_that_words_are_needed(client):
    assert "learn some" in client.get("/live").text
