"""Flow: known motions measured in pixels per second, boxes cut off at the frame."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.video.sample_videos import encode
from wordsight.video import FlowMeter, Frame, VideoReader
from wordsight.video.read.frame import mean_in_boxes


def texture(width, height, seed=0):
    rng = np.random.default_rng(seed)
    image = np.zeros((height, width, 3), np.float32)
    for sigma in (2, 6, 15):
        noise = rng.standard_normal((height, width, 3)).astype(np.float32)
        blurred = cv2.GaussianBlur(noise, (0, 0), sigma)
        image += blurred / blurred.std()
    return np.clip(128 + 40 * image, 0, 255).astype(np.uint8)


def moved(image, x, y):
    return cv2.warpAffine(
        image,
        np.array([[1, 0, x], [0, 1, y]], np.float32),
        image.shape[1::-1],
        borderMode=cv2.BORDER_REFLECT,
    )


def measure(images, boxes, rate=25.0, **options):
    meter = FlowMeter(**options)
    flows = [
        meter.push(Frame.from_array(image, n / rate, n), boxes) for n, image in enumerate(images)
    ]
    return [*flows[1:], meter.finish()]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(640, 480), (320, 180), (200, 160)])
@pytest.mark.parametrize(
    ("dx", "dy"),
    [
        (4, 0),  # right
        (0, -3),  # up
        (-6.5, 5),  # down left
        (12, 0),  # fast
    ],
)
def test_a_moving_picture_is_measured_within_a_tenth(size, dx, dy):
    width, height = size
    image = texture(*size)
    boxes = [[width * 0.3, height * 0.3, width * 0.7, height * 0.7]]
    flow, last = measure([image, moved(image, dx, dy)], boxes)
    assert np.linalg.norm(flow[0] - np.array([dx, dy]) * 25) < 0.1 * 25 * np.hypot(dx, dy)
    assert last.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("fine", [False, True])
def test_each_box_has_its_own_motion_and_the_ground_stands_still(fine):
    ground, thing = texture(640, 480, 1), texture(120, 120, 2)
    images = []
    for n in range(3):
        image = ground.copy()
        image[100:220, 100 + 6 * n : 220 + 6 * n] = thing  # right
        image[300:420, 400 - 4 * n : 520 - 4 * n] = thing  # left
        images.append(image)
    boxes = [[110, 110, 210, 210], [410, 310, 510, 410], [300, 20, 400, 90]]
    flow = measure(images, boxes, fine=fine)[0]
    assert flow[:, 0] == pytest.approx([150, -100, 0], abs=10)
    assert flow[:, 1] == pytest.approx([0, 0, 0], abs=10)


def test_decoded_video_with_true_times(tmp_path):
    image = texture(320, 240)
    stamps = [0, 40, 120, 160]  # the second interval is twice as long
    path = encode(
        tmp_path / "moving.mkv",
        [moved(image, 4 * n, 0) for n in range(4)],
        stamps=stamps,
        time_base="1/1000",
        options={"crf": "10"},
    )
    meter, boxes = FlowMeter(), [[100, 80, 220, 160]]
    flows = [meter.push(frame, boxes) for frame in VideoReader(path).frames()][1:]
    assert [flow[0, 0] for flow in flows] == pytest.approx([100, 50, 100], rel=0.1)


def test_boxes_are_cut_off_at_the_frame():
    image = texture(320, 240)
    boxes = [
        [-500, -500, 900, 900],  # larger than the frame
        [-200, 60, -10, 120],  # left of it
        [400, 300, 500, 350],  # beyond the far corner
        [50, 50, 50, 90],  # no width
    ]
    flow = measure([image, moved(image, 5, 0)], boxes)[0]
    assert flow[0] == pytest.approx([125, 0], abs=12)
    assert flow[1:].tolist() == [[0, 0], [0, 0], [0, 0]]


def test_boxes_may_come_and_go():
    image = texture(320, 240)
    frames = [Frame.from_array(moved(image, 3 * n, 0), n / 10, n) for n in range(4)]
    one, two, none = [[50, 50, 150, 150]], [[50, 50, 150, 150], [200, 60, 300, 200]], []
    meter = FlowMeter()
    assert meter.push(frames[0], none) is None
    assert meter.push(frames[1], two).shape == (0, 2)
    flow = meter.push(frames[2], one)
    assert flow == pytest.approx(np.array([[30, 0], [30, 0]]), abs=3)
    assert meter.push(frames[3], none).shape == (1, 2)
    assert meter.finish().shape == (0, 2)
    assert meter.finish() is None


def test_frames_at_one_time_have_no_flow():
    image = texture(320, 240)
    meter = FlowMeter()
    meter.push(Frame.from_array(image, 1.0, 0), [[0, 0, 100, 100]])
    assert meter.push(Frame.from_array(moved(image, 9, 9), 1.0, 1), []).tolist() == [[0, 0]]


def test_tiny_pictures_and_senseless_settings():
    tiny = texture(9, 7)
    assert np.isfinite(measure([tiny, tiny], [[0, 0, 9, 7]])[0]).all()
    with pytest.raises(ValueError, match="long_side"):
        FlowMeter(long_side=0)
    meter = FlowMeter()
    meter.push(Frame.from_array(tiny, 0.0, 0), [])
    with pytest.raises(ValueError, match="the same size"):
        meter.push(Frame.from_array(texture(20, 20), 0.1, 1), [])


@pytest.mark.slow
@given(
    arrays(np.float32, (6, 9, 2), elements=st.floats(-100, 100, width=32)),
    st.lists(
        st.tuples(st.floats(-3, 12), st.floats(-3, 9), st.floats(0, 14), st.floats(0, 11)),
        max_size=4,
    ),
)
def test_means_equal_those_of_a_finely_divided_field(field, corners):
    # Boxes on a grid of quarter pixels: repeating each pixel four times gives the oracle.
    boxes = np.array([[x, y, x + w, y + h] for x, y, w, h in corners], dtype=np.float64).reshape(
        -1, 4
    )
    boxes = np.round(boxes * 4) / 4
    fine = field.repeat(4, axis=0).repeat(4, axis=1).astype(np.float64)
    got = mean_in_boxes(field, boxes)
    for box, mean in zip((boxes * 4).astype(int), got, strict=True):
        x1, x2 = np.clip(box[[0, 2]], 0, 36)
        y1, y2 = np.clip(box[[1, 3]], 0, 24)
        inside = fine[y1:y2, x1:x2]
        expected = inside.mean(axis=(0, 1)) if inside.size else np.zeros(2)
        assert mean == pytest.approx(expected, abs=1e-6)
