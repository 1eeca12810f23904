"""A studio with a real server behind it in a real browser, for all journeys through the pages."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.worlds import street, workbench, write_world

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
]
PATIENCE = 240_000  # milliseconds; two busy cores take their time
patient = httpx.Client(timeout=PATIENCE / 1000)


@pytest.fixture(scope="module")
def browser():
    program = installed_browser()
    if program is None:
        assert not os.environ.get("CI"), "no browser, although tests/install-browser.sh has run"
        pytest.skip("no Chromium on this machine; install it to run the tests in a browser")
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with launched(program) as started:
        yield started


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    write_world(street(8, 3, noise=0.0), folder / "street")
    write_world(
        workbench(1, 3, noise=0.0, steps=2, videos_per_protocol=1, frame_rate=10.0),
        folder / "bench",
    )
    with Library.create(folder / "library") as library:
        library.add([folder / "street", folder / "bench"], detector="rendered", workers=1)
        labels = library.detections(library.videos()[0].id).label_names
    hand_lexicon(labels).save(folder / "library" / "lexicon")
    with serving(folder / "library") as base:
        yield base


def installed_browser():
    """Return the path of a Chromium on this machine, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextlib.contextmanager
def launched(program):
    """Run a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=PATIENCE)
        yield started
        started.close()


def start_studio(library, **how):
    """Open a studio in a process of its own and wait until it answers; give both."""
    command = [sys.executable, "-m", "wordsight", "studio", "--no-browser", "--port", "0"]
    server = subprocess.Popen(
        [*command, "--library", str(library)], cwd=library.parent, stdout=subprocess.PIPE, **how
    )
    for line in server.stdout:
        if line.startswith(b"Wordsight studio: "):  # from then on it keeps whoever comes waiting
            address = line.decode().split()[-1].rstrip("/")
            patient.get(f"{address}/api/v1/jobs").raise_for_status()
            return server, address
    raise AssertionError(f"the studio did not start: {server.wait()}")


@contextlib.contextmanager
def serving(library):
    """Serve a library in a process of its own; give its address."""
    server, address = start_studio(library)
    try:
        yield address
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE / 1000)


SCREENS = {"wide": (1280, 860), "phone": (390, 800)}


@pytest.fixture
def page(browser, address, request, tmp_path):
    """A page on a wide light screen, or on another: ``WORDSIGHT_SCREEN=phone-dark``."""
    size, _, scheme = os.environ.get("WORDSIGHT_SCREEN", "wide-light").partition("-")
    width, height = SCREENS[size]
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        permissions=["microphone"],
    )
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    problems = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    # What people write may be refused (422); nothing else that pages ask for may fail.
    opened.on(
        "console",
        lambda said: (
            problems.append(f"{said.text} {said.location['url']}")
            if said.type == "error" and "status of 422" not in said.text
            else None
        ),
    )
    yield opened
    shots = Path(os.environ.get("WORDSIGHT_SCREENSHOTS", tmp_path))
    shots.mkdir(parents=True, exist_ok=True)
    opened.screenshot(path=shots / f"{request.node.name.removeprefix('test_')}.png")
    context.close()
    assert not problems


def until(page, expression):
    """Wait for something to be true in the page, whose policy forbids it to evaluate texts."""
    end = time.monotonic() + PATIENCE / 1000
    found = False
    while not found:
        assert time.monotonic() < end, expression
        page.wait_for_timeout(100)
        with contextlib.suppress(Exception):  # while the page goes elsewhere, nothing can be asked
            found = page.evaluate(expression)
