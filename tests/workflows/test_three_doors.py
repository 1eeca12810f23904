"""Every verb through command line, studio and Python: the same answer, to the last digit."""

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

import wordsight
from tests.cli.conftest import run
from tests.studio.conftest import LocalClient, finished
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon, hand_lexicon
from wordsight.meaning.model.quality import quality_of
from wordsight.studio import StudioSettings, create_app
from wordsight.worlds import street, write_world

__all__ = ["run"]  # a fixture is found where it is imported

HOW = {"quick": True, "restarts": 1, "seed": 3}
TRUE, FALSE = "The person approached the backpack.", "The person carried the chair."


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A library of four films, and words for them."""
    folder = tmp_path_factory.mktemp("doors")
    write_world(street(4, 3, noise=0.0, frame_rate=10.0), folder / "films")
    wordsight.add(folder / "library", folder / "films", detector="rendered", workers=1)
    with Library.open(folder / "library") as library:
        labels = library.detections(library.videos()[0].id).label_names
    hand_lexicon(labels).save(folder / "library" / "lexicon")
    return folder


@pytest.fixture
def doors(made, tmp_path, monkeypatch, run):
    """The library with its words in a folder of its own, and a studio of it."""
    shutil.copytree(made / "library", tmp_path / "library")
    monkeypatch.setenv("WORDSIGHT_LIBRARY", "library")
    with LocalClient(create_app(StudioSettings(library=str(tmp_path / "library")))) as studio:
        yield lambda *arguments: command(run, *arguments), studio


@pytest.fixture
def video(made):
    with Library.open(made / "library") as library:
        return max(library.videos(), key=lambda one: one.num_sentences).id


def command(run, *arguments):
    answer = run(*arguments, "--json")
    assert answer.code == 0, answer.err
    return answer.json


def plain(value):
    """Return a value as it comes out of JSON."""
    return json.loads(json.dumps(value))


def same_words(first, second):
    """Compare two lexicons table by table, exactly."""
    assert sorted(first.words) == sorted(second.words)
    for name, word in first.words.items():
        other = second[name]
        for one, two in zip(word.emissions, other.emissions, strict=True):
            assert np.array_equal(one, two), name
        assert np.array_equal(word.transition, other.transition), name
    assert first.threshold == second.threshold


@pytest.mark.slow
def test_the_example_of_the_readme(doors, capsys):
    """Its words are those of the command line, and it runs as it is printed."""
    run, _ = doors
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    example = readme.split("```python\n")[1].split("```")[0]
    shutil.move("library", "wordsight-library")
    shutil.rmtree("wordsight-library/lexicon")
    Path("example.py").write_text(example, encoding="utf-8")
    runpy.run_path("example.py")
    assert "[[" in capsys.readouterr().out  # the transitions of a word
    run("learn", "-w", "by-command", "-L", "wordsight-library")
    same_words(LearnedLexicon.load("by-command"), LearnedLexicon.load("wordsight-library/lexicon"))


@pytest.mark.slow
def test_learn(doors):
    run, studio = doors
    options = ("--quick", "--restarts", 1, "--seed", 3, "-w", "by-command")
    by_command = run("learn", *options)
    result = wordsight.learn("library", words="by-python", **HOW)
    assert by_command == plain(result.to_json()) | {"lexicon": "by-command"}
    job = studio.post("/api/v1/lexicon/learn", json=HOW).json()
    done = finished(studio, job["id"])
    assert (done["state"], done["result"]["words"]) == ("done", by_command["words"])
    lexicons = [
        LearnedLexicon.load(folder) for folder in ("by-command", "by-python", "library/lexicon")
    ]
    for other in lexicons[1:]:
        same_words(lexicons[0], other)


def test_learn_as_the_readme_does(made, tmp_path, monkeypatch):
    """Without any setting, Python learns as `wordsight learn` does: on film, and thoroughly."""
    monkeypatch.chdir(tmp_path)
    seen = []
    monkeypatch.setattr(
        "wordsight.meaning.WordLearner.fit",
        lambda learner, *_, **__: seen.append(learner.settings) or (_ for _ in ()).throw(KeyError),
    )
    from wordsight.cli.main import main

    with pytest.raises(KeyError):
        wordsight.learn(made / "library", words="new")
    monkeypatch.setattr(
        "sys.argv", ["wordsight", "learn", "-w", "new", "-L", str(made / "library")]
    )
    with pytest.raises(SystemExit):
        main()
    assert len(seen) == 2 and seen[0] == seen[1]
    assert seen[0].jitter and seen[0].phases == 4


def test_score(doors, video):
    run, studio = doors
    by_command = run("score", video, TRUE, FALSE)
    assert by_command == plain(wordsight.score("library", video, [TRUE, FALSE]).to_json())
    asked = {"sentences": [TRUE, FALSE]}
    answers = studio.post(f"/api/v1/videos/{video}/score", json=asked).json()
    for one, other in zip(by_command, answers, strict=True):
        for name in ("start", "end", "score", "holds"):
            assert one[name] == other[name], name


def test_track(doors, video):
    run, studio = doors
    by_command = run("track", video, TRUE)
    assert by_command == plain(wordsight.track("library", video, TRUE).to_json())
    answer = studio.post(f"/api/v1/videos/{video}/track", json={"sentence": TRUE}).json()
    assert [one["label"] for one in answer["tracks"]] == [t["label"] for t in by_command["tracks"]]
    for one, other in zip(by_command["tracks"], answer["tracks"], strict=True):
        assert np.round(one["boxes"], 1).tolist() == other["boxes"]


def test_explain(doors, video):
    run, studio = doors
    by_command = run("explain", video, FALSE)
    assert by_command == plain(wordsight.explain("library", video, FALSE).to_json())
    answer = studio.post(f"/api/v1/videos/{video}/explain", json={"sentence": FALSE}).json()
    assert answer["score"] == by_command["score"]


def test_describe(doors, video):
    run, studio = doors
    by_command = run("describe", video, "-k", 3)
    assert by_command == plain(wordsight.describe("library", video, top=3).to_json())
    answer = studio.post(f"/api/v1/videos/{video}/describe", json={"top": 3}).json()
    found = [(one["text"], one["probability"]) for one in answer["sentences"]]
    assert found == [(one["text"], one["probability"]) for one in by_command]


def test_lexicon(doors):
    run, studio = doors
    by_command = run("lexicon", "approached")
    assert by_command == plain(wordsight.lexicon("approached", library="library").to_json())
    answer = studio.get("/api/v1/lexicon/words/approached").json()
    (word,) = by_command.values()
    assert np.round(word["transition"], 5).tolist() == answer["transition"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["backpack", TRUE])
def test_search(doors, text):
    run, studio = doors
    run("index")  # the studio searches nothing that is not indexed
    by_command = run("search", text, "--all")
    assert by_command == plain(wordsight.search("library", text, everything=True).to_json())
    assert by_command
    asked = {"text": text, "top": 10, "everything": True}
    answer = studio.get("/api/v1/search", params=asked).json()
    for name in ("video_id", "start", "score", "by", "holds", "shot"):
        assert [one[name] for one in answer["moments"]] == [one[name] for one in by_command], name


@pytest.mark.slow
def test_index(doors, made, tmp_path):
    run, studio = doors
    # Not a copy of the library that the studio has open: closing a file of SQLite gives up
    # all locks that the same process holds on it.
    shutil.copytree(made / "library", tmp_path / "another")
    by_command = run("index")
    result = wordsight.index("another")
    assert by_command | {"index": ""} == plain(result.to_json()) | {"index": ""}
    done = finished(studio, studio.post("/api/v1/search/index", json={}).json()["id"])
    counts = {name: len(by_command[name]) for name in ("added", "unchanged", "removed", "failed")}
    assert counts == {"added": 4, "unchanged": 0, "removed": 0, "failed": 0}
    assert done["result"]["unchanged"] == 4  # the command line was first


@pytest.mark.slow
def test_add(made, run, tmp_path):
    film = sorted((made / "films").glob("*.mp4"))[0]
    how = ("-d", "rendered", "-s", TRUE, "-j", 1)
    by_command = command(run, "add", film, *how, "-L", "one")
    result = wordsight.add("two", film, detector="rendered", sentences=TRUE, workers=1)
    assert by_command["added"] == list(result.report.added)
    with LocalClient(create_app(StudioSettings(library=str(tmp_path / "three")))) as studio:
        sent = {"name": film.name, "sentence": TRUE, "detector": "rendered"}
        upload = studio.post("/api/v1/uploads", params=sent, content=film.read_bytes())
        done = finished(studio, upload.json()["id"])
        assert done["state"] == "done", done
    seen = []
    for place in ("one", "two", "three"):
        with Library.open(tmp_path / place) as library:
            (entry,) = library.videos()
            seen.append((entry.sha256, library.detections(entry.id), library.show(entry.id)))
    for sha, detections, details in seen[1:]:
        assert sha == seen[0][0]
        assert np.array_equal(detections.boxes, seen[0][1].boxes)
        assert [s.text for s in details.sentences] == [s.text for s in seen[0][2].sentences]
        assert details.shots == seen[0][2].shots


@pytest.mark.slow
def test_evaluate_words(doors):
    run, _ = doors
    by_command = run("evaluate", "words", "--quick", "--restarts", 1, "--seed", 3)
    result = wordsight.evaluate_words("library", **HOW)
    assert by_command == plain(result.to_json())
    learned = wordsight.learn("library", words="by-python", **HOW)
    assert learned.quality.held_out == result.quality.held_out
    assert learned.quality.unjudged == result.quality.unjudged
    assert quality_of(LearnedLexicon.load("by-python")) == learned.quality


def test_evaluate_given_words(doors, video):
    run, _ = doors
    found = run("evaluate", "words", "-w", "library/lexicon")
    assert found == plain(wordsight.evaluate_words("library", words="library/lexicon").to_json())
    assert found["held_out"]["training"] == "given" and found["held_out"]["choices"] > 3
    lines = [{"video": video, "candidates": [TRUE, FALSE]}]
    Path("asked.jsonl").write_text("\n".join(map(json.dumps, lines)))
    other = run("evaluate", "words", "-w", "library/lexicon", "--candidates", "asked.jsonl")
    assert other["held_out"]["chance"] > found["held_out"]["chance"]
