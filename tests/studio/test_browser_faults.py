"""What was once wrong in the studio, tried again in a real browser."""

import cv2
import numpy as np
import pytest

from tests.studio.browsing import patient, until

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
        assert all(one["holds"] for one in scores)
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
