"""Overlays keep the video's times and show each thing at its own time and place."""

import numpy as np
import pytest

from wordsight.errors import VideoError
from wordsight.language.captions import Caption
from wordsight.records import Detections, FrameDetections, Track
from wordsight.video.draw.overlay import render_overlay
from wordsight.video.draw.text import PALETTE
from wordsight.video.read.reader import VideoReader
from wordsight.video.write import VideoWriter

SIZE = (160, 120)
TIMES = [0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 2.2]  # uneven on purpose


@pytest.fixture(scope="module")
def dark(tmp_path_factory):
    path = tmp_path_factory.mktemp("overlay") / "dark.mp4"
    with VideoWriter(path, SIZE) as writer:
        for time in TIMES:
            writer.write(np.full((SIZE[1], SIZE[0], 3), 40, np.uint8), time)
    return path


def read(path):
    with VideoReader(path) as video:
        return video.times, [frame.image.astype(int) for frame in video.frames()]


def near(pixel, colour):
    return np.abs(pixel - np.array(colour)).max() < 60


def test_times_are_kept_and_captions_come_and_go(dark, tmp_path):
    captions = [Caption(0.2, 1.0, "now"), Caption(1.4, 9, "later")]
    count = render_overlay(dark, tmp_path / "o.mp4", captions=captions)
    times, images = read(tmp_path / "o.mp4")
    assert count == len(TIMES)
    assert times == pytest.approx(TIMES, abs=1e-3)
    written = [bool((image[-30:] > 180).any()) for image in images]
    assert written == [False, False, True, True, False, True, True, True]


def test_a_caption_without_times_is_always_there(dark, tmp_path):
    render_overlay(dark, tmp_path / "o.mp4", captions=[Caption(None, None, "always")])
    assert all((image[-30:] > 180).any() for image in read(tmp_path / "o.mp4")[1])


def test_boxes_scale_with_the_copy(dark, tmp_path):
    box = [40.0, 40, 120, 100]
    track = Track("v", 0, 3, 1, [0.0, 3.0], [box, box], [1, 1], [True, True], "cup", 5)
    render_overlay(dark, tmp_path / "o.mp4", tracks=[track], width=320, trail_seconds=0)
    with VideoReader(tmp_path / "o.mp4") as video:
        assert (video.info.width, video.info.height) == (320, 240)
        image = video.frame_at(1.0).image.astype(int)
    assert near(image[150, 80:82].mean(axis=0), PALETTE[5])
    assert near(image[150, 160], (40, 40, 40))


def test_detections_stay_until_the_next_and_no_longer(dark, tmp_path):
    frames = [
        FrameDetections(time, np.array([[20.0 + 60 * i, 40, 60 + 60 * i, 100]]), np.ones(1), [0])
        for i, time in enumerate([0.0, 0.5])
    ]
    seen = Detections.from_frames(frames, label_names=["cup"], frame_size=SIZE)
    render_overlay(dark, tmp_path / "o.mp4", detections=seen)
    _, images = read(tmp_path / "o.mp4")
    first = [near(image[80, 20:22].mean(axis=0), PALETTE[0]) for image in images]
    second = [near(image[80, 80:82].mean(axis=0), PALETTE[0]) for image in images]
    assert first == [True] * 3 + [False] * 5
    assert second == [False] * 3 + [True] * 2 + [False] * 3


def test_an_excerpt_starts_at_zero_and_tells_progress(dark, tmp_path):
    told = []
    count = render_overlay(
        dark,
        tmp_path / "o.mp4",
        start=0.4,
        end=1.6,
        progress=lambda done, total, what: told.append((done, total, what)),
    )
    assert count == 3
    assert read(tmp_path / "o.mp4")[0] == pytest.approx([0.0, 0.5, 1.0], abs=1e-3)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert all(0 <= done <= total == pytest.approx(1.2) for done, total, _ in told)


def test_a_reader_can_be_given_and_stays_open(dark, tmp_path):
    with VideoReader(dark) as video:
        render_overlay(video, tmp_path / "o.mp4")
        assert video.frame_at(0.0).index == 0


def test_refusals_leave_nothing(dark, tmp_path):
    with pytest.raises(VideoError, match=r"has no frame from 5\.00"):
        render_overlay(dark, tmp_path / "o.mp4", start=5.0)
    with pytest.raises(VideoError, match="the video itself"):
        render_overlay(dark, dark, overwrite=True)
    (tmp_path / "o.mp4").write_bytes(b"precious")
    with pytest.raises(VideoError, match="exists already"):
        render_overlay(dark, tmp_path / "o.mp4")
    assert [file.name for file in tmp_path.iterdir()] == ["o.mp4"]
    assert (tmp_path / "o.mp4").read_bytes() == b"precious"


def test_a_real_video_with_a_variable_rate(shared_data, tmp_path):
    source = shared_data("videos", "goldeneye-vfr-drop3.mp4")
    render_overlay(source, tmp_path / "o.mp4", end=2.0, width=160)
    with VideoReader(source) as video:
        wanted = video.times[video.times < 2.0]
    assert read(tmp_path / "o.mp4")[0] == pytest.approx(wanted, abs=1e-3)
