"""Films of the tabletop: how many, which, what they look like, and what is refused."""

import json

import numpy as np
import pytest

from wordsight.video.read.reader import VideoReader
from wordsight.worlds import Effects, WorldError, write_world
from wordsight.worlds.tabletop import EVENTS, tabletop
from wordsight.worlds.tabletop.things import COLOURS


@pytest.mark.slow
def test_there_are_as_many_films_of_each_event_as_asked_for():
    films = list(tabletop(films_per_event=2, events=["pick-up", "move"]))
    assert [film.name for film in films] == [
        "tabletop-pick-up-000",
        "tabletop-pick-up-001",
        "tabletop-move-000",
        "tabletop-move-001",
    ]
    assert [film.index for film in films] == [0, 1, 2, 3]
    assert len(list(EVENTS)) == 7


@pytest.mark.slow
def test_a_film_does_not_depend_on_its_neighbours():
    alone = next(tabletop(films_per_event=1, events=["move"], random_state=4))
    among = list(tabletop(films_per_event=3, events=["stack", "move"], random_state=4))[3]
    alone_record, among_record = alone.record(), among.record()
    alone_record.pop("index"), among_record.pop("index")
    assert json.dumps(alone_record) == json.dumps(among_record)
    assert np.array_equal(alone.still(40), among.still(40))
    other = next(tabletop(films_per_event=1, events=["move"], random_state=5))
    assert other.truth.record() != alone.truth.record()


@pytest.mark.slow
def test_noise_changes_the_picture_but_not_what_happens():
    clean, noisy = (next(tabletop(1, events=["stack"], noise=noise)) for noise in (0.0, 1.0))
    assert clean.truth.facts == noisy.truth.facts
    assert clean.num_frames == noisy.num_frames
    assert not np.array_equal(clean.still(9), noisy.still(9))


@pytest.mark.slow
def test_sentences_name_the_blocks_of_the_event():
    for film in tabletop(films_per_event=1):
        colours = film.truth.recording.scenario.cast.values()
        words = set(" ".join(film.sentences).replace(",", "").split())
        assert set(colours) <= words
        assert len(film.sentences) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stack", "disassemble"])
def test_a_block_is_painted_where_its_box_is(name):
    film = next(tabletop(1, events=[name], colours=["red", "green", "blue"], effects=Effects()))
    for index in (0, film.num_frames // 2, film.num_frames - 1):
        image = film.still(index).astype(int)
        for colour, corners in film.truth.polygons.items():
            spread = np.abs(image - np.array(COLOURS[colour])).sum(axis=2)
            x, y = corners[index].mean(axis=0).astype(int)
            assert spread[y - 3 : y + 4, x - 3 : x + 4].mean() < 80, (colour, index)
            rows, columns = np.nonzero(spread < 60)
            x1, y1, x2, y2 = film.truth.boxes[colour][index]
            assert x1 - 2 <= columns.min() <= columns.max() <= x2 + 2
            assert y1 - 2 <= rows.min() <= rows.max() <= y2 + 2


def test_the_hand_is_painted_where_its_box_is():
    film = next(tabletop(1, events=["pick-up"], noise=0.0))
    without = film.still(0)  # the hand rests outside or at the edge
    index = film.truth.record()["event"]["frames"][0]
    changed = np.abs(film.still(index).astype(int) - without).sum(axis=2) > 60
    x1, y1, x2, y2 = film.truth.boxes["hand"][index].astype(int)
    assert changed[y1:y2, x1:x2].mean() > 0.25
    lower = changed[y2 + 2 : 396, x1 - 20 : x2 + 20]
    assert lower.mean() < 0.05  # finger tips end where the box ends


@pytest.mark.slow
def test_a_world_is_written_with_pairs_and_truth(tmp_path):
    films = tabletop(films_per_event=1, events=["put-down"], frame_rate=12)
    write_world(films, tmp_path)
    truth = json.loads((tmp_path / "truth.jsonl").read_text())
    rows = [json.loads(line) for line in (tmp_path / "metadata.jsonl").read_text().splitlines()]
    assert [row["text"] for row in rows] == truth["sentences"]
    with VideoReader(tmp_path / "tabletop-put-down-000.mp4") as video:
        assert sum(1 for _ in video.frames()) == truth["num_frames"]
    assert len(truth["boxes"]["hand"]) == truth["num_frames"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"films_per_event": 0}, "one film or more"),
        ({"films_per_event": 1.5}, "one film or more"),
        ({"events": ["unstak"]}, "did you mean unstack"),
        ({"events": "stack"}, "list of names"),
        ({"events": []}, "at least one event"),
        ({"events": ["stack", "stack"]}, "once"),
        ({"colours": ["red", "gren", "blue"]}, "did you mean green"),
        ({"colours": ["red", "green"]}, "needs 3 blocks"),
        ({"noise": 1.2}, "between 0"),
        ({"frame_rate": 2}, "frame_rate"),
        ({"random_state": -3}, "random_state"),
    ],
)
def test_impossible_wishes_are_refused_before_the_first_film(options, message):
    with pytest.raises(WorldError, match=message):
        tabletop(**options)


def test_two_colours_are_enough_for_a_pick_up():
    film = next(tabletop(1, events=["pick-up"], colours=["white", "black"]))
    assert film.truth.event.startswith("pick-up(hand,")
    assert set(film.truth.recording.blocks) == {"white", "black"}


@pytest.mark.slow
def test_films_have_two_to_six_blocks():
    numbers = {len(film.truth.recording.blocks) for film in tabletop(8, events=["pick-up"])}
    assert numbers <= {2, 3, 4, 5, 6}
    assert len(numbers) >= 4
