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
    assert "figure" in shown.out
    drawn = run("attributes", "--plot")
    assert drawn.code == 0 and (tmp_path / "attributes.png").exists()
    assert "exists" in run("attributes", "--plot").err
    part = run("name", pairs / "new.png", "--box", "0,0,32,32")
    assert "red" in part.out
    spelled = run("attributes", "--rename", "red=crimson", "--json")
    assert "crimson" in spelled.out
    played = run("attributes", "--play", "heard")
    assert played.code == 0, played.err
    assert len(list((tmp_path / "heard").glob("*.wav"))) == 6
    assert "exists" in run("attributes", "--play", "heard").err
    split = run("attributes", "--split", "crimson", "--json")
    assert split.code == 0, split.err
    words = {w["word"]: w["lessons"] for g in split.json["attributes"] for w in g["words"]}
    assert len(words) == 7 and "word-7" in words
    merged = run("attributes", "--merge", "word-7=crimson", "--json")
    assert {w["word"] for g in merged.json["attributes"] for w in g["words"]} == {
        *(words.keys() - {"word-7"})
    }
    more = run("teach", pairs / "pairs.jsonl", "--add", "--json", "-q")
    assert more.json["lessons"] == 200


@pytest.mark.slow
def test_a_moment_of_a_video_is_named(run, pairs, footage):
    assert run("teach", pairs, "-q").code == 0
    answer = run("name", f"{footage}@0.5", "--box", "25,40,30,40", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["attributes"]


@pytest.mark.slow
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


def test_a_lesson_given_twice_with_different_words(run, tmp_path):
    random = np.random.default_rng(0)
    pictures, words = lessons(60, random)
    for folder, names in (("first", words), ("again", ["wide"])):
        (tmp_path / folder).mkdir()
        number = words.index("tall") if folder == "again" else 0
        for place, said in enumerate(names):
            write_image(tmp_path / folder / f"{place}.png", pictures[number + place])
            (tmp_path / folder / f"{place}.txt").write_text(said)
    taught = tmp_path / "taught"
    first = run("teach", tmp_path / "first", "-t", taught)
    assert first.code == 0 and "taught as" not in first.err
    # Both lessons are kept, whether they are given at once or later.
    again = run("teach", tmp_path / "again", "-t", taught, "--add", "--json")
    assert "as 'tall' and as 'wide' (0.png)" in again.err.replace("\n", " ")
    assert again.code == 0 and again.json["lessons"] == 61


@pytest.mark.slow
def test_mistakes_in_naming(run, pairs):
    assert run("teach", pairs, "-q").code == 0
    for arguments, message in (
        (("name", "none.png"), "does not exist"),
        (("name", pairs / "0.wav"), "not a picture"),
        (("name", "film.mp4@soon"), "seconds"),
        (("name", pairs / "new.png", "--box", "1,2"), "x,y,width,height"),
        (("name", pairs / "new.png", "--box", "900,900,5,5"), "too little"),
        (("attributes", "--rename", "red"), "OLD=NEW"),
        (("attributes", "--merge", "red=loud"), "no word 'loud'"),
        (("attributes", "--plot", "bars.txt"), ".png, .svg, .pdf"),
        (("attributes", "--ask", "nowhere"), "has no pictures"),
        (("teach", pairs), "--force"),
    ):
        answer = run(*arguments)
        assert answer.code == 1 and message in answer.err.replace("\n", " "), answer.err


def test_lessons_that_make_no_sense_are_named_and_the_others_are_kept(tmp_path, monkeypatch):
    from tests.golden.sample import figure, write_pictures, write_png
    from wordsight.errors import WordsightError
    from wordsight.workflows.teach import teach

    monkeypatch.chdir(tmp_path)
    write_pictures(tmp_path)
    lessons = tmp_path / "lessons"
    again = figure("red", "round", 8, (24, 26))
    write_png(lessons / "z.png", again)
    (lessons / "z.txt").write_text("blue")
    write_png(lessons / "y.png", np.full((48, 48, 3), 120, np.uint8))
    (lessons / "y.txt").write_text("red round")
    result = teach(source=lessons, taught=tmp_path / "taught", attributes=2)
    said = " ".join(result.warnings)
    assert "y.png: of one colour" in said and len(result.learner.texts_) == 39
    assert "taught as 'red' and as 'blue' (red-round-8-red.png, " in said and "z.png)" in said
    with pytest.raises(WordsightError, match="only 5 different words"):
        teach(source=lessons, taught=tmp_path / "other", attributes=40)
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_the_next_lesson_is_asked_for_and_its_answer_added(run, tmp_path, monkeypatch):
    from tests.golden.sample import figure, write_pictures, write_png

    monkeypatch.chdir(tmp_path)
    write_pictures(tmp_path)
    assert run("teach", "lessons", "-q").code == 0
    pool = tmp_path / "pool"
    pool.mkdir()
    write_png(pool / "a.png", figure("red", "round", 9, (24, 26)))
    answer = run("attributes", "--ask", pool, "--json")
    question = json.loads(answer.out)["ask"]
    assert question["picture"].endswith("a.png") and question["words"]
    assert "Teach next:" in run("attributes", "--ask", pool).out
    line = {"image": "a.png", "word": "violet", "like": "red"}
    (pool / "pairs.jsonl").write_text(json.dumps(line) + "\n")
    assert run("teach", pool, "--add", "-q").code == 0
    groups = json.loads(run("attributes", "--json").out)["attributes"]
    words = [{word["word"] for word in group["words"]} for group in groups]
    assert any({"red", "violet"} <= group for group in words)
