"""States and events in files, and labels read back."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.states import StateError, StateSequence, parse_fact
from wordsight.states.events.find import find_events
from wordsight.states.formats import (
    write_events,
    write_labels,
    write_states,
)
from wordsight.states.labels import (
    LabelledTracks,
    check_directions,
    read_intervals,
    sequence_from_intervals,
)
from wordsight.states.rules.facts import FactInterval
from wordsight.worlds.tabletop import tabletop

FACTS = tuple(parse_fact(text) for text in ("attached(h,a)", "contacts(b,a)", "on(the cup)"))
VALUES = np.array([[0, 1, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 0]], dtype=bool)
SEQUENCE = StateSequence("film", np.arange(5) / 3, FACTS, VALUES)
EMPTY = StateSequence("nothing", np.arange(3) / 3, (), np.zeros((3, 0), bool))


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_states_written_are_read_back(tmp_path, ending):
    path = tmp_path / f"states.{ending}"
    write_states(path, [SEQUENCE, EMPTY])
    told = read_intervals(path)
    again = sequence_from_intervals("film", SEQUENCE.times, told["film"])
    assert again.states() == SEQUENCE.states()
    assert np.array_equal(again.table(FACTS), SEQUENCE.table(FACTS))
    assert told["nothing"] == []  # a video in which nothing holds is told too


def test_eaf_has_a_tier_per_fact_with_times_in_order(tmp_path):
    write_states(tmp_path / "s.eaf", [SEQUENCE])
    root = ElementTree.parse(tmp_path / "s.eaf").getroot()
    slots = {s.get("TIME_SLOT_ID"): int(s.get("TIME_VALUE")) for s in root.iter("TIME_SLOT")}
    assert list(slots.values()) == sorted(slots.values())
    tiers = {tier.get("TIER_ID"): tier for tier in root.iter("TIER")}
    assert set(tiers) == {"attached(h,a)", "contacts(b,a)"}
    (held,) = tiers["attached(h,a)"].iter("ALIGNABLE_ANNOTATION")
    assert slots[held.get("TIME_SLOT_REF1")] == 667
    assert slots[held.get("TIME_SLOT_REF2")] == 1667
    assert {t.get("LINGUISTIC_TYPE_REF") for t in tiers.values()} == {
        kind.get("LINGUISTIC_TYPE_ID") for kind in root.iter("LINGUISTIC_TYPE")
    }


def test_events_are_written_in_all_formats(tmp_path):
    events = find_events(SEQUENCE)
    for ending in ("csv", "json", "eaf"):
        write_events(tmp_path / f"e.{ending}", events)
        assert "PICKUP" in (tmp_path / f"e.{ending}").read_text()


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(FormatError, match="one video"):
        write_states(tmp_path / "s.eaf", [SEQUENCE, EMPTY])
    with pytest.raises(FormatError, match=r"\.json, \.csv or \.eaf"):
        write_states(tmp_path / "s.docx", [SEQUENCE])
    write_states(tmp_path / "s.csv", [SEQUENCE])
    with pytest.raises(FileExistsError):
        write_states(tmp_path / "s.csv", [SEQUENCE])


def test_a_fact_without_quotes_is_put_together_again(tmp_path):
    (tmp_path / "a.csv").write_text("video,start,end,fact\nfilm,0,1,on(a,b)\nother,,,\n")
    told = read_intervals(tmp_path / "a.csv")
    assert [str(row.fact) for row in told["film"]] == ["on(a,b)"]
    assert told["other"] == []


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "video,start,end\nfilm,0,1\n", "fact is missing"),
        ("a.csv", "video,start,end,fact\nfilm,0,1,nonsense\n", "line 2: expected a fact"),
        ("a.csv", "video,start,end,fact\nfilm,soon,1,on(a)\n", "line 2"),
        ("a.csv", "video,start,end,fact\nfilm,2,1,on(a)\n", "must start before it ends"),
        ("a.csv", "video,start,end,fact\nfilm,0,inf,on(a)\n", "must start before it ends"),
        ("a.csv", "video,start,end,fact\n", "no labels"),
        ("a.csv", "video,start,end,fact\nfilm,0,1\n", "line 2: expected video, .* is shorter"),
        ("a.json", "[1, 2]", "expected"),
        ("a.json", "{", "expected"),
        ("a.json", '{"videos": [{"video": "v"}]}', "intervals"),
        # one video with two sets of labels, which may contradict each other
        ("a.json", '{"videos": [{"video": "v", "intervals": []}, {"video": "v", "intervals": []}]}',
         "has v twice"),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_read_say_where(tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=says):
        read_intervals(tmp_path / name)


def test_labels_of_another_time_are_refused():
    rows = [row for row in SEQUENCE.intervals() if row.fact == FACTS[0]]
    with pytest.raises(StateError, match="the video runs from 50"):
        sequence_from_intervals("film", 50 + np.arange(4.0), rows)


def test_labels_of_other_formats(tmp_path):
    write_states(tmp_path / "film.eaf", [SEQUENCE])
    told = read_intervals(tmp_path / "film.eaf")
    again = sequence_from_intervals("film", SEQUENCE.times, told["film"])
    assert again.states() == SEQUENCE.states()
    boxes = "".join(
        f'<box frame="{k}" outside="{int(k == 9)}" xtl="0" ytl="0" xbr="1" ybr="1"/>'
        for k in (3, 9, 12)
    )
    (tmp_path / "cvat.xml").write_text(
        "<annotations><meta><task><source>play.mp4</source></task></meta>"
        f'<track id="0" label="attached(hand,cup)">{boxes}</track>'
        f'<track id="1" label="cup">{boxes}</track></annotations>'
    )
    (rows,) = read_intervals(tmp_path / "cvat.xml", frame_rate=10).values()
    assert [(r.video_id, r.start, r.end) for r in rows] == [("play", 0.3, 0.9), ("play", 1.2, 1.3)]
    with pytest.raises(FormatError, match="--rate"):
        read_intervals(tmp_path / "cvat.xml")
    (tmp_path / "bad.eaf").write_text("<other/>")
    with pytest.raises(FormatError, match="ELAN"):
        read_intervals(tmp_path / "bad.eaf")
    write_labels(tmp_path / "all.csv", told)
    assert read_intervals(tmp_path / "all.csv").keys() == {"film"}


def test_the_truth_of_a_made_world_names_what_supports_first(tmp_path):
    film = next(iter(tabletop(1, 0)))
    (tmp_path / "truth.jsonl").write_text(json.dumps(film.record()) + "\n")
    rows = read_intervals(tmp_path / "truth.jsonl")[film.name]
    boxes = film.truth.boxes
    supports = [row for row in rows if row.fact.predicate == "contacts"]
    assert supports
    for row in supports:
        frame = round(row.start * film.frame_rate)
        lower, upper = row.fact.arguments
        assert boxes[lower][frame][3] > boxes[upper][frame][3]
    (tmp_path / "wrong.jsonl").write_text("{}\n")
    with pytest.raises(FormatError, match="made world"):
        read_intervals(tmp_path / "wrong.jsonl")


def test_labels_that_overlap_are_refused(tmp_path):
    (tmp_path / "l.csv").write_text("video,start,end,fact\na,0,2,on(b)\na,1,3,on(b)\n")
    with pytest.raises(FormatError, match="again from 1 to 3 s"):
        read_intervals(tmp_path / "l.csv")


def on_shelves(*texts, video="film", hands=()):
    """Labels of a video in which the bat is below the ape, and the cow above it."""
    heights = {"ape": np.full(10, 5.0), "bat": np.full(10, 9.0), "cow": np.full(10, 2.0)}
    rows = [FactInterval(video, 0.0, 5.0, parse_fact(text)) for text in texts]
    return LabelledTracks(rows, heights, np.arange(10.0), hands)


def test_labels_in_alphabetical_order_are_refused():
    with pytest.raises(StateError, match=r"contacts\(bat,ape\)"):
        check_directions([on_shelves("contacts(ape,bat)", "contacts(ape,cow)")])
    assert check_directions([on_shelves("contacts(ape,cow)")]) == (1, 0)
    assert check_directions([on_shelves("contacts(ape,cow)", "contacts(bat,ape)")]) == (2, 0)


def test_the_order_of_labels_is_judged_over_all_videos():
    right, wrong = on_shelves("contacts(ape,cow)"), on_shelves("contacts(ape,bat)", video="other")
    with pytest.raises(StateError, match=r"^other: .*first: contacts\(bat,ape\)"):
        check_directions([right, wrong])
    assert check_directions([wrong]) == (0, 1)  # from one pair nothing can be concluded
    # one that is not in alphabetical order shows that the order means something
    assert check_directions([right, wrong, on_shelves("contacts(cow,bat)")]) == (1, 2)
    # a thing that is not seen does not hide the others
    ghost = on_shelves("contacts(ape,ghost)")
    with pytest.raises(StateError, match="alphabetical"):
        check_directions([ghost, right, wrong])


def test_a_thing_does_not_hold_a_hand():
    with pytest.raises(StateError, match=r"first: attached\(hand,cup\)"):
        check_directions([on_shelves("attached(cup,hand)", hands={"hand"})])
    assert check_directions([on_shelves("attached(cup,hand)", hands={"hand", "cup"})]) == (0, 0)
