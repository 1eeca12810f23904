"""What the command line can do can be done here, or the guide says that it cannot."""

import re
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.studio.conftest import finished
from wordsight.cli.app import app, load_command
from wordsight.library import Library
from wordsight.meaning import ON_FILM
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.studio.jobs.lexicon import learn_words
from wordsight.studio.jobs.task import JobContext

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "studio.md"


def test_the_guide_accounts_for_every_command():
    table = GUIDE.read_text(encoding="utf-8").split("| only on the command line |")[1]
    named = set(re.findall(r"`([a-z]+)[` ]", table.split("\n\n")[0]))
    commands = {command.name for command in app.registered_commands} - {"studio"}
    assert commands <= named, f"not in the guide: {sorted(commands - named)}"


@pytest.mark.parametrize("command", ["learn", "score", "track", "describe", "explain", "search"])
def test_the_guide_accounts_for_every_option(command):
    told = next(
        row
        for row in GUIDE.read_text(encoding="utf-8").splitlines()
        if row.startswith("|") and f"`{command}`" in row.split("|")[1]
    )
    # How an answer is printed and where things lie is the browser's own business; `--index` says
    # where an index lies, `--words` and `--library` are the studio's.
    ours = {"--json", "--quiet", "--verbose", "--words", "--library", "--index", "--help"}
    for option in load_command(command).params:
        names = {name for name in option.opts if name.startswith("-")}
        if option.param_type_name == "option" and not names & (ours | {"--force"}):
            assert any(f"`{name}`" in told or f" {name}`" in told for name in names), names


@pytest.mark.parametrize(
    ("asked", "expected"),
    [  # as suits whole videos, and everything chosen
        ({}, (ON_FILM.phases, True, False)),
        ({"phases": None}, (ON_FILM.phases, True, False)),
        ({"phases": 3, "any_order": True, "two_phase": True}, (3, False, True)),
        ({"senses": True, "participants": "tracklets"}, (ON_FILM.phases, True, False)),
    ],
)
def test_words_are_learned_as_asked(asked, expected, library, tmp_path, monkeypatch):
    class Asked(Exception):
        pass

    def fit(learner, *_, **__):
        raise Asked(learner.settings)

    monkeypatch.setattr("wordsight.meaning.WordLearner.fit", fit)
    with pytest.raises(Asked) as raised:
        learn_words(asked, JobContext(str(library), tmp_path, lambda *_: None))
    chosen = raised.value.args[0]
    assert (chosen.phases, chosen.left_to_right, chosen.two_phase) == expected
    assert chosen.senses == asked.get("senses", False)
    assert chosen.view_settings.participants == asked.get("participants")


def test_the_page_sends_every_setting_it_shows():
    pages = GUIDE.parents[2] / "src" / "wordsight" / "studio"
    shown = re.findall(r"settings\.(\w+)", (pages / "templates/lexicon.html").read_text())
    sent = (pages / "static/lexicon.js").read_text().partition("lexicon/learn")[2]
    assert len(shown) > 8 and all(f" {name}: " in sent for name in shown)


@pytest.mark.slow
def test_the_page_leaves_the_number_of_states_to_the_clips(client):
    assert 'max="8" placeholder="5 where most sentences have times' in client.get("/lexicon").text


@pytest.mark.slow
def test_all_files_are_checked(client, library):
    done = finished(client, client.post("/api/v1/jobs/verify").json()["id"])
    assert done["result"]["ok"] and done["result"]["problems"] == []
    assert "Nothing is wrong." in client.get("/").text
    with Library.open(library) as opened:
        victim = Path(opened.thumbnail(opened.videos()[0].id))
    victim.write_bytes(b"something else")
    done = finished(client, client.post("/api/v1/jobs/verify").json()["id"])
    assert not done["result"]["ok"] and len(done["result"]["problems"]) == 1


def test_a_part_of_a_video_is_asked_about(client, library):
    with Library.open(library) as opened:
        labels = opened.detections(opened.videos()[0].id).label_names
    hand_lexicon(labels).save(library / "lexicon")
    page = client.get("/api/v1/videos").json()["videos"][0]
    said = client.get(f"/api/v1/videos/{page['id']}").json()["sentences"][0]["text"]
    asked = {"sentence": said, "start": 1.0, "end": 2.0}
    part = client.post(f"/api/v1/videos/{page['id']}/track", json=asked).json()
    assert part["times"] and min(part["times"]) >= 1.0 and max(part["times"]) < 2.0
    whole = client.post(f"/api/v1/videos/{page['id']}/track", json={"sentence": said}).json()
    assert max(whole["times"]) > 2.0
    states = {len(row) for word in whole["words"] for row in word["probabilities"]}
    assert states <= {1, 3} and len(whole["words"][0]["probabilities"]) == len(whole["times"])
    asked = {"sentence": said, "start": 2.0, "end": 1.0}
    assert client.post(f"/api/v1/videos/{page['id']}/explain", json=asked).status_code == 422


@pytest.mark.slow
def test_a_long_film_is_asked_about_its_best_moment(client, library):
    with Library.open(library) as opened:
        video = max(opened.videos(), key=lambda one: one.duration)
        words = hand_lexicon(opened.detections(video.id).label_names)
        said = opened.sentences(video.id)[0].text
    # Words so strict that whatever is longer than their longest window is long.
    strict = replace(words, view_settings=replace(words.view_settings, min_visible=0.99))
    strict.save(library / "lexicon")
    assert video.duration > 4.05
    place = f"/api/v1/videos/{video.id}"
    found = client.post(f"{place}/track", json={"sentence": said}).json()
    assert found["moment"] and 0 < found["end"] - found["start"] <= 4.001
    assert found["start"] <= min(found["times"]) <= max(found["times"]) < found["end"]
    why = client.post(f"{place}/explain", json={"sentence": said}).json()
    score = client.post(f"{place}/score", json={"sentences": [said]}).json()[0]
    assert {(one["start"], one["end"]) for one in (found, why, score)} == {
        (found["start"], found["end"])
    }
    told = client.post(f"{place}/describe", json={"top": 1}).json()["sentences"]
    assert all(one["moment"] and one["end"] - one["start"] <= 4.001 for one in told)
    part = client.post(f"{place}/describe", json={"top": 1, "start": 0.0, "end": 3.0})
    assert part.status_code == 200
    whole = client.post(f"{place}/track", json={"sentence": said, "whole": True}).json()
    assert not whole["moment"] and whole["end"] > 4.05
    made = {"video": video.id, "what": "film-sentence", "sentence": said}
    job = finished(client, client.post("/api/v1/made", json=made).json()["id"])
    assert job["state"] == "done", job


@pytest.mark.slow
def test_a_word_that_was_heard_is_spelled(client, tmp_path):
    assert (
        client.post("/api/v1/attributes/rename", json={"word": "a", "name": "b"}).status_code == 422
    )  # nothing was taught yet
    for number in range(8):
        for word, colour in {"red": (30, 30, 200), "blue": (210, 60, 40)}.items():
            image = np.full((48, 48, 3), 235, np.uint8)
            cv2.circle(image, (24, 24), 10 + number, colour, -1)
            _, data = cv2.imencode(".png", image)
            files = {"image": ("a.png", data.tobytes(), "image/png")}
            answer = client.post("/api/v1/attributes/lessons", files=files, data={"word": word})
            assert answer.status_code == 201
    wanted = {"attributes": 1, "pictures": "figures"}
    begun = client.post("/api/v1/attributes/learn", json=wanted).json()
    assert finished(client, begun["id"])["state"] == "done"
    groups = client.post("/api/v1/attributes/rename", json={"word": "red", "name": "rot"}).json()
    assert sorted(word for group in groups for word in group) == ["blue", "rot"]
    assert "rot" in client.get("/attributes").text
    assert client.get("/api/v1/attributes/words/rot/sound").status_code == 404  # only written
    unheard = client.post("/api/v1/attributes/split", json={"word": "rot"})
    assert unheard.status_code == 422 and "0 recordings" in unheard.json()["detail"]
    again = client.post("/api/v1/attributes/rename", json={"word": "red", "name": "x"})
    assert again.status_code == 422


@pytest.mark.parametrize("weight", [-0.1, 1.5, "x"])
def test_a_share_is_a_share(client, weight):
    answer = client.get("/api/v1/search", params={"text": "person", "weight": weight})
    assert answer.status_code == 422


@pytest.mark.slow
def test_the_index_is_made_again_with_descriptions(client, library):
    with Library.open(library) as opened:
        labels = opened.detections(opened.videos()[0].id).label_names
    wanted = {"describe": True}
    begun = client.post("/api/v1/search/index", json=wanted).json()
    assert finished(client, begun["id"])["state"] == "failed"  # no words were learned
    hand_lexicon(labels).save(library / "lexicon")
    begun = client.post("/api/v1/search/index", json=wanted).json()
    assert finished(client, begun["id"])["state"] == "done"
    assert (library / "search-index" / "descriptions.json").stat().st_size > 10
    found = client.get("/api/v1/search", params={"text": "person", "by": "said", "expand": True})
    assert found.json()["moments"]
