"""Jobs: queue, progress, ends, and nothing lost when the server dies."""

import os
import signal
import subprocess
import sys
import time

import httpx
import pytest

from tests.studio.conftest import finished
from wordsight.studio.jobs import JobError, JobStore


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
def test_a_killed_server_loses_nothing(library, film, tmp_path):
    port = _free_port()
    command = [sys.executable, "-m", "wordsight", "studio", "--no-browser", "--port", str(port)]
    command += ["--library", str(library)]
    address = f"http://127.0.0.1:{port}"
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _wait_for(address)
    body = film.read_bytes() + b"\0" * 7  # other bytes, so that it is another video
    job = httpx.post(f"{address}/api/v1/uploads?name=late.mp4", content=body).json()
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    second = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait_for(address)
        with httpx.Client(base_url=address) as client:
            assert finished(client, job["id"])["state"] == "done"
            assert client.get("/api/v1/videos").json()["total"] == 5
    finally:
        second.terminate()
        second.wait()


def _free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(address, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            httpx.get(f"{address}/api/v1/jobs")
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError(f"{address} did not answer")
