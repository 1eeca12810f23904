"""Answers, errors and ways to stop stand where something was asked, on screens of all kinds."""

import time

import cv2
import numpy as np
import pytest

from tests.studio.browsing import PATIENCE, SCREENS, patient, until
from wordsight.worlds import street

pytestmark = pytest.mark.slow

SENTENCE = "The person approached the backpack."
WITHIN = """
(() => {
  const part = document.querySelector(".moment .part");
  if (!part?.style.width) return false;
  const [inner, outer] = [part, part.parentElement].map((one) => one.getBoundingClientRect());
  return inner.width > 4 && inner.height > 4 && inner.left >= outer.left - 1
    && inner.right <= outer.right + 1 && inner.top >= outer.top - 1
    && inner.bottom <= outer.bottom + 1;
})()
"""
BOTH_IN_SIGHT = """
["screen", "living"].every((id) => {
  const box = document.getElementById(id).getBoundingClientRect();
  return box.top >= -1 && box.bottom <= innerHeight + 1;
})
"""


@pytest.fixture
def video(address):
    """The id of a film of the street."""
    found = patient.get(f"{address}/api/v1/videos", params={"text": "street-001"}).json()
    return found["videos"][0]["id"]


@pytest.fixture
def indexed(address):
    """The library with an index that is up to date."""
    begun = patient.post(f"{address}/api/v1/search/index", json={}).json()
    while (job := patient.get(f"{address}/api/v1/jobs/{begun['id']}").json())["state"] != "done":
        assert job["state"] in ("queued", "running"), job
        time.sleep(0.2)


@pytest.mark.parametrize("size", SCREENS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_sentence_lives_beside_its_film_on_every_screen(browser, address, video, size, scheme):
    width, height = SCREENS[size]
    context = browser.new_context(
        base_url=address, viewport={"width": width, "height": height}, color_scheme=scheme
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"/videos/{video}")
    until(page, "document.getElementById('film').readyState >= 2")
    page.fill("#sentence", SENTENCE)
    page.click("button[value=track]")
    page.wait_for_selector("#living .lives")
    words = page.locator("#living .lives").all_inner_texts()
    assert words == ["person", "approached", "backpack"]  # a full stop is not part of a word
    assert page.inner_text("#living .living") == SENTENCE
    page.locator("#living .lives").first.click()
    until(page, "document.querySelector('#living .lives.lit')")
    if size == "phone":
        until(page, BOTH_IN_SIGHT)  # the film stays where its sentence is read
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1
    context.close()


def test_keys_press_what_has_the_focus_and_the_button_says_what_it_does(page, video):
    page.goto(f"/videos/{video}")
    until(page, "document.getElementById('film').readyState >= 2")
    page.focus("#away > summary")
    page.keyboard.press(" ")
    assert page.evaluate("document.getElementById('away').open")
    assert page.evaluate("document.getElementById('film').paused")
    page.focus("#screen")
    page.keyboard.press(" ")
    until(page, "document.getElementById('play').ariaLabel === 'Pause'")
    page.keyboard.press(" ")
    until(page, "document.getElementById('play').ariaLabel === 'Play'")
    page.click(".menu summary")
    page.keyboard.press("Escape")
    assert page.locator(".menu[open]").count() == 0
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


@pytest.mark.usefixtures("indexed")
def test_a_search_that_is_cancelled_does_not_begin_again(page, address, video):
    page.goto(f"/videos/{video}")
    page.evaluate(
        """(video) => { for (let top = 1; top <= 6; top++) studio.begin(
          `/api/v1/videos/${video}/describe`, { top, whole: true, prune: 700 + top }); }""",
        video,
    )
    page.wait_for_timeout(500)
    page.goto("/search?text=The person carried the stool quickly.&by=meaning")
    page.click("#found .waiting button >> text=Cancel")
    page.wait_for_selector("#found >> text=The search was cancelled.")
    assert page.locator("#found .waiting, #found .moment").count() == 0
    jobs = patient.get(f"{address}/api/v1/jobs", params={"limit": 100}).json()
    searches = [one for one in jobs if one["kind"] == "search" and "stool quickly" in one["title"]]
    assert [one["state"] for one in searches] == ["cancelled"]


@pytest.mark.usefixtures("indexed")
def test_the_part_that_counted_lies_within_its_picture(page, video):
    page.goto(f"/search?like={video}@1.000")
    page.wait_for_selector(".moment .part", state="attached")
    until(page, WITHIN)
    page.goto(f"/search?like={video}@1.000&region=300,200,120,100")
    page.wait_for_selector(".moment .part", state="attached")
    until(page, WITHIN)


def test_a_file_that_is_no_film_says_so_in_its_row(page, address, tmp_path):
    next(iter(street(1, 55, noise=0.0))).write(tmp_path / "good.mp4")
    (tmp_path / "broken.mp4").write_bytes(b"this is no film")
    page.goto("/search")
    page.wait_for_selector("#text")
    page.goto("/")
    page.click("[data-add] >> nth=0")
    page.set_input_files("#files", [tmp_path / "good.mp4", tmp_path / "broken.mp4"])
    page.select_option("#add-detector", "rendered")
    page.click("dialog button.main:enabled")
    broken = page.locator(".sheet-row", has_text="broken.mp4")
    broken.locator(".problem").wait_for()
    good = page.locator(".sheet-row", has_text="good.mp4")
    good.locator("text=Added.").wait_for()
    assert good.locator(".problem").count() == 0
    assert page.locator("dialog[open]").count() == 1  # it can be read
    page.wait_for_selector("dialog button.main:disabled")  # what was sent is not sent again
    added = patient.get(f"{address}/api/v1/videos", params={"text": "good.mp4"}).json()["videos"]
    assert len(added) == 1
    patient.delete(f"{address}/api/v1/videos/{added[0]['id']}").raise_for_status()


def test_what_cannot_be_named_is_said_beside_the_picture(page, tmp_path):
    picture = tmp_path / "card.png"
    cv2.imwrite(str(picture), np.full((48, 48, 3), 200, np.uint8))
    page.goto("/attributes")
    # Whether or not something was taught before: the button is pressed as if it were.
    page.evaluate("document.querySelector('#name button.main').disabled = false")
    page.set_input_files("#new", picture)
    page.fill("#part", "0,0,-5,5")
    page.click("#name button.main")
    page.wait_for_selector("#names .problem")
    assert page.locator("#teach-problem .problem").count() == 0


def test_a_version_that_cannot_be_gone_back_to_says_so_beside_its_button(page, address):
    word = f"{address}/api/v1/lexicon/words/approached"
    table = patient.get(word).json()["features"][0]
    shares = [[*row[1:], row[0]] for row in table["shares"]]
    edit = {"feature": table["feature"], "roles": table["roles"], "state": 0, "shares": shares[0]}
    patient.put(word, json={"edits": [edit]}).raise_for_status()
    newest = patient.get(f"{address}/api/v1/lexicon/versions").json()[0]["number"]
    page.goto("/lexicon/approached")
    page.route(
        "**/restore",
        lambda asked: asked.fulfill(status=422, json={"detail": "This version is gone."}),
    )
    page.click(f"[data-restore='{newest}']")
    page.wait_for_selector(".beside-problem .problem >> text=This version is gone.")
    assert page.locator("#change").is_hidden()
    patient.post(f"{address}/api/v1/lexicon/versions/{newest}/restore").raise_for_status()
