"""Words taught by pictures, in searches and in sentences: rendered films and their crops."""

import colorsys
import json
from types import SimpleNamespace

import numpy as np
import pytest

from wordsight.attributes.recall.videos import crop_box
from wordsight.library import Library
from wordsight.meaning.features import name_feature
from wordsight.video import VideoReader, write_image
from wordsight.workflows.learn import _words_used
from wordsight.workflows.reporter import RecordingReporter
from wordsight.worlds import street, write_world

HUES = {"red": (345, 372), "blue": (195, 250), "teal": (150, 192), "purple": (255, 330)}


def colour_of(crop):
    """The colour word of most saturated pixels in the middle of a picture, judged by hue alone."""
    height, width = crop.shape[:2]
    middle = crop[height // 4 : -height // 4, width // 4 : -width // 4].reshape(-1, 3)[::7]
    pixels = [colorsys.rgb_to_hsv(*(pixel / 255)) for pixel in middle]
    hues = [360 * hue for hue, depth, bright in pixels if depth > 0.45 and bright > 0.2]
    if len(hues) < 5:
        return None
    hue = float(np.median(np.where(np.array(hues) < 12, np.array(hues) + 360, hues)))
    return next((word for word, (low, high) in HUES.items() if low <= hue < high), None)


def backpacks(films, every=4):
    """Per film its backpacks: pictures of each, and what colour they have."""
    found = {}
    for line in (films / "truth.jsonl").read_text().splitlines():
        truth = json.loads(line)
        with VideoReader(films / truth["file_name"]) as reader:
            images = [reader.frame_at(t).image for t in reader.times[::every].tolist()]
        for who, noun in truth["individuals"].items():
            boxes = truth["boxes"][who][::every]
            if noun == "backpack":
                seen = [crop_box(i, b) for i, b in zip(images, boxes, strict=False) if b]
                found[truth["name"], who] = [(crop, colour_of(crop)) for crop in seen]
    return found


def colours_of(films):
    """Per film the colours of its backpacks."""
    found = {}
    for (film, _), crops in backpacks(films).items():
        found.setdefault(film, set()).update(colour for _, colour in crops if colour)
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Pictures of backpacks with colour words, and a library of other films."""
    folder = tmp_path_factory.mktemp("taught")
    write_world(street(12, 7, noise=0.0, frame_rate=5.0), folder / "lessons")
    lines = []
    (folder / "pairs").mkdir()
    for crops in backpacks(folder / "lessons", every=2).values():
        for crop, colour in crops:
            if colour is not None:
                name = f"{len(lines)}.png"
                write_image(folder / "pairs" / name, crop)
                lines.append(json.dumps({"image": name, "word": colour}))
    (folder / "pairs" / "pairs.jsonl").write_text("\n".join(lines))
    write_world(street(4, 3, noise=0.0, frame_rate=8.0), folder / "films")
    write_world(street(1, 11, noise=0.0, frame_rate=8.0), folder / "later")
    with Library.open(folder / "library", create=True) as library:
        library.add(folder / "films", workers=1, detector="rendered")
    return folder, colours_of(folder / "films")


@pytest.fixture
def call(run, world, monkeypatch):
    """The program with that library, and colours taught by it."""
    monkeypatch.setenv("WORDSIGHT_LIBRARY", str(world[0] / "library"))
    taught = world[0] / "taught"
    if not taught.exists():
        made = run("teach", world[0] / "pairs" / "pairs.jsonl", "-t", taught, "--json", "-q")
        assert made.code == 0, made.err
        (group,) = made.json["attributes"]
        assert {word["word"] for word in group["words"]} >= {"red", "blue", "teal"}
    return run


def films_found(answer):
    return {hit["video_id"][:10] for hit in answer.json}


@pytest.mark.slow
def test_taught_words_find_shots_and_say_so(call, world, tmp_path):
    folder, colours = world
    index = tmp_path / "index"
    made = call("index", "--attributes", folder / "taught", "--index", index)
    assert made.code == 0, made.err
    known = sorted(set().union(*colours.values()))
    assert len(known) > 1
    for word in known:
        answer = call("search", word, "--index", index, "--json")
        # Every film with such a backpack is found; other things are coloured too.
        assert {film for film, words in colours.items() if word in words} <= films_found(answer)
        for hit in answer.json:
            assert hit["by"] == ["named"] and word not in hit["said"]
            (term,) = hit["terms"]
            assert term["evidence"] > 0 and max(term["named"]) >= 0.5
    shown = call("search", known[0], "--index", index)
    assert "named:" in shown.out and "taught words" in shown.out
    both = call("search", f"{known[0]} backpack", "--index", index, "--json").json
    # Every film speaks of a backpack: that one of this colour was named there decides.
    assert "named" in both[0]["by"] and known[0] in colours[both[0]["video_id"][:10]]
    assert {kind for hit in both for kind in hit["by"]} == {"said", "named"}


@pytest.mark.slow
def test_an_index_goes_on_naming_and_can_stop(call, world, tmp_path):
    folder, index = world[0], tmp_path / "index"
    ((film, (word, *_)),) = colours_of(folder / "later").items()
    assert call("index", "--attributes", folder / "taught", "--index", index).code == 0
    before = json.loads((index / "attributes.json").read_text())
    with Library.open(folder / "library") as library:
        library.add(folder / "later" / f"{film}.mp4", workers=1, detector="rendered")
    again = call("index", "--index", index, "--json")
    (added,) = again.json["added"]
    assert len(again.json["unchanged"]) == 4
    after = json.loads((index / "attributes.json").read_text())
    assert before["shots"].items() < after["shots"].items()
    hits = call("search", word, "--index", index, "--json").json
    assert added in {hit["video_id"] for hit in hits}
    with Library.open(folder / "library") as library:
        library.remove(added)
    assert call("search", word, "--index", index, "--json").code == 0
    assert json.loads((index / "attributes.json").read_text())["shots"] == before["shots"]
    stopped = call("index", "--attributes", "none", "--index", index)
    assert "no longer" in stopped.err
    assert call("search", word, "--index", index, "--json").json == []
    assert not list(index.glob("attributes*"))


@pytest.mark.slow
def test_taught_words_become_adjectives(call, world, tmp_path):
    folder, colours = world
    words = tmp_path / "lexicon"
    arguments = ("--quick", "--restarts", 1, "--grammar", "street", "-j", 1, "-w", words)
    made = call("learn", "--attributes", folder / "taught", *arguments, "--json")
    assert made.code == 0, made.err
    assert {"red", "teal", "person"} <= set(made.json["words"])
    assert "told:" in call("lexicon", "red", "-w", words).out
    film, (own, *_) = next((f, sorted(w)) for f, w in sorted(colours.items()) if len(w) == 1)
    other = next(word for word in ("red", "teal", "blue") if word != own)
    said = [f"The person approached the {word} backpack." for word in (own, other)]
    right, wrong = call("score", film, *said, "-w", words, "--json").json
    assert right["score"] > wrong["score"] + 0.5
    assert f"{own}(p1)" in call("explain", film, said[0], "-w", words).out
    best = call("search", said[0], "-w", words, "--all", "--json").json[0]
    assert own in colours[best["video_id"][:10]] and "meaning" in best["by"]


@pytest.mark.slow
def test_a_clear_word_for_what_cannot_be(call, world, tmp_path):
    for command in (("index", "--index", tmp_path / "i"), ("learn", "-w", tmp_path / "l")):
        answer = call(*command, "--attributes", tmp_path / "nowhere")
        assert answer.code == 1 and "there are no taught words" in answer.err.replace("\n", " ")
        answer = call(*command, "--attributes", world[0] / "films")
        assert answer.code == 1 and "taught words" in answer.err.replace("\n", " ")
    (tmp_path / "i").mkdir(exist_ok=True)
    (tmp_path / "i" / "attributes.json").write_text("{")
    answer = call("index", "--index", tmp_path / "i")
    assert answer.code == 1 and "--attributes" in answer.err


def test_words_that_tell_no_things_apart_are_named():
    namer = SimpleNamespace(groups=(("blue", "red"), ("big", "small")))
    bins = {name_feature(("blue", "red")): ("blue", "red")}
    learned = SimpleNamespace(vocabulary=SimpleNamespace(bins=bins))
    reporter = RecordingReporter()
    assert _words_used(learned, namer, reporter) == ["blue", "red"]
    (warning,) = reporter.notes
    assert "differ in big, small" in warning and "red" not in warning
