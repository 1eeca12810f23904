"""Words in a real browser: features under the pointer, learning watched, a word changed by hand.

And sentences watched for on the Live page.
"""

import re

import pytest

from tests.studio.browsing import patient, until
from tests.studio.test_live import SENTENCES

pytestmark = pytest.mark.slow

SUREST = """
(() => {
  const shares = [...document.querySelectorAll("form.edit")]
    .map((form) => Math.max(...[...form.elements].map((one) => Number(one.value))));
  return shares.indexOf(Math.max(...shares));
})()
"""


@pytest.fixture
def player(page):
    page.goto("/")
    page.click("text=street-000.mp4")
    page.wait_for_url("**/videos/*")
    until(page, "!document.getElementById('screen').hasAttribute('aria-busy')")  # boxes are there
    until(page, "document.getElementById('film').readyState >= 2")
    page.evaluate("document.getElementById('film').currentTime = 1.5")
    until(page, "Math.abs(Number(document.getElementById('seek').value) - 1.5) < 0.05")
    return page


def middle_of(page, address, label):
    """Return where on the page the middle of a box is, at the moment that is shown."""
    video = page.url.rsplit("/", 1)[1].split("#")[0]
    seen = patient.get(f"{address}/api/v1/videos/{video}/moment", params={"time": 1.5}).json()
    x1, y1, x2, y2 = next(one["box"] for one in seen["things"] if one["label"] == label)
    screen = page.locator("#film").bounding_box()
    width = page.evaluate("document.getElementById('film').videoWidth")
    scale = screen["width"] / width
    return screen["x"] + scale * (x1 + x2) / 2, screen["y"] + scale * (y1 + y2) / 2


def test_boxes_that_come_after_the_pointer_show_their_features(page, address):
    held = []
    page.route("**/detections*", lambda request: held.append(request))
    page.goto("/")
    page.click("text=street-000.mp4")
    page.wait_for_url("**/videos/*")
    until(page, "document.getElementById('film').readyState >= 2")
    page.evaluate("document.getElementById('film').currentTime = 1.5")
    until(page, "Math.abs(Number(document.getElementById('seek').value) - 1.5) < 0.05")
    page.mouse.move(*middle_of(page, address, "person"))
    assert not page.locator("#hover dl").count()
    for request in held:
        request.continue_()
    page.wait_for_selector("#hover dl")


def test_pointing_at_a_box_shows_its_features(player, address):
    player.mouse.move(*middle_of(player, address, "person"))
    player.wait_for_selector("#hover dl")
    told = player.inner_text("#hover")
    assert re.search(r"person at 0:01\.[45]", told)
    for name in ("class", "direction", "speed", "distance", "size ratio"):
        assert f"\n{name}\n" in told, name
    player.mouse.move(2, 2)
    until(player, "!document.getElementById('hover').childElementCount")


def test_features_are_reached_with_keys(player):
    player.focus("#next-box")
    player.keyboard.press("Enter")
    player.wait_for_selector("#hover dl")
    first = player.inner_text("#hover")
    player.keyboard.press("b")
    until(player, f"document.querySelector('#hover h2').textContent !== {first.splitlines()[0]!r}")
    player.keyboard.press("Escape")
    until(player, "!document.getElementById('hover').childElementCount")


def test_the_timeline_tells_states_and_probabilities(player):
    player.fill("#sentence", "The person approached the backpack.")
    player.click("button[value=track]")
    player.wait_for_selector("#answer strong")
    until(player, "!document.getElementById('timeline').hidden")
    player.locator("#timeline").scroll_into_view_if_needed()
    box = player.locator("#timeline").bounding_box()
    player.mouse.move(box["x"] + box["width"] / 2, box["y"] + 35)  # the second word: the verb
    player.wait_for_selector("#hover dl")
    told = player.inner_text("#hover")
    assert re.search(r"approached\(person, ?backpack\)", told)
    # Words written by hand have three states, those learned here four, if another test was first.
    assert re.search(r"state ([1-3] of 3|[1-4] of 4), probability [01]\.\d\d", told)
    assert "distance" in told and "size ratio" in told  # of those it is said of
    player.mouse.move(2, 2)
    player.focus("#timeline")
    player.keyboard.press("Home")
    player.keyboard.press("ArrowDown")
    start = player.get_attribute("#timeline", "aria-valuetext")
    assert start.startswith("approached(") and "0:00.0" in start
    player.keyboard.press("End")
    assert player.get_attribute("#timeline", "aria-valuetext") != start
    player.keyboard.press("Home")
    player.keyboard.press("Enter")
    until(player, "document.getElementById('film').currentTime < 0.1")


def test_learning_is_drawn_while_it_runs(page):
    page.goto("/lexicon")
    page.fill("#restarts", "2")
    page.fill("#seed", "1")
    page.click("#learn button.main")
    until(page, "document.getElementById('course').dataset.live === 'true'")
    points = []
    drawn = "[course.dataset.live === 'true', Number(course.dataset.points ?? 0), !curve.hidden]"
    ask = f"(() => {{ const {{ course, curve }} = window; return {drawn}; }})()"
    live = True
    while live:
        page.wait_for_timeout(100)
        try:
            live, count, shown = page.evaluate(ask)
        except Exception:  # the page comes again when all is learned
            break
        if live and shown:
            points.append(count)
    points = points[points.index(min(points)) :]  # first the curve of the learning before is there
    assert len(set(points)) > 3 and points == sorted(points)  # it grew while it ran
    page.wait_for_selector("ul.words")
    until(page, "document.querySelectorAll('#key li').length === 2")  # a line per restart
    until(page, "!document.getElementById('curve').hidden")


def test_a_word_is_changed_compared_saved_and_taken_back(page, address):
    word = f"{address}/api/v1/lexicon/words/approached"
    before = patient.get(word).json()
    page.goto("/lexicon/approached")
    surest = page.evaluate(SUREST)  # in a state in which all is as likely, nothing would change
    plot = page.locator(".plot").nth(surest)
    bars, fields = plot.locator(".now svg").first, plot.locator("form.edit input")
    bars.scroll_into_view_if_needed()
    box, number = bars.bounding_box(), fields.count()
    page.mouse.move(box["x"] + box["width"] / number / 2, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / number / 2, box["y"] + 30, steps=3)
    page.mouse.up()  # a bar follows the pointer, and the others make room
    shares = [float(fields.nth(one).input_value()) for one in range(number)]
    assert abs(shares[0] - 0.5) < 0.04 and abs(sum(shares) - 1) < 0.01
    assert plot.locator(".draft rect").count() == number
    save = page.locator("#save").bounding_box()
    assert 0 < save["y"] < page.viewport_size["height"] - save["height"]  # in sight
    page.click("#undo")
    page.click(f"summary:has-text('Edit') >> nth={surest}")
    inputs = page.locator(f"form.edit >> nth={surest}").locator("input")
    for number in range(inputs.count()):  # everything that was likely is not, and the other way
        old = float(inputs.nth(number).input_value())
        inputs.nth(number).fill(str(round(1 - old, 3)))
    drawn = "document.querySelectorAll('.draft:not([hidden]) rect').length"
    assert page.evaluate(drawn) == inputs.count()  # beside what is there
    page.click("#effect")
    page.wait_for_selector("#effects table tbody tr")
    assert "flip" in page.inner_text("#effects")
    scores = page.eval_on_selector_all(
        "#effects tbody tr",
        "all => all.map(row => [row.cells[2].textContent, row.cells[3].textContent])",
    )
    assert any(was != now for was, now in scores)
    assert all(was.endswith(" %") for was, _ in scores)  # shares, not logarithms
    page.click("#undo")
    until(page, f"{drawn} === 0 && document.getElementById('change').hidden")
    inputs.nth(0).fill("0.77")
    with page.expect_navigation():
        page.click("#save")
    changed = patient.get(word).json()
    assert changed["features"] != before["features"]
    page.click("a[href*='?version='] >> nth=0")
    page.wait_for_url("**version=*")
    page.wait_for_selector(".bars.was")
    page.click("[data-restore] >> nth=0")
    page.wait_for_url("**/lexicon/approached")
    assert patient.get(word).json()["features"] == before["features"]
    notes = [one["note"] for one in patient.get(f"{address}/api/v1/lexicon/versions").json()]
    assert any("changed by hand" in one for one in notes) and any("back" in one for one in notes)


def test_the_live_page_shows_what_happens_and_what_is_wrong(page):
    """The picture with boxes, sentences lighting up, hits, stop, and errors."""
    page.goto("/live")
    page.fill("textarea[name=sentences]", "\n".join(SENTENCES))
    page.select_option("select[name=video]", label="street-000.mp4")
    page.select_option("select[name=detector]", "rendered")
    page.click("#watch button.main")
    until(page, "document.getElementById('picture').naturalWidth > 100")
    until(page, "document.querySelectorAll('#sentences li').length === 12")
    until(page, "document.querySelectorAll('#hits tbody tr').length > 0")
    until(page, "document.querySelector('#sentences .lit') !== null")
    until(page, "document.getElementById('seen').textContent.startsWith('Over')")
    assert page.locator("#stop").is_hidden() and page.inner_text("#watch-problem") == ""

    page.fill("textarea[name=sentences]", "The unicorn sang.")
    page.click("#watch button.main")
    until(page, "document.getElementById('watch-problem').textContent.includes('unicorn')")

    page.fill("textarea[name=sentences]", SENTENCES[0])
    page.select_option("select[name=video]", "")
    page.click("#watch button.main")
    until(page, "document.getElementById('watch-problem').textContent.includes('choose a film')")

    page.fill("input[name=source]", "http://127.0.0.1:9/film")
    page.click("#watch button.main")
    until(page, "document.getElementById('warnings').textContent.includes('trying again')")
    assert page.locator("#picture").is_hidden()  # not what another watch saw
    page.click("#stop")
    until(page, "document.getElementById('stop').hidden")
