"""Further verbs through command line, studio and Python: all but those that learned words serve."""

import filecmp
import json
from pathlib import Path

import numpy as np
import pytest

import wordsight
from tests.cli.conftest import run
from tests.golden.sample import (
    OWN_EVENTS,
    OWN_RULES,
    OWN_WORDS,
    figure,
    write_footage,
    write_pictures,
    write_png,
    write_tea,
)
from tests.studio.conftest import LocalClient, finished
from tests.workflows.test_three_doors import command, plain
from wordsight.library import Library
from wordsight.perception import read_boxes, tracked_clip
from wordsight.records import Clip
from wordsight.studio import StudioSettings, create_app
from wordsight.workflows.align import dictionary
from wordsight.workflows.teach import attributes
from wordsight.workflows.workflow import as_json

__all__ = ["run"]  # a fixture is found where it is imported

BACK = 28  # frame at which the person comes back
RULES = "2: speed(X) >= 0 -> seen(X)\n"
WORDS = "predicate seen(person)\n"


@pytest.fixture
def own(tmp_path, monkeypatch, run):
    """A library with one film, its boxes those of a person who comes back 1.6 times as large."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORDSIGHT_LIBRARY", "library")
    write_footage(Path("film.mp4"))
    rows = ["frame,time,id,label,score,x1,y1,x2,y2"]
    for frame in [*range(10), *range(BACK, 40)]:
        size = 20 * (1.6 if frame >= BACK else 1.0)
        left = 30 + 0.5 * frame
        rows.append(
            f"{frame},{frame / 20},,person,1.0,{left},{60 - size},{left + size},{60 + size}"
        )
    for frame in range(40):
        rows.append(f"{frame},{frame / 20},,chair,1.0,120,80,140,110")
    Path("film.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    wordsight.add("library", "film.mp4", boxes="film.csv", rate=20, workers=1)
    with Library.open("library") as library:
        (entry,) = library.videos()
    with LocalClient(create_app(StudioSettings(library=str(tmp_path / "library")))) as studio:
        yield lambda *arguments: command(run, *arguments), studio, entry.id


def job(studio, path, **sent):
    begun = studio.post(f"/api/v1{path}", **sent)
    assert begun.status_code == 202, begun.text
    done = finished(studio, begun.json()["id"])
    assert done["state"] == "done", done
    return done["result"]


def spans(rows, what):
    return [(one["start"], one["end"], one[what]) for one in rows]


@pytest.mark.slow
def test_tracks_of_states(own):
    """A person who comes back larger is the same things to every door.

    The boxes are such that the two ways of tracking disagree: with free growth, as words need it,
    there are fewer things. A door that used the other way would name other things.
    """
    run, studio, video = own
    with Library.open("library") as library:
        clip = Clip("film", 0.0, 2.0, library.detections(video))
    both = [tracked_clip(clip, for_words=words).detections for words in (False, True)]
    things = [len(np.unique(one.ids[one.mask])) for one in both]
    assert things == [3, 2]
    Path("own.rules").write_text(RULES, encoding="utf-8")
    Path("words.txt").write_text(WORDS, encoding="utf-8")
    written = ("--rules", "own.rules", "--vocabulary", "words.txt", "--transition-cost", 1)
    by_command = run("states", "infer", video, *written)
    files = {"rules": "own.rules", "vocabulary": "words.txt", "transition_cost": 1.0}
    found = wordsight.infer_states(video, library="library", **files)
    assert by_command == plain(found.to_json())
    book = {"vocabulary": WORDS, "rules": RULES, "events": "", "cost": 1.0, "hands": []}
    assert studio.put("/api/v1/states/rules", json=book).status_code == 200
    job(studio, f"/states/videos/{video}")
    answer = studio.get(f"/api/v1/states/videos/{video}").json()
    assert spans(answer["facts"], "fact") == spans(by_command, "fact")
    named = studio.get(f"/api/v1/states/videos/{video}/things").json()
    people = {one["name"] for one in named if one["kind"] == "person"}
    assert {one["fact"] for one in by_command} == {f"seen({name})" for name in people}
    assert len(named) == things[0]
    why = run("states", "explain", video, *written, "--at", 0.3)
    again = wordsight.explain_state(video, at=0.3, library="library", **files)
    assert why == plain(again.to_json())
    shown = studio.get(f"/api/v1/states/videos/{video}/why", params={"at": 0.3}).json()
    assert [shown[name] for name in ("time", "facts", "cost")] == [
        why[name] for name in ("time", "facts", "cost")
    ]
    assert shown["kept"] == [one["text"] for one in why["kept"][:12]] and why["kept"]


@pytest.mark.slow
def test_learn_states_and_find_events(own):
    run, studio, _ = own
    rows = ["frame,time,id,label,score,x1,y1,x2,y2"]
    for frame in range(40):
        shift = 6 * max(frame - 20, 0)
        rows.append(f"{frame},{frame / 10},0,cup,1.0,{20 + shift},40,{40 + shift},60")
    texts = {
        "play.csv": "\n".join(rows) + "\n",
        "labels.csv": 'video,start,end,fact\nplay,2.0,4.0,"moves(cup)"\n',
        "own.rules": OWN_RULES,
        "words.txt": OWN_WORDS,
        "own.events": OWN_EVENTS,
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    by_command = run(
        *("states", "learn", "play.csv", "--labels", "labels.csv", "--rules", "own.rules"),
        *("--vocabulary", "words.txt", "--model", "by-command"),
    )
    files = {"labels": "labels.csv", "rules": "own.rules", "vocabulary": "words.txt"}
    found = wordsight.learn_states("play.csv", model="by-python", **files)
    assert plain(found.to_json()) == by_command | {"model": "by-python"}
    sent = [(name, (f"{name}.csv", texts[f"{name}.csv"])) for name in ("labels",)]
    sent.append(("boxes", ("play.csv", texts["play.csv"])))
    kept = job(
        studio,
        "/states/learn",
        files=sent,
        data={"rules": OWN_RULES, "vocabulary": OWN_WORDS, "kinds": ""},
    )
    folder = Path("library/studio/states/sets") / kept["set"] / "states-model"
    for model in ("by-python", folder):
        assert filecmp.cmp("by-command/model.json", Path(model) / "model.json", shallow=False)
    learned = run("states", "rules", "--model", "by-command")
    assert learned == plain(wordsight.state_rules(model="by-python").to_json())
    in_set = studio.get(f"/api/v1/states/sets/{kept['set']}").json()["rules"]
    assert sorted(in_set["rules"].splitlines()) == sorted(learned["rules"])
    assert in_set["cost"] == learned["transition_cost"]
    events = run("states", "events", "play.csv", "--model", "by-command", "--events", "own.events")
    again = wordsight.find_events("play.csv", model="by-python", events="own.events")
    assert events == plain(again.to_json()) and events


@pytest.mark.slow
def test_align(own):
    run, studio, video = own
    write_tea(Path())
    by_command = run("align", video, "tea.md", "--seen", "one.txt")
    found = wordsight.align(video, "tea.md", seen="one.txt", library="library")
    assert by_command == plain(found.to_json())
    text, seen = Path("tea.md").read_text(), Path("one.txt").read_text()
    sent = {"video": video, "text": text, "seen": seen, "name": "0123456789ab"}
    job(studio, "/alignments", json=sent)
    answer = studio.get("/api/v1/alignments/0123456789ab").json()
    assert answer["result"]["lines"] == by_command["lines"]
    run("align", video, "tea.md", "--seen", "one.txt", "--save", "by-command")
    words = run("dictionary", "by-command")
    assert words == plain(dictionary("by-command").to_json()) and words
    likeliest = {noun: list(things)[:1] for noun, things in words.items()}
    in_studio = answer["dictionary"].items()
    assert likeliest == {noun: [thing for thing, _ in things[:1]] for noun, things in in_studio}


@pytest.mark.slow
def test_teach_and_name(own):
    run, studio, _ = own
    write_pictures(Path())
    write_png(Path("new.png"), figure("blue", "square", 10, (25, 22)))
    by_command = run("teach", "lessons", "--attributes", 2, "-t", "by-command")
    found = wordsight.teach("lessons", attributes=2, taught="by-python")
    assert by_command | {"taught": ""} == plain(found.to_json()) | {"taught": ""}
    for path in sorted(Path("lessons").glob("*.png")):
        image = {"image": (path.name, path.read_bytes(), "image/png")}
        word = path.with_suffix(".txt").read_text().strip()
        assert studio.post("/api/v1/attributes/lessons", files=image, data={"word": word})
    groups = job(studio, "/attributes/learn", json={"attributes": 2})["attributes"]
    known = run("attributes", "-t", "by-command")
    assert known == plain(attributes(taught="by-python").to_json())
    shown = [[word["word"] for word in one["words"]] for one in known["attributes"]]
    assert sorted(map(sorted, shown)) == sorted(map(sorted, groups))
    names = run("name", "new.png", "-t", "by-command")
    assert names == plain(wordsight.name("new.png", taught="by-python").to_json())
    picture = {"image": ("new.png", Path("new.png").read_bytes(), "image/png")}
    answer = studio.post("/api/v1/attributes/name", files=picture).json()
    words = sorted(one["word"] for one in answer["attributes"])
    assert words == sorted(json.dumps(names).count(f'"{word}"') and word for word in words)


def test_evaluate(own):
    run, studio, _ = own
    texts = {"a.run": "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\n", "a.qrels": "q1 0 b 1\nq2 0 a 1\n"}
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    by_command = run("evaluate", "a.run", "a.qrels")
    assert by_command == plain(wordsight.evaluate("a.run", "a.qrels").to_json())
    sent = {"run": ("a.run", texts["a.run"]), "qrels": ("a.qrels", texts["a.qrels"])}
    answer = studio.post("/api/v1/search/evaluate", files=sent).json()
    assert all(by_command["means"][name] == value for name, value in answer["means"].items())


@pytest.mark.slow
@pytest.mark.parametrize("what", ["boxes", "tracks"])
def test_export(own, what):
    run, studio, video = own
    run("export", video, "by-command.csv", "--what", what)
    wordsight.export("library", video, "by-python.csv", what=what)
    done = job(studio, "/made", json={"video": video, "what": what, "ending": ".csv"})
    written = Path("by-command.csv").read_text()
    assert written == Path("by-python.csv").read_text()
    assert written == studio.get(f"/api/v1/made/{done['made']}").text
    assert np.unique(read_boxes("by-command.csv").label_names).tolist() == ["chair", "person"]


def test_list_and_show(own):
    run, studio, video = own
    (listed,) = run("list")
    (in_studio,) = studio.get("/api/v1/videos").json()["videos"]
    details = run("show", video)
    with Library.open("library") as library:
        assert listed == plain(as_json(library.videos()[0]))
        assert details == plain(as_json(library.show(video)))
    for name in ("id", "name", "duration", "num_shots", "num_sentences"):
        assert in_studio[name] == listed[name]
    shown = studio.get(f"/api/v1/videos/{video}").json()
    cuts = [(one["start"], one["end"]) for one in details["shots"]]
    assert cuts == [(one["start"], one["end"]) for one in shown["shots"]]


def test_shots(own):
    """The shots of a file are those that the library and the studio know of it."""
    run, studio, video = own
    by_command = run("shots", "film.mp4")
    assert by_command == plain(wordsight.shots("film.mp4").to_json())
    in_studio = studio.get(f"/api/v1/videos/{video}").json()["shots"]
    assert [(one["start"], one["end"]) for one in by_command] == [
        (one["start"], one["end"]) for one in in_studio
    ]


@pytest.mark.slow
def test_detect(own):
    """A detector finds in a file what it finds when the studio looks at the video again."""
    run, studio, video = own
    how = ("-d", "regions", "--rate", 10)
    by_command = run("detect", "film.mp4", *how, "-o", "by-command.csv")
    found = wordsight.detect("film.mp4", detector="regions", rate=10.0, output="by-python.csv")
    assert by_command == plain(found.to_json()) and by_command["boxes"] > 0
    assert Path("by-command.csv").read_text() == Path("by-python.csv").read_text()
    job(studio, f"/videos/{video}/look", data={"detector": "regions", "rate": 10, "force": True})
    seen = studio.get(f"/api/v1/videos/{video}/detections").json()
    kept = [np.round(found.detections.boxes[n][m], 1) for n, m in enumerate(found.detections.mask)]
    assert [one.tolist() for one in kept] == seen["boxes"]


def test_convert(own):
    run, studio, _ = own
    by_command = run("convert", "film.csv", "by-command.json", "--frame-rate", 20)
    found = wordsight.convert("film.csv", "by-python.json", frame_rate=20)
    assert by_command | {"file": ""} == plain(found.to_json()) | {"file": ""}
    sent = {"source": ("film.csv", Path("film.csv").read_text())}
    answer = studio.post("/api/v1/convert", files=sent, data={"to": "coco", "frame_rate": 20})
    assert answer.status_code == 200, answer.text
    written = Path("by-command.json").read_text()
    assert written == Path("by-python.json").read_text() == answer.text


def test_world_and_doctor(own):
    run, _, _ = own
    how = ("--clips", 1, "--frame-rate", 5, "--noise", 0)
    by_command = run("world", "street", "-o", "one", *how)
    made = wordsight.render_street(output="two", clips=1, frame_rate=5, noise=0)
    assert plain(made.to_json()) == by_command | {"folder": "two"}
    assert Path("one/metadata.jsonl").read_text() == Path("two/metadata.jsonl").read_text()
    assert run("doctor") == plain(wordsight.doctor().to_json())
