"""Damaged files: the frames that can be had, and exactly one warning that says what was lost."""

import random
import warnings

import numpy as np
import pytest

from tests.video.sample_videos import encode, number_in, numbered_image
from wordsight.errors import VideoWarning
from wordsight.video import VideoReader
from wordsight.video.read.timeline import missing_bytes

COUNT = 40

EVEN = {"qmin": "6", "qmax": "6", "g": "5"}
"""One quality throughout, so that half the bytes are half the frames."""

KINDS = {
    "index-first.mp4": {
        "options": {"g": "10", "bf": "2"},
        "container_options": {"movflags": "faststart"},
    },
    "fragments.mp4": {
        "options": {"g": "10"},
        "container_options": {"movflags": "frag_keyframe+empty_moov"},
    },
    "matroska.mkv": {"options": {"g": "10"}},
    "vp8.webm": {"codec": "libvpx", "options": {"cpu-used": "8", "deadline": "realtime"}},
    "mpeg4.avi": {"codec": "mpeg4", "options": EVEN},
    "motion-jpeg.avi": {"codec": "mjpeg", "pix_fmt": "yuvj420p"},
    "flash.flv": {"codec": "flv", "options": EVEN},
}


def busy(number):
    """An image whose texture costs bytes, so that damage hits pictures and not headers."""
    image = numbered_image(number)
    noise = np.random.default_rng(number).integers(0, 255, (48, 160, 3), dtype=np.uint8)
    image[48:] = noise
    return image


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")

    def make(name):
        path = folder / name
        if not path.exists():
            encode(path, (busy(n) for n in range(COUNT)), **KINDS[name])
        return path

    return make


def read(path):
    """Return numbers and contents of all frames, and the warnings of two passes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        video = VideoReader(path)
        frames = [(frame.index, number_in(frame.image)) for frame in video.frames()]
        list(video.frames())
    return frames, [w for w in caught if issubclass(w.category, VideoWarning)]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_whole_file_gives_no_warning(whole, name):
    frames, caught = read(whole(name))
    assert frames == [(n, n) for n in range(COUNT)]
    assert caught == []
    assert missing_bytes(whole(name)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("share", [0.35, 0.7])
def test_a_cut_file_gives_the_frames_before_the_cut(whole, tmp_path, name, share):
    data = whole(name).read_bytes()
    path = tmp_path / name
    path.write_bytes(data[: int(len(data) * share)])
    frames, caught = read(path)
    sound = [index for index, number in frames if index == number]
    assert len(frames) - len(sound) <= 1  # the frame at the cut may come out in part
    assert sound == list(range(len(sound)))
    assert abs(len(sound) - share * COUNT) < 0.2 * COUNT
    assert len(caught) == 1
    assert str(path) in str(caught[0].message)


@pytest.mark.parametrize("name", ["index-first.mp4", "matroska.mkv"])
def test_all_frames_but_the_last_survive_a_cut_in_the_last(whole, tmp_path, name):
    # Threads and reordering delay several frames, which must not be lost with the broken one.
    data = whole(name).read_bytes()
    path = tmp_path / name
    path.write_bytes(data[:-1000])
    frames, caught = read(path)
    assert frames == [(n, n) for n in range(COUNT - 1)]
    assert len(caught) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["index-first.mp4", "mpeg4.avi", "motion-jpeg.avi", "flash.flv"])
@pytest.mark.parametrize("filling", ["noise", "zeros"])
def test_a_hole_in_the_middle_costs_only_what_depends_on_it(whole, tmp_path, name, filling):
    data = bytearray(whole(name).read_bytes())
    start, length = len(data) // 2, len(data) // 20
    hole = random.Random(0).randbytes(length) if filling == "noise" else bytes(length)
    data[start : start + length] = hole
    path = tmp_path / name
    path.write_bytes(data)
    frames, caught = read(path)
    assert len(caught) == 1
    assert "lost" in str(caught[0].message) or "incomplete" in str(caught[0].message)
    assert len(frames) >= 0.8 * COUNT
    numbers = [number for _, number in frames]
    assert numbers[:15] == list(range(15))
    assert numbers[-5:] == list(range(COUNT - 5, COUNT))


def test_numbers_stay_true_behind_a_hole(whole, tmp_path):
    data = bytearray(whole("index-first.mp4").read_bytes())
    middle = len(data) // 2
    data[middle : middle + len(data) // 20] = bytes(len(data) // 20)
    path = tmp_path / "hole.mp4"
    path.write_bytes(data)
    frames, caught = read(path)
    assert len(frames) < COUNT
    assert [pair for pair in frames if pair[0] >= 30] == [(n, n) for n in range(30, COUNT)]
    assert "lost, the first at 1." in str(caught[0].message) or "at 2." in str(caught[0].message)


def test_a_part_before_the_damage_reads_without_warning(whole, tmp_path):
    data = whole("index-first.mp4").read_bytes()
    path = tmp_path / "cut.mp4"
    path.write_bytes(data[: len(data) * 3 // 4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        video = VideoReader(path)
        assert [frame.index for frame in video.frames(end=1.0)] == list(range(10))
        assert video.frame_at(0.55).index == 5


def test_the_frame_at_a_lost_moment_is_the_last_good_one_before(whole, tmp_path):
    data = whole("index-first.mp4").read_bytes()
    path = tmp_path / "cut.mp4"
    path.write_bytes(data[: len(data) * 3 // 4])
    video = VideoReader(path)
    with pytest.warns(VideoWarning):
        last = [frame.index for frame in video.frames()][-1]
    assert video.frame_at(1000.0).index == last


@pytest.mark.parametrize(
    ("head", "missing"),
    [
        (b"RIFF\x64\x00\x00\x00AVI ", 96),  # promises 108 bytes, has 12
        (b"RIFF\x00\x00\x00\x00AVI ", 0),  # never finished: nothing is promised
        (b"RIFF\xff\xff\xff\xffAVI ", 0),  # a stream of unknown length
        (b"\x00\x00\x00\x10ftypisom", 4),  # a box of 16 bytes, 12 there
        (b"\x00\x00\x00\x0cftypisom", 0),  # complete
        (b"\x00\x00\x00\x00mdat1234", 0),  # a box that reaches to the end
        (b"\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x20", 16),  # long form of the size
        (bytes.fromhex("1a45dfa380") + bytes.fromhex("18538067") + b"\x88", 8),  # Matroska
        (bytes.fromhex("1a45dfa380") + bytes.fromhex("18538067") + b"\xff", 0),  # unknown size
        (bytes.fromhex("1a45dfa3"), 0),  # ends within its header
        (b"", 0),  # nothing at all
        (b"just some text here", 0),  # no container we know
    ],
)
def test_missing_bytes(tmp_path, head, missing):
    path = tmp_path / "head"
    path.write_bytes(head)
    assert missing_bytes(path) == missing
