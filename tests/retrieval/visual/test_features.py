"""Pictures as samples: against scipy's transform, and pictures nobody should bring."""

import numpy as np
import pytest
from scipy.fft import dctn

from wordsight.errors import RetrievalError, VideoError
from wordsight.retrieval.visual import (
    BlockDct,
    DynamicBlockDct,
    Samples,
    picture_query,
    picture_samples,
)
from wordsight.retrieval.visual.scoring import evenly_spread
from wordsight.video import write_image


def noise(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_a_block_is_described_as_jpeg_would():
    image = noise(8, 8)
    red, green, blue = (image[:, :, c].astype(float) for c in range(3))
    luminance = 0.299 * red + 0.587 * green + 0.114 * blue
    waves = dctn(luminance, norm="ortho")
    zigzag = [(0, 0), (0, 1), (1, 0), (2, 0), (1, 1), (0, 2), (0, 3), (1, 2), (2, 1), (3, 0)]
    values = BlockDct(fewest=1, compress=False).samples(image).values
    assert values.shape == (1, 14)
    np.testing.assert_allclose(values[0, :10], [waves[uv] for uv in zigzag], atol=0.01)
    cb = ((blue - luminance) * 0.564).mean() * 8
    cr = ((red - luminance) * 0.713).mean() * 8
    np.testing.assert_allclose(values[0, 10:12], [cb, cr], atol=5)  # and half a level of offset
    np.testing.assert_allclose(values[0, 12:], [0.5, 0.5])
    tamed = BlockDct(fewest=1).samples(image).values
    expected = np.sign(values[0, 1:10]) * np.log1p(np.abs(values[0, 1:10]) / 8)
    np.testing.assert_allclose(tamed[0, 1:10], expected, atol=1e-5)
    np.testing.assert_array_equal(tamed[0, [0, 10, 11, 12, 13]], values[0, [0, 10, 11, 12, 13]])


def test_blocks_lie_side_by_side_row_by_row():
    samples = BlockDct(fewest=1).samples(noise(24, 40))
    assert samples.values.shape == (15, 14)
    np.testing.assert_array_equal(samples.boxes[0], [0, 0, 8, 8])
    np.testing.assert_array_equal(samples.boxes[-1], [32, 16, 40, 24])
    np.testing.assert_allclose(samples.values[6, 12:], [12 / 40, 12 / 24])


# Sizes: a pixel, a line, less than a block, a little one, a usual one, a huge one.
@pytest.mark.parametrize("size", [(1, 1), (1, 500), (5, 7), (64, 64), (240, 320), (4000, 6000)])
def test_any_size_gives_a_bearable_number_of_samples(size):
    samples = BlockDct().samples(np.full((*size, 3), 90, dtype=np.uint8))
    assert 1 <= len(samples) <= 44 * 44
    assert np.isfinite(samples.values).all()
    assert samples.boxes.min() >= 0
    assert np.all(samples.boxes.max(axis=0)[2:] <= np.array(size[::-1]) + 1e-9)


def test_small_pictures_are_cut_into_overlapping_blocks():
    assert len(BlockDct().samples(noise(64, 64))) >= 200


def test_the_same_picture_larger_is_described_alike():
    small = noise(88, 88)
    large = np.repeat(np.repeat(small, 8, axis=0), 8, axis=1)
    blocks = BlockDct(longest=88, fewest=1, compress=False)
    np.testing.assert_allclose(blocks.samples(large).values, blocks.samples(small).values, atol=4)


@pytest.mark.parametrize("compress", [True, False])
def test_drawing_a_sample_gives_back_its_coarse_look(compress):
    smooth = np.tile(np.linspace(20, 200, 8).astype(np.uint8)[None, :, None], (8, 1, 3))
    smooth[:, :, 2] //= 2
    blocks = BlockDct(fewest=1, compress=compress)
    drawn = blocks.render(blocks.samples(smooth).values)
    assert drawn.shape == (1, 8, 8, 3)
    assert np.abs(drawn[0, :, :, :2].astype(int) - smooth[:, :, :2]).mean() < 25


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((8, 8), dtype=np.uint8),  # grey
        np.zeros((8, 8, 3)),  # not bytes
        np.zeros((0, 8, 3), dtype=np.uint8),  # empty
        "a.png",
    ],
)
def test_what_is_not_a_picture_is_refused(image):
    with pytest.raises(VideoError):
        BlockDct().samples(image)


def test_options_that_make_no_sense_are_refused():
    for options in ({"longest": 7}, {"stride": 0}, {"stride": 9}, {"fewest": 0}):
        with pytest.raises(RetrievalError):
            BlockDct(**options)
    with pytest.raises(RetrievalError):
        DynamicBlockDct(num_frames=0)


def test_a_region_keeps_the_blocks_inside():
    samples = BlockDct(fewest=1).samples(noise(80, 80))
    inside = samples.crop(8, 16, 24, 8)
    np.testing.assert_array_equal(
        inside.boxes, [[8, 16, 16, 24], [16, 16, 24, 24], [24, 16, 32, 24]]
    )


def test_a_region_of_one_pixel_is_the_block_around_it():
    inside = picture_samples(BlockDct(fewest=1), noise(80, 80), (33, 41, 1, 1))
    np.testing.assert_array_equal(inside.boxes, [[32, 40, 40, 48]])


@pytest.mark.parametrize("region", [(80, 0, 5, 5), (-9, 0, 9, 9), (0, 0, 0, 5), (0, 0, 5, -1)])
def test_a_region_outside_or_empty_is_refused(region):
    with pytest.raises(RetrievalError, match="region"):
        picture_samples(BlockDct(), noise(80, 80), region)


def test_places_of_a_region_do_not_count_unless_told():
    blocks, image = BlockDct(), noise(80, 80)
    assert np.isnan(picture_query(blocks, [image], (0, 0, 40, 40))[:, 12:]).all()
    assert np.isfinite(picture_query(blocks, [image], (0, 0, 40, 40), anywhere=False)).all()
    assert np.isfinite(picture_query(blocks, [image])).all()
    assert np.isnan(picture_query(blocks, [image], anywhere=True)[:, 12:]).all()


def test_every_picture_of_a_query_counts_alike():
    dark, bright = (np.full((h, h, 3), v, dtype=np.uint8) for h, v in ((64, 10), (320, 240)))
    values = picture_query(BlockDct(), [dark, bright])
    assert (values[:, 0] < 1000).mean() == 0.5
    # A part of the first beside the whole of the second, wherever they may be shown.
    part = picture_query(BlockDct(), [bright, dark], (40, 40, 9, 9))
    assert (part[:, 0] < 1000).mean() == 0.5
    assert np.isnan(part[:, 12:]).all()


def test_pictures_that_cannot_be_read_say_so(tmp_path):
    broken = tmp_path / "broken.png"
    write_image(broken, noise(64, 64))
    broken.write_bytes(broken.read_bytes()[:200])
    for file in (broken, tmp_path / "missing.png"):
        with pytest.raises(VideoError, match=file.name):
            picture_query(BlockDct(), [file])
    with pytest.raises(RetrievalError, match="at least one"):
        picture_query(BlockDct(), [])


def test_a_second_of_video_has_time_as_its_last_dimension():
    features = DynamicBlockDct(BlockDct(fewest=1))
    clip = features.clip_samples([noise(16, 16, s) for s in range(3)], [9.5, 10.0, 10.5], 10.0)
    assert clip.values.shape == (12, 15)
    np.testing.assert_allclose(np.unique(clip.values[:, -1]), [0.0, 0.5, 1.0])
    still = features.samples(noise(16, 16))
    assert np.isnan(still.values[:, -1]).all()
    assert len(features.names) == len(features.resolution) == 15
    assert features.render(clip.values[:2]).shape == (2, 8, 8, 3)
    with pytest.raises(RetrievalError):
        features.clip_samples([noise(8, 8)], [], 0.0)


def test_a_first_look_covers_the_picture():
    chosen = evenly_spread(1000, 40)
    assert len(set(chosen.tolist())) == 40 and np.all(np.diff(chosen) == 25)
    np.testing.assert_array_equal(evenly_spread(7, 40), np.arange(7))


def test_bags_of_several_pictures_join():
    one = Samples(np.zeros((2, 3)), np.zeros((2, 4)))
    assert len(Samples.concatenate([one, one, one])) == 6
