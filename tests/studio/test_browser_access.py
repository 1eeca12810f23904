"""Keys, labels, small dark screens and rest, on every page in a real browser."""

from importlib.resources import files

import pytest

from tests.studio.browsing import PATIENCE, patient, until

pytestmark = pytest.mark.slow
PAGES = ("/", "/search?text=person", "/lexicon", "/lexicon/approached", "/align", "/states")
MORE = ("/attributes", "/tools", "/benchmarks", "/live", "/nowhere")

UNNAMED = """
[...document.querySelectorAll("a, button, input, select, textarea, canvas, video, summary")]
  .filter((one) => one.type !== "hidden" && one.checkVisibility())
  .filter((one) => !one.closest("[aria-hidden=true]"))
  .filter((one) => !(one.labels?.length || one.getAttribute("aria-label")
    || one.getAttribute("aria-labelledby") || one.textContent.trim()
    || one.querySelector("img[alt]:not([alt=''])")))
  .map((one) => one.outerHTML.slice(0, 120))
"""
DOUBLED = """
[...document.querySelectorAll("[id]")].map((one) => one.id)
  .filter((id, at, all) => all.indexOf(id) !== at)
"""
MOVING = """
[...document.querySelectorAll("*")]
  .filter((one) => parseFloat(getComputedStyle(one).transitionDuration) > 0).length
"""
IN_SIGHT = """
(() => {
  const named = document.querySelectorAll(".top nav > [aria-current], .menu > summary");
  return [...named].map((one) => one.getBoundingClientRect())
    .every((box) => box.left >= 0 && box.right <= innerWidth);
})()
"""
UNEVEN = """
[...document.querySelectorAll(".row, .bar")].flatMap((row) => {
  const kinds = ["button:not(.tag)", ".button", "label > select:not([multiple])",
    "label > input:not([type=checkbox], [type=range])"].map((kind) => ":scope > " + kind);
  const heights = [...row.querySelectorAll(kinds.join())]
    .filter((one) => one.checkVisibility()).map((one) => Math.round(one.offsetHeight));
  return new Set(heights).size > 1 ? [[row.outerHTML.slice(0, 100), heights]] : [];
})
"""
FOCUS = """
(() => {
  const one = document.activeElement;
  const style = getComputedStyle(one), box = one.getBoundingClientRect();
  return [one.tagName + (one.id ? "#" + one.id : ""), style.outlineStyle,
    parseFloat(style.outlineWidth), box.width > 0, Math.round(box.top + scrollY),
    one.textContent.trim().slice(0, 20)];
})()
"""


@pytest.fixture
def addresses(address):
    """All pages, with those of a video too."""
    videos = patient.get(f"{address}/api/v1/videos", params={"text": "street"}).json()["videos"]
    return [*PAGES, f"/videos/{videos[0]['id']}", f"/states?video={videos[0]['id']}", *MORE]


@pytest.fixture
def phone(browser, address):
    """A small dark screen of someone who asked for rest."""
    context = browser.new_context(
        base_url=address,
        viewport={"width": 390, "height": 800},
        color_scheme="dark",
        reduced_motion="reduce",
    )
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    yield opened
    context.close()


def test_small_dark_screens_need_no_scrolling_sideways(phone, addresses):
    for where in addresses:
        phone.goto(where)
        phone.wait_for_load_state("load")
        wide = phone.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 1, f"{where} is {wide} pixels wider than a phone"
        assert phone.evaluate(IN_SIGHT), f"{where}: the name of the page is out of sight"
        ground = phone.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(20, 24, 27)", where


def test_a_film_stays_in_view_beside_its_questions_on_a_phone(phone, addresses):
    phone.goto(next(where for where in addresses if where.startswith("/videos/")))
    until(phone, "document.getElementById('film').readyState >= 1")
    phone.locator("#more-text").scroll_into_view_if_needed()
    phone.evaluate("document.getElementById('more-text').scrollIntoView({ block: 'end' })")
    until(
        phone, "scrollY > 200 && document.getElementById('screen').getBoundingClientRect().top > -1"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_and_controls_are_of_one_height(
    browser, address, addresses, width, scheme
):
    axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is missing")
    source = (files(axe) / "axe.min.js").read_text(encoding="utf-8")
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": 860},
        color_scheme=scheme,
        bypass_csp=True,  # the page itself may load no script of others
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    faults = []

    def look(where):
        page.evaluate(source)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        faults.extend((where, one["id"], one["nodes"][0]["html"][:120]) for one in found)

    for where in addresses:
        page.goto(where)
        page.wait_for_load_state("load")
        page.evaluate(
            "for (const one of document.querySelectorAll('main details')) one.open = true"
        )
        assert page.evaluate(UNEVEN) == [], (where, width, scheme)  # one height of controls
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1, where
        look(where)
    page.goto("/")
    page.click("[data-add] >> nth=0")
    page.set_input_files("#files", [{"name": "a.mp4", "mimeType": "video/mp4", "buffer": b"x"}])
    page.wait_for_selector("dialog[open] .sheet-row")
    page.click("dialog summary")
    assert page.evaluate(UNEVEN) == [] and page.evaluate(DOUBLED) == []
    look("the sheet")
    context.close()
    assert faults == []


def test_nothing_moves_unasked(phone):
    phone.goto("/search?text=person&by=said")
    phone.wait_for_selector(".moment")
    phone.hover(".moment >> nth=0")
    phone.wait_for_timeout(600)
    assert phone.evaluate("document.querySelector('.moment video').paused")
    assert phone.evaluate(MOVING) == 0


def test_everything_has_a_name_once(page, addresses):
    for where in addresses:
        if where == "/nowhere":
            continue  # asked for below, where what is missing may be missing
        page.goto(where)
        assert page.evaluate(UNNAMED) == [], where
        assert page.evaluate(DOUBLED) == [], where
        assert page.locator("h1").count() == 1 and page.get_attribute("html", "lang") == "en"


def test_keys_reach_everything_in_order_and_show_where_they_are(page, addresses):
    for where in addresses[:-1]:
        page.goto(where)
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUS)[-1] == "Skip to content", where
        places = []
        for _ in range(24):
            page.keyboard.press("Tab")
            name, outline, width, seen, top, _ = page.evaluate(FOCUS)
            if name == "BODY":
                break  # all were reached
            if name != "VIDEO#film":  # inside a film's own controls the browser draws its own ring
                assert outline != "none" and width >= 2 and seen, (where, name, outline, width)
            places.append(top)
        assert len(places) > 7  # the brand, six pages, more, and what the page is for
        header = places[:8]
        assert max(header) < 120, where  # first the header, then the page
    page.goto("/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    until(page, "location.hash === '#main'")
