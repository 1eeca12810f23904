"""`wordsight evaluate words` on input that cannot be meant, and what it prints."""

import json
from dataclasses import replace

import pytest

import wordsight
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon, hand_lexicon
from wordsight.worlds import street, write_world


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A library of four films, and words written by hand."""
    folder = tmp_path_factory.mktemp("judged")
    write_world(street(4, 3, noise=0.0, frame_rate=10.0), folder / "films")
    wordsight.add(folder / "library", folder / "films", detector="rendered", workers=1)
    with Library.open(folder / "library") as library:
        labels = library.detections(library.videos()[0].id).label_names
        videos = [one.id for one in library.videos()]
    words = hand_lexicon(labels)
    words.save(folder / "words")
    replace(words, notes={"learned_from": videos}).save(folder / "known")
    replace(words, notes={"learned_from": videos[:1]}).save(folder / "partly")
    return folder


@pytest.fixture
def judge(run, place):
    def call(*arguments):
        return run("evaluate", "words", "-L", place / "library", *arguments)

    return call


@pytest.mark.slow
def test_figures_words_and_confusions_are_printed(judge, place):
    answer = judge("-w", place / "words")
    assert answer.code == 0
    for text in ("right sentence chosen", "F1", "blind", "chance", "approached", "Confusions"):
        assert text in answer.out, text


@pytest.mark.slow
def test_videos_learned_from_are_left_out(judge, place):
    answer = judge("-w", place / "partly", "--json")
    assert answer.code == 0 and "learned from their videos" in answer.err
    assert answer.json["held_out"]["videos"] == 3
    answer = judge("-w", place / "known")
    assert answer.code == 1 and "Leave --words out" in answer.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "line 1"),
        ('{"video": "street-000.mp4"}', "candidates"),
        ('{"video": "street-000.mp4", "candidates": "one"}', "list of sentences"),
        ('{"video": "another.mp4", "candidates": ["The person ran."]}', "no line of"),
        ("[1, 2]", "line 1"),
    ],
)
def test_files_of_candidates_that_cannot_be_meant(judge, place, tmp_path, text, message):
    (tmp_path / "asked.jsonl").write_text(text)
    answer = judge("-w", place / "words", "--candidates", tmp_path / "asked.jsonl")
    assert answer.code == 1 and message in answer.err
    assert "Traceback" not in answer.err


def test_what_is_missing_is_said(judge, place):
    assert "no learned lexicon" in judge("-w", place / "none").err
    assert "cannot be read" in judge("-w", place / "words", "--candidates", "none.jsonl").err


def test_given_words_are_not_learned_again(judge, place):
    how = ("--method", "ml", "--states-per-word", 3, "--grammar", "none.lexicon")
    answer = judge("-w", place / "words", *how)
    assert answer.code == 1
    assert "--grammar, --method, --states-per-word would change" in " ".join(answer.err.split())


def test_a_ranking_need_not_be_named(run, tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2.0 me\n")
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")
    short = run("evaluate", tmp_path / "a.run", tmp_path / "a.qrels", "AP", "--json")
    full = run("evaluate", "ranking", tmp_path / "a.run", tmp_path / "a.qrels", "AP", "--json")
    assert short.code == 0 and short.json == full.json


@pytest.mark.slow
def test_the_quality_of_words_is_kept_and_shown(run, place, tmp_path):
    how = ("--quick", "--restarts", 1, "--check", "none", "--states-per-word", 3)
    answer = run("learn", "-L", place / "library", "-w", tmp_path / "new", *how)
    assert answer.code == 0 and "cannot be judged: it was not measured" in answer.out
    assert "said of" in run("lexicon", "person", "-w", tmp_path / "new").out
    assert "How good the words are" in (tmp_path / "new" / "card.md").read_text()
    model = json.loads((tmp_path / "new" / "model.json").read_text())
    assert "quality" in model["notes"]
    assert LearnedLexicon.load(tmp_path / "new")["approached"].num_states == 3
    shown = run("lexicon", "person", "-w", tmp_path / "new", "--json").json["person"]
    assert shown["quality"]["clips"] == 4


@pytest.mark.parametrize(
    ("options", "uniform", "method"),
    [
        (("--method", "published"), True, None),
        (("--method", "growth"), False, "growth"),
        (("--method", "ml", "--noise", 0.3, "--features", "paper"), False, None),
    ],
)
def test_methods_are_reachable(run, place, tmp_path, monkeypatch, options, uniform, method):
    seen = []

    def fit(learner, *_, **__):
        seen.append(learner.settings)
        raise wordsight.WordsightError("enough")

    monkeypatch.setattr("wordsight.meaning.WordLearner.fit", fit)
    run("learn", "-L", place / "library", "-w", tmp_path / "new", *options)
    assert (seen[0].background == "uniform") is uniform
    assert seen[0].discriminative == method
    if "--noise" in options:
        assert (seen[0].noise, seen[0].features) == (0.3, "paper")
    answer = run("learn", "-L", place / "library", "-w", tmp_path / "new", "--quick", *options[:2])
    assert ("give --quick or --method" in answer.err) is (options[1] != "ml")
