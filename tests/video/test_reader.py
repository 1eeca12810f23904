"""Reading: true times and numbers for every container, seeking, sampling and what is refused."""

import os
import subprocess
import sys
import warnings
from fractions import Fraction

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.video.sample_videos import encode, encode_numbers, number_in, numbered_image
from wordsight.errors import VideoError
from wordsight.video import VideoReader

CONTAINERS = {
    # name: options of the encoder
    "b-frames.mp4": {"options": {"bf": "3", "g": "12"}},
    "open-group.mp4": {
        "options": {"x264-params": "open-gop=1:keyint=10:bframes=3:min-keyint=5:scenecut=0"}
    },
    "matroska.mkv": {"options": {"bf": "2", "g": "12"}},
    "fragments.mp4": {"container_options": {"movflags": "frag_keyframe+empty_moov"}},
    "raw.avi": {"codec": "rawvideo", "pix_fmt": "bgr24"},
    "motion-jpeg.avi": {"codec": "mjpeg", "pix_fmt": "yuvj420p"},
    "b-frames-mpeg4.avi": {"codec": "mpeg4", "options": {"bf": "2"}},
    "b-frames-h264.avi": {"options": {"bf": "3"}},  # FFmpeg guesses these stamps wrongly
    "transport.ts": {"options": {"bf": "2", "g": "8"}},  # starts after 0
    "program.mpg": {"codec": "mpeg2video", "rate": 25, "options": {"bf": "2", "g": "12"}},
    "bare.h264": {},  # no container, no time stamps
    "hidden-frames-vp8.webm": {
        "codec": "libvpx",
        "options": {"auto-alt-ref": "1", "lag-in-frames": "16", "cpu-used": "4"},
    },
    "vp9.webm": {"codec": "libvpx-vp9", "options": {"cpu-used": "8", "deadline": "realtime"}},
    "animation.gif": {"codec": "gif", "pix_fmt": "rgb8"},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Videos of 40 numbered frames, each encoded once."""
    folder = tmp_path_factory.mktemp("videos")

    def make(name):
        path = folder / name
        if not path.exists():
            encode_numbers(path, 40, **CONTAINERS[name])
        return path

    return make


def seen(frame):
    return frame.index, frame.time, number_in(frame.image)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTAINERS)
def test_each_frame_has_its_own_number_and_time_also_after_seeking(made, name):
    with VideoReader(made(name)) as video:
        frames = [seen(frame) for frame in video.frames()]
        assert [index for index, _, _ in frames] == list(range(40))
        assert [number for _, _, number in frames] == list(range(40))
        assert [time for _, time, _ in frames] == list(video.times)
        assert np.allclose(np.diff(video.times), 1 / video.info.frame_rate, atol=2e-3)
        for index in (0, 1, 7, 11, 12, 13, 25, 39):
            time = frames[index][1]
            assert seen(next(video.frames(start=time))) == frames[index]
            assert seen(video.frame_at(time + 0.001)) == frames[index]


@pytest.mark.parametrize("name", ["b-frames.mp4", "transport.ts", "matroska.mkv"])
def test_times_are_those_of_the_decoder(made, name):
    with av.open(str(made(name))) as container:
        expected = [frame.time for frame in container.decode(video=0)]
    assert VideoReader(made(name)).times == pytest.approx(expected, abs=1e-9)


def test_info_describes_the_file(made):
    info = VideoReader(made("b-frames.mp4")).info
    assert (info.width, info.height, info.num_frames, info.codec) == (160, 96, 40, "h264")
    assert info.duration == pytest.approx(4.0)
    assert info.frame_rate == pytest.approx(10.0)
    assert info.start_time == 0.0
    assert info.variable_rate is False
    assert info.path == made("b-frames.mp4")


STAMPS = [0, 40, 80, 200, 201, 700, 1500, 1510, 1520, 3000]


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_a_variable_rate_keeps_every_time(tmp_path, suffix):
    path = encode_numbers(
        tmp_path / f"vfr{suffix}", len(STAMPS), stamps=STAMPS, time_base="1/1000", rate=25
    )
    video = VideoReader(path)
    assert video.times == pytest.approx(np.array(STAMPS) / 1000, abs=1e-3)
    assert video.info.variable_rate is True
    assert [number_in(frame.image) for frame in video.frames()] == list(range(len(STAMPS)))
    # On screen at a moment is the frame shown last before it, however long ago.
    for time, index in [(0.0, 0), (0.199, 2), (0.69, 4), (1.4, 5), (2.9, 8), (99.0, 9), (-1.0, 0)]:
        assert video.frame_at(time).index == index


@pytest.mark.slow
def test_a_real_variable_rate_video(shared_data):
    path = shared_data("videos", "goldeneye-vfr-drop3.mp4")
    with av.open(str(path)) as container:
        expected = [frame.time for frame in container.decode(video=0)]
    with VideoReader(path) as video:
        assert video.info.variable_rate is True
        assert list(video.times) == expected
        assert [frame.time for frame in video.frames()] == expected
        assert [frame.index for frame in video.frames(start=expected[77])] == list(range(77, 160))


def test_a_start_other_than_zero_is_kept(tmp_path):
    stamps = [90_000 + 100 * n for n in range(12)]
    path = encode_numbers(tmp_path / "late.mkv", 12, stamps=stamps, time_base="1/1000")
    video = VideoReader(path)
    assert video.times == pytest.approx(np.array(stamps) / 1000)
    assert video.info.start_time == pytest.approx(90.0)
    assert number_in(video.frame_at(90.55).image) == 5


def test_an_edit_list_hides_what_it_cuts(tmp_path):
    # Frames before time 0 are stored for decoding but never shown.
    path = encode_numbers(
        tmp_path / "edited.mp4",
        20,
        stamps=[100 * (n - 5) for n in range(20)],
        time_base="1/1000",
        options={"bf": "0"},
        container_options={"movflags": "+faststart", "use_editlist": "1"},
    )
    with av.open(str(path)) as container:
        expected = [frame.time for frame in container.decode(video=0)]
    assert 0 < len(expected) < 20
    video = VideoReader(path)
    frames = [seen(frame) for frame in video.frames()]
    assert [time for _, time, _ in frames] == pytest.approx(expected)
    assert [index for index, _, _ in frames] == list(range(len(expected)))
    assert seen(next(video.frames(start=frames[3][1]))) == frames[3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(video.frames())


def test_frames_that_share_a_time_stamp_keep_different_numbers(tmp_path):
    path = tmp_path / "twice.mkv"
    stamps = [0, 100, 100, 200, 200, 200, 300]
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mjpeg", rate=10)
        stream.pix_fmt, stream.width, stream.height = "yuvj420p", 160, 96
        for number, stamp in enumerate(stamps):
            picture = av.VideoFrame.from_ndarray(numbered_image(number), format="rgb24")
            for packet in stream.encode(picture):
                packet.pts = packet.dts = stamp
                packet.time_base = Fraction(1, 1000)
                container.mux(packet)
    frames = [seen(frame) for frame in VideoReader(path).frames()]
    assert frames == [(n, stamp / 1000, n) for n, stamp in enumerate(stamps)]


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    start=st.none() | st.floats(-1, 5),
    end=st.none() | st.floats(-1, 5),
    stride=st.integers(1, 7),
    rate=st.none() | st.floats(0.5, 30),
)
def test_any_range_gives_what_filtering_all_frames_would(made, start, end, stride, rate):
    video = VideoReader(made("b-frames.mp4"))
    inside = [
        (index, time)
        for index, time in enumerate(video.times)
        if (start is None or time >= start) and (end is None or time < end)
    ]
    expected, due = [], -np.inf
    for index, time in inside[::stride]:
        if rate is None:
            expected.append(index)
        elif time >= due - 1e-6:
            expected.append(index)
            due = inside[0][1] + (np.floor((time - inside[0][1]) * rate + 1e-6) + 1) / rate
    got = [frame.index for frame in video.frames(start, end, stride=stride, rate=rate)]
    assert got == expected


def test_rate_follows_time_stamps_not_frame_numbers(tmp_path):
    # Ten frames in the first tenth of a second, then one each second.
    stamps = [10 * n for n in range(10)] + [1000 * n for n in range(1, 6)]
    path = encode_numbers(tmp_path / "bursts.mkv", 15, stamps=stamps, time_base="1/1000")
    chosen = [frame.time for frame in VideoReader(path).frames(rate=1)]
    assert chosen == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_size_gives_images_of_that_size(made):
    frame = next(VideoReader(made("b-frames.mp4")).frames(start=1.2, size=(80, 48)))
    assert frame.size == (80, 48)
    assert frame.image.shape == (48, 80, 3)
    assert number_in(frame.image) == 12


def test_iterators_do_not_disturb_one_another(made):
    video = VideoReader(made("b-frames.mp4"))
    pairs = zip(video.frames(), video.frames(start=2.0), strict=False)
    assert [(a.index, b.index) for a, b in pairs] == [(n, n + 20) for n in range(20)]


@pytest.mark.parametrize(
    ("rotation", "turns"),
    [
        (90, 1),  # stored lying on its right side
        (-90, 3),  # a phone held upright
        (180, 2),  # upside down
    ],
)
def test_turned_videos_are_shown_upright(tmp_path, rotation, turns):
    image = np.zeros((96, 160, 3), np.uint8)
    image[:48, :80] = 255  # bright corner at the top left of the stored picture
    path = encode(tmp_path / "turned.mp4", [image] * 3, rotation=rotation)
    with VideoReader(path) as video:
        frame = next(video.frames())
        upright = np.rot90(image, turns)
        assert (video.info.height, video.info.width) == upright.shape[:2] == frame.image.shape[:2]
        assert np.abs(frame.image.astype(int) - upright).mean() < 12


@pytest.mark.parametrize("name", ["with space.mp4", "🎬 вид, a:b%20.mp4", "-dash.mp4", "#1?.mp4"])
def test_odd_names_work(tmp_path, name):
    assert VideoReader(encode_numbers(tmp_path / name, 3)).info.num_frames == 3


@pytest.mark.parametrize(
    "options", [{"stride": 0}, {"rate": 0}, {"rate": float("nan")}, {"size": (0, 5)}]
)
def test_senseless_options_are_refused_at_once(made, options):
    with pytest.raises(ValueError, match="must be"):
        VideoReader(made("b-frames.mp4")).frames(**options)


def test_a_closed_reader_says_so(made):
    with VideoReader(made("b-frames.mp4")) as video:
        pass
    with pytest.raises(VideoError, match="closed"):
        video.frames()


def sound_only(path):
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44100, layout="mono")
        silence = av.AudioFrame.from_ndarray(
            np.zeros((1, 44100), np.float32), format="fltp", layout="mono"
        )
        silence.rate = 44100
        container.mux(stream.encode(silence))
        container.mux(stream.encode(None))


def still_picture(path):
    picture = av.VideoFrame.from_ndarray(numbered_image(3), format="rgb24")
    picture.save(path.with_suffix(".png"))
    path.with_suffix(".png").rename(path)


def undecodable(path):
    encode_numbers(path, 10, container_options={"movflags": "faststart"})
    data = bytearray(path.read_bytes())
    start = data.index(b"mdat") + 4
    data[start:] = bytes(len(data) - start)
    path.write_bytes(data)


NOT_VIDEO = {
    "text": (lambda path: path.write_text("Not a video.\n" * 50), "cannot be read as video"),
    "empty": (lambda path: path.touch(), "is empty"),
    "folder": (lambda path: path.mkdir(), "is a folder"),
    "missing": (lambda path: None, "there is no file"),
    "sound only": (sound_only, "only sound"),
    "no frames": (lambda path: encode(path, []), "no video in it|without frames"),
    "still picture": (still_picture, "still image"),
    "pipe": (os.mkfifo, "not a regular file"),
    "nothing decodable": (undecodable, "no frame can be decoded"),
}


@pytest.mark.parametrize("kind", NOT_VIDEO)
def test_what_is_not_a_video_gives_one_clear_error(tmp_path, kind):
    build, message = NOT_VIDEO[kind]
    path = tmp_path / "named.mp4"
    build(path)
    with pytest.raises(VideoError, match=message) as caught:
        VideoReader(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("suffix", [".mkv", ".avi", ".ts", ".mov"])
def test_no_container_without_frames_is_a_video(tmp_path, suffix):
    path = encode(tmp_path / f"none{suffix}", [])
    with pytest.raises(VideoError):
        VideoReader(path)


def test_a_text_with_the_suffix_of_a_text_is_no_video_either(tmp_path):
    # FFmpeg would draw it as terminal output.
    path = tmp_path / "notes.txt"
    path.write_text("Not a video.\n" * 50)
    with pytest.raises(VideoError):
        VideoReader(path)


@pytest.mark.slow
def test_ffmpeg_says_nothing_on_standard_error(tmp_path):
    path = tmp_path / "cut.mp4"
    encode_numbers(path, 30, container_options={"movflags": "faststart"})
    path.write_bytes(path.read_bytes()[:-600])
    code = (
        "import sys, warnings; warnings.simplefilter('ignore')\n"
        "from wordsight.video import VideoReader\n"
        "print(len([f.image for f in VideoReader(sys.argv[1]).frames()]))"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert 10 < int(done.stdout) < 30
