import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.video import Sampler, VideoReader


@pytest.mark.slow
@pytest.mark.parametrize("rate", [None, 3.0, 7.0, 10.0, 29.97, 100.0])
def test_the_sampler_chooses_as_the_reader_does(shared_data, rate):
    # a real video with a variable frame rate
    with VideoReader(shared_data("videos", "goldeneye-vfr-drop3.mp4")) as reader:
        sampler = Sampler(rate)
        chosen = [time for time in reader.times.tolist() if sampler.takes(time)]
        assert chosen == [frame.time for frame in reader.frames(rate=rate)]


@pytest.mark.slow
@given(
    st.lists(st.floats(0.001, 5.0), min_size=1, max_size=50),
    st.floats(0.2, 50.0),
)
def test_the_sampler_takes_at_most_its_rate(gaps, rate):
    times = [sum(gaps[:n]) for n in range(len(gaps))]
    sampler = Sampler(rate)
    taken = [time for time in times if sampler.takes(time)]
    assert taken[0] == times[0]
    assert len(taken) <= (times[-1] - times[0]) * rate + 1 + 1e-6


def test_a_senseless_rate_is_refused():
    with pytest.raises(ValueError, match="above 0"):
        Sampler(0.0)
