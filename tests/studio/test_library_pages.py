"""The library in the studio: listing, showing, playing, adding and removing videos."""

import html

import pytest

from tests.studio.conftest import finished
from wordsight.runs import results_table
from wordsight.worlds import street

PAGES = [
    "/",
    "/search",
    "/search?text=chair",
    "/lexicon",
    "/align",
    "/states",
    "/attributes",
    "/benchmarks",
]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_pages_answer_with_html_and_keep_to_themselves(client, page):
    answer = client.get(page)
    assert answer.status_code == 200 and "text/html" in answer.headers["content-type"]
    assert (
        "script-src" in answer.headers["content-security-policy"]
        or "default-src 'self'" in (answer.headers["content-security-policy"])
    )
    assert "http://" not in answer.text.replace("http://www.w3.org", "")  # nothing from elsewhere


def test_videos_are_listed_found_and_paged(client):
    whole = client.get("/api/v1/videos").json()
    assert whole["total"] == 4 and len(whole["videos"]) == 4
    first = client.get("/api/v1/videos", params={"limit": 1, "order": "name"}).json()
    second = client.get("/api/v1/videos", params={"limit": 1, "offset": 1, "order": "name"}).json()
    assert first["videos"][0]["id"] != second["videos"][0]["id"] and first["total"] == 4
    assert client.get("/api/v1/videos", params={"text": "zebra"}).json()["total"] == 0
    assert "path" not in whole["videos"][0]  # where files are is nobody's business


def test_a_video_is_shown_with_sentences_and_boxes(client):
    number = client.get("/api/v1/videos").json()["videos"][0]["id"]
    page = client.get(f"/api/v1/videos/{number}").json()
    assert page["sentences"] and page["shots"]
    seen = client.get(f"/api/v1/videos/{number}/detections").json()
    assert len(seen["times"]) == len(seen["boxes"]) > 5
    assert "person" in seen["labels"]
    shown = client.get(f"/videos/{number}").text
    assert html.escape(page["sentences"][0]["text"]) in shown


def test_parts_of_a_video_are_sent(client):
    number = client.get("/api/v1/videos").json()["videos"][0]["id"]
    address = f"/api/v1/videos/{number}/file"
    whole = client.get(address)
    part = client.get(address, headers={"Range": "bytes=100-299"})
    assert whole.headers["content-type"] == "video/mp4"
    assert part.status_code == 206 and part.content == whole.content[100:300]
    assert client.get(f"/api/v1/videos/{number}/thumbnail").content[:2] == b"\xff\xd8"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nothing", "..%2f..%2fetc%2fpasswd", "%00", "a" * 3000])
def test_unknown_videos_are_not_found(client, name):
    for rest in ("", "/file", "/thumbnail", "/detections"):
        assert client.get(f"/api/v1/videos/{name}{rest}").status_code in (404, 422)
    assert client.get(f"/videos/{name}").status_code in (404, 422)


@pytest.mark.slow
def test_a_video_is_uploaded_added_and_removed(client, tmp_path):
    next(iter(street(1, 77, noise=0.0))).write(tmp_path / "new.mp4")
    body = (tmp_path / "new.mp4").read_bytes()
    asked = {"name": "../../evil dir/<b>new</b>.mp4", "sentence": "The person <b>ran</b>."}
    job = client.post("/api/v1/uploads", params=asked, content=body)
    assert job.status_code == 202
    done = finished(client, job.json()["id"])
    assert done["state"] == "done", done
    (number,) = done["result"]["videos"]
    page = client.get(f"/videos/{number}").text
    assert "&lt;b&gt;ran&lt;/b&gt;" in page and "<b>ran" not in page
    video = client.get(f"/api/v1/videos/{number}").json()["video"]
    assert "/" not in video["name"] and "<" not in video["name"]
    assert client.get(f"/api/v1/videos/{number}/file").content == body
    assert client.delete(f"/api/v1/videos/{number}").json() == {"removed": [number]}
    assert client.get(f"/api/v1/videos/{number}").status_code == 404


@pytest.mark.slow
def test_what_is_no_video_fails_alone(client):
    job = client.post("/api/v1/uploads", params={"name": "a.mp4"}, content=b"not a video at all")
    done = finished(client, job.json()["id"])
    assert done["state"] == "failed" and done["message"]
    assert client.get("/api/v1/videos").json()["total"] == 4
    again = client.post(f"/api/v1/jobs/{done['id']}/retry").json()
    assert again["attempt"] == 2
    assert finished(client, done["id"])["state"] == "failed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"),
    [("a.exe", b"MZ"), ("noending", b"x"), ("a.mp4", b""), (".mp4", b"x"), ("", b"x")],
)  # no video's name, no name, no content
def test_bad_uploads_are_refused(client, name, content):
    answer = client.post("/api/v1/uploads", params={"name": name}, content=content)
    assert answer.status_code == 422 and answer.json()["detail"]


def test_results_become_tables():
    laid = results_table(
        {"ours": {"f1": 0.5}, "runs": [{"f1": 1, "note": "x"}, {"f1": 2}], "seed": 4}
    )
    assert laid["columns"] == ["f1", "note"] and laid["single"] == {"seed": "4"}
    assert laid["rows"] == {"ours": ["0.5", ""], "runs 1": ["1", "x"], "runs 2": ["2", ""]}
