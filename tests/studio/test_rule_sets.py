"""Rules learned from labelled films in the studio: sent, learned, compared, used and exported."""

import io
import zipfile

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.studio.conftest import finished
from wordsight.cli.app import app
from wordsight.errors import WordsightError
from wordsight.perception import write_boxes
from wordsight.records import Detections
from wordsight.states import StateModel
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.rule_sets import (
    RuleBook,
    keep_set,
    list_sets,
    read_rules,
    read_set,
    use_set,
)
from wordsight.workflows.states import FindEventsRequest, observe_inputs

pytestmark = pytest.mark.slow

LEARN = "/api/v1/states/learn"


def play(starts, labels=("cup", "tea jar"), frames=40):
    """Things that rest and begin to move, each at its own frame; ten frames a second."""
    boxes = np.zeros((frames, len(starts), 4))
    for k, start in enumerate(starts):
        boxes[:, k] = [20, 40 + 60 * k, 40, 60 + 60 * k]
        boxes[:, k, [0, 2]] += 6.0 * np.clip(np.arange(frames) - start, 0, None)[:, None]
    numbers = np.broadcast_to(np.arange(len(starts)), boxes.shape[:2])
    return Detections(
        times=np.arange(frames) / 10,
        boxes=boxes,
        scores=np.ones(boxes.shape[:2]),
        labels=numbers.astype(np.int32),
        mask=np.ones(boxes.shape[:2], dtype=bool),
        label_names=labels,
        frame_size=(320, 240),
        ids=numbers.astype(np.int64),
    )


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """Files of boxes of eight plays, and what holds when in each."""
    folder = tmp_path_factory.mktemp("plays")
    rows = ["video,start,end,fact"]
    for number in range(8):
        starts = (12 + number, 30 - number)
        write_boxes(folder / f"play{number}.csv", play(starts))
        for name, start in zip(("cup", "tea jar"), starts, strict=True):
            rows.append(f'play{number},{start / 10},4.0,"moves({name})"')
    (folder / "labels.txt").write_text("\n".join(rows))
    return folder


def sent(folder, **more):
    files = [("labels", ("labels.csv", (folder / "labels.txt").read_bytes()))]
    files += [("boxes", (p.name, p.read_bytes())) for p in sorted(folder.glob("play*.csv"))]
    return {"files": files, "data": {"title": "Movers", **more}}


@pytest.fixture
def learned(client, lesson):
    done = finished(client, client.post(LEARN, **sent(lesson)).json()["id"])
    assert done["state"] == "done", done
    return done["result"]


def test_rules_are_learned_shown_compared_and_used(client, library, learned):
    assert learned["films"] == 8 and learned["right"] == 1.0 and learned["facts"] == ["moves"]
    (kept,) = client.get("/api/v1/states/sets").json()
    assert (kept["title"], kept["used"]) == ("Movers", False)
    assert "moves(X)" in kept["rules"]["rules"]
    assert "predicate moves(thing)" in kept["rules"]["vocabulary"]
    assert "Movers" in client.get("/states").text
    at = f"/api/v1/states/sets/{kept['name']}"
    compared = finished(client, client.post(f"{at}/compare").json()["id"])["result"]
    assert len(compared["films"]) == 8
    assert all(f["set"]["right"] and f["set"]["facts"] == 1.0 for f in compared["films"])
    assert not any(film["now"]["right"] for film in compared["films"])  # they know no cups
    assert all((one["now"] is None) != (one["set"] is None) for one in compared["rules"])
    assert client.post(f"{at}/use").status_code == 200
    assert read_rules(library / "studio").rules == kept["rules"]["rules"]
    sets = client.get("/api/v1/states/sets").json()
    assert [one["used"] for one in sets if one["title"] == "Movers"] == [True]
    assert any(one["title"] == "In use before Movers" for one in sets)  # nothing is lost


def test_the_texts_infer_what_the_model_infers(library, learned, lesson, client):
    one = read_set(library / "studio", learned["set"])
    packed = client.get(f"/api/v1/states/sets/{one.name}/model")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        archive.extractall(library / "away")
    model = StateModel.load(library / "away" / "states-model")
    assert (library / "away" / "states-model" / "kinds.json").is_file()
    for number in range(8):
        settings = one.book.settings() | {"inputs": (str(lesson / f"play{number}.csv"),)}
        request = FindEventsRequest(**settings)
        _, (measured,) = observe_inputs(request, RecordingReporter())
        mine, theirs = one.book.model().predict(measured), model.predict(measured)
        assert mine.facts == theirs.facts and np.array_equal(mine.values, theirs.values)


def test_the_command_line_learns_the_same_rules(library, learned, lesson, tmp_path):
    plays = [str(path) for path in sorted(lesson.glob("play*.csv"))]
    labels = tmp_path / "labels.csv"
    labels.write_bytes((lesson / "labels.txt").read_bytes())
    asked = ["states", "learn", *plays, "--labels", str(labels), "--model", str(tmp_path / "model")]
    assert CliRunner().invoke(app, [*asked, "--json"]).exit_code == 0
    theirs = (tmp_path / "model" / "rules.txt").read_text()
    mine = read_set(library / "studio", learned["set"]).book.rules
    assert sorted(mine.splitlines()) == sorted(theirs.splitlines())


def test_only_weights_are_learned_of_given_rules(client, lesson):
    given = {
        "rules": "1: speed(X) >= 20 -> moves(X)\n1: moves(X) -> false\n",
        "vocabulary": "predicate moves(thing)\n",
        "kinds": "cup,tea jar=vessel",
        "seed": "3",
        "engine": "serial",
    }
    done = finished(client, client.post(LEARN, **sent(lesson, **given)).json()["id"])
    assert done["state"] == "done", done
    kept = client.get(f"/api/v1/states/sets/{done['result']['set']}").json()
    said = sorted(line.partition(": ")[2] for line in kept["rules"]["rules"].splitlines())
    assert said == ["moves(X) -> false", "speed(X) >= 20 -> moves(X)"]
    assert kept["rules"]["kinds"] == ["cup,tea jar=vessel"]
    assert kept["learned"]["seed"] == 3


def test_labels_of_cvat_and_rules_in_a_cycle(client, lesson):
    tracks = "".join(
        f'<track id="0" label="moves({name})"><box frame="{first}" outside="0"/>'
        '<box frame="40" outside="1"/></track>'
        for name, first in (("cup", 12), ("tea jar", 30))
    )
    labels = f"<annotations><meta><source>play0.mp4</source></meta>{tracks}</annotations>"
    files = [
        ("labels", ("labels.xml", labels)),
        ("boxes", ("play0.csv", (lesson / "play0.csv").read_bytes())),
    ]
    done = finished(client, client.post(LEARN, files=files, data={"rate": "10"}).json()["id"])
    assert done["state"] == "done", done
    told = finished(client, client.post(LEARN, files=files).json()["id"])
    assert told["state"] == "failed" and "frames per second" in str(told)
    rules = client.get("/api/v1/states/rules").json()
    rules |= {"rules": "1: moves(X) -> goes(X)\n1: goes(X) -> moves(X)\n", "events": ""}
    rules |= {"vocabulary": "predicate moves(thing)\npredicate goes(thing)\n"}
    refused = client.put("/api/v1/states/rules", json=rules)
    assert refused.status_code == 422 and "cycle" in refused.text


def test_films_of_the_library_are_named_by_name_or_id(client, library):
    videos = client.get("/api/v1/videos").json()["videos"][:2]
    labels = "video,start,end,fact\n"
    for video, name in zip(videos, (videos[0]["name"], videos[1]["id"]), strict=True):
        things = client.get(f"/api/v1/states/videos/{video['id']}/things").json()
        person = next(one["name"] for one in things if one["name"].startswith("person"))
        labels += f'{name},0.0,0.5,"near({person})"\n'
    files = {"labels": ("l.csv", labels.encode())}
    asked = {"videos": [one["id"] for one in videos]}
    done = finished(client, client.post(LEARN, files=files, data=asked).json()["id"])
    assert done["state"] == "done", done
    assert done["result"]["films"] == 2 and done["result"]["facts"] == ["near"]


@pytest.mark.parametrize(
    ("labels", "boxes", "more", "status"),
    [
        ("labels.exe", "a.csv", {}, 422),  # an ending that is none of labels
        ("labels.csv", "a.mp4", {}, 422),  # an ending that is none of boxes
        ("labels.csv", None, {}, 422),  # nothing to look at
        ("labels.csv", "a.csv", {"kinds": "red"}, 422),  # no kind
        ("labels.csv", "a.csv", {"rules": "1: a(X -> false"}, 422),  # a rule with a mistake
        ("labels.csv", "a.csv", {"engine": "tcp://elsewhere:1"}, 422),  # somebody else's machine
        ("labels.csv", "a.csv", {"seed": "-1"}, 422),
        ("labels.csv", "a.csv", {"videos": "no-such-film"}, 404),
    ],
)
def test_what_cannot_be_learned_from_is_refused_at_once(client, labels, boxes, more, status):
    files = [("labels", (labels, b"video,start,end,fact\n"))]
    files += [("boxes", (boxes, b"frame,x,y\n"))] if boxes else []
    assert client.post(LEARN, files=files, data=more).status_code == status
    assert client.get("/api/v1/jobs").json() == []


def test_labels_that_say_nothing_fail_the_job_with_a_reason(client, lesson):
    wanted = sent(lesson)
    wanted["files"][0] = ("labels", ("l.csv", b'video,start,end,fact\nother,0,1,"moves(cup)"\n'))
    done = finished(client, client.post(LEARN, **wanted).json()["id"])
    assert done["state"] == "failed" and "says nothing of play0" in done["message"]


def test_sets_are_kept_used_and_forgotten(client, library):
    folder = library / "studio"
    made = keep_set(folder, "Mine", RuleBook(cost=3.0))
    assert [one.title for one in list_sets(folder)] == ["Mine"]
    use_set(folder, made.name)
    assert read_rules(folder).cost == 3.0 and len(list_sets(folder)) == 2
    use_set(folder, made.name)
    assert len(list_sets(folder)) == 2  # the same rules are not kept twice
    at = f"/api/v1/states/sets/{made.name}"
    assert finished(client, client.post(f"{at}/compare").json()["id"])["result"]["films"] == []
    assert client.get(f"{at}/model").status_code == 422  # they were written
    assert client.delete(at).status_code == 200
    assert client.get(at).status_code == 422 and client.delete(at).status_code == 422
    with pytest.raises(WordsightError, match="no set"):
        read_set(folder, "../../etc")
