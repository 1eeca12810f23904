"""One pass over the frames finds what separate passes would."""

import threading
from itertools import count

import pytest

from tests.library.conftest import make_video
from wordsight.library.ingest.scan import ahead, scan
from wordsight.perception import load_detector, observe
from wordsight.video import VideoReader, detect_scenes


def test_one_pass_finds_what_separate_passes_find(tmp_path):
    video = make_video(tmp_path / "a.mp4", seconds=3, rate=20, size=(96, 64))
    with VideoReader(video) as reader:
        sight = scan(reader, load_detector("regions"), rate=7.0, video_id="a")
        assert sight.detections == observe(reader, load_detector("regions"), rate=7.0)
        assert (list(sight.shots), list(sight.scenes)) == detect_scenes(video, video_id="a")
        assert sight.num_frames == 60 == sight.info.num_frames
        assert sight.thumbnail.shape == (64, 96, 3)


@pytest.mark.slow
def test_the_shots_of_a_real_film(shared_data):
    video = shared_data("videos", "testvideo.mp4")
    with VideoReader(video) as reader:
        sight = scan(reader, load_detector("regions"), rate=2.0, video_id="film")
    assert [shot.start_frame for shot in sight.shots] == [0, 15, 198, 377]
    assert sight.thumbnail.shape[1] == 320


@pytest.mark.parametrize("depth", [1, 3, 100])
def test_working_ahead_changes_nothing(depth):
    assert list(ahead(iter(range(50)), depth)) == list(range(50))
    assert list(ahead(iter(()), depth)) == []


def test_an_exception_comes_after_the_items_before_it():
    def items():
        yield 1
        raise ZeroDivisionError("here")

    got = []
    with pytest.raises(ZeroDivisionError, match="here"):
        for item in ahead(items(), 3):
            got.append(item)
    assert got == [1]


def test_stopping_early_ends_the_thread_and_closes_the_iterator():
    closed = threading.Event()

    def items():
        try:
            yield from count()
        finally:
            closed.set()

    before = threading.active_count()
    iterator = ahead(items(), 2)
    assert next(iterator) == 0
    iterator.close()
    assert closed.is_set()
    assert threading.active_count() == before
