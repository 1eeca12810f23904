"""Recycled memory: used again when nobody holds it, never while somebody does."""

import gc
import threading

import numpy as np
import pytest

from wordsight.inference.lattice.pack import ArrayPool, scratch_array


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.slow
def test_memory_comes_back_when_the_last_view_is_gone():
    pool = ArrayPool()
    first = pool.empty((4, 5))
    view = first[1:3, 2:].reshape(2, 3)
    place = address(first)
    del first
    gc.collect()
    other = pool.empty((4, 5))
    assert address(other) != place  # a view still lives
    view[:] = 7.0
    other[:] = 1.0
    assert (view == 7.0).all()
    del view
    gc.collect()
    assert address(pool.empty((4, 5))) == place


def test_no_more_is_kept_than_allowed():
    pool = ArrayPool(max_bytes=100)
    arrays = [pool.empty((10,)) for _ in range(3)]
    del arrays
    gc.collect()
    assert pool._free_bytes == 80
    assert pool.empty((0, 3)).shape == (0, 3)


def test_threads_never_share_an_array():
    pool = ArrayPool()
    wrong = []

    def work(number):
        for _ in range(300):
            array = pool.empty((50,))
            array[:] = number
            if not (array == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_arrays_are_like_others():
    array = ArrayPool().empty((3, 2))
    array[:] = 1.0
    assert array.dtype == np.float64 and array.flags.writeable and array.flags.c_contiguous
    np.testing.assert_array_equal(array @ np.ones((2, 1)), np.full((3, 1), 2.0))


def test_scratch_arrays_are_reused_and_grow():
    first = scratch_array("test", (3, 4))
    first[:] = 7.0
    assert (scratch_array("test", (2, 2)) == 7.0).all()
    assert scratch_array("test", (50, 50)).shape == (50, 50)
    assert scratch_array("other", (3, 4)).base is not first.base
