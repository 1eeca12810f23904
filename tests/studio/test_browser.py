"""Journeys through the studio in a real browser, with a real server behind it."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.studio.browsing import patient, until
from wordsight.worlds import street

pytestmark = pytest.mark.slow


DROP = """
(() => {
  const files = new DataTransfer();
  files.items.add(new File(["x"], "dropped.mp4", { type: "video/mp4" }));
  document.body.dispatchEvent(
    new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
})()
"""


DRAWN = """
(() => {
  const canvas = document.getElementById("overlay"), wanted = parseInt("COLOUR".slice(1), 16);
  const seen = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  for (let at = 0; at < seen.length; at += 4)
    if ((seen[at] << 16 | seen[at + 1] << 8 | seen[at + 2]) === wanted && seen[at + 3] === 255)
      return true;
  return false;
})()
"""


def test_films_are_added_each_with_its_sentences(page, address, tmp_path):
    next(iter(street(1, 99, noise=0.0))).write(tmp_path / "fresh.mp4")
    page.goto("/")
    next(iter(street(1, 98, noise=0.0))).write(tmp_path / "other.mp4")
    page.click("[data-add] >> nth=0")
    page.set_input_files("#files", [tmp_path / "fresh.mp4", tmp_path / "other.mp4"])
    page.wait_for_selector(".sheet-row >> nth=1")
    page.fill("#said-0", "The person approached the chair.\n0:01-0:02 The person stopped.")
    page.fill("#said-1", "The person put down the stool.")
    page.select_option("#add-detector", "rendered")
    assert not patient.get(f"{address}/api/v1/videos", params={"text": "fresh"}).json()["videos"]
    with page.expect_navigation():  # nothing was sent before this
        page.click("dialog button.main")
    first = page.locator(".cards .card").first.inner_text()
    assert "fresh" in first or "other" in first  # the newest come first
    page.fill("#text", "fresh")
    page.select_option("#sort", "name")  # the choice is part of the address
    page.wait_for_url("**/?text=fresh&sort=name*")
    assert page.locator(".cards .card").count() == 1
    assert "The person approached the chair." in page.inner_text(".cards .card")
    page.hover(".cards .card")
    until(page, "document.querySelector('.cards .card video').currentTime > 0.1")
    page.click(".cards .card a")
    page.wait_for_selector("text=The person stopped.")
    assert "0:01.0–0:02.0" in page.inner_text("#said-of")
    page.on("dialog", lambda asked: asked.accept())
    page.goto("/")
    for number in range(2):  # the newest are those that were added
        page.check(f"[data-select] >> nth={number}")
    before = patient.get(f"{address}/api/v1/videos").json()["total"]
    with page.expect_navigation():
        page.click("#remove-selected")
    assert patient.get(f"{address}/api/v1/videos").json()["total"] == before - 2
    page.goto("/search?text=")
    page.evaluate(DROP)  # a film dropped on any page opens the sheet
    page.wait_for_selector("dialog[open] .sheet-row")


def test_lexicon_is_learned_and_read(page):
    page.goto("/lexicon")
    page.fill("#restarts", "1")
    with page.expect_navigation():  # the page comes again with what was learned
        page.click("#learn button.main")
    page.click("ul.words >> text=person")
    page.wait_for_selector("figure.feature rect", state="attached")  # a bar may have no height
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
    assert page.locator("#living .lives").count() >= 3
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
    assert page.locator(".moment .part").count()  # the part of the picture that counted
    page.goto("/search?text=zebra")
    page.wait_for_selector("text=Nothing found")
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
    page.wait_for_selector("#living .lives")
    assert page.locator("#living .lives").count() == len(said)
    with page.expect_download() as download:
        page.click("a.button:has-text('srt')")
    assert "-->" in Path(download.value.path()).read_text()
    until(page, "document.getElementById('film').readyState >= 1")
    until(page, "!document.getElementById('bands').hasAttribute('aria-busy')")
    name = page.url.rsplit("/", 1)[1]
    spans = patient.get(f"{address}/api/v1/alignments/{name}").json()["result"]["lines"][1]["spans"]
    length = patient.get(f"{address}/api/v1/alignments/{name}").json()["duration"]
    page.locator("#bands").scroll_into_view_if_needed()
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
    page.click("#facts", position={"x": 200, "y": 12})
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
    # Which picture would teach most: it is shown, and one of the likely words teaches it.
    image = np.full((48, 48, 3), 235, np.uint8)
    cv2.circle(image, (24, 24), 12, (120, 90, 90), -1)
    cv2.imwrite(str(tmp_path / "odd.png"), image)
    page.click("text=Which picture would teach most?")
    page.set_input_files("#pool", [tmp_path / "odd.png"])
    page.wait_for_selector("#question img")
    assert "odd.png. Which is it:" in page.text_content("#question")
    with page.expect_navigation():
        page.click("#question button >> nth=0")
    assert "19 lessons" in page.text_content("h1")


def test_benchmarks_and_small_screens(page):
    page.goto("/benchmarks")
    page.wait_for_selector("h1")
    page.set_viewport_size({"width": 390, "height": 800})
    pages = ("/", "/search", "/lexicon", "/align", "/states", "/attributes", "/tools")
    for address in (*pages, "/benchmarks"):
        page.goto(address)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 1, f"{address} is {wide} pixels wider than a phone"


def test_a_button_pressed_before_the_scripts_run_is_not_lost(page, address):
    video = patient.get(f"{address}/api/v1/videos", params={"text": "street-000"}).json()
    number = video["videos"][0]["id"]
    held = []
    page.route("**/static/player.js", lambda route: held.append(route))
    page.goto(f"/videos/{number}", wait_until="commit")
    page.fill("#sentence", "The person approached the backpack.")
    page.click("button[value=track]", no_wait_after=True)
    assert page.evaluate("document.readyState") != "complete"
    while not held:  # the browser asks for it when it likes
        page.wait_for_timeout(50)
    held[0].continue_()
    page.wait_for_selector("#answer strong")
    assert page.url.endswith(f"/videos/{number}")


def test_an_answer_never_stands_under_another_question(page):
    page.goto("/")
    page.click("text=street-000.mp4")
    page.fill("#sentence", "The person approached the backpack.")
    page.click("button[value=track]")
    page.wait_for_selector("#answer strong")
    page.wait_for_selector("#living .lives")
    page.fill("#sentence", "The zebra flew.")
    page.click("button[value=track]")
    page.wait_for_selector("#answer .problem")
    assert page.locator("#answer strong").count() == 0 and not page.inner_text("#living").strip()
    family = page.eval_on_selector("#answer .problem", "one => getComputedStyle(one).fontFamily")
    assert "mono" in family and "zebra" in page.inner_text("#answer .problem")


def test_words_light_up_while_they_are_true_and_lead_there(page, address):
    video = patient.get(f"{address}/api/v1/videos", params={"text": "street-000"}).json()
    number = video["videos"][0]["id"]
    said = patient.get(f"{address}/api/v1/videos/{number}").json()["sentences"][0]["text"]
    asked = {"sentence": said}
    found = patient.post(f"{address}/api/v1/videos/{number}/track", json=asked).json()
    assert found["verdict"] in ("likely", "unsure", "not likely")
    verb = next(one for one in found["living"] if (one["word"] or "").count("p1"))
    page.goto(f"/videos/{number}?sentence={said}")  # a link carries its sentence
    page.wait_for_selector("#living .lives")
    word = page.locator("#living .lives", has_text=verb["text"].strip().split()[0]).first
    shown = "document.getElementById('film').currentTime"
    until(page, "document.getElementById('film').readyState >= 2")
    word.click()
    until(page, f"Math.abs({shown} - {verb['begins']}) < 0.2")
    until(page, "document.querySelectorAll('#living .lives.lit').length >= 2")
    colour = word.evaluate("one => one.style.getPropertyValue('--own')")
    until(page, DRAWN.replace("COLOUR", colour))  # the box of whom it speaks of has its colour
    assert word.get_attribute("aria-pressed") == "true"
    page.evaluate("document.getElementById('film').currentTime = 0")
    until(page, f"{shown} === 0")
    before = next(value for value in verb["belief"])
    until(page, f"document.querySelectorAll('#living .lit').length <= {3 if before < 0.5 else 9}")
    page.fill("#sentence", "The person carried the chair.")
    page.click("button[value=track]")
    page.wait_for_selector("#living .lives")
    said = page.inner_text("#answer")
    assert "ikely" in said and "%" in said
    # A word that fails, or that none does alone.
    assert page.locator("#living .why").count() == int("Not likely" in said)


def test_keys_reach_search_lines_and_facts(page, address):
    page.goto("/")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "text"
    videos = patient.get(f"{address}/api/v1/videos", params={"text": "workbench"}).json()["videos"]
    page.goto(f"/states?video={videos[0]['id']}")
    if page.locator("#facts[data-found]").count() == 0:
        with page.expect_navigation():
            page.click("#infer")
    until(page, "!document.getElementById('facts').hidden")
    page.focus("#facts")
    assert page.get_attribute("#facts", "role") == "slider"
    page.keyboard.press("ArrowRight")
    until(page, "Number(document.getElementById('facts').getAttribute('aria-valuenow')) > 0")
    page.keyboard.press("Enter")
    page.wait_for_selector("#why strong")
    page.goto("/states")  # a film that has facts is chosen already
    assert page.locator("#facts[data-found]").count() == 1
    assert page.locator("#learning[open]").count() == 0


def test_several_films_are_chosen_at_once(page):
    page.goto("/?sort=name")
    page.check("[data-select] >> nth=0")
    page.check("[data-select] >> nth=1")
    assert page.inner_text("#selected") == "2 selected"
    page.click("#clear-selected")
    until(page, "document.getElementById('selection').hidden")
