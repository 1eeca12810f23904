"""Held parts: the same sums wherever they are held, also when workers die."""

import os
import signal

import pytest

from tests.engine import jobs
from wordsight.engine import EngineError, Processes, Serial, create_engine, open_engine

PARTS = [[1, 2], [10, 20], [100], [5, 5, 5]]


@pytest.fixture(scope="module", params=["serial", "processes", "dask"])
def engine(request):
    if request.param == "dask":
        return request.getfixturevalue("cluster")
    return Serial() if request.param == "serial" else Processes(2)


def test_sums_come_back_in_order_round_after_round(engine):
    with engine.hold(PARTS) as held:
        assert held.map(jobs.weighted_sum, 1.0) == [3, 30, 100, 15]
        assert held.map(jobs.weighted_sum, 0.5) == [1.5, 15, 50, 7.5]


def test_nothing_held_is_nothing_done(engine):
    with engine.hold([]) as held:
        assert held.map(jobs.weighted_sum, 1.0) == []


def test_a_failure_is_told(engine):
    with engine.hold([[1], ["a"]]) as held, pytest.raises((EngineError, TypeError)):
        held.map(jobs.weighted_sum, 1.0)


def test_a_worker_that_dies_is_replaced_and_its_part_done_again(engine, tmp_path):
    if isinstance(engine, Serial):
        pytest.skip("this process would die itself")
    with engine.hold(PARTS) as held:
        found = held.map(jobs.weighted_sum_or_die, (2.0, str(tmp_path), 1))
    assert found == [6, 60, 200, 30]


def test_a_worker_that_died_between_rounds_is_replaced():
    with Processes(2).hold(PARTS) as held:
        assert held.map(jobs.weighted_sum, 1.0) == [3, 30, 100, 15]
        worker = held._crew[0].process
        worker.kill()
        worker.wait()
        assert held.map(jobs.weighted_sum, 2.0) == [6, 60, 200, 30]


@pytest.mark.slow
def test_a_cluster_brings_parts_of_a_lost_worker_to_others(cluster):
    with cluster.hold(PARTS) as held:
        assert held.map(jobs.weighted_sum, 1.0) == [3, 30, 100, 15]
        for turn in (2.0, 3.0):
            os.kill(next(iter(cluster._client.run(os.getpid).values())), signal.SIGKILL)
            assert held.map(jobs.weighted_sum, turn) == [3 * turn, 30 * turn, 100 * turn, 15 * turn]


@pytest.mark.slow
def test_a_part_that_kills_every_worker_of_a_cluster_is_told(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    monkeypatch.setattr("wordsight.engine.cluster._PATIENCE", 10.0)
    with (
        open_engine("dask:1") as cluster,
        cluster.hold(PARTS) as held,
        pytest.raises(EngineError, match=r"work failed|again and again|no workers"),
    ):
        held.map(jobs.weighted_sum_or_die, (2.0, str(tmp_path), 99))


def test_a_part_that_kills_every_worker_is_told(tmp_path):
    with Processes(2).hold(PARTS) as held, pytest.raises(EngineError, match="part 2 of 4 killed 3"):
        held.map(jobs.weighted_sum_or_die, (2.0, str(tmp_path), 99))


def test_items_come_back_from_a_cluster_whatever_becomes_of_them(engine):
    outcomes = {str(o.item): o for o in engine.map(abs, [-1, "x", 3, -4, 5, -6, 7, -8, 9, -10])}
    assert outcomes["-1"].result == 1 and outcomes["-10"].result == 10
    assert not outcomes["x"].ok and "TypeError" in outcomes["x"].error


@pytest.mark.parametrize("name", ["nothing", "processes:0", "processes:x", "dask:-1"])
def test_unknown_engines_are_refused(name):
    with pytest.raises(EngineError):
        create_engine(name)


def test_engines_are_found_by_name():
    assert isinstance(create_engine(None), Serial)
    assert create_engine("processes:3").workers == 3


@pytest.mark.slow
def test_what_was_started_for_a_block_ends_with_it():
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    with open_engine(None) as nobody:
        assert nobody is None
    with open_engine("dask:1") as cluster:
        assert [o.result for o in cluster.map(abs, [-2])] == [2]
    assert cluster._client.status == "closed"


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_told():
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    with pytest.raises(EngineError, match="does not answer"):
        create_engine("tcp://127.0.0.1:1")
