"""``teach``, ``name`` and ``attributes`` as their users would call them."""

import json
from dataclasses import replace

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
    compared = run("attributes", "--counts")
    assert "BIC" in compared.out and "left out" in compared.out
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
def test_words_that_go_together_are_no_contradiction(run, tmp_path):
    random = np.random.default_rng(0)
    write_image(tmp_path / "all" / "red-tall.png", thing("red", "tall", random))
    lines = []
    for number in range(72):
        colour, shape = ("red", "blue", "green")[number % 3], ("tall", "wide")[number // 3 % 2]
        write_image(tmp_path / "all" / f"{number}.png", thing(colour, shape, random))
        weight = float(random.uniform(0, 10))
        said = [colour, shape, "heavy" if weight > 5 else "light"]
        said += ["cold"] * (colour != "red")
        lines += [
            {"image": f"{number}.png", "word": one, "sources": {"weight": weight}} for one in said
        ]
    # The same picture of a light thing and of a heavy one.
    for weight, said in ((1.0, "light"), (9.0, "heavy")):
        image = {"image": "red-tall.png", "word": said}
        lines += [image | {"sources": {"weight": weight}}, image | {"word": "red"}]
    (tmp_path / "all" / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    answer = run("teach", "all", "--json")
    assert answer.code == 0 and "taught as" not in answer.err
    covers = {
        w["word"]: set(w["covers"])
        for group in answer.json["attributes"]
        for w in group["words"]
        if "covers" in w
    }
    assert covers["cold"] == {"blue", "green"}
    (tmp_path / "all" / "more.jsonl").write_text(json.dumps(lines[-2] | {"word": "light"}))
    again = run("teach", "all/more.jsonl", "--add")
    assert "taught as 'heavy' and as 'light' (red-tall.png)" in again.err.replace("\n", " ")


@pytest.mark.slow
def test_mistakes_in_naming(run, pairs, tmp_path):
    (tmp_path / "nothing").mkdir()
    assert run("teach", pairs, "-q").code == 0
    for arguments, message in (
        (("name", "none.png"), "does not exist"),
        (("name", pairs / "0.wav"), "not a picture"),
        (("name", "film.mp4@soon"), "seconds"),
        (("name", pairs / "new.png", "--box", "1,2"), "x,y,width,height"),
        (("name", pairs / "new.png", "--box", "900,900,5,5"), "too little"),
        (("name", pairs / "new.png", "none.png"), "does not exist"),
        (("name", pairs / "new.png", pairs / "1.png", "--play", "a.wav"), "about one picture"),
        (("name", "film.mp4"), "does not exist"),
        (("name", "nothing"), "has no pictures"),
        (("teach", pairs, "--word", "red", "--add"), "for one picture"),
        (("teach", "none.png", "--word", "red", "--add"), "does not exist"),
        (("teach", pairs / "new.png", "--add"), "give a word with --word"),
        (("attributes", "--rename", "red=blue"), "merge 'red' into it"),
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


@pytest.mark.slow
def test_pictures_and_folders_are_named_at_once(run, pairs, tmp_path):
    assert run("teach", pairs, "-q").code == 0
    new = tmp_path / "new things"
    new.mkdir()
    random = np.random.default_rng(1)
    for said in ("red tall", "blue wide"):
        write_image(new / f"{said}.png", thing(*said.split(), random))
    one = run("name", pairs / "new.png", "--json").json
    found = run("name", new, pairs / "new.png", "--json").json
    assert [set(each["text"].split()) for each in found] == [
        {"blue", "wide"},
        {"red", "tall"},
        {"red", "wide"},
    ]
    assert found[-1] == {"picture": str(pairs / "new.png")} | one
    shown = run("name", *sorted(new.iterdir()))
    assert shown.code == 0 and "red tall.png" in shown.out and "blue (" in shown.out


@pytest.mark.slow
def test_one_picture_is_taught(run, pairs, tmp_path):
    assert run("teach", pairs, "-q").code == 0
    write_image(tmp_path / "a b.png", thing("red", "tall", np.random.default_rng(5)))
    answer = run("teach", "a b.png", "--word", "violet", "--like", "Red", "--add", "--json")
    assert answer.code == 0 and answer.json["lessons"] == 101 and not answer.err
    groups = [{word["word"] for word in one["words"]} for one in answer.json["attributes"]]
    assert any({"red", "violet"} <= group for group in groups)
    # What stands beside it is its word, too; other files there are not looked at.
    (tmp_path / "a b.txt").write_text("tall")
    (tmp_path / "c.txt").write_text("")
    answer = run("teach", "a b.png", "--add", "--json", "--like", "enormous")
    assert answer.json["lessons"] == 102 and "no word is called 'enormous'" in answer.err
    (tmp_path / "pool").mkdir()
    write_image(tmp_path / "pool" / "x y.png", thing("blue", "wide", np.random.default_rng(6)))
    said = run("attributes", "--ask", "pool").out.replace("\n", " ")
    assert "Which is it:" in said and "wordsight teach 'pool/x y.png' --word WORD --like" in said


@pytest.mark.slow
def test_heard_words_keep_their_numbers_while_others_are_corrected(run, tmp_path):
    random = np.random.default_rng(0)
    for number, (picture, said) in enumerate(zip(*lessons(100, random), strict=True)):
        write_image(tmp_path / "heard" / f"{number}.png", picture)
        write_sound(tmp_path / "heard" / f"{number}.wav", word(said, random))

    def counts(answer):
        assert answer.code == 0, answer.err
        return {w["word"]: w["lessons"] for g in answer.json["attributes"] for w in g["words"]}

    before = counts(run("teach", "heard", "--json", "-q"))
    first, second, third, *others = sorted(before)
    merged = counts(run("attributes", "--merge", f"{second}={first}", "--json"))
    assert merged == {name: before[name] for name in (third, *others)} | {
        first: before[first] + before[second]
    }
    # The question is about heard words, and its answer is known to be like one of them.
    write_image(tmp_path / "pool" / "new.png", thing("red", "tall", random))
    assert "were only heard" in run("attributes", "--ask", "pool").out
    like = others[-1]
    teach = ("teach", "pool/new.png", "--word", "odd", "--like", like, "--add", "--json")
    answer = run(*teach)
    assert not answer.err and like in counts(answer)
    groups = [{w["word"] for w in group["words"]} for group in answer.json["attributes"]]
    assert any({"odd", like} <= group for group in groups)
    (tmp_path / "played").mkdir()
    assert run("attributes", "--play", "played").code == 0
    assert "--force" in run("attributes", "--play", "played").err


def test_silent_and_faint_recordings_are_named(run, tmp_path):
    random = np.random.default_rng(0)
    for number, (picture, said) in enumerate(zip(*lessons(12, random), strict=True)):
        write_image(tmp_path / "heard" / f"{number:02}.png", picture)
        sound = word(said, random)
        if number in (3, 5):
            sound = replace(sound, samples=1e-3 * random.normal(size=8000).astype(np.float32))
        write_sound(tmp_path / "heard" / f"{number:02}.wav", sound)
    answer = run("teach", "heard")
    said = answer.err.replace("\n", " ")
    assert "heard/03.wav, heard/05.wav: far quieter" in said and answer.code == 0
    for number in (2, 4, 6, 8):
        silent = replace(sound, samples=np.zeros(8000, np.float32))
        write_sound(tmp_path / "heard" / f"{number:02}.wav", silent, overwrite=True)
    answer = run("teach", "heard", "-t", "other")
    said = answer.err.replace("\n", " ")
    assert "silent: heard/02.wav, heard/04.wav, heard/06.wav and 1 more" in said
    assert answer.code == 1 and not (tmp_path / "other").exists()
