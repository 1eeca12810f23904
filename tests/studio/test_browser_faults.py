"""What was once wrong in the studio, tried again in a real browser."""

import os
import re
import shutil
import sqlite3
import subprocess
import threading
from contextlib import contextmanager, suppress

import cv2
import numpy as np
import pytest

from tests.studio.browsing import PATIENCE, patient, serving, until
from wordsight.library import Library
from wordsight.studio.jobs.store import JobStore

pytestmark = pytest.mark.slow

WAITS = "document.querySelector('#answer progress')"
VERDICTS = {"likely", "unsure", "not likely"}


@pytest.fixture
def video(address):
    """The id of a film of the street."""
    found = patient.get(f"{address}/api/v1/videos", params={"text": "street-001"}).json()
    return found["videos"][0]["id"]


def test_nothing_is_described_that_is_judged_false(page, address, video):
    page.goto(f"/videos/{video}")
    page.fill("#sentence", "The person carried the chair.")
    page.click("#describe")
    until(page, f"!{WAITS} && document.querySelector('#answer p')")
    listed = page.locator("#answer button.link").all_inner_texts()
    if listed:
        assert "not likely" not in page.inner_text("#answer")
        asked = {"sentences": listed}
        scores = patient.post(f"{address}/api/v1/videos/{video}/score", json=asked).json()
        # Only what fits best may be doubtful, and then it says so.
        assert all(one["holds"] for one in scores[1:])
        assert scores[0]["holds"] or "unsure" in page.inner_text("#answer")
    else:
        assert "judged true here" in page.inner_text("#answer")
    page.click("#score-all")
    page.wait_for_selector("#answer table")
    marks = page.locator("#answer td:nth-child(2)").all_inner_texts()
    said = patient.get(f"{address}/api/v1/videos/{video}").json()["sentences"]
    assert len(marks) == 1 + len({one["text"] for one in said}) and set(marks) <= VERDICTS


def test_a_photo_of_several_megabytes_is_searched_for(page, tmp_path):
    photo = tmp_path / "photo.png"
    pixels = np.random.default_rng(0).integers(0, 255, (900, 1200, 3), dtype=np.uint8)
    cv2.imwrite(str(photo), pixels)
    assert photo.stat().st_size > 3 << 20
    page.goto("/search")
    page.set_input_files("#picture", photo)
    page.click("button.main")
    page.wait_for_selector(".moment >> text=looks")


def test_sentences_are_corrected_and_deleted_where_they_stand(page, video):
    page.goto(f"/videos/{video}")
    page.fill("#more-text", "The person waved.")
    page.click("#say-more button")
    page.wait_for_selector("#said-of >> text=The person waved.")
    page.click("[aria-label='Correct: The person waved.']")
    page.fill("#said-of form label.wide input", "The person walked.")
    page.fill("#said-of form input[type=number] >> nth=0", "0.5")
    page.fill("#said-of form input[type=number] >> nth=1", "1.5")
    page.click("#said-of form button.main")
    page.wait_for_selector("#said-of >> text=The person walked.")
    assert "0:00.5–0:01.5" in page.inner_text("#said-of")
    page.click("[aria-label='Delete: The person walked.']")
    until(page, "!document.getElementById('said-of').textContent.includes('walked.')")


def test_filters_stay_in_the_address(page):
    page.goto("/?sort=name&said=with")
    names = page.locator(".cards .card .about").all_inner_texts()
    assert len(names) > 1 and names == sorted(names)
    assert page.input_value("#sort") == "name" and page.input_value("#said-filter") == "with"
    page.select_option("#said-filter", "without")
    page.wait_for_url("**said=without*")
    page.go_back()
    page.wait_for_url("**said=with")
    assert page.input_value("#said-filter") == "with"


def test_a_question_can_be_cancelled_and_pages_answer_meanwhile(page, video):
    page.goto(f"/videos/{video}")
    page.evaluate(
        """(video) => { for (let top = 1; top <= 6; top++) studio.ask(
          `/api/v1/videos/${video}/describe`,
          { method: "POST", body: JSON.stringify({ top: 10 + top, whole: true }),
            headers: { "Content-Type": "application/json", Prefer: "respond-async" } }); }""",
        video,
    )
    page.click("#ask summary")
    page.fill("#top", "9")
    page.click("#describe")  # waits for the others
    page.click("#answer button >> text=Cancel")
    page.wait_for_selector("#answer >> text=cancelled")
    page.goto("/search")
    page.wait_for_selector("#text")


def test_a_check_of_all_files_is_answered_in_words(page):
    page.goto("/")
    page.evaluate("document.getElementById('work').open = true")
    page.click("text=Check all files of the library")
    page.wait_for_selector("#jobs .job.done p.yes")
    said = page.inner_text("#jobs .job.done p.yes")
    assert said == "Nothing is wrong."


def test_a_second_studio_shows_what_another_one_does_and_takes_over_from_the_dead(
    browser, street_library, tmp_path
):
    shutil.copytree(street_library / "library", tmp_path / "library")
    (tmp_path / "library" / "studio").mkdir(exist_ok=True)
    store = JobStore(tmp_path / "library" / "studio" / "jobs.sqlite")
    kept = store.add("verify", "Kept by another studio", {})
    lost = store.add("verify", "Lost by a dead studio", {})
    here, over = os.uname().nodename, threading.Event()
    alive = f"{here}:{os.getpid()}:1"
    assert store.take(owner=alive).id == kept.id
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert store.take(owner=f"{here}:{ended.pid}:1").id == lost.id

    def beat():
        own = JobStore(store.path)  # the other studio, as far as this one can see
        while not over.wait(1.0):
            with suppress(sqlite3.OperationalError):  # it is locked for a moment
                own.renew(alive)
        own.close()

    other = threading.Thread(target=beat, daemon=True)
    other.start()
    with serving(tmp_path / "library") as second, opened_by(browser) as page:
        page.goto(second)
        page.wait_for_selector(".job.done >> text=Lost by a dead studio")
        page.wait_for_selector(".job.running >> text=Kept by another studio")
        assert store.is_held(kept.id, alive)
    over.set()
    other.join()
    store.close()


def test_a_film_whose_file_is_gone_is_told_on_its_screen(browser, street_library, tmp_path):
    shutil.copytree(street_library / "films", tmp_path / "films")
    film = next((tmp_path / "films").glob("*.mp4"))
    with Library.create(tmp_path / "library") as library:
        (number,) = library.add(film, detector="rendered", workers=1).added
    film.unlink()
    with serving(tmp_path / "library") as base, opened_by(browser) as page:
        page.goto(f"{base}/videos/{number}")
        page.wait_for_selector(".unplayable .problem >> text=not where it was")


def test_a_full_disk_is_told_where_something_is_written(
    browser, small_disk, street_library, tmp_path
):
    shutil.copytree(street_library / "library", small_disk / "library")
    large = tmp_path / "large.mp4"
    large.write_bytes(bytes(64 << 20))
    with serving(small_disk / "library") as base, opened_by(browser) as page:
        page.goto(base)
        page.click("[data-add] >> nth=0")
        page.set_input_files("#files", large)
        page.click("dialog button.main:enabled")
        page.wait_for_selector("#add-problem .problem >> text=is full")
        number = patient.get(f"{base}/api/v1/videos").json()["videos"][0]["id"]
        fill(small_disk / "filler")
        for where in ("/", "/search?text=", "/lexicon", f"/videos/{number}", "/align", "/states"):
            answer = page.goto(f"{base}{where}")
            assert answer.status == 200 and page.locator("h1").count() == 1, where


def test_what_once_ended_in_a_traceback_is_answered_in_words(page, video):
    page.goto("/states")
    events = "A(x) = " + "(" * 3000 + "[attached(x,x)]" + ")" * 3000
    page.fill("textarea[name=events]", events)
    page.click("text=Save rules")
    page.wait_for_selector("#problem .problem >> text=nested")
    page.goto(f"/videos/{video}")
    page.fill("#sentence", " and ".join(["the person approached"] * 16) + ".")
    page.click("button[value=track]")
    until(page, f"!{WAITS} && document.querySelector('#answer strong, #answer .problem')")
    assert "should not have happened" not in page.inner_text("#answer")
    assert page.request.head("/").status == 200


def test_a_hit_shows_its_sentence_light_up_and_leads_to_its_moment(page):
    page.goto("/search?text=The person approached the backpack.&by=meaning&everything=true")
    page.wait_for_selector(".moment .lives")
    card = page.locator(".moment", has=page.locator(".lives")).first
    assert card.locator("[data-verdict]").inner_text() in VERDICTS
    assert [one.rstrip(".") for one in card.locator(".lives").all_inner_texts()] == [
        "person",
        "approached",
        "backpack",
    ]
    card.hover()
    until(page, "document.querySelector('.moment video').currentTime > 0.1")
    until(page, "document.querySelector('.moment .lives.lit')")
    card.locator("a").first.click()
    page.wait_for_url("**/videos/*from=*to=*")
    page.wait_for_selector("#living .lives")
    assert page.input_value("#to") != ""


def test_an_index_that_cannot_be_made_says_so_where_it_was_asked_for(page):
    page.goto("/search")
    page.click("summary:has-text('More') >> nth=-1")
    page.evaluate("document.getElementById('language').add(new Option('klingon'))")
    page.select_option("#language", "klingon")  # whose words have no stems
    page.click("#index")
    page.wait_for_selector("#indexing-state .problem")
    assert "no stemmer for 'klingon'" in page.inner_text("#indexing-state")
    page.select_option("#language", "")
    page.click("#index")
    page.wait_for_selector("#indexing-state >> text=The index is up to date.")
    assert page.locator("#indexing-state .problem").count() == 0


def test_lessons_and_alignments_are_corrected_and_deleted_where_they_are_shown(
    page, address, tmp_path
):
    page.on("dialog", lambda asked: asked.accept("round" if asked.type == "prompt" else None))
    picture = tmp_path / "card.png"
    cv2.imwrite(str(picture), np.full((48, 48, 3), 200, np.uint8))
    for turn in range(2):
        page.goto("/attributes")
        page.set_input_files("#pictures", picture)
        page.fill("#word", f"squarish-{turn}")
        with page.expect_navigation():
            page.click("text=Add lesson")
    with page.expect_navigation():
        page.click("[data-word]:has-text('squarish-0')")
    page.wait_for_selector("[data-word]:has-text('round')")
    assert page.locator("text=squarish-0").count() == 0
    for word in ("round", "squarish-1"):
        with page.expect_navigation():
            page.click(f"[aria-label='Delete the lesson {word}']")
        assert page.locator(f"[data-word]:has-text('{word}')").count() == 0
    videos = patient.get(f"{address}/api/v1/videos", params={"text": "workbench"}).json()["videos"]
    details = patient.get(f"{address}/api/v1/videos/{videos[0]['id']}").json()
    lines = [one["text"] for one in details["sentences"]]
    page.goto("/align")
    page.select_option("#video", videos[0]["id"])
    page.fill("#text", "\n".join(lines))
    page.click("#align button.main")
    page.wait_for_url("**/align/*")
    page.wait_for_selector("#living .lives")
    until(page, "!document.getElementById('bands').hasAttribute('aria-busy')")
    page.focus("#bands")  # lines are reached by keys, and their beginnings moved
    assert page.get_attribute("#bands", "role") == "slider"
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#bands", "aria-valuetext").startswith("line ")
    assert page.locator("#again").is_disabled()
    page.keyboard.press("Shift+ArrowRight")
    assert page.locator("#again").is_enabled()
    page.click("summary:has-text('Correct the text')")
    page.fill("#new-text", "\n".join(line.replace(".", " slowly.") for line in lines))
    page.click("text=Align this text")
    page.wait_for_selector("#living .lives >> text=slowly")
    assert page.locator("#living .lives").count() == len(lines)
    name = page.url.rsplit("/", 1)[1]
    listed = page.context.new_page()
    listed.set_viewport_size({"width": 390, "height": 800})
    listed.goto("/align")
    assert listed.locator(f"a[href='/align/{name}']").count() == 1
    assert listed.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1
    listed.close()
    page.click("main button.danger")
    page.wait_for_url("**/align")
    assert page.locator(f"a[href='/align/{name}']").count() == 0


def test_nothing_pale_is_hard_to_read_or_to_find(page):
    page.emulate_media(color_scheme="dark")
    page.goto("/search")
    colours = page.evaluate(
        """[["#text", "::placeholder", "color"], ["#drop-picture", "", "borderTopColor"],
            ["#text", "", "backgroundColor"], ["#search", "", "backgroundColor"]]
           .map(([where, part, what]) =>
             getComputedStyle(document.querySelector(where), part)[what])"""
    )
    text, edge, field, ground = (luminance(one) for one in colours)
    assert contrast(text, field) >= 4.5 and contrast(edge, ground) >= 3


def test_an_empty_studio_leads_to_a_demo_that_ticks_the_first_step(browser, tmp_path):
    Library.create(tmp_path / "library").close()
    with serving(tmp_path / "library") as address, opened_by(browser) as page:
        page.goto(address)
        assert page.locator(".steps li").count() == 3
        assert page.locator(".steps li.ticked").count() == 0
        until(page, "document.querySelector('video.clip').currentTime > 0.1")  # it plays by itself
        page.click("#demo")
        page.wait_for_selector(".cards .card")
        assert page.locator(".steps li.ticked strong").first.inner_text() == (
            "Add films and sentences"
        )
        assert page.inner_text(".cards .card .name").startswith("The ")  # its first sentence


def luminance(colour):
    """Return how light a colour is that the browser names by its parts."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(share * one for share, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    """Return how far two lightnesses are from each other, from 1 to 21."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


@contextmanager
def opened_by(browser):
    """Open a page that may be refused what it asks for."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    yield opened
    context.close()


def fill(path):
    """Write until the disk is full."""
    with path.open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(bytes(1 << 14))
