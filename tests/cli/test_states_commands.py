"""``wordsight states``: from boxes and labels to rules, states, events and explanations."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from wordsight.perception import write_boxes
from wordsight.records import Clip, Detections
from wordsight.states import StateModel, parse_rules
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.state_inputs import labels_of, read_clips

VOCABULARY = "predicate moves(thing)\n"
RULES = "2: speed(X) >= 20 -> moves(X)\n1: moves(X) -> false\n"
OWN = ("--rules", "mine.rules", "--vocabulary", "words.txt")
EVENTS = "START(x) = [not moves(x)] ; [moves(x)]\n"


def cups(starts, *, ids=True, frames=40, labels=("cup",)):
    """Things that rest and begin to move, each at its own frame; ten frames a second."""
    boxes = np.zeros((frames, len(starts), 4))
    for k, start in enumerate(starts):
        shift = 6.0 * np.clip(np.arange(frames) - start, 0, None)
        boxes[:, k] = [20, 40 + 60 * k, 40, 60 + 60 * k]
        boxes[:, k, [0, 2]] += shift[:, None]
    numbers = np.broadcast_to(np.arange(len(starts)), boxes.shape[:2])
    return Detections(
        times=np.arange(frames) / 10,
        boxes=boxes,
        scores=np.ones(boxes.shape[:2]),
        labels=(numbers % len(labels)).astype(np.int32),
        mask=np.ones(boxes.shape[:2], dtype=bool),
        label_names=labels,
        frame_size=(320, 240),
        ids=numbers.astype(np.int64) if ids else None,
    )


@pytest.fixture
def written(run, tmp_path):
    """Rules, a vocabulary, a definition and boxes in the folder where the program runs."""
    (tmp_path / "words.txt").write_text(VOCABULARY)
    (tmp_path / "mine.rules").write_text(RULES)
    (tmp_path / "mine.events").write_text(EVENTS)
    write_boxes(tmp_path / "play.csv", cups([20]))
    return ("--rules", "mine.rules", "--vocabulary", "words.txt", "--transition-cost", 1)


def test_rules_of_ones_own_give_states_files_and_a_picture(run, written, tmp_path):
    found = run("states", "infer", "play.csv", *written, "-o", "s.eaf", "--plot", "t.png", "--json")
    (row,) = found.json
    assert (row["video"], row["fact"]) == ("play", "moves(cup)")
    assert row["start"] == pytest.approx(2.0, abs=0.2)
    assert "moves(cup)" in (tmp_path / "s.eaf").read_text()
    assert (tmp_path / "t.png").stat().st_size > 5000
    again = run("states", "infer", "play.csv", *written, "--plot", "t.png")
    assert (again.code, "--force" in again.err) == (1, True)
    assert "moves(cup)" in run("states", "infer", "play.csv", *written).out


def test_events_of_ones_own(run, written):
    (event,) = run(
        "states", "events", "play.csv", *written, "--events", "mine.events", "--json"
    ).json
    assert (event["name"], event["arguments"]) == ("START", ["cup"])
    refused = run("states", "events", "play.csv", *written)
    assert refused.code == 1
    assert "contacts" in refused.err  # Leonard's events need predicates that are not declared


def test_why(run, written):
    found = run("states", "explain", "play.csv", "--at", 3, *written, "--json").json
    assert found["facts"] == ["moves(cup)"]
    assert [use["cost"] for use in found["violated"]] == [1.0]
    assert found["kept"][0]["text"].startswith("speed(cup) >= 20 [60]")
    assert "broken" in run("states", "explain", "play.csv", "--at", 3, *written).out
    assert "is outside it" in run("states", "explain", "play.csv", "--at", 99, *written).err


def test_a_clip_and_boxes_without_identities(run, written, tmp_path):
    Clip("clip", 0.0, 4.0, cups([10])).save(tmp_path / "c.npz")
    write_boxes(tmp_path / "loose.csv", cups([10], ids=False))
    assert run("states", "infer", "c.npz", *written, "--json").json[0]["video"] == "clip"
    loose = run("states", "infer", "loose.csv", *written)
    assert (loose.code, "tracked 1 things" in loose.err) == (0, True)


def test_labels_call_boxes_by_their_film(tmp_path):
    told = {"b.mp4": [1], "a": [2], "a.mp4": [3], "c.avi": [4]}
    seen = [SimpleNamespace(video_id=name) for name in ("a", "b", "c")]
    assert labels_of(seen, told, Path("labels.csv"), str(tmp_path / "no library")) == [
        [2],
        [1],
        [4],
    ]
    write_boxes(tmp_path / "film.boxes.csv", cups([20]))
    (clip,) = read_clips([str(tmp_path / "film.boxes.csv")], "none", RecordingReporter())
    assert clip.video_id == "film"


@pytest.fixture
def labelled(run, tmp_path):
    """Eight plays with labels."""
    lines = ["video,start,end,fact"]
    for number in range(8):
        starts = [12 + number, 30 - number]
        write_boxes(tmp_path / f"play{number}.csv", cups(starts, labels=("cup", "jar")))
        names = ("cup", "jar")
        lines += [
            f"play{number},{s / 10},4.0,moves({n})" for n, s in zip(names, starts, strict=True)
        ]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    return [f"play{number}.csv" for number in range(8)]


def test_learning_reading_and_using_rules(run, labelled):
    kinds = ("--kind", "cup,jar=vessel")
    made = run("states", "learn", *labelled[:6], "--labels", "labels.csv", *kinds, "--json")
    assert made.code == 0, made.err
    assert made.json["training_sequences_right"] == 1.0
    assert "labels.csv also labels play6, play7: not among the inputs" in made.err
    assert "moves(" in run("states", "rules", "--strongest", 3).out
    rows = run("states", "infer", *labelled[6:], "--json").json
    assert {row["fact"] for row in rows} == {"moves(cup)", "moves(jar)"}
    assert rows[0]["start"] == pytest.approx(1.8, abs=0.25)
    again = run("states", "learn", *labelled, "--labels", "labels.csv")
    assert (again.code, "--force" in again.err) == (1, True)


def test_weights_of_rules_of_ones_own_are_learned(run, labelled, tmp_path):
    (tmp_path / "words.txt").write_text(VOCABULARY)
    (tmp_path / "weak.rules").write_text("0.5: speed(X) >= 20 -> moves(X)\n1: moves(X) -> false\n")
    own = ("--rules", "weak.rules", "--vocabulary", "words.txt")
    assert run("states", "infer", labelled[0], *own, "--json").json == []  # nothing ever moves
    made = run("states", "learn", *labelled[:6], "--labels", "labels.csv", *own, "--json")
    assert made.code == 0, made.err
    assert made.json["training_sequences_right"] > 0.8  # none with the weights it began with
    rules = parse_rules("\n".join(run("states", "rules", "--json").json["rules"]))
    assert [str(rule).split(": ")[1] for rule in rules] == [
        "speed(X) >= 20 -> moves(X)",
        "moves(X) -> false",
    ]
    assert rules[0].weight > rules[1].weight > 0
    rows = run("states", "infer", *labelled[6:], "--json").json
    assert {row["fact"] for row in rows} == {"moves(cup)", "moves(jar)"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("infer", "nothing.csv", "--model", "m"), "there is no learned model at m"),
        (("rules",), "states learn"),
        (("infer", "gone.csv", "--rules", "mine.rules", "--vocabulary", "words.txt"), "gone.csv"),
        (("infer", "play.csv", "--rules", "mine.rules"), "--vocabulary"),
        (("infer", "play.csv", "--rules", "bad.rules", "--vocabulary", "words.txt"), "column 16"),
        (("infer", "play.csv", "--rules", "loose.rules", "--vocabulary", "words.txt"), "bound"),
        (("infer", "play.csv", "--rules", "round.rules", "--vocabulary", "words.txt"), "cycle"),
        (("infer", "play.csv", "--rules", "ahead.rules", "--vocabulary", "words.txt", "--online"),
         "later moments (still_next)"),
        (("labels", "twice.csv", "-o", "none"), "again from"),
        (("labels", "turned.csv", "-o", "none"), "must start before it ends"),
        (("labels", "soon.csv", "-o", "none"), "line 2: expected seconds as start and end"),
        (("infer", "play.csv", "--rules", "minus.rules", "--vocabulary", "words.txt"), "0 or more"),
        (("infer", "play.csv", "play.csv", *("--rules", "mine.rules", "--vocabulary", "words.txt")),
         "two inputs are called 'play'"),
        (("learn", "play.csv", "--labels", "empty.csv"), "no labels"),
        (("learn", "play.csv", "--labels", "fast.csv", "--online", "--steady", "--model", "none"),
         "leave out --steady or --online"),
        (("learn", "play.csv", "--labels", "other.csv"), "says nothing of play"),
        (("learn", "play.csv", "--labels", "ghost.csv"), "ghost"),
        (("infer", "play.csv", "--kind", "c", "--rules", "mine.rules", "--vocabulary", "words.txt"),
         "LABEL=KIND"),
        (("infer", "play.csv", "--rules", "empty.rules", "--vocabulary", "words.txt"),
         "empty.rules holds no rule"),
        (("infer", "play.csv", "--rules", "binary", "--vocabulary", "words.txt"), "UTF-8"),
        (("infer", "play.csv", "--rules", "mine.rules", "--vocabulary", "binary"), "UTF-8"),
        (("infer", "play.csv", "--rules", "mine.rules", "--vocabulary", "bad.rules"),
         "bad.rules, line 1: expected 'predicate"),
        (("events", "play.csv", *OWN, "--events", "binary"), "UTF-8"),
        (("events", "play.csv", *OWN, "--events", "empty.rules"), "defines no event"),
        (("events", "play.csv", *OWN, "--events", "gone"), "there is no file gone"),
        (("learn", "play.csv", "--labels", "still.csv", "--model", "none"), "nothing could be"),
        (("learn", "play.csv", "--labels", "fast.csv", "--rules", "never.rules", "--vocabulary",
          "words.txt", "--model", "none"),
         "contradict the rule 'hard: moves(X) -> false' at 1.00 s"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(run, written, tmp_path, arguments, says):
    (tmp_path / "bad.rules").write_text("speed(X) >= 20 > moves(X)\n")
    (tmp_path / "loose.rules").write_text("speed(X) >= 20 -> moves(Y)\n")
    (tmp_path / "round.rules").write_text("moves(X) -> goes(X)\ngoes(X) -> moves(X)\n")
    (tmp_path / "ahead.rules").write_text("still_next(X) <= 1 -> moves(X)\n")
    (tmp_path / "minus.rules").write_text("-1: speed(X) >= 20 -> moves(X)\n")
    head = "video,start,end,fact\n"
    (tmp_path / "empty.csv").write_text(head)
    (tmp_path / "other.csv").write_text(f"{head}else,0,1,moves(cup)\n")
    (tmp_path / "ghost.csv").write_text(f"{head}play,0,1,moves(ghost)\n")
    (tmp_path / "twice.csv").write_text(f"{head}play,0,2,moves(cup)\nplay,1,3,moves(cup)\n")
    (tmp_path / "turned.csv").write_text(f"{head}play,2,1,moves(cup)\n")
    (tmp_path / "soon.csv").write_text(f"{head}play,soon,1,moves(cup)\n")
    (tmp_path / "still.csv").write_text(f"{head}play,,,\n")
    (tmp_path / "fast.csv").write_text(f"{head}play,1,4,moves(cup)\n")
    (tmp_path / "never.rules").write_text("speed(X) >= 20 -> moves(X)\nhard: moves(X) -> false\n")
    (tmp_path / "empty.rules").write_text("# none yet\n")
    (tmp_path / "binary").write_bytes(b"\xde\xad\xbe\xef")
    answer = run("states", *arguments)
    assert answer.code == 1
    assert says in answer.err.replace("\n", " ") or says in answer.err
    assert "Traceback" not in answer.err
    assert not (tmp_path / "none").exists()  # what was not learned leaves nothing behind


def test_a_damaged_list_of_kinds_is_told(run, labelled, tmp_path):
    assert run("states", "learn", *labelled[:4], "--labels", "labels.csv").code == 0
    (tmp_path / "states-model" / "kinds.json").write_text("{")
    answer = run("states", "infer", labelled[5])
    assert (answer.code, "--kind" in answer.err) == (1, True)


def shaken(seen, rng):
    """The same things before a camera in somebody's hand."""
    shift = np.tile(rng.normal(0, 2, (len(seen.times), 1, 2)), 2)
    return Detections(**{**vars(seen), "boxes": seen.boxes + shift})


def test_a_shaking_camera_is_steadied_if_told_so(run, written, tmp_path):
    rng = np.random.default_rng(0)
    resting = cups([20, 99, 99, 99], labels=("cup", "jar", "pot", "pan"))
    write_boxes(tmp_path / "shaken.csv", shaken(resting, rng))
    loose = run("states", "infer", "shaken.csv", *written, "--json").json
    assert {row["fact"] for row in loose} > {"moves(cup)"}  # the camera moves everything
    (row,) = run("states", "infer", "shaken.csv", *written, "--steady", "--json").json
    assert (row["fact"], row["start"]) == ("moves(cup)", pytest.approx(2.0, abs=0.3))


def test_a_model_remembers_that_the_camera_was_steadied(run, labelled, tmp_path):
    made = run("states", "learn", *labelled[:4], "--labels", "labels.csv", "--steady")
    assert made.code == 0, made.err
    assert StateModel.load(tmp_path / "states-model").notes_["steady"] is True
    told = run("states", "infer", labelled[5], "--json").json
    assert told == run("states", "infer", labelled[5], "--steady", "--json").json


def test_things_that_come_late_or_go_early_and_share_a_name(run, written, tmp_path):
    seen = cups([5, 5])
    mask = np.ones((40, 2), dtype=bool)
    mask[:25, 0], mask[20:, 1] = False, False  # one appears halfway, the other vanishes
    part = Detections(**{**vars(seen), "mask": mask})
    write_boxes(tmp_path / "part.csv", part)
    rows = run("states", "infer", "part.csv", *written, "--json").json
    spans = {row["fact"]: (row["start"], row["end"]) for row in rows}
    assert spans["moves(cup-0)"][0] == pytest.approx(2.5, abs=0.21)
    assert spans["moves(cup-1)"][1] == pytest.approx(2.0, abs=0.21)


@pytest.mark.slow
def test_videos_of_a_library(run, written, footage):
    assert run("init").code == 0
    assert run("add", footage, "-q").code == 0
    (video,) = run("list", "--json").json
    found = run("states", "infer", video["id"], *written)
    assert (found.code, "tracked" in found.err) == (0, True)
    assert "moves(look-" in found.out
    assert run("states", "infer", "no-such-video", *written).code == 1


def test_probabilities_and_unsure_answers(run, written, labelled):
    (row,) = run("states", "infer", "play.csv", *written, "--json").json
    assert 0.8 < row["probability"] <= 1 and row["answer"] == "yes"
    assert row["moments"][0][0] == row["start"]
    shown = run("states", "infer", "play.csv", *written)
    assert "log-odds" in shown.out  # nobody calibrated rules of one's own
    made = run("states", "learn", *labelled[:6], "--labels", "labels.csv", "--json")
    assert made.json["held_out_sequences_right"] > 0.5
    assert "log-odds" not in run("states", "infer", labelled[6]).out
    own = ("--events", "mine.events", "--json")
    (event, *_) = run("states", "events", labelled[6], *own).json
    assert event["probability"] > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("method", ["few", "published", "fgm"])
def test_other_methods_of_learning(run, labelled, method):
    how = ("--method", method, "--labels", "labels.csv", "--tau", 10, "--json")
    made = run("states", "learn", *labelled[:6], *how)
    assert made.code == 0, made.err
    assert 0.5 < made.json["held_out_facts_right"] <= 1.0
    rows = run("states", "infer", *labelled[6:], "--json").json
    assert {row["fact"] for row in rows} == {"moves(cup)", "moves(jar)"}


@pytest.mark.slow
def test_live_states_are_said_at_once(run, labelled):
    assert run("states", "learn", *labelled[:6], "--labels", "labels.csv", "--online").code == 0
    live = run("states", "infer", labelled[7], "--online")
    assert live.code == 0, live.err
    assert "final after" in live.out and "moves(cup)" in live.out


def test_kinds_without_rules_and_boxes_without_times(run, written, tmp_path):
    (tmp_path / "words.txt").write_text("predicate moves(cup)\n")
    write_boxes(tmp_path / "two.csv", cups([20, 10], labels=("cup", "jar")))
    told = run("states", "infer", "two.csv", *written)
    assert "jar (jar)" in told.err and "--kind" in told.err
    rows = [f"{k + 1},1,{20 + 6 * max(k - 20, 0)},40,20,20,1,-1,-1,-1" for k in range(40)]
    (tmp_path / "mot.txt").write_text("\n".join(rows) + "\n")
    (tmp_path / "words.txt").write_text("predicate moves(thing)\n")
    (row,) = run("states", "infer", "mot.txt", *written, "--rate", 10, "--json").json
    assert row["start"] == pytest.approx(2.0, abs=0.3)


def test_a_fact_that_holds_in_one_video_only_is_learned(run, labelled, tmp_path):
    """Rules of a fold in which nothing ever holds are none; the others are judged all the same."""
    (tmp_path / "one.csv").write_text("video,start,end,fact\nplay0,1.2,4,moves(cup)\nplay1,,,\n")
    made = run("states", "learn", *labelled[:2], "--labels", "one.csv", "--json")
    assert made.code == 0, made.err
    assert made.json["held_out_sequences_right"] is not None
    assert "2 videos with labels: expect rules that do not hold elsewhere" in made.err


def test_labels_that_no_rule_concludes_are_named(run, labelled, tmp_path):
    (tmp_path / "words.txt").write_text(VOCABULARY)
    (tmp_path / "mine.rules").write_text(RULES)
    with (tmp_path / "labels.csv").open("a") as lines:
        lines.write("play0,1,2,flies(cup)\n")
    made = run("states", "learn", *labelled[:4], "--labels", "labels.csv", *OWN, "--json")
    assert made.code == 0, made.err
    assert "No rule concludes flies" in made.err


def test_contacts_with_the_upper_thing_first_are_named(run, labelled, tmp_path):
    (tmp_path / "words.txt").write_text(VOCABULARY + "predicate contacts(thing, thing)\n")
    (tmp_path / "mine.rules").write_text(RULES + "1: distance(X,Y) <= 5 -> contacts(X,Y)\n")
    with (tmp_path / "labels.csv").open("a") as lines:
        lines.write('play0,1,2,"contacts(cup,jar)"\n')  # the jar is the lower one
    made = run("states", "learn", *labelled[:4], "--labels", "labels.csv", *OWN, "--json")
    assert made.code == 0, made.err
    assert "in 1 of 1 labels a is the upper one" in made.err


def test_labels_are_converted(run, written, tmp_path):
    run("states", "infer", "play.csv", *written, "-o", "facts.eaf")
    made = run("states", "labels", "facts.eaf", "-o", "labels.csv", "--json")
    assert [row["fact"] for row in made.json] == ["moves(cup)"]
    assert (tmp_path / "labels.csv").read_text().startswith("video,start,end,fact\nplay,")


def test_rules_are_learned_from_sentences_instead_of_labels(run, tmp_path):
    lines = ["video,start,end,sentence"]
    for k, start in enumerate((12, 16, 20, 24)):
        name, quiet = f"play{k}", ("plate", "cup")[k % 2]
        moved = ("cup", "plate")[k % 2]
        starts = [start, 99] if k % 2 == 0 else [99, start]
        write_boxes(tmp_path / f"{name}.csv", cups(starts, labels=("cup", "plate")))
        lines += [f"{name},0,{start / 10},Look at the {quiet}"]
        lines += [f"{name},{start / 10},4,The {moved} moved"]
    (tmp_path / "said.csv").write_text("\n".join(lines))
    films = [f"play{k}.csv" for k in range(4)]
    kinds = ("--kind", "cup,plate=item", "--method", "few", "--fact", "moves(item)")
    found = run("states", "learn", *films, "--from-sentences", "said.csv", *kinds)
    assert found.code == 0, found.err
    assert "* moved" in found.out and "look at" in found.out and "no label was seen" in found.out
    both = run("states", "learn", *films, "--from-sentences", "said.csv", "--labels", "x.csv")
    neither = run("states", "learn", *films)
    assert both.code == neither.code == 1
    assert "one of the two" in both.err and "one of the two" in neither.err
