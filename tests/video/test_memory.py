"""Memory: reading does not hold more for a longer video."""

import pytest

from benchmarks.memory import GOAL_MEGABYTES, measure


@pytest.mark.slow
def test_reading_a_longer_video_holds_hardly_more():
    short, long = measure(minutes=0.5), measure(minutes=4)
    assert long["frames"] == 8 * short["frames"]
    assert long["shots"] == 12
    # 2100 frames more are 1.9 GB of pixels.
    assert long["peak_megabytes"] - short["peak_megabytes"] < 15
    assert long["peak_megabytes"] < GOAL_MEGABYTES / 2
