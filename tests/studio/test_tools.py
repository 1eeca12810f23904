"""Files in, files out: converted, ranked, measured, laid out as sheets, as the commands do."""

import html
import os
import re
import threading
import time
from contextlib import suppress
from urllib.parse import parse_qsl

import cv2
import numpy as np
import pytest

from wordsight.errors import WordsightError
from wordsight.language.captions import Caption, read_captions, write_captions
from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.perception import read_boxes
from wordsight.retrieval.index.build import lock_index
from wordsight.retrieval.trec import read_run
from wordsight.studio.jobs import JobContext
from wordsight.studio.jobs.lexicon import learn_words
from wordsight.studio.jobs.questions import (
    QUERIES,
    answer_queries,
    index_library,
    search_meaning,
)
from wordsight.workflows.annotator import load_annotator
from wordsight.workflows.rule_sets import RuleBook, keep_set

BOXES = b"frame,x1,y1,x2,y2,label,score,id\n0,1,2,30,40,cup,0.9,1\n1,2,2,31,40,cup,0.8,1\n"


def place(library):
    return JobContext(str(library), library / "studio", lambda *_: None)


def converted(client, name, data, **asked):
    return client.post("/api/v1/convert", files={"source": (name, data)}, data=asked)


def test_captions_and_boxes_are_converted(client, tmp_path):
    said = [Caption(0.0, 1.5, "Take the cup."), Caption(2.0, 3.0, "Put it down.")]
    write_captions(tmp_path / "a.srt", said)
    answer = converted(client, "my film.srt", (tmp_path / "a.srt").read_bytes(), to="vtt")
    assert answer.status_code == 200 and 'filename="my film.vtt"' in str(answer.headers)
    (tmp_path / "b.vtt").write_bytes(answer.content)
    assert read_captions(tmp_path / "b.vtt") == said
    before = read_boxes_of(BOXES, tmp_path / "c.csv")
    for to, ending in {"coco": ".json", "cvat": ".xml", "mot": ".txt"}.items():
        answer = converted(client, "c.csv", BOXES, to=to, frame_rate="25")
        assert answer.status_code == 200, answer.text
        after = read_boxes_of(answer.content, tmp_path / f"d{ending}")
        assert np.allclose(after.boxes[after.mask], before.boxes[before.mask])


def read_boxes_of(data, path):
    path.write_bytes(data)
    return read_boxes(path, frame_rate=25)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data", "asked"),
    [
        ("a.srt", b"no captions", {"to": "vtt"}),  # nothing to read
        ("a.csv", b"x,y\n", {"to": "coco"}),  # not boxes
        ("a.exe", BOXES, {"to": "coco"}),  # an ending nobody reads
        ("a.csv", BOXES, {"to": "nonsense"}),
        ("a.csv", BOXES, {"to": "coco", "frame_rate": "0"}),
    ],
)
def test_what_cannot_be_converted_is_told(client, name, data, asked):
    answer = converted(client, name, data, **asked)
    assert answer.status_code == 422 and "/tmp" not in answer.text


def test_a_ranking_is_measured(client):
    run = b"q1 Q0 a 1 3.0 me\nq1 Q0 b 2 2.0 me\nq3 Q0 a 1 1.0 me\n"
    qrels = b"q1 0 a 0\nq1 0 b 1\nq2 0 a 1\n"
    files = {"run": ("my.run", run), "qrels": ("my.qrels", qrels)}
    found = client.post("/api/v1/search/evaluate", files=files, data={"measures": "RR, P@2"})
    assert found.status_code == 200, found.text
    told = found.json()
    assert told["means"] == pytest.approx({"RR": 0.25, "P@2": 0.25})  # q2 was not answered
    assert (told["queries"], told["missing"], told["unjudged"]) == (2, 1, 1)
    assert told["per_query"]["q1"]["RR"] == 0.5
    for bad in ({"measures": "nonsense"}, {"measures": " "}):
        refused = client.post("/api/v1/search/evaluate", files=files, data=bad)
        assert refused.status_code == 422
    files["run"] = ("my.run", b"nonsense\n")
    assert client.post("/api/v1/search/evaluate", files=files).status_code == 422


@pytest.mark.slow
@pytest.mark.parametrize("what", ["", "/sheet", "/run"])
@pytest.mark.parametrize("name, wrong", [("prune", 0), ("exact", "perhaps"), ("weight", 2)])
def test_what_is_taken_away_is_asked_for_as_the_search_was(indexed, what, name, wrong):
    asked = {"text": "person", name: wrong}
    refused = indexed.get(f"/api/v1/search{what}", params=asked)
    assert refused.status_code == 422 and refused.json()["detail"][0]["loc"] == ["query", name]


@pytest.mark.slow
def test_the_links_to_what_was_found_hold_every_choice(indexed):
    asked = {"text": "person", "by": "said", "top": 3, "exact": "true", "prune": 5, "weight": 0.5}
    shown = indexed.post("/parts/search", data=asked).text
    link = html.unescape(re.search(r'href="/api/v1/search/run[?]([^"]*)"', shown)[1])
    assert dict(parse_qsl(link)) == {**{k: str(v) for k, v in asked.items()}, "exact": "True"}


@pytest.mark.slow
def test_what_was_found_is_taken_away_as_a_sheet_and_a_run(indexed, tmp_path):
    asked = {"text": "person", "by": "said", "top": 3}
    shown = indexed.post("/parts/search", data=asked).text
    assert "/api/v1/search/sheet?text=person" in shown
    sheet = indexed.get("/api/v1/search/sheet", params=asked)
    picture = cv2.imdecode(np.frombuffer(sheet.content, np.uint8), cv2.IMREAD_COLOR)
    assert sheet.headers["content-type"] == "image/png" and picture.shape[1] > 600
    (tmp_path / "a.run").write_text(indexed.get("/api/v1/search/run", params=asked).text)
    ranked = read_run(tmp_path / "a.run")["person"]
    found = indexed.get("/api/v1/search", params=asked).json()["moments"]
    assert sorted(ranked) == sorted(one["shot"] for one in found)
    assert indexed.get("/api/v1/search/sheet", params={"text": "zebra"}).status_code == 422


def test_several_pictures_are_looked_for_at_once(indexed):
    videos = indexed.get("/api/v1/videos").json()["videos"][:2]
    frames = [indexed.get(f"/api/v1/videos/{v['id']}/frame?time=1").content for v in videos]
    files = [("image", (f"{n}.jpg", data, "image/jpeg")) for n, data in enumerate(frames)]
    found = indexed.post("/api/v1/search", files=files, data={"top": "2"}).json()
    assert {one["video_id"] for one in found["moments"]} == {one["id"] for one in videos}
    assert indexed.post("/api/v1/search", files=files * 5).status_code == 422  # ten are too many


@pytest.mark.slow
def test_many_queries_are_ranked(indexed, library, tmp_path):
    files = {"queries": ("asked.txt", b"q1 person\nq2 the chair\n")}
    begun = indexed.post("/api/v1/search/queries", files=files, data={"top": "5"})
    assert begun.status_code == 202 and "2 queries" in begun.json()["title"]
    kept = next((library / "studio" / QUERIES).glob("*/asked.txt"))
    asked = {"name": kept.parent.name, "file": kept.name, "top": 5, "engine": "serial"}
    done = answer_queries(asked, place(library))
    (tmp_path / "a.run").write_bytes(indexed.get(f"/api/v1/made/{done['made']}").content)
    assert set(read_run(tmp_path / "a.run")) == {"q1", "q2"}
    assert "asked.run" in indexed.get("/parts/made").text
    bad = {"queries": ("asked.txt", b"onlyanid\n")}
    answer = indexed.post("/api/v1/search/queries", files=bad)
    assert answer.status_code == 422 and "line 1" in answer.text and "/" not in answer.text
    assert indexed.get("/tools").status_code == 200


@pytest.mark.slow
def test_the_index_is_made_anew_for_a_language(indexed, library):
    report = index_library({"language": "german", "device": "cuda"}, place(library))
    assert report["added"] == 4 and not report["failed"]
    kept = (library / "search-index" / "index.json").read_text()
    assert "german" in kept
    again = index_library({"forget": True}, place(library))
    assert again["unchanged"] == 4
    for bad in ({"language": "../x"}, {"engine": "tcp://x:1"}, {"device": "tpu"}):
        assert indexed.post("/api/v1/search/index", json=bad).status_code == 422


@pytest.mark.slow
def test_jobs_search_by_meaning_and_wait_while_another_one_indexes(indexed, library):
    with Library.open(library) as opened:
        labels = opened.detections(opened.videos()[0].id).label_names
        said = opened.sentences()[0]
        opened.say(said.video_id, "The person waved.")  # the index is behind
    hand_lexicon(labels).save(library / "lexicon")
    held = lock_index(library / "search-index")
    try:
        asked = {"text": said.text, "by": "meaning", "everything": True}
        assert search_meaning(asked, place(library))["found"]
        threading.Timer(0.3, os.close, [held]).start()
        begun = time.monotonic()
        assert index_library({}, place(library))["added"] == 1
        assert time.monotonic() - begun > 0.3
    finally:
        with suppress(OSError):
            os.close(held)


@pytest.mark.slow
def test_learning_takes_a_grammar_an_engine_and_a_device(client, library):
    from wordsight.language import default_lexicon
    from wordsight.language.lexicon_file import write_lexicon

    write_lexicon(library / "grammar.lexicon", default_lexicon())
    text = (library / "grammar.lexicon").read_text()
    asked = {"grammar": text, "restarts": 1, "quick": True, "engine": "serial", "threads": 2}
    done = learn_words({**asked, "device": "cuda", "prune": 6}, place(library))
    assert "person" in done["words"] and done["lost"] >= 0
    bads = [{"grammar": "nonsense ("}, {"engine": "elsewhere"}, {"device": "tpu"}]
    bads += [{"states": "f" * 12}, {"prune": 0}]
    for bad in bads:
        assert client.post("/api/v1/lexicon/learn", json=bad).status_code == 422
    with pytest.raises(WordsightError):
        learn_words({"grammar": "nonsense ("}, place(library))


@pytest.mark.slow
def test_words_look_at_facts_of_a_set_of_rules(client, library):
    text = "2: speed(X) >= 20 -> moves(X)\n1: moves(X) -> false\n"
    book = RuleBook("predicate moves(thing)\n", text, "", 1.0, ())
    kept = keep_set(library / "studio", "Movers", book, learned={"films": 1}, model=book.model())
    assert f'value="{kept.name}"' in client.get("/lexicon").text
    learn_words({"states": kept.name, "restarts": 1, "quick": True}, place(library))
    assert load_annotator(library / "lexicon").stated is not None
    words = client.get("/api/v1/lexicon/words/approached").json()
    assert any("moves" in table["feature"] for table in words["features"])


@pytest.mark.slow
def test_a_word_is_drawn(client, library):
    with Library.open(library) as opened:
        labels = opened.detections(opened.videos()[0].id).label_names
    hand_lexicon(labels).save(library / "lexicon")
    for ending, start in {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}.items():
        url = "/api/v1/lexicon/words/approached/figure"
        assert client.get(url, params={"ending": ending}).content.startswith(start)
    assert client.get("/api/v1/lexicon/words/flew/figure").status_code == 422
