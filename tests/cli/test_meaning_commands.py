"""Words from the command line: learn from a small library, then use and refuse them."""

import pytest

from wordsight.language import Lexicon, default_lexicon, write_lexicon
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon
from wordsight.states import StateModel, parse_rules, parse_vocabulary
from wordsight.video import VideoReader, VideoWriter
from wordsight.worlds import street, write_world

SAID = "The person picked up the backpack."


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A library of four films, and a place for the words learned from it."""
    folder = tmp_path_factory.mktemp("meaning")
    write_world(street(4, 1, noise=0.0, frame_rate=15.0), folder / "films")
    with Library.open(folder / "library", create=True) as library:
        library.add(folder / "films", workers=1, detector="rendered")
        videos = [video.id for video in library.videos()]
    return folder, videos


@pytest.fixture(scope="module")
def long_film(learned):
    """Everything that happens in the films, slowly and one after the other: 25 seconds or so."""
    folder, _ = learned
    path = folder / "long.mp4"
    with VideoWriter(path, (640, 480), frame_rate=10) as writer:
        for film in sorted((folder / "films").glob("*.mp4")):
            with VideoReader(film) as reader:
                for frame in reader.frames():
                    writer.write(frame.image)
    with Library.open(folder / "library") as library:
        library.add(path, workers=1, detector="rendered", rate=6.0)
        return library.resolve("long")


@pytest.fixture
def call(run, learned, monkeypatch):
    folder, _ = learned
    monkeypatch.setenv("WORDSIGHT_LIBRARY", str(folder / "library"))

    def with_words(command, *arguments):
        words = folder / "lexicon"
        if command != "learn" and not words.exists():
            made = run("learn", "--quick", "--restarts", 1, "--grammar", "street", "-w", words)
            assert made.code == 0, made.err
        return run(command, *arguments, "-w", words)

    return with_words


@pytest.mark.slow
class TestLearned:
    def test_scores_of_sentences(self, call, learned):
        found = call("score", learned[1][0], SAID, "The backpack picked up the person.", "--json")
        assert [one["text"] for one in found.json] == [SAID, "The backpack picked up the person."]
        assert all(isinstance(one["holds"], bool) for one in found.json)

    def test_who_is_who_with_an_overlay(self, call, learned, tmp_path):
        found = call("track", learned[1][0], SAID, "-o", "who.mp4", "--json").json
        assert [track["label"] for track in found["tracks"]] == ["person", "backpack"]
        assert len(found["words"]) == 3
        assert (tmp_path / "who.mp4").stat().st_size > 1000
        again = call("track", learned[1][0], SAID, "-o", "who.mp4")
        assert (again.code, "--force" in again.err) == (1, True)

    def test_nobody_is_seen_between_two_frames(self, call, learned):
        found = call("track", learned[1][0], SAID, "--from", 1.01, "--to", 1.02)
        assert found.code == 0 and "Nothing that the sentence mentions is seen" in found.err

    def test_descriptions_explanations_and_search(self, call, learned):
        video = learned[1][0]
        assert len(call("describe", video, "-k", 2, "--json").json) <= 2
        assert call("explain", video, SAID, "--json").json["weakest"]
        hits = call("search", SAID, "--all", "-k", 3, "--json").json
        assert len(hits) == 3
        assert [hit["score"] for hit in hits] == sorted((h["score"] for h in hits), reverse=True)
        assert "evidence per word" in call("search", SAID, "--all").out

    def test_the_dictionary_opens(self, call):
        assert "state 1" in call("lexicon", "picked-up").out
        assert call("lexicon", "Picked up").out == call("lexicon", "picked-up").out
        values = call("lexicon", "--json").json["person"]
        for slot, table in zip(values["slots"], values["emissions"], strict=True):
            assert len(slot["bins"]) == len(slot["usual"]) == len(table[0])

    def test_a_word_is_drawn_once(self, call, tmp_path):
        assert call("lexicon", "picked-up", "--plot", "word.png").code == 0
        assert (tmp_path / "word.png").stat().st_size > 3000
        again = call("lexicon", "picked-up", "--plot", "word.png")
        assert (again.code, "--force" in again.err) == (1, True)
        assert "name the word to draw" in call("lexicon", "--plot", "all.png").err

    def test_a_lexicon_is_not_replaced_unless_told(self, call):
        call("lexicon")
        answer = call("learn")
        assert (answer.code, "exists already" in answer.err) == (1, True)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["score", "ghost", SAID], "no video 'ghost'"),  # a video that is not there
            (["score", "street-000", "The person ate."], "ate"),  # a word nobody knows
            (["lexicon", "picked"], "picked-up"),  # nearly a word
            (["describe", "street-000", "--from", 99], "nothing from"),  # after the end
        ],
    )
    def test_a_clear_word_for_what_cannot_be(self, call, arguments, words):
        answer = call(*arguments)
        assert answer.code == 1
        assert words in answer.err
        assert "should not have happened" not in answer.err


@pytest.mark.slow
class TestLongFilms:
    def test_are_asked_about_where_the_sentence_fits_best(self, call, long_film, tmp_path):
        found = call("track", long_film, SAID, "-o", "who.mp4", "--json")
        assert "fits best" in found.err and "--whole" in found.err
        start, end = found.json["start"], found.json["end"]
        assert 0 < end - start <= 4.001 and all(len(one["times"]) for one in found.json["tracks"])
        with VideoReader(tmp_path / "who.mp4") as drawn:
            assert drawn.info.duration == pytest.approx(end - start, abs=0.2)
        hits = call("search", SAID, "--all", "-k", 20, "--by", "meaning", "--json").json
        best = next(hit for hit in hits if hit["video_id"] == long_film)
        # A hit is cut to the event; other verbs look at the whole moment that was judged.
        assert start <= best["start"] < best["end"] <= end
        assert call("explain", long_film, SAID, "--json").json["start"] == start
        scores = call("score", long_film, SAID, "The person approached the chair.", "--json").json
        assert scores[0]["start"] == start and all(s["end"] - s["start"] <= 4.001 for s in scores)
        assert "to" in call("score", long_film, SAID).out.splitlines()[1].split()

    def test_are_described_moment_by_moment(self, call, long_film):
        told = call("describe", long_film, "-k", 3, "--to", 17, "--json").json
        # Moments of which no sentence is judged true are left out.
        assert 2 <= len(told) <= 3 and len({one["start"] for one in told}) == len(told)

    def test_are_one_event_for_who_wants_that(self, call, long_film):
        whole = call("track", long_film, SAID, "--whole", "--json")
        assert whole.json["end"] > 20 and "fits best" not in whole.err
        part = call("score", long_film, SAID, "--from", 1, "--to", 5, "--json")
        assert (part.json[0]["start"], part.json[0]["end"]) == (1, 5) and not part.err
        assert all(d["end"] > 20 for d in call("describe", long_film, "--whole", "--json").json)


@pytest.mark.slow
def test_words_are_learned_as_asked(run, learned, monkeypatch):
    monkeypatch.setenv("WORDSIGHT_LIBRARY", str(learned[0] / "library"))
    quick = ("--quick", "--restarts", 1, "-j", 1, "--grammar", "street", "--json")
    changed = ("--phases", 3, "--any-order", "--two-phase", "--senses")
    made = run("learn", *changed, "-w", "lexicon", *quick)
    assert made.code == 0, made.err
    assert "two senses" in made.err
    notes = LearnedLexicon.load("lexicon").notes
    asked = ("left_to_right=False", "two_phase=True", "phases=3", "senses=True")
    assert all(one in notes["settings"] for one in asked) and notes["second_senses"]
    verb = run("lexicon", "picked-up", "-w", "lexicon", "--json").json["picked-up"]
    assert len(verb["transition"]) == 3 and min(map(min, verb["transition"])) > 0


@pytest.mark.slow
def test_words_look_at_states_and_unknown_words_are_inferred(run, learned, tmp_path, monkeypatch):
    folder, videos = learned
    monkeypatch.setenv("WORDSIGHT_LIBRARY", str(folder / "library"))
    words = parse_vocabulary("predicate moves(thing)\n")
    rules = parse_rules("2: speed(X) >= 20 -> moves(X)\n1: moves(X) -> false\n")
    StateModel(rules, 5.0, words).save(tmp_path / "rules")
    known = Lexicon(tuple(entry for entry in default_lexicon() if entry.name != "backpack"))
    write_lexicon(tmp_path / "partly.txt", known)
    arguments = ("--quick", "--restarts", 1, "-j", 1, "--grammar", "partly.txt", "-w", "lexicon")
    made = run("learn", "--states", "rules", *arguments, "--json")
    assert made.code == 0, made.err
    assert "backpack (noun)" in made.err.replace("\n", " ")
    assert made.json["facts"] == ["moves(1)"] and "backpack" in made.json["words"]
    assert "fact:moves(1)" in run("lexicon", "picked-up", "-w", "lexicon", "--json").out
    # Everything that uses the words infers the states again, by rules kept beside them.
    (tmp_path / "rules").rename(tmp_path / "elsewhere")
    whole = run("score", videos[0], SAID, "-w", "lexicon", "--json").json[0]["score"]
    (tmp_path / "lexicon" / "states").rename(tmp_path / "taken")
    assert run("score", videos[0], SAID, "-w", "lexicon", "--json").json[0]["score"] != whole


@pytest.mark.slow
def test_clips_in_which_nothing_is_seen_are_told(run, footage, tmp_path):
    head = "frame,time,id,label,score,x1,y1,x2,y2\n"
    (tmp_path / "none.csv").write_text(head)
    rows = [f"{i},{i / 20},{k},{n},1,{9 + k * i},40,{29 + k * i},90\n"
            for i in range(40) for k, n in enumerate(("cup", "person"))]  # fmt: skip
    (tmp_path / "some.csv").write_text(head + "".join(rows))
    copy = tmp_path / "copy.mp4"
    copy.write_bytes(footage.read_bytes() + b"\0" * 8)  # another film, for the library
    for film, boxes in ((footage, "none.csv"), (copy, "some.csv")):
        added = run("add", film, "--boxes", boxes, "-s", "The person approached the cup.")
        assert added.code == 0, added.err
    made = run("learn", "--quick", "--restarts", 1, "--json")
    assert made.code == 0, made.err
    assert made.json["clips"] == 1
    assert "1 of 2 clips are left out" in made.err.replace("\n", " ")


def test_states_that_are_not_there(run, learned, monkeypatch):
    monkeypatch.setenv("WORDSIGHT_LIBRARY", str(learned[0] / "library"))
    answer = run("learn", "--states", "nowhere")
    assert (answer.code, "states learn" in answer.err.replace("\n", " ")) == (1, True)


def test_nothing_to_learn_from(run):
    run("init")
    answer = run("learn")
    assert (answer.code, "no video" in answer.err) == (1, True)


def test_no_lexicon_yet(run):
    assert "no library" in run("lexicon").err
    run("init")
    assert "wordsight learn" in run("lexicon").err
