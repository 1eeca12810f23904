"""Files in a real browser: labels to learn rules from, films to export, rankings, captions."""

import time
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from tests.studio.browsing import patient, until
from tests.studio.test_rule_sets import play
from wordsight.perception import write_boxes
from wordsight.video import VideoReader
from wordsight.worlds import street

pytestmark = pytest.mark.slow
SRT = "1\n00:00:00,000 --> 00:00:01,000\nThe person stood there.\n"


def test_rules_are_learned_compared_used_and_taken_back(page, address, tmp_path):
    rows = ["video,start,end,fact"]
    for number in range(6):
        starts = (12 + number, 30 - number)
        write_boxes(tmp_path / f"play{number}.csv", play(starts, labels=("cup", "jar")))
        pairs = zip(("cup", "jar"), starts, strict=True)
        rows += [f'play{number},{start / 10},4.0,"moves({name})"' for name, start in pairs]
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    page.goto("/states")
    page.click("#learning > summary")
    before = page.input_value("textarea[name=rules]")
    street = page.locator("#learn select[name=videos] option", has_text="street").first
    page.select_option("#learn select[name=videos]", street.get_attribute("value"))
    page.click("#things")
    until(page, "document.getElementById('called').textContent.includes('person')")
    page.select_option("#learn select[name=videos]", [])
    page.set_input_files("#learn input[name=boxes]", sorted(tmp_path.glob("play*.csv")))
    page.set_input_files("#learn input[name=labels]", tmp_path / "labels.csv")
    page.fill("#learn input[name=title]", "Movers")
    with page.expect_navigation():  # the page comes again with what was learned
        page.click("#learn button.main")
    row = page.locator("#sets tr", has_text="Movers").first
    assert "100 %" in row.inner_text() and row.locator(".tag").count() == 0
    name = row.locator("[data-retitle]").get_attribute("data-retitle")
    row.locator("[data-compare]").click()
    page.wait_for_selector("text=with this set")
    assert "0 of 6 with the rules in use, 6 with this set" in page.inner_text("#sets")
    with page.expect_download() as model:
        row.locator("a[download]").click()
    assert model.value.suggested_filename == "states-model.zip"
    with page.expect_navigation():
        row.locator("[data-use]").click()
    page.wait_for_url("**/states?video=*")  # what is shown is inferred again, and opened
    assert "moves(X)" in page.input_value("textarea[name=rules]")
    with page.expect_navigation():
        page.locator("#sets tr", has_text="In use before Movers").locator("[data-use]").click()
    assert page.input_value("textarea[name=rules]") == before
    page.on("dialog", lambda asked: asked.accept("Shovers" if asked.type == "prompt" else None))
    row = page.locator("#sets tr", has=page.locator(f"[data-retitle='{name}']"))
    with page.expect_navigation():
        row.locator("[data-retitle]").click()
    assert "Shovers" in row.inner_text()
    with page.expect_navigation():
        row.locator("[data-forget]").click()
    assert row.count() == 0


def test_labels_that_fit_no_film_are_told_beside_the_form(page, tmp_path):
    write_boxes(tmp_path / "play.csv", play((12, 20)))
    (tmp_path / "labels.csv").write_text('video,start,end,fact\nother,0,1,"moves(cup)"\n')
    page.goto("/states")
    page.evaluate("document.getElementById('learning').open = true")
    page.set_input_files("#learn input[name=boxes]", tmp_path / "play.csv")
    page.set_input_files("#learn input[name=labels]", tmp_path / "labels.csv")
    page.click("#learn button.main")
    until(page, "document.getElementById('learn-problem').textContent.includes('says nothing of')")


def test_films_are_made_taken_away_and_removed(page, tmp_path):
    page.goto("/")
    page.click("text=street-000.mp4")
    page.wait_for_url("**/videos/*")
    page.fill("#sentence", "The person approached the backpack.")
    page.click("#away summary")
    page.select_option("#make select[name=what]", "film-sentence")
    page.click("#make button.main")
    page.wait_for_selector("#made a[download]")
    with page.expect_download() as film:
        page.click("#made a[download]")
    film.value.save_as(tmp_path / "film.mp4")
    assert film.value.suggested_filename == "street-000-film-sentence.mp4"
    with VideoReader(tmp_path / "film.mp4") as reader:
        assert reader.info.duration > 1
    page.select_option("#make select[name=what]", "tracks")
    page.select_option("#make select[name=ending]", ".json")
    page.click("#make button.main")
    page.wait_for_selector("#made a:has-text('street-000-tracks.json')")
    page.click("#made [data-unmake] >> nth=0")
    until(page, "document.querySelectorAll('#made a').length === 1")
    page.click("#score-all")
    page.wait_for_selector("#answer table")
    assert page.locator("#answer tbody tr").count() > 1


def test_facts_are_taken_away_from_the_states_page(page, address):
    videos = patient.get(f"{address}/api/v1/videos", params={"text": "workbench"}).json()["videos"]
    page.goto(f"/states?video={videos[0]['id']}")
    page.click("#away summary")
    page.click("#make button.main")
    page.wait_for_selector("#made a[download]")
    with page.expect_download() as facts:
        page.click("#made a[download]")
    assert Path(facts.value.path()).read_text().startswith("video,start,end,fact")


def test_tools_convert_rank_and_measure(page, tmp_path):
    (tmp_path / "said.srt").write_text(SRT)
    page.goto("/tools")
    page.set_input_files("#convert input[name=source]", tmp_path / "said.srt")
    page.select_option("#convert select[name=to]", "vtt")
    with page.expect_download() as captions:
        page.click("#convert button.main")
    assert captions.value.suggested_filename == "said.vtt"
    assert "WEBVTT" in Path(captions.value.path()).read_text()
    page.select_option("#convert select[name=to]", "coco")
    page.click("#convert button.main")
    until(page, "document.getElementById('convert-problem').textContent.length > 10")
    (tmp_path / "asked.txt").write_text("q1 person\nq2 chair\n")
    page.set_input_files("#queries input[name=queries]", tmp_path / "asked.txt")
    page.click("#queries button.main")
    page.wait_for_selector("#made a:has-text('asked.run')")
    with page.expect_download() as ranking:
        page.click("#made a:has-text('asked.run')")
    ranking.value.save_as(tmp_path / "asked.run")
    best = (tmp_path / "asked.run").read_text().split()[2]
    (tmp_path / "asked.qrels").write_text(f"q1 0 {best} 1\n")
    page.set_input_files("#evaluate input[name=run]", tmp_path / "asked.run")
    page.set_input_files("#evaluate input[name=qrels]", tmp_path / "asked.qrels")
    page.click("#evaluate button.main")
    page.wait_for_selector("#scores td:has-text('1.0000')")


def test_captions_come_along_and_things_are_named(page, address, tmp_path):
    next(iter(street(1, 77, noise=0.0))).write(tmp_path / "spoken.mp4")
    (tmp_path / "spoken.srt").write_text(SRT)
    page.goto("/")
    page.click("[data-add] >> nth=0")
    page.set_input_files("#files", [tmp_path / "spoken.mp4", tmp_path / "spoken.srt"])
    page.select_option("#add-detector", "rendered")
    with page.expect_navigation():
        page.click("dialog button.main")
    page.click("text=spoken.mp4")
    page.wait_for_url("**/videos/*")
    page.wait_for_selector("text=The person stood there.")
    teach(address)
    page.reload()
    page.click("#naming summary")
    page.click("#name-things")
    page.wait_for_selector("#named tbody tr")
    page.click("#name-here")
    page.wait_for_selector("#named p:has-text('At ')")
    page.fill("#more-text", "The cone stood still.")
    with page.expect_navigation():
        page.click("#say-more button")
    said = page.locator("#said-of li", has_text="The cone stood still.")
    said.locator("[data-correct]").click()
    page.fill("#said-of form input[type=text]", "The cone fell.")
    with page.expect_navigation():
        page.click("#said-of form button.main")
    said = page.locator("#said-of li", has_text="The cone fell.")
    with page.expect_navigation():
        said.locator("[data-unsay]").click()
    assert "cone" not in page.inner_text("#said-of")


def teach(address):
    """Teach two colours, as the Attributes page does."""
    for word, colour in {"grey": (120, 120, 120), "blue": (210, 60, 40)}.items():
        for size in range(6):
            image = np.full((48, 48, 3), 235, np.uint8)
            cv2.circle(image, (24, 24), 10 + size, colour, -1)
            data = cv2.imencode(".png", image)[1].tobytes()
            sent = {"image": ("a.png", data, "image/png")}
            url = f"{address}/api/v1/attributes/lessons"
            patient.post(url, files=sent, data={"word": word}).raise_for_status()
    begun = patient.post(f"{address}/api/v1/attributes/learn", json={"attributes": 1}).json()
    job = f"{address}/api/v1/jobs/{begun['id']}"
    while patient.get(job).json()["state"] in ("queued", "running"):
        time.sleep(0.2)


def test_a_film_that_no_browser_plays_is_played_all_the_same(page, address, tmp_path):
    odd = tmp_path / "odd.avi"
    with av.open(str(odd), "w") as target:
        stream = target.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        for number in range(12):
            image = np.full((240, 320, 3), 20 * number, np.uint8)
            target.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        target.mux(stream.encode())
    url, how = f"{address}/api/v1/uploads", {"name": "odd.avi", "detector": "rendered"}
    job = patient.post(url, params=how, content=odd.read_bytes()).json()
    while (job := patient.get(f"{address}/api/v1/jobs/{job['id']}").json())["state"] != "done":
        assert job["state"] != "failed", job
        time.sleep(0.2)
    (number,) = job["result"]["videos"]
    page.goto(f"/videos/{number}")
    until(page, "document.getElementById('film').readyState >= 2")
    assert page.locator(".unplayable").count() == 0
    sent = patient.get(f"{address}/api/v1/videos/{number}/file")
    assert sent.headers["content-type"] == "video/mp4"
    patient.delete(f"{address}/api/v1/videos/{number}").raise_for_status()
