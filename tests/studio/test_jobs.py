"""Jobs: queue, progress, ends, and nothing lost when the server dies."""

import os
import signal
import socket
import subprocess
import sys
import time

import httpx
import psutil
import pytest

from tests.studio.browsing import patient, serving, start_studio
from tests.studio.conftest import finished
from wordsight.studio.jobs.store import JobError, JobStore


@pytest.fixture
def store(tmp_path):
    return JobStore(tmp_path / "jobs.sqlite")


def test_jobs_are_taken_in_order_and_once(store):
    first, second = store.add("add", "one", {}), store.add("add", "two", {"n": 1})
    assert store.take() == store.get(first.id) and store.take().id == second.id
    assert store.take() is None
    assert [job.id for job in store.list()] == [second.id, first.id]


def test_jobs_that_somebody_waits_for_have_a_queue_of_their_own(store):
    long, short = store.add("learn", "one", {}), store.add("align", "two", {})
    assert store.take({"align", "index"}).id == short.id
    assert store.take({"align", "index"}) is None
    assert store.take().id == long.id


def test_parts_of_pages_are_found_again_left_out_and_forgotten(store):
    part, work = store.add("search", "one", {"text": "a"}), store.add("add", "two", {})
    assert store.find("search", {"text": "a"}) == part and store.find("search", {}) is None
    assert [job.id for job in store.list(without=["search"])] == [work.id]
    assert store.forget(["search"], time.time() + 1) == 0  # it is not over
    store.take()
    store.finish(part.id, "done")
    assert store.forget(["search"], time.time() - 60) == 0  # it is fresh
    assert store.forget(["search"], time.time() + 1) == 1 and store.find("search", {}) is None
    assert store.get(work.id)


def test_a_job_ends_once(store):
    job = store.add("add", "one", {})
    store.take()
    store.report(job.id, 0.5, "half")
    assert store.get(job.id).progress == 0.5
    store.finish(job.id, "done", result={"videos": ["a"]})
    store.finish(job.id, "failed", "too late")
    ended = store.get(job.id)
    assert ended.state == "done" and ended.progress == 1 and ended.result == {"videos": ["a"]}
    with pytest.raises(JobError, match="is done"):
        store.cancel(job.id)


def test_a_cancelled_job_stays_so_until_tried_again(store):
    job = store.add("add", "one", {})
    store.take()
    store.cancel(job.id)
    store.finish(job.id, "failed", "ended by a signal")
    assert store.get(job.id).state == "cancelled"
    assert store.retry(job.id).attempt == 2
    assert store.take().id == job.id
    with pytest.raises(JobError, match="no job 99"):
        store.retry(99)


def test_running_jobs_wait_again_after_a_restart(store):
    job = store.add("add", "one", {})
    store.take()
    again = JobStore(store.path)
    assert again.resume() == 1 and again.get(job.id).state == "queued"


@pytest.mark.slow
def test_a_running_job_is_cancelled(client, film):
    job = client.post(
        "/api/v1/uploads", params={"name": "a.mp4"}, content=film.read_bytes()[:-9]
    ).json()
    stopped = client.post(f"/api/v1/jobs/{job['id']}/cancel")
    if stopped.status_code == 422:  # it was quicker
        assert finished(client, job["id"])["state"] in ("done", "failed")
    else:
        assert finished(client, job["id"])["state"] == "cancelled"


@pytest.mark.slow
def test_a_killed_server_loses_nothing(library, film):
    first, address = start_studio(library)
    body = film.read_bytes() + b"\0" * 7  # other bytes, so that it is another video
    job = patient.post(f"{address}/api/v1/uploads?name=late.mp4", content=body).json()
    first.kill()
    first.communicate()
    with serving(library) as address, httpx.Client(base_url=address, timeout=120) as client:
        assert finished(client, job["id"])["state"] == "done"
        assert client.get("/api/v1/videos").json()["total"] == 5


def processes_of_jobs(server):
    """Return the processes a studio has started for its jobs."""
    return [child for child in psutil.Process(server.pid).children() if is_of_a_job(child)]


def is_of_a_job(process):
    try:
        return "wordsight.studio.jobs.job_process" in process.cmdline()
    except psutil.Error:  # it has ended
        return False


@pytest.fixture
def long_job(library):
    """A job that takes longer than any test, waiting for a studio to be opened."""
    store = JobStore(library / "studio" / "jobs.sqlite")
    how = {"restarts": 1000, "quick": False, "seed": 0, "grammar": "street", "threads": 1}
    return store, store.add("learn", "learn words", how).id


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["while its process starts", "while it works"])
def test_control_c_ends_a_job_that_goes_on_when_the_studio_opens_again(library, long_job, moment):
    store, number = long_job
    server, _ = start_studio(library, stderr=subprocess.PIPE, start_new_session=True)
    wait_until(lambda: processes_of_jobs(server))
    (process,) = processes_of_jobs(server)
    if moment == "while it works":
        wait_until(lambda: store.get(number).message)
    os.killpg(server.pid, signal.SIGINT)  # as a terminal does
    _, errors = server.communicate(timeout=120)
    assert (server.returncode, errors) == (0, b"")
    psutil.wait_procs([process], timeout=120)
    assert not process.is_running()
    assert store.get(number).state == "queued"  # a studio that closes gives its jobs back
    assert JobStore(store.path).resume() == 0


@pytest.mark.slow
def test_a_job_ends_with_a_server_that_is_killed_while_it_starts(long_job, library):
    store, number = long_job
    store.take()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    command = [sys.executable, "-m", "wordsight.studio.jobs.job_process"]
    ended = subprocess.run(
        [*command, str(store.path), str(number), str(library), str(gone.pid)], timeout=300
    )
    assert ended.returncode == 1
    assert store.get(number).state == "running"


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(library):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        command = [sys.executable, "-m", "wordsight", "studio", "--no-browser", "--port", str(port)]
        done = subprocess.run(
            [*command, "--library", str(library)], capture_output=True, text=True, timeout=300
        )
    assert done.returncode == 1 and not done.stdout
    assert f"127.0.0.1:{port}" in done.stderr and "--port" in done.stderr
    assert "Traceback" not in done.stderr


def wait_until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)
