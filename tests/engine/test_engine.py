"""What both engines promise, and what only worker processes can."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from tests.engine import jobs
from wordsight.engine import (
    EngineError,
    Processes,
    Serial,
    processes,
    send_note,
    usable_cores,
)
from wordsight.engine.worker import WorkerProcess

ENGINES = {"serial": Serial(), "one process": Processes(1), "two processes": Processes(2)}


@pytest.fixture(params=[*ENGINES, "dask"])
def engine(request):
    return ENGINES.get(request.param) or request.getfixturevalue("cluster")


def run(engine, function, items):
    return {outcome.item: outcome for outcome in engine.map(function, items)}


def is_alive(pid):
    try:
        # A process that has ended but that nobody has waited for still has its place there.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def test_every_item_comes_back_once(engine):
    outcomes = list(engine.map(jobs.double, range(20)))
    assert sorted((o.item, o.result) for o in outcomes) == [(n, 2 * n) for n in range(20)]
    assert all(o.ok and o.error is None and not o.crashed for o in outcomes)


def test_no_items_no_outcomes(engine):
    assert list(engine.map(jobs.double, [])) == []


@pytest.mark.slow
def test_an_exception_fails_its_item_only(engine):
    outcomes = run(engine, jobs.misbehave, ["a", "raise", "b", "refuse", "c"])
    assert [o for o in outcomes if outcomes[o].ok] == [
        o for o in outcomes if o not in ("raise", "refuse")
    ]
    assert outcomes["raise"].error == "ZeroDivisionError: no such quotient"
    assert outcomes["refuse"].error == "a message for people"
    assert not outcomes["raise"].crashed


@pytest.mark.parametrize("name", ENGINES)
def test_notes_arrive_with_their_item(name):
    heard = []
    outcomes = ENGINES[name].map(
        jobs.count_up, [3, 2], on_note=lambda item, note: heard.append((item, note))
    )
    list(outcomes)
    assert sorted(heard) == [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]


def test_notes_of_a_cluster_arrive_while_their_item_is_under_way(cluster, tmp_path):
    heard, path = [], str(tmp_path / "heard")

    def on_note(item, note):
        heard.append((item, note))
        Path(item).touch()

    (outcome,) = cluster.map(jobs.tell_and_wait, [path], on_note=on_note)
    assert outcome.result == path and heard == [(path, "under way")]


@pytest.mark.slow
def test_outcomes_come_in_order_if_asked(engine):
    items = [0.2, 0.0, "x", 0.1, *[0.0] * 40]
    outcomes = list(engine.map(jobs.nap, items, ordered=True))
    assert [o.item for o in outcomes] == items
    assert [o.ok for o in outcomes] == [item != "x" for item in items]


@pytest.mark.slow
def test_few_outcomes_wait_for_a_slow_one(engine):
    if isinstance(engine, Serial):
        pytest.skip("nothing waits where one item follows the other")
    taken = []
    source = (taken.append(n) or n for n in [0.5, *[0.0] * 500])
    outcomes = engine.map(jobs.nap, source, ordered=True)
    next(outcomes)
    outcomes.close()
    assert len(taken) <= 16 * 2 + 4


def test_nobody_listening_is_no_error(engine):
    send_note("to nobody")
    assert run(engine, jobs.count_up, [3])[3].result == 3


def test_items_are_taken_only_as_there_is_room(engine):
    taken = []

    def items():
        for number in range(100):
            taken.append(number)
            yield number

    outcomes = engine.map(jobs.double, items())
    next(outcomes)
    outcomes.close()
    assert len(taken) <= 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("exit", "exit status 3"),
        ("segfault", "SIGSEGV"),
        ("kill", "no memory left"),
    ],
)
def test_a_worker_that_dies_fails_its_item_only(order, words):
    outcomes = run(Processes(2), jobs.misbehave, ["a", "b", order, "c", "d", "e"])
    assert words in outcomes[order].error
    assert outcomes[order].crashed
    assert [o.result for o in outcomes.values() if o.ok] == [o for o in outcomes if o != order]


def test_an_item_whose_worker_was_killed_is_tried_again(tmp_path):
    items = [str(tmp_path / name) for name in "abcde"]
    outcomes = list(Processes(2).map(jobs.die_once, items, ordered=True))
    assert [o.result for o in outcomes] == items and not any(o.crashed for o in outcomes)


def test_an_item_may_be_given_one_try_only(tmp_path):
    (outcome,) = Processes(1, tries=1).map(jobs.die_once, [str(tmp_path / "a")])
    assert outcome.crashed


@pytest.mark.slow
def test_a_cluster_tries_again_what_a_dead_worker_had(cluster, tmp_path):
    items = [str(tmp_path / name) for name in "ab"]
    assert [o.result for o in cluster.map(jobs.die_once, items, ordered=True)] == items


def test_a_result_that_cannot_be_sent_fails_its_item_only():
    outcomes = run(Processes(1), jobs.misbehave, ["unsendable", "a"])
    assert "cannot be sent" in outcomes["unsendable"].error
    assert outcomes["a"].result == "a"


def test_workers_are_used_again():
    outcomes = list(Processes(2).map(jobs.process_id, range(10)))
    assert len({o.result for o in outcomes}) <= 2
    assert os.getpid() not in {o.result for o in outcomes}


def test_workers_do_not_crowd_each_other_out():
    outcomes = list(Processes(usable_cores()).map(jobs.threads_of_opencv, [0]))
    assert outcomes[0].result == 1


def test_chatter_of_workers_stays_off_standard_output(capfd):
    list(Processes(1).map(jobs.chatter, ["hello from afar"]))
    captured = capfd.readouterr()
    assert "hello from afar" not in captured.out
    assert "hello from afar" in captured.err


def test_a_function_of_the_main_program_is_refused():
    double = type(jobs.double)(jobs.double.__code__, {"__name__": "__main__"}, "double")
    with pytest.raises(EngineError, match="a module they can import"):
        list(Processes(1).map(double, [1]))


def test_a_function_that_cannot_be_imported_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(jobs.double, "__module__", "no_such_module")
    monkeypatch.setitem(sys.modules, "no_such_module", jobs)
    with pytest.raises(EngineError, match="no_such_module"):
        list(Processes(1).map(jobs.double, [1]))


def test_a_python_that_does_not_start_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(EngineError, match="could not start"):
        list(Processes(1).map(jobs.double, [1]))


@pytest.mark.parametrize("workers", [0, -1])
def test_a_senseless_number_of_workers_is_refused(workers):
    with pytest.raises(EngineError, match="1 or more"):
        Processes(workers)


def test_closing_early_stops_the_workers_and_lets_them_tidy(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_GRACE_SECONDS", 60.0)  # a busy machine needs more than three
    file = tmp_path / "pid"
    outcomes = Processes(2).map(jobs.tidy_or_answer, ["answer", str(file)])
    next(outcomes)
    wait_until(lambda: file.exists() and file.read_text())
    pid = int(file.read_text())
    outcomes.close()
    assert not is_alive(pid)
    assert not file.exists()


PARENT = """
    from tests.engine.jobs import {function}
    from wordsight.engine import Processes
    list(Processes(2).map({function}, {files!r}))
"""


def start_parent(function, files):
    program = textwrap.dedent(PARENT.format(function=function, files=[str(f) for f in files]))
    return subprocess.Popen(
        [sys.executable, "-c", program],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["SIGKILL", "SIGINT"])
def test_workers_leave_with_their_parent(tmp_path, number):
    files = [tmp_path / "one", tmp_path / "two"]
    parent = start_parent("sleep_and_write", files)
    wait_until(lambda: all(f.exists() and f.read_text() for f in files))
    pids = [int(f.read_text()) for f in files]
    os.kill(parent.pid, number)
    _, errors = parent.communicate(timeout=120)
    wait_until(lambda: not any(is_alive(pid) for pid in pids))
    assert b"Traceback" not in errors.replace(b"Traceback", b"", 1)  # at most the parent's own


@pytest.mark.parametrize("wait", [0, 0.005, 0.02, 0.1], ids="after {} s".format)
def test_control_c_while_a_worker_starts_leaves_it_alive_and_silent(wait, capfd):
    worker = WorkerProcess(jobs.double, threads=1)
    time.sleep(wait)
    os.kill(worker.process.pid, signal.SIGINT)
    worker.connection.send(21)
    answers = [worker.connection.recv(), worker.connection.recv()]
    assert answers == [("ready", None), ("done", 42)]
    worker.release()
    assert worker.end(time.monotonic() + 60) in (0, 128 + signal.SIGTERM)  # not killed
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("hold", [False, True], ids=["map", "hold"])
def test_control_c_while_a_worker_is_started_leaves_none_behind(hold, monkeypatch):
    started = []

    class Interrupted(WorkerProcess):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            started.append(self.process)
            signal.raise_signal(signal.SIGINT)  # before anything else knows of the process

    monkeypatch.setattr(processes, "WorkerProcess", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        if hold:
            Processes(2).hold([1, 2]).__enter__()
        else:
            list(Processes(2).map(jobs.double, [1, 2]))
    assert len(started) == 1 and started[0].returncode is not None


def test_control_c_reaches_us_again_once_a_worker_has_started():
    WorkerProcess(jobs.double, threads=1).end(time.monotonic())
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


CLUSTER = """
    from tests.engine.jobs import sleep_and_write
    from wordsight.engine import open_engine
    with open_engine("dask:1") as cluster:
        print("it is there", flush=True)
        list(cluster.map(sleep_and_write, [{file!r}]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["its processes start", "it is there", "it works"])
def test_control_c_ends_a_cluster_in_silence(moment, tmp_path):
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    program = textwrap.dedent(CLUSTER.format(file=str(tmp_path / "pid")))
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if moment == "its processes start":
        wait_until(lambda: any(map(is_spawned, psutil.Process(parent.pid).children())))
    else:
        assert parent.stdout.readline() == b"it is there\n"
    if moment == "it works":
        wait_until((tmp_path / "pid").exists)
    family = psutil.Process(parent.pid).children(recursive=True)
    os.killpg(parent.pid, signal.SIGINT)
    _, errors = parent.communicate(timeout=120)
    assert errors.count(b"KeyboardInterrupt\n") == 1, errors.decode()  # the parent's own
    assert psutil.wait_procs(family, timeout=120)[1] == []


def is_spawned(process):
    """Whether this is a process that Python has started with a module of its own."""
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.Error:  # it has ended
        return False


HELD_BACK = """
    import os, signal, threading, time
    from wordsight.interrupts import interrupts_held_back
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    handler = signal.getsignal(signal.SIGINT)
    for _ in range(30):
        reached = False
        try:
            with interrupts_held_back():
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000):  # where Python would handle it
                    pass
                reached = True
            for _ in range(6000):  # the other thread may take its time, and wakes nobody
                time.sleep(0.01)
        except KeyboardInterrupt:
            pass
        assert reached and signal.getsignal(signal.SIGINT) is handler
"""


def test_control_c_waits_also_where_other_threads_would_take_it():
    # In a program of its own: an interruption that comes late would end all tests.
    program = [sys.executable, "-c", textwrap.dedent(HELD_BACK)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_worker_told_to_leave_where_python_drops_exceptions_leaves_in_silence(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.setattr(processes, "_GRACE_SECONDS", 60.0)
    file = tmp_path / "pid"
    outcomes = Processes(2).map(jobs.tidy_after_a_dropped_end, ["answer", str(file)])
    next(outcomes)
    wait_until(lambda: file.exists() and file.read_text())
    pid = int(file.read_text())
    wait_until(lambda: not file.exists())
    outcomes.close()
    assert not is_alive(pid)
    assert capfd.readouterr().err == ""
