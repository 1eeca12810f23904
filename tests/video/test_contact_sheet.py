"""Sheets have equal cells, show pictures whole, and pick the right frames of a video."""

import numpy as np
import pytest

from wordsight.errors import VideoError
from wordsight.records import Moment, Shot
from wordsight.video.draw.contact_sheet import (
    clock_time,
    contact_sheet,
    shot_sheet,
    write_contact_sheet,
)
from wordsight.video.images import read_image
from wordsight.video.write import VideoWriter

RED, GREEN, BLUE = (220, 20, 20), (20, 200, 20), (20, 20, 220)


def plain(colour, width=64, height=48):
    return np.full((height, width, 3), colour, np.uint8)


def patches(page, colour):
    """Bounding box of all pixels of a colour: left, top, right, bottom, end-exclusive."""
    rows, columns = np.nonzero(np.abs(page.astype(int) - colour).max(axis=2) < 30)
    return columns.min(), rows.min(), columns.max() + 1, rows.max() + 1


def test_cells_are_equal_and_in_reading_order():
    page = contact_sheet([plain(RED), plain(GREEN), plain(BLUE)], ["a", "b", "c"], 2)
    red, green, blue = (patches(page, colour) for colour in (RED, GREEN, BLUE))
    assert {(b[2] - b[0], b[3] - b[1]) for b in (red, green, blue)} == {(320, 240)}
    assert red[1] == green[1] and red[2] < green[0]  # first row
    assert blue[0] == red[0] and blue[1] > red[3]  # second row
    assert page.shape[1] - green[2] == red[0]  # same margin on both sides


def test_pictures_of_another_shape_are_shown_whole_in_the_middle():
    images = [plain(RED), plain(RED), plain(GREEN, 20, 100), plain(BLUE, 300, 20)]
    page = contact_sheet(images, columns=4)
    tall, flat = patches(page, GREEN), patches(page, BLUE)
    assert (tall[2] - tall[0], tall[3] - tall[1]) == (48, 240)
    assert (flat[2] - flat[0], flat[3] - flat[1]) == (320, 21)


def test_titles_and_headings_take_room_only_where_there_are_some():
    bare = contact_sheet([plain(RED)] * 2)
    titled = contact_sheet([plain(RED)] * 2, ["one", "two\nmore"])
    headed = contact_sheet([plain(RED)] * 2, heading="Ümläute – everywhere " * 30)
    assert bare.shape[0] < titled.shape[0] and bare.shape[0] < headed.shape[0]
    assert bare.shape[1] == titled.shape[1] == headed.shape[1]


@pytest.mark.parametrize(
    ("count", "columns"),
    [(1, 1), (2, 2), (4, 2), (5, 3), (9, 3), (30, 6), (100, 6)],
)
def test_the_usual_number_of_columns(count, columns):
    page = contact_sheet([plain(RED, 8, 6)] * count, cell_width=40)
    assert page.shape[1] == 3 + columns * 43


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"images": []}, "at least one image"),
        ({"images": [plain(RED)], "titles": []}, "one title"),
        ({"images": [plain(RED)], "columns": 0}, "columns"),
        ({"images": [plain(RED)], "cell_width": 5}, "cell_width"),
        ({"images": [plain(RED)], "cell_width": 20_000}, "fewer images"),
        ({"images": [np.zeros((4, 4))]}, "height, width, 3"),
    ],
)
def test_what_cannot_be_laid_out_is_refused(arguments, message):
    with pytest.raises(VideoError, match=message):
        contact_sheet(**arguments)


def test_writing(tmp_path):
    path = tmp_path / "sheet.png"
    write_contact_sheet(path, [plain(RED)], ["red"])
    assert np.array_equal(read_image(path), contact_sheet([plain(RED)], ["red"]))
    with pytest.raises(VideoError, match="exists already"):
        write_contact_sheet(path, [plain(GREEN)])


@pytest.fixture(scope="module")
def three_colours(tmp_path_factory):
    """Two seconds each of red, green and blue at 10 frames per second; the first frame is grey."""
    path = tmp_path_factory.mktemp("sheet") / "colours.mp4"
    with VideoWriter(path, (64, 48), 10) as writer:
        for index in range(60):
            colour = (RED, GREEN, BLUE)[index // 20]
            writer.write(plain((128, 128, 128) if index == 0 else colour))
    return path


def shots(count=3):
    return [Shot("v", 2.0 * i, 2.0 * i + 2, 1.0, 20 * i, 20 * i + 20) for i in range(count)]


def test_a_sheet_of_shots_shows_the_middle_of_each(three_colours):
    page = shot_sheet(three_colours, shots(), columns=3)
    boxes = [patches(page, colour) for colour in (RED, GREEN, BLUE)]
    assert boxes[0][2] < boxes[1][0] < boxes[1][2] < boxes[2][0]


def test_a_sheet_of_shots_can_show_the_first_frames(three_colours):
    page = shot_sheet(three_colours, shots(), columns=3, at="first")
    assert not (np.abs(page.astype(int) - RED).max(axis=2) < 30).any()


def test_many_shots_are_thinned_out_evenly(three_colours):
    many = [Moment("v", i / 20, i / 20 + 0.05, 1.0) for i in range(100)]
    page = shot_sheet(three_colours, many, most=3, columns=3, cell_width=64)
    assert page.shape[1] == 4 + 3 * 68


def test_a_sheet_needs_shots_and_a_known_place(three_colours):
    with pytest.raises(VideoError, match="at least one shot"):
        shot_sheet(three_colours, [])
    with pytest.raises(VideoError, match="'first' or 'middle'"):
        shot_sheet(three_colours, shots(), at="last")


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0, "0:00.00"), (59.999, "1:00.00"), (3600, "1:00:00.00"), (-0.5, "-0:00.50")],
)
def test_times_for_people(seconds, written):
    assert clock_time(seconds) == written
