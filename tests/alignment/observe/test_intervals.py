"""Files with intervals and tokens, the way the wet-lab data keeps them."""

import numpy as np
import pytest

from wordsight.alignment import Chunk
from wordsight.alignment.observe import IntervalFile, chunks_of_intervals
from wordsight.errors import FormatError

CHUNKS = {
    "CELL06.anvil.txt": 497,
    "CELL21.anvil.txt": 404,
    "LLGM10.anvil.txt": 118,
    "LLGM14.anvil.txt": 121,
    "YPAD11.anvil.txt": 192,
    "YPAD15.anvil.txt": 274,
    "cell06.vision.anvil.txt": 333,
    "cell21.vision.anvil.txt": 148,
    "llgm10.vision.anvil.txt": 66,
    "llgm14.vision.anvil.txt": 75,
    "ypad11.vision.anvil.txt": 102,
    "ypad15.vision.anvil.txt": 140,
}


def file_of(tmp_path, text):
    path = tmp_path / "film.txt"
    path.write_text(text)
    return IntervalFile(path)


def test_intervals_become_chunks(tmp_path):
    source = file_of(tmp_path, "ID start end token\na 0 2.5 cup,bag,1\nb 2.5 3 \nc 3 3.5 cup,2\n")
    seen = source.observe()
    assert seen.video_id == "film"
    assert seen.duration == 3.5
    assert [c.things for c in seen.chunks] == [frozenset({"cup", "bag"})] * 3 + [frozenset({"cup"})]
    np.testing.assert_allclose(seen.times[:, 1], [2.5 / 3, 5 / 3, 2.5, 3.5])
    assert source.gold_steps().tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "a 0 1 cup\n",  # neither header nor steps
        "0 1 cup\n",  # no identity
        "0\t1\tcup,\n",  # tabs
        "7 0 1 cup\n",  # a number for an identity
    ],
)
def test_lenient_layouts(tmp_path, text):
    (chunk,) = file_of(tmp_path, text).observe().chunks
    assert (chunk.start, chunk.end, chunk.things) == (0.0, 1.0, frozenset({"cup"}))


@pytest.mark.parametrize(
    "text",
    [
        "a b c\na x y cup\n",  # no times
        "a 3 2 cup\n",  # reversed
        "a -1 2 cup\n",  # negative
        "a 1\n",  # too short
        "a nan 2 cup\n",
        "a 2 4444448 cup\n",  # milliseconds, perhaps: millions of chunks
    ],
)
def test_bad_lines_are_named(tmp_path, text):
    with pytest.raises(FormatError, match="line"):
        file_of(tmp_path, text).observe()


def test_a_video_with_no_touch_at_all_has_no_chunks(tmp_path):
    assert file_of(tmp_path, "ID start end token\na 0 5 \n").observe().chunks == ()


def test_overlapping_intervals_are_cut():
    cup, bag = frozenset({"cup"}), frozenset({"bag"})
    chunks = chunks_of_intervals([Chunk(0.5, 1.2, bag), Chunk(0, 0.8, cup)])
    assert [(c.start, c.end) for c in chunks] == [(0, 0.8), (0.8, 1.2)]


@pytest.mark.parametrize("name", CHUNKS)
def test_the_published_files_give_the_published_number_of_chunks(shared_data, name):
    source = IntervalFile(shared_data("wetlab", "video_blobs", name))
    assert len(source.observe().chunks) == len(source.gold_steps()) == CHUNKS[name]
