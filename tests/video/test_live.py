"""Frames as they come: files that grow, segments, and streams that drop."""

import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import av
import numpy as np
import pytest

from tests.video.sample_videos import encode, number_in, numbered_image
from wordsight.errors import VideoError
from wordsight.video import Frame, LiveSource, RecentFrames, VideoReader

SERVER = Path(__file__).with_name("serve_stream.py")


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    path = tmp_path_factory.mktemp("live") / "film.ts"
    images = [numbered_image(number) for number in range(60)]
    encode(path, images, rate=10, options={"g": "5", "bf": "0"})
    return path


@pytest.fixture
def serve(film):
    """Start a server on a port that is free; ended at the end of the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = []

    def start(*options, path=film):
        command = [sys.executable, str(SERVER), str(port), str(path), *options]
        running.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        return running[-1]

    start.address = f"http://127.0.0.1:{port}"
    start.rtsp = f"rtsp://127.0.0.1:{port}/film"
    yield start
    for one in running:
        one.kill()
        one.wait()


def taken(source, count=None):
    frames = []
    for frame in source.frames():
        frames.append(frame)
        if len(frames) == count:
            break
    return frames


def numbers(frames):
    return [number_in(frame.image) for frame in frames]


def test_a_file_is_read_to_its_end_from_second_0(film):
    with LiveSource(film, give_up=0.2) as source:
        frames = taken(source)
    assert numbers(frames) == list(range(60)) and source.num_dropped == 0
    assert [frame.time for frame in frames] == pytest.approx(np.arange(60) / 10)
    with LiveSource(film, rate=2.5, give_up=0.2) as source:
        assert numbers(taken(source)) == list(range(0, 60, 4))


def test_a_film_with_its_index_at_the_end_is_whole(tmp_path):
    encode(tmp_path / "a.mp4", [numbered_image(number) for number in range(9)])
    with LiveSource(tmp_path / "a.mp4", give_up=0.2) as source:
        assert numbers(taken(source)) == list(range(9))


def test_a_file_is_read_while_it_grows(film, tmp_path):
    data, growing = film.read_bytes(), tmp_path / "growing.ts"
    growing.write_bytes(data[: len(data) // 3])

    def grow():
        for part in range(4):
            time.sleep(0.15)
            with growing.open("ab") as file:
                start, end = (
                    len(data) // 3 + (len(data) * 2 // 3 + 3) * p // 4 for p in (part, part + 1)
                )
                file.write(data[start:end])

    writer = threading.Thread(target=grow)
    writer.start()
    with LiveSource(growing, give_up=1.0) as source:
        found = numbers(taken(source))
    writer.join()
    assert found == list(range(60))


def test_segments_follow_each_other_and_time_goes_on(tmp_path):
    for number in range(3):
        images = [numbered_image(10 * number + place) for place in range(10)]
        encode(tmp_path / f"part-{number}.ts", images, options={"bf": "0"})
    (tmp_path / "notes.txt").write_text("no film")
    with LiveSource(tmp_path, give_up=0.3) as source:
        frames = taken(source)
    assert numbers(frames) == list(range(30))
    assert (np.diff([frame.time for frame in frames]) > 0).all() and 2.5 < frames[-1].time < 3.0


def test_a_recorder_may_take_old_segments_away(film, tmp_path):
    (tmp_path / "part-0.ts").write_bytes(film.read_bytes())
    with LiveSource(tmp_path, give_up=0.5) as source:
        frames = source.frames()
        first = [next(frames) for _ in range(3)]
        (tmp_path / "part-0.ts").unlink()  # read to its end all the same
        assert numbers([*first, *frames]) == list(range(60))
        assert source.problems() == []


@pytest.mark.slow
@pytest.mark.parametrize("how", ["http", "rtsp"])
def test_a_stream_that_is_killed_is_opened_again(serve, how):
    options = ("--rtsp",) if how == "rtsp" else ()
    first = serve(*options)
    with LiveSource(serve.rtsp if how == "rtsp" else serve.address, give_up=60) as source:
        before = taken(source, 10)
        first.kill()
        first.wait()
        serve(*options)
        frames = source.frames()
        # Those that waited when it was killed, and some of the film that begins again.
        after = [next(frames) for _ in range(25)]
        problems = source.problems()
    assert numbers(before) == sorted(numbers(before)) and min(numbers(after)) < max(numbers(before))
    times = [frame.time for frame in before + after]
    assert (np.diff(times) > 0).all()
    assert any("trying again" in problem for problem in problems)


def test_the_time_a_camera_was_away_counts(film, monkeypatch):
    """However long it was; within a file a gap as long is a jump of its clock."""
    clock = [1000.0]
    monkeypatch.setattr("wordsight.video.read.live.time.monotonic", lambda: clock[0])
    for address, gone in (("http://127.0.0.1:9/film", 60.0), (film, 0.04)):
        source = LiveSource(address, rate=0.5)
        for _ in range(2):
            source._offset = None  # opened again
            with av.open(str(film)) as container:
                source._read(container)
            clock[0] += 60.0
        times = [frame.time for frame, _ in source._waiting]
        assert len(times) > 4 and times == sorted(times)
        assert source._last == pytest.approx(2 * 5.9 + gone)


@pytest.mark.slow
def test_a_slow_viewer_drops_the_oldest_frames_and_counts_them(serve):
    serve("--fast")
    seen = []
    with LiveSource(serve.address) as source:
        for frame in source.frames():
            seen.append(frame)
            time.sleep(0.1)
            if len(seen) == 12:
                break
        assert source.num_dropped > 20
    assert (np.diff([frame.index for frame in seen]) > 0).all()
    assert seen[-1].index >= 20 + len(seen) - 9  # the newest eight wait, older ones were dropped


def test_what_cannot_be_watched_is_said(tmp_path):
    with pytest.raises(VideoError, match="no file or folder"):
        LiveSource(tmp_path / "missing.ts")
    with pytest.raises(VideoError, match="begins with rtsp"):
        LiveSource("gopher://host/film")


@pytest.mark.parametrize(
    ("source", "said"),
    [("http://127.0.0.1:9/film", "refused"), ("97", "no camera 97")],
)
def test_what_does_not_answer_is_asked_again_until_given_up(source, said):
    with LiveSource(source, give_up=1.5) as live:
        problems = []
        assert list(live.frames(lambda: problems.extend(live.problems()))) == []
        problems += live.problems()
    assert said in problems[0] and "trying again" in problems[0]
    assert "given up" in problems[-1]


def test_a_server_that_takes_a_connection_and_says_nothing_is_told_apart(monkeypatch):
    monkeypatch.setattr("wordsight.video.read.live._OPENING", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/film"
        with LiveSource(address, give_up=0.6) as source:
            assert taken(source) == []
            assert source.problems() == [f"{address}: nothing came for 0.5 s; given up."]


def test_sound_without_pictures_and_noise_are_refused(tmp_path):
    with av.open(str(tmp_path / "sound.mkv"), "w") as out:
        stream = out.add_stream("pcm_s16le", rate=8000, layout="mono")
        samples = av.AudioFrame.from_ndarray(np.zeros((1, 8000), np.int16), "s16", "mono")
        samples.sample_rate = 8000
        out.mux(stream.encode(samples))
        out.mux(stream.encode(None))
    (tmp_path / "noise.ts").write_bytes(np.random.default_rng(0).bytes(100_000))
    for name, said in (("sound.mkv", "no video, only audio"), ("noise.ts", "cannot be read")):
        with LiveSource(tmp_path / name, give_up=0.2) as source:
            assert taken(source) == []
            assert said in source.problems()[0]


def test_a_codec_that_cannot_be_decoded_is_said(film, tmp_path):
    data = np.frombuffer(film.read_bytes(), np.uint8).reshape(-1, 188).copy()
    pids = (data[:, 1].astype(int) & 31) << 8 | data[:, 2]
    noise = np.random.default_rng(0).integers(1, 255, (len(data), 148), dtype=np.uint8)
    data[pids == 0x100, 40:] = noise[pids == 0x100]  # the headers stay, the pictures are spoiled
    path = tmp_path / "broken.ts"
    path.write_bytes(data.tobytes())
    with LiveSource(path, give_up=0.2) as source:
        assert taken(source) == []
        assert "cannot be decoded (h264)" in source.problems()[0]


def test_a_password_is_not_repeated():
    with LiveSource("http://ann:secret@127.0.0.1:9/film", give_up=0.1) as source:
        list(source.frames())
        assert source.name == "http://127.0.0.1:9/film"
        assert "secret" not in " ".join(source.problems())
    for address, shown in (
        ("rtsp://cam/live?user=ann&password=secret&channel=1", "user=…&password=…&channel=1"),
        ("rtsp://cam/user=ann_password=secret_channel=1.sdp", "user=…_password=…_channel=1.sdp"),
        ("http://cam/film?subtype=0&token=secret", "subtype=0&token=…"),
    ):
        assert LiveSource(address).name.endswith(shown)


def test_the_last_seconds_become_a_film(tmp_path):
    recent = RecentFrames(2.0)
    for number in range(40):
        recent.add(Frame.from_array(numbered_image(number), number / 10))
    pictures = recent.between(2.5, 3.5)
    recent.write(tmp_path / "moment.mp4", pictures)
    with VideoReader(tmp_path / "moment.mp4") as video:
        assert numbers(video.frames()) == list(range(25, 35))
        assert video.info.duration == pytest.approx(1.0)
    with pytest.raises(VideoError, match="no frames"):
        recent.write(tmp_path / "none.mp4", [])
