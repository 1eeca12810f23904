"""Searching from the command line: words, pictures, moments, runs, and honest refusals."""

import json
from dataclasses import replace

import numpy as np
import pytest

from wordsight.library import Library
from wordsight.video import VideoReader, VideoWriter, write_image

SRT = """1
00:00:00,000 --> 00:00:01,000
A red cup stands on the table

2
00:00:01,300 --> 00:00:02,000
Now the blue car drives away

3
00:00:01,400 --> 00:00:02,000
茶碗はどこですか
"""


def write_film(path, first, second):
    """Two seconds: a square of one colour, then a cut to one of another."""
    rng = np.random.default_rng(len(path.stem))
    with VideoWriter(path, (160, 120), frame_rate=20) as writer:
        for n in range(40):
            ground = (150, 170) if n < 24 else (20, 40)
            image = rng.integers(*ground, (120, 160, 3), dtype=np.uint8)
            image[40:80, 40:100] = first if n < 24 else second
            writer.write(image)
    return path


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    (folder / "films").mkdir()
    write_film(folder / "films" / "kitchen.mp4", (210, 30, 30), (30, 30, 210))
    (folder / "films" / "kitchen.srt").write_text(SRT, encoding="utf-8")
    write_film(folder / "films" / "garden.mp4", (30, 200, 40), (200, 200, 30))
    with Library.open(folder / "library", create=True) as opened:
        opened.add(folder / "films", workers=1)
        opened.add(folder / "films" / "garden.mp4", sentences=["A green bush"])
        videos = {video.name: video for video in opened.videos()}
    with VideoReader(videos["kitchen.mp4"].path) as reader:
        write_image(folder / "red.png", reader.frame_at(0.4).image)
    return folder


@pytest.fixture
def search(run, library, monkeypatch):
    monkeypatch.setenv("WORDSIGHT_LIBRARY", str(library / "library"))
    return lambda *arguments: run("search", *arguments)


@pytest.mark.slow
def test_words(search):
    hits = search("cups", "--json").json
    assert hits[0]["by"] == ["said"]
    assert hits[0]["video_id"].startswith("kitchen")
    assert hits[0]["start"] == 0
    assert hits[0]["terms"][0] | {"evidence": 0, "counts": 0} == {
        "term": "cup",
        "word": "cups",
        "evidence": 0,
        "counts": 0,
        "known": True,
    }
    shown = search("blue cars").out
    assert "blue +" in shown
    assert "By what is said." in shown


def test_what_is_said_of_a_whole_film(search):
    hits = search("bushes", "--json").json
    assert {hit["video_id"].split("-")[0] for hit in hits} == {"garden"}
    assert "(in its video)" in search("bush").out


def test_another_script(search):
    hits = search("茶碗", "--json").json
    assert hits[0]["video_id"].startswith("kitchen")
    assert hits[0]["start"] > 1


def test_a_picture(search, library):
    hits = search("--image", library / "red.png", "-k", 2, "--json").json
    assert hits[0]["video_id"].startswith("kitchen")
    assert hits[0]["start"] == 0
    assert hits[0]["by"] == ["picture"]
    assert len(hits[0]["regions"]) == 9


def test_a_region_and_words(search, library):
    region = ["--image", library / "red.png", "--region", "45,45,40,30"]
    hits = search(*region, "--json").json
    assert hits[0]["video_id"].startswith("kitchen")
    both = search("bush", *region, "--weight", 0.1)
    assert "By what is said (90 %) and what it looks like (10 %)." in both.out
    assert search("bush", *region, "--weight", 0.1, "--json").json[0]["video_id"].startswith("g")


def test_a_region_of_one_pixel(search, library):
    assert search("--image", library / "red.png", "--region", "50,50,1,1").code == 0


def test_everything_at_once(search, library, tmp_path):
    """Words, a part of a picture and another moment: the region is the picture's."""
    picture = ["--image", library / "red.png", "--region", "45,45,40,30"]
    answer = search("cup", *picture, "--like", "garden@0.5", "-k", 10, "--json", "--run", "all.run")
    assert answer.code == 0, answer.err
    assert {"said", "picture"} <= set(answer.json[0]["by"])
    assert len((tmp_path / "all.run").read_text().splitlines()) == len(answer.json)
    two = [*picture, "--image", library / "red.png"]
    assert "part of one picture" in search("cup", *two).err


def test_like_a_moment(search):
    hits = search("--like", "kitchen@0.5", "-k", 9, "--json").json
    assert len(hits) == 3  # all but the shot itself
    assert not any(hit["video_id"].startswith("kitchen") and hit["start"] == 0 for hit in hits)


def test_expanding(search):
    assert search("cup", "--expand", "--json").json[0]["video_id"].startswith("kitchen")


def test_a_run_and_its_evaluation(search, run, tmp_path):
    (tmp_path / "topics").write_text("1 red cup\n2\tblue car\n3 zebra\n", encoding="utf-8")
    answer = search("--queries", "topics", "--run", "my.run", "--json")
    assert answer.json["queries"] == 3
    assert "nothing was found for 1 of 3 queries (3)" in answer.err
    rows = [line.split() for line in (tmp_path / "my.run").read_text().splitlines()]
    assert {row[0] for row in rows} == {"1", "2"}
    first = next(row[2] for row in rows if row[0] == "1")
    (tmp_path / "qrels").write_text(f"1 0 {first} 1\n3 0 {first} 1\n")
    answer = run("evaluate", "my.run", "qrels", "AP", "P@1", "--per-query", "--json")
    assert answer.json["means"] == {"AP": 0.5, "P@1": 0.5}
    assert answer.json["per_query"]["1"]["AP"] == 1.0
    assert "AP" in run("evaluate", "my.run", "qrels").out
    again = search("cup", "--run", "my.run")
    assert (again.code, "--force" in again.err) == (1, True)


def test_topics_of_words_and_pictures(search, library, tmp_path):
    (tmp_path / "red.png").write_bytes((library / "red.png").read_bytes())
    topics = [
        {"id": "words", "text": "blue car"},
        {"id": "picture", "image": "red.png"},
        {"id": "both", "text": "cup", "image": ["red.png"], "region": [45, 45, 40, 30]},
        {"id": "moment", "like": "garden@0.5"},
    ]
    (tmp_path / "topics.jsonl").write_text("\n".join(map(json.dumps, topics)), encoding="utf-8")
    told = search("--topics", "topics.jsonl", "--run", "my.run", "--json").json
    assert told["queries"] == 4
    rows = [line.split() for line in (tmp_path / "my.run").read_text().splitlines()]
    first = {row[0]: row[2] for row in reversed(rows)}
    assert first["picture"].startswith("kitchen") and first["picture"].endswith(":0000")
    assert first["both"].startswith("kitchen") and first["words"].endswith(":0001")
    assert all(len([row for row in rows if row[0] == name]) == 4 for name in ("picture", "both"))
    search("--topics", "topics.jsonl", "--run", "films.run", "--rank", "video", "--json")
    rows = [line.split() for line in (tmp_path / "films.run").read_text().splitlines()]
    assert len([row for row in rows if row[0] == "picture"]) == 2  # films, not shots
    assert all(":" not in row[2] for row in rows)


def test_scenes_and_videos_are_ranked_by_their_best_shot(search, library):
    shots = search("--image", library / "red.png", "--json").json
    found = search("--image", library / "red.png", "--rank", "video", "--json").json
    assert len(found) == 2 and len(shots) == 4
    assert found[0]["score"] == shots[0]["score"]
    assert (found[0]["start"], round(found[0]["end"])) == (0.0, 2)
    assert found[1]["video_id"].startswith("garden")
    scenes = search("--image", library / "red.png", "--rank", "scene", "--json").json
    assert len(scenes) == 4  # here every shot is a scene
    assert scenes[0]["shot"].endswith(":scene-0")


def test_another_library_as_background(search, library, tmp_path):
    own = search("--image", library / "red.png", "--json").json
    same = search("--image", library / "red.png", "--background", library / "library", "--json")
    assert [hit["shot"] for hit in same.json] == [hit["shot"] for hit in own]
    assert same.json[0]["score"] == pytest.approx(own[0]["score"], abs=1e-3)
    answer = search("--image", library / "red.png", "--background", tmp_path / "nowhere")
    assert (answer.code, "nowhere" in answer.err) == (1, True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("cup", "line 1"),
        ('{"text": "cup"}', "expected an object with id"),
        ('{"id": "1"}', "say what to look for"),
        ('{"id": "1", "text": " "}', "query is empty"),
        ('{"id": "a b", "text": "cup"}', "without spaces"),
        ('{"id": "1", "image": 7}', "must be strings"),
        ('{"id": "1", "image": "none.png"}', "does not exist"),
        ('{"id": "1", "text": "cup", "region": "1,1,2,2"}', "part of one picture"),
        ('{"id": "1", "text": "cup"}\n{"id": "1", "text": "car"}', "line 2: the id 1 again"),
        ("", "holds no topic"),
        ('{"id": "a", "image": "RED", "region": [900, 900, 9, 9]}', "query a: the region"),
    ],
)
def test_broken_topics(search, library, tmp_path, line, words):
    line = line.replace("RED", str(library / "red.png"))
    (tmp_path / "topics.jsonl").write_text(line, encoding="utf-8")
    answer = search("--topics", "topics.jsonl", "--run", "my.run")
    assert (answer.code, words in answer.err) == (1, True), answer.err
    assert not (tmp_path / "my.run").exists()


def test_a_contact_sheet(search, tmp_path):
    assert search("cup", "--sheet", "hits.png").code == 0
    assert (tmp_path / "hits.png").stat().st_size > 1000


def test_nothing_here(search):
    for words in ("zebra", "чашка", "the of and"):
        answer = search(words)
        assert (answer.code, answer.out.startswith("Nothing found")) == (0, True)
        assert search(words, "--json").json == []
    assert "No video mentions 'zebra'" in search("zebra").err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say what to look for"),
        ([""], "query is empty"),
        (["  "], "query is empty"),
        (["--image", "none.png"], "does not exist"),
        (["--image", "junk.png"], "not a PNG or JPEG"),
        (["cup", "--region", "1,2,3,4"], "part of one picture"),
        (["--image", "RED", "--region", "1,2,3"], "x,y,width,height"),
        (["--image", "RED", "--region", "1,2,0,3"], "above 0"),
        (["--image", "RED", "--region", "nan,0,5,5"], "finite numbers"),
        (["--image", "RED", "--region", "900,900,9,9"], "outside the picture"),
        (["--like", "kitchen"], "VIDEO@TIME"),
        (["--like", "ghost@1"], "no video 'ghost'"),
        (["--like", "kitchen@99"], "nothing at 99"),
        (["cup", "--by", "magic"], "--by should be 'auto', 'said' or 'meaning'"),
        (["cup", "--by", "meaning"], "wordsight learn"),
        (["cup", "-w", "nowhere"], "no learned lexicon"),
        (["--queries", "none"], "--run"),
    ],
)
def test_a_clear_word_for_what_cannot_be(search, library, tmp_path, arguments, words):
    (tmp_path / "junk.png").write_bytes(b"not a picture")
    answer = search(*(library / "red.png" if a == "RED" else a for a in arguments))
    assert answer.code == 1
    assert words in answer.err
    assert "should not have happened" not in answer.err


@pytest.mark.parametrize("content", ["only-an-id\n", "1 a\n1 b\n", "\n"])
def test_broken_queries(search, tmp_path, content):
    (tmp_path / "topics").write_text(content)
    answer = search("--queries", "topics", "--run", "r")
    assert (answer.code, "expected" in answer.err) == (1, True)


def test_an_empty_library(run):
    run("init")
    assert "no video" in run("search", "cup").err


@pytest.mark.slow
def test_the_index_follows_the_library(run, footage, tmp_path):
    run("add", footage, "--sentence", "a red square", "-j", 1)
    report = run("index", "--json").json
    assert len(report["added"]) == 1
    assert len(run("index", "--json").json["unchanged"]) == 1
    assert run("search", "squares", "--json").json
    video = run("list", "--json").json[0]["id"]
    run("remove", video)
    run("add", write_film(tmp_path / "new.mp4", (9, 9, 9), (90, 90, 9)), "-s", "a dark one")
    assert run("search", "squares", "--json").json == []  # updated without being told
    assert run("search", "dark", "--json").json[0]["video_id"].startswith("new")
    assert "start over" in run("index", "--language", "german").err
    assert run("verify").code == 0
    # A damaged note is made again.
    (tmp_path / "wordsight-library" / "search-index" / "library-stamp.json").write_text("{")
    assert run("search", "dark", "--json").json


def test_the_words_of_another_language(run, footage):
    run("add", footage, "--sentence", "Die roten Quadrate", "-j", 1)
    assert run("index", "--language", "german").code == 0
    assert run("search", "rotes Quadrat", "--json").json
    assert "no stemmer" in run("index", "--language", "klingon", "--index", "other").err


def test_an_index_elsewhere(run, footage, tmp_path):
    run("add", footage, "--sentence", "a red square", "-j", 1)
    assert run("search", "square", "--index", "elsewhere", "--json").json
    assert (tmp_path / "elsewhere").is_dir()
    assert not (tmp_path / "wordsight-library" / "search-index").exists()


def test_means_have_intervals_and_documents_that_are_nowhere_are_named(run, tmp_path):
    (tmp_path / "r").write_text("1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 x\n2 Q0 a 1 1.0 x\n")
    (tmp_path / "q").write_text("1 0 a 1\n2 0 c 1\n")
    answer = run("evaluate", "r", "q", "AP", "NumRet", "--json")
    assert list(answer.json["intervals"]) == ["AP"]
    low, high = answer.json["intervals"]["AP"]
    assert 0 <= low < answer.json["means"]["AP"] == 0.5 < high <= 1
    told = run("evaluate", "r", "q")
    assert "1 of 2 relevant documents are nowhere in the run, such as c" in told.err
    assert "95 % interval" in told.out
    (tmp_path / "q").write_text("1 0 x.jpg 1\n")
    assert "the judgements name them like x.jpg, the run like a" in run("evaluate", "r", "q").err


def test_broken_judgements(run, tmp_path):
    (tmp_path / "r").write_text("q Q0 d 1 1.0 x\n")
    (tmp_path / "q").write_text("q d\n")
    answer = run("evaluate", "r", "q", "--json")
    assert answer.code == 1
    assert "line 1" in json.loads(answer.out)["error"]["message"]


@pytest.fixture
def wordless(run, tmp_path):
    """A film nobody described, of a person who walks up to a backpack, and words to read it."""
    from wordsight.meaning import hand_lexicon

    lines = ["frame,id,label,score,x1,y1,x2,y2"]
    with VideoWriter(tmp_path / "walk.mp4", (640, 480), frame_rate=20) as writer:
        for n in range(40):
            x = 60 + 320 * min(max((n / 40 - 0.125) / 0.75, 0), 1)
            lines += [
                f"{n},0,person,1,{x - 25},220,{x + 25},380",
                f"{n},1,backpack,1,405,325,435,355",
            ]
            writer.write(np.full((480, 640, 3), 120 + n % 2, np.uint8))
    (tmp_path / "walk.boxes.csv").write_text("\n".join(lines) + "\n")
    run("add", "walk.mp4", "-j", 1)
    # Scores are log probabilities of truth; what is likelier than one in seven is taken as true.
    replace(hand_lexicon(("person", "backpack")), threshold=-2.0).save(tmp_path / "words")
    return "words"


@pytest.mark.slow
def test_films_without_words_are_described_and_found(run, wordless):
    assert run("search", "backpacks", "--json").json == []
    described = run("index", "--describe", "-w", wordless)
    assert described.code == 0
    hits = run("search", "backpacks", "--json").json
    assert hits[0]["video_id"].startswith("walk")
    assert "approached" in hits[0]["said"]
    # The description stays when nothing but the library is asked again.
    assert len(run("index", "--json").json["unchanged"]) == 1


@pytest.mark.slow
def test_a_sentence_is_judged_by_what_its_words_mean(run, wordless):
    true = run("search", "The person approached the backpack.", "-w", wordless, "--json").json
    assert (true[0]["by"], true[0]["holds"]) == (["meaning"], True)
    assert [word for word, _ in true[0]["evidence"]][1].startswith("approached")
    false = run("search", "The person put down the backpack.", "-w", wordless)
    assert false.out.startswith("Nothing found")
    unread = run("search", "The zebra approached.", "-w", wordless)
    assert "cannot read this" in unread.err
    run("index", "--describe", "-w", wordless)
    both = run("search", "The person approached the backpack.", "-w", wordless, "--json").json
    assert both[0]["by"] == ["meaning", "said"]


def test_a_device_gives_the_same_answer_and_one_that_is_not_there_is_said(
    search, run, library, tmp_path
):
    wanted = search("--image", library / "red.png", "--json").json
    missing = search("--image", library / "red.png", "--device", "cuda:93", "--json")
    assert missing.json == wanted
    assert "cuda:93" in missing.err and "processor does the work" in missing.err
    told = run("index", "--device", "cuda:93", "--index", tmp_path / "index", "--json")
    assert "processor does the work" in told.err and len(told.json["added"]) == 2
    pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")
    there = search("--image", library / "red.png", "--device", "torch-cpu", "--json")
    assert there.json == wanted and not there.err
