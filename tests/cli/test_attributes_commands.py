"""``teach``, ``name`` and ``attributes`` as their users would call them."""

import json

import numpy as np
import pytest

from tests.attributes.toys import lessons, thing, word
from wordsight.attributes import read_sound, write_sound
from wordsight.video import write_image


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """A list of pairs: pictures with a spelled and recorded word each."""
    folder = tmp_path_factory.mktemp("pairs")
    random = np.random.default_rng(0)
    lines = []
    for number, (picture, said) in enumerate(zip(*lessons(100, random), strict=True)):
        write_image(folder / f"{number}.png", picture)
        write_sound(folder / f"{number}.wav", word(said, random))
        lines.append({"image": f"{number}.png", "word": said, "sound": f"{number}.wav"})
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    write_image(folder / "new.png", thing("red", "wide", random))
    return folder


@pytest.mark.slow
def test_teaching_naming_and_showing(run, pairs, tmp_path):
    answer = run("teach", pairs, "--json", "-q")
    assert answer.code == 0, answer.err
    groups = [{w["word"] for w in g["words"]} for g in answer.json["attributes"]]
    assert sorted(map(sorted, groups)) == [["blue", "green", "red"], ["square", "tall", "wide"]]
    named = run("name", pairs / "new.png", "--play", "out.wav", "--json")
    assert set(named.json["text"].split()) == {"red", "wide"}
    assert read_sound(tmp_path / "out.wav").duration > 0.3
    again = run("name", pairs / "new.png", "--play", "out.wav")
    assert again.code == 1 and "exists" in again.err
    shown = run("attributes", "--plot", "bars.png")
    assert shown.code == 0 and "green" in shown.out and (tmp_path / "bars.png").exists()
    assert "gradients" in shown.out
    drawn = run("attributes", "--plot")
    assert drawn.code == 0 and (tmp_path / "attributes.png").exists()
    assert "exists" in run("attributes", "--plot").err
    part = run("name", pairs / "new.png", "--box", "0,0,32,32")
    assert "red" in part.out
    spelled = run("attributes", "--rename", "red=crimson", "--json")
    assert "crimson" in spelled.out
    more = run("teach", pairs / "pairs.jsonl", "--add", "--json", "-q")
    assert more.json["lessons"] == 200


@pytest.mark.slow
def test_a_moment_of_a_video_is_named(run, pairs, footage):
    assert run("teach", pairs, "-q").code == 0
    answer = run("name", f"{footage}@0.5", "--box", "25,40,30,40", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["attributes"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("name", "x.png"), "there are no taught words"),
        (("teach", "nowhere"), "does not exist"),
        (("teach", "empty"), "contains no lessons"),
        (("teach", "broken.jsonl"), "line 1"),
        (("teach", "pairs", "--method", "magic"), "--method should be"),
        (("teach", "pairs", "-K", "40"), "different words"),
    ],
)
def test_mistakes_are_told_in_plain_words(run, pairs, tmp_path, arguments, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.jsonl").write_text('{"image": "a.png"}\n')
    arguments = [pairs if argument == "pairs" else argument for argument in arguments]
    answer = run(*arguments)
    assert answer.code == 1
    assert message in answer.err.replace("\n", " ")


@pytest.mark.slow
def test_mistakes_in_naming(run, pairs):
    assert run("teach", pairs, "-q").code == 0
    for arguments, message in (
        (("name", "none.png"), "does not exist"),
        (("name", pairs / "0.wav"), "not a picture"),
        (("name", "film.mp4@soon"), "seconds"),
        (("name", pairs / "new.png", "--box", "1,2"), "X,Y,W,H"),
        (("name", pairs / "new.png", "--box", "900,900,5,5"), "too little"),
        (("attributes", "--rename", "red"), "OLD=NEW"),
        (("attributes", "--plot", "bars.txt"), ".png, .svg, .pdf"),
        (("teach", pairs), "--force"),
    ):
        answer = run(*arguments)
        assert answer.code == 1 and message in answer.err.replace("\n", " "), answer.err
