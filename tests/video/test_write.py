"""What VideoWriter puts on disk, read back with PyAV: times, colours, layout, and its refusals."""

import itertools

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.errors import VideoError
from wordsight.video.write import VideoWriter

SIZE = (64, 48)


def picture(level=0, size=SIZE):
    image = np.full((size[1], size[0], 3), (200, 30, 60), np.uint8)
    image[:, : size[0] // 2] = (20, 180, level % 256)
    return image


def write(path, times, size=SIZE, **options):
    with VideoWriter(path, size, **options) as writer:
        for index, time in enumerate(times):
            writer.write(picture(index, size), time)
    return path


def read(path):
    """Decode everything: times, images and the stream's description."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        about = {
            "codec": stream.codec_context.name,
            "format": stream.codec_context.pix_fmt,
            "size": (stream.width, stream.height),
            "duration": float(stream.duration * stream.time_base),
        }
        frames = list(container.decode(stream))
        times = [float(frame.pts * frame.time_base) for frame in frames]
        return times, [frame.to_ndarray(format="rgb24") for frame in frames], about


def test_constant_rate_round_trip(tmp_path):
    times, images, about = read(write(tmp_path / "a.mp4", [None] * 75, frame_rate=25))
    assert times == pytest.approx(np.arange(75) / 25, abs=1e-9)
    assert about == {"codec": "h264", "format": "yuv420p", "size": SIZE, "duration": 3.0}
    error = np.abs(images[40].astype(int) - picture(40))
    # Colour is halved in resolution, so the seam between the two halves may bleed.
    error[:, SIZE[0] // 2 - 2 : SIZE[0] // 2 + 2] = 0
    assert error.max() < 12


def test_broadcast_rate_does_not_drift(tmp_path):
    times, _, _ = read(write(tmp_path / "a.mp4", [None] * 300, frame_rate=30000 / 1001))
    assert times[-1] == pytest.approx(299 * 1001 / 30000, abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(steps=st.lists(st.integers(1, 5000), min_size=1, max_size=12), first=st.integers(0, 9000))
def test_given_times_are_kept_to_the_millisecond(tmp_path_factory, steps, first):
    wanted = [ms / 1000 for ms in itertools.accumulate([first, *steps])]
    path = tmp_path_factory.mktemp("times") / "vfr.mp4"
    times, images, about = read(write(path, wanted))
    assert times == pytest.approx(wanted, abs=1e-5)
    assert len(images) == len(wanted)
    assert about["duration"] == pytest.approx(wanted[-1] - wanted[0] + 1 / 30, abs=1e-3)


def test_frames_without_a_time_follow_the_last_one(tmp_path):
    times, _, _ = read(write(tmp_path / "a.mp4", [None, 2.0, None, None, 5.5, None], frame_rate=10))
    assert times == pytest.approx([0, 2.0, 2.1, 2.2, 5.5, 5.6], abs=1e-5)


@pytest.mark.parametrize(
    ("size", "stored"),
    [
        ((65, 47), (66, 48)),  # both odd
        ((64, 47), (64, 48)),  # odd height
        ((1, 1), (2, 2)),  # the smallest
    ],
)
def test_odd_sizes_are_padded_with_the_last_row_and_column(tmp_path, size, stored):
    _, images, about = read(write(tmp_path / "a.mp4", [None] * 3, size=size, crf=0))
    assert about["size"] == stored
    assert images[0].shape == (stored[1], stored[0], 3)
    last = images[0][: size[1], size[0] - 1].astype(int)
    assert np.abs(images[0][: size[1], -1] - last).max() < 12


def test_the_index_comes_first_so_that_play_starts_before_the_end(tmp_path):
    data = write(tmp_path / "a.mp4", [None] * 30).read_bytes()
    assert 0 < data.find(b"moov") < data.find(b"mdat")


def test_same_frames_same_bytes(tmp_path):
    one = write(tmp_path / "one.mp4", [None] * 40).read_bytes()
    assert one == write(tmp_path / "two.mp4", [None] * 40).read_bytes()


def test_a_path_with_spaces_and_emoji(tmp_path):
    path = write(tmp_path / "a new folder" / "my 🎬 film.mp4", [None] * 3)
    assert len(read(path)[0]) == 3


def test_an_existing_file_is_kept_unless_told(tmp_path):
    path = tmp_path / "a.mp4"
    path.write_bytes(b"precious")
    with pytest.raises(VideoError, match=r"exists already.*overwrite=True"):
        write(path, [None])
    assert path.read_bytes() == b"precious"
    write(path, [None] * 2, overwrite=True)
    assert len(read(path)[0]) == 2


def test_a_file_that_came_meanwhile_is_kept(tmp_path):
    path = tmp_path / "a.mp4"
    with (
        pytest.raises(VideoError, match="exists already"),
        VideoWriter(path, SIZE) as writer,
    ):
        writer.write(picture())
        path.write_bytes(b"somebody else's")
    assert [file.name for file in tmp_path.iterdir()] == ["a.mp4"]
    assert path.read_bytes() == b"somebody else's"


@pytest.mark.parametrize("error", [RuntimeError, OSError, KeyboardInterrupt])
def test_an_error_in_the_block_passes_and_leaves_nothing(tmp_path, error):
    with pytest.raises(error, match="stop"), VideoWriter(tmp_path / "a.mp4", SIZE) as writer:
        writer.write(picture())
        raise error("stop")
    assert list(tmp_path.iterdir()) == []


def test_no_frames_leave_nothing(tmp_path):
    with pytest.raises(VideoError, match="no frame was written"):
        write(tmp_path / "a.mp4", [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((40, 64, 3), np.uint8),  # wrong height
        np.zeros((64, 48, 3), np.uint8),  # width and height swapped
        np.zeros((48, 64), np.uint8),  # grey
        np.zeros((48, 64, 4), np.uint8),  # with transparency
        np.zeros((48, 64, 3), np.float64),  # not bytes
        [[0, 0, 0]],  # not an array
    ],
)
def test_wrong_images_are_refused(tmp_path, image):
    with (
        pytest.raises(VideoError, match=r"uint8 \(48, 64, 3\)"),
        VideoWriter(tmp_path / "a.mp4", SIZE) as writer,
    ):
        writer.write(image)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("time", [0.0, -1.0, 1.0, 0.99, float("nan"), float("inf")])
def test_a_refused_time_does_not_spoil_the_file(tmp_path, time):
    path = tmp_path / "a.mp4"
    with VideoWriter(path, SIZE, 10) as writer:
        writer.write(picture(), 1.0)
        with pytest.raises(VideoError, match="time"):
            writer.write(picture(), time)
        writer.write(picture())
    assert read(path)[0] == pytest.approx([1.0, 1.1], abs=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "a.avi"}, "must end in .mp4"),
        ({"size": (0, 48)}, "1 to 16,384"),
        ({"size": (20_000, 48)}, "1 to 16,384"),
        ({"frame_rate": 0}, "frame_rate"),
        ({"frame_rate": float("nan")}, "frame_rate"),
        ({"crf": 99}, "crf"),
        ({"preset": "warp"}, "preset"),
    ],
)
def test_wrong_arguments_are_refused_at_once(tmp_path, options, message):
    arguments = {"path": "a.mp4", "size": SIZE} | options
    arguments["path"] = tmp_path / arguments["path"]
    with pytest.raises(VideoError, match=message):
        VideoWriter(**arguments)


def test_writing_outside_the_block_is_refused(tmp_path):
    with pytest.raises(VideoError, match="with VideoWriter"):
        VideoWriter(tmp_path / "a.mp4", SIZE).write(picture())


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(VideoError, match="cannot be written"):
        write(tmp_path / "file" / "a.mp4", [None])
