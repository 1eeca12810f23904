"""Journeys through the studio in a real browser, with a real server behind it."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.studio.browsing import patient, until
from wordsight.worlds import street

pytestmark = pytest.mark.slow


def test_library_takes_in_a_dropped_video(page, tmp_path):
    next(iter(street(1, 99, noise=0.0))).write(tmp_path / "fresh.mp4")
    page.goto("/")
    before = page.locator(".card").count()
    page.set_input_files("#files", tmp_path / "fresh.mp4")
    page.fill("#sentence", "The person approached the chair.")
    page.select_option("#detector", "rendered")
    page.click("#add button")
    until(page, f"document.querySelectorAll('.cards .card').length > {before}")
    page.fill("#text", "fresh")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?text=fresh")
    assert page.locator(".card").count() == 1


def test_lexicon_is_learned_and_read(page):
    page.goto("/lexicon")
    page.fill("#restarts", "1")
    with page.expect_navigation():  # the page comes again with what was learned
        page.click("#learn button.main")
    page.click("ul.words >> text=person")
    page.wait_for_selector("figure.feature rect")
    assert page.locator("figure.feature rect").count() > 3
    page.wait_for_selector("text=Where it is least sure")


def test_player_follows_and_explains(page):
    page.goto("/")
    page.click("text=street-000.mp4")
    page.wait_for_url("**/videos/*")
    until(page, "document.getElementById('film').readyState >= 2")
    page.keyboard.press(".")
    until(page, "document.getElementById('film').currentTime > 0.02")
    page.click(".said-list button >> nth=0")
    page.wait_for_selector("#answer strong")
    until(page, "!document.getElementById('timeline').hidden")
    page.click("button[value=explain]")
    page.wait_for_selector("text=Weakest word")
    # What is drawn belongs to the frame that is shown: the time and the canvas agree.
    page.evaluate("document.getElementById('film').currentTime = 1.5")
    until(
        page,
        "Math.abs(Number(document.getElementById('seek').value) - 1.5) < 0.05"
        " && document.getElementById('time').value === '0:01.5'",
    )


def test_search_finds_plays_and_looks_for_more(page, address, tmp_path):
    page.goto("/search")
    page.fill("#text", "person")
    page.keyboard.press("Enter")
    page.wait_for_selector(".moment")  # indexed first, in a job
    before = page.locator(".moment").count()
    page.hover(".moment >> nth=0")
    until(page, "document.querySelector('.moment video').currentTime > 0.2")
    page.click("text=More like this >> nth=0")
    page.wait_for_url("**/search?like=*")
    page.wait_for_selector(".moment")
    until(page, "document.getElementById('drawing').width > 320")
    box = page.locator("#drawing").bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 140, box["y"] + 120, steps=4)
    page.mouse.up()
    assert len(page.input_value("#region").split(",")) == 4
    page.click("button.main")
    page.wait_for_url("**region=*")
    page.wait_for_selector(".moment >> text=looks")
    page.goto("/search?text=zebra")
    page.wait_for_selector("text=Nothing here")
    page.click("text=Show the nearest")
    page.wait_for_selector(".moment")
    video = patient.get(f"{address}/api/v1/videos").json()["videos"][0]["id"]
    picture = tmp_path / "frame.jpg"
    picture.write_bytes(patient.get(f"{address}/api/v1/videos/{video}/frame?time=1").content)
    page.goto("/search")
    page.set_input_files("#picture", picture)
    page.click("button.main")
    page.wait_for_selector(".moment >> text=looks")
    assert before > 3
    page.click(".moment a >> nth=0")
    page.wait_for_url("**/videos/*")


def test_align_pins_and_exports(page, address):
    page.goto("/align")
    choices = page.eval_on_selector_all(
        "#video option", "all => all.map(one => [one.value, one.textContent])"
    )
    bench = next(value for value, text in choices if "workbench" in text)
    said = patient.get(f"{address}/api/v1/videos/{bench}").json()["sentences"]
    page.select_option("#video", bench)
    page.fill("#text", "\n".join(f"{n}. {one['text']}" for n, one in enumerate(said, start=1)))
    page.click("button.main")
    page.wait_for_url("**/align/*")
    page.wait_for_selector(".lines li")
    assert page.locator(".lines li").count() == len(said)
    with page.expect_download() as download:
        page.click("a.button:has-text('srt')")
    assert "-->" in Path(download.value.path()).read_text()
    until(page, "document.getElementById('film').readyState >= 1")
    until(page, "!document.getElementById('bands').hasAttribute('aria-busy')")
    name = page.url.rsplit("/", 1)[1]
    spans = patient.get(f"{address}/api/v1/alignments/{name}").json()["result"]["lines"][1]["spans"]
    length = patient.get(f"{address}/api/v1/alignments/{name}").json()["duration"]
    box = page.locator("#bands").bounding_box()
    edge = box["x"] + 10 + (box["width"] - 20) * spans[0]["start"] / length
    page.mouse.move(edge, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(edge + 25, box["y"] + 40, steps=4)
    page.mouse.up()
    page.click("#again")
    until(page, "document.getElementById('again').disabled")
    pinned = patient.get(f"{address}/api/v1/alignments/{name}").json()
    assert [pin.split("=")[0] for pin in pinned["pins"]] == ["2"]


def test_states_are_inferred_and_explained(page, address):
    videos = patient.get(f"{address}/api/v1/videos", params={"text": "workbench"}).json()["videos"]
    page.goto(f"/states?video={videos[0]['id']}")
    page.click("#infer")
    page.wait_for_selector("text=Infer again")
    until(page, "!document.getElementById('facts').hidden")
    page.click("#facts", position={"x": 400, "y": 12})
    page.wait_for_selector("#why strong")
    page.fill("textarea[name=rules]", "1: attached(X -> false")
    page.click("text=Save rules")
    until(page, "document.getElementById('problem').textContent.length > 10")


def test_attributes_are_taught_and_named(page, tmp_path):
    rng = np.random.default_rng(0)
    colours = {"red": (200, 30, 30), "green": (30, 180, 40), "blue": (40, 60, 210)}
    page.goto("/attributes")
    for word, colour in colours.items():
        paths = []
        for number in range(6):
            image = np.full((48, 48, 3), 235, np.uint8)
            cv2.circle(image, (24, 24), 10 + number, colour[::-1], -1)
            image = np.clip(image + rng.normal(0, 4, image.shape), 0, 255).astype(np.uint8)
            paths.append(tmp_path / f"{word}-{number}.png")
            cv2.imwrite(str(paths[-1]), image)
        with page.expect_navigation():
            page.set_input_files("#pictures", paths)
            page.fill("#word", word)
            page.click("text=Add lesson")
    with page.expect_navigation():
        page.click("#learn")
    page.set_input_files("#new", tmp_path / "green-3.png")
    page.click("text=Name it")
    page.wait_for_selector("#names p")
    assert "green" in page.text_content("#names")


def test_benchmarks_and_small_screens(page):
    page.goto("/benchmarks")
    page.wait_for_selector("h1")
    page.set_viewport_size({"width": 390, "height": 800})
    pages = ("/", "/search", "/lexicon", "/align", "/states", "/attributes", "/tools")
    for address in (*pages, "/benchmarks"):
        page.goto(address)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 1, f"{address} is {wide} pixels wider than a phone"
