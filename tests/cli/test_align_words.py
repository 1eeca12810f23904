"""``align --words``: words learned elsewhere say where in a video lines fit."""

import json

import numpy as np
import pytest

from wordsight.alignment import Chunk, Instructions, Line, Observed
from wordsight.alignment.models import HSMM
from wordsight.meaning import hand_lexicon
from wordsight.perception.formats import write_boxes
from wordsight.records import Detections, FrameDetections
from wordsight.video import VideoWriter
from wordsight.workflows.align_videos import sentence_fits

APPROACHED, CARRIED = "The person approached the chair.", "The person carried the chair."


def walk(turn, end=12.0, rate=6):
    """A person walks to a chair and, from ``turn`` on, back with it."""
    frames = []
    for time in np.arange(0, end, 1 / rate):
        x = 20 + 240 * time / turn if time < turn else 260 - 240 * (time - turn) / (end - turn)
        chair = 270 if time < turn else x + 10
        boxes = np.array([[x, 60, x + 40, 180], [chair, 90, chair + 40, 140]])
        frames.append(FrameDetections(float(time), boxes, np.ones(2), np.array([1, 0])))
    names = ["chair", "person"]
    return Detections.from_frames(frames, label_names=names, frame_size=(400, 240))


@pytest.fixture
def words(tmp_path):
    lexicon = hand_lexicon(["person", "chair"])
    lexicon.save(tmp_path / "words")
    return lexicon


def test_each_sentence_fits_when_it_happens(words):
    seen = walk(turn=4.0)
    chunks = tuple(Chunk(t, t + 0.5, frozenset({"person"})) for t in np.arange(0, 12, 0.5))
    sentences = {text: words.sentence(text) for text in (APPROACHED, CARRIED)}
    fits = sentence_fits(words, seen, sentences, Observed("film", chunks, 12.0))
    middles = np.arange(0.25, 12, 0.5)
    better = fits[APPROACHED] > fits[CARRIED]
    assert better[middles < 3].all()
    assert not better[middles > 5].any()


def test_fits_move_the_steps():
    """Where everything touched is alike, the clock decides alone, unless words say otherwise."""
    text = Instructions("t", (Line("a", 0, ("cup",)), Line("b", 1, ("cup",))))
    chunks = tuple(Chunk(t, t + 1.0, frozenset({"x"})) for t in range(20))
    early = np.where(np.arange(20) < 4, 1.0, -1.0)
    plain = Observed("film", chunks, 20.0)
    told = Observed("film", chunks, 20.0, fits={"a": early, "b": -early})
    found = [HSMM(iterations=2).fit([(text, seen)]).predict(text, seen) for seen in (plain, told)]
    assert (found[0] == 0).sum() == 10
    assert (found[1] == 0).sum() == 4


@pytest.fixture
def film(tmp_path):
    write_boxes(tmp_path / "film.csv", walk(turn=4.0), frame_rate=6)
    with VideoWriter(tmp_path / "film.mp4", (400, 240), frame_rate=6) as writer:
        for _ in range(72):
            writer.write(np.full((240, 400, 3), 90, dtype=np.uint8))
    (tmp_path / "text.txt").write_text(f"1. {APPROACHED}\n2. {CARRIED}\n")
    return tmp_path


def test_a_video_is_aligned_with_words(run, film, words):
    answer = run(
        "align", "film.mp4", "text.txt", "--boxes", "film.csv", "--words", "words", "--json"
    )
    assert answer.code == 0, answer.err
    first, second = json.loads(answer.out)["lines"]
    assert first["spans"][0]["end"] == pytest.approx(4.0, abs=1.0)
    assert second["spans"][0]["start"] == pytest.approx(4.0, abs=1.0)


@pytest.mark.parametrize(
    ("text", "folder", "message"),
    [("1. Sing.\n2. Dance.\n", "words", "can read no line"), ("1. Sing.\n", "none", "none")],
)
def test_words_that_do_not_help_are_refused(run, film, words, text, folder, message):
    (film / "text.txt").write_text(text)
    answer = run("align", "film.mp4", "text.txt", "--boxes", "film.csv", "--words", folder)
    assert answer.code != 0
    assert message in answer.err
    assert "Traceback" not in answer.err
