"""Searching in the studio: words, pictures, moments, evidence, and an honest nothing."""

import cv2
import pytest

from tests.studio.conftest import LocalClient, finished
from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.retrieval import joint
from wordsight.retrieval.joint import JointSearch
from wordsight.studio import StudioSettings, create_app, searching


def found(client, **asked):
    answer = client.post("/api/v1/search", data=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def studio_of(library, jobs_at_once):
    """Open a studio; where it does no job at all, nobody could wait for one."""
    searching._looked.clear()
    return LocalClient(create_app(StudioSettings(str(library), jobs_at_once=jobs_at_once)))


@pytest.mark.slow
def test_the_first_search_has_the_library_indexed(library):
    with studio_of(library, jobs_at_once=0) as client:
        first = found(client, text="person")
        assert first["job"]["kind"] == "index" and first["nothing"] and first["notes"]
        assert found(client, text="person")["job"]["id"] == first["job"]["id"]  # one is enough
    with studio_of(library, jobs_at_once=1) as client:
        assert finished(client, first["job"]["id"])["state"] == "done"
        assert found(client, text="person")["moments"]


@pytest.mark.slow
def test_words_find_moments_with_evidence(indexed):
    result = found(indexed, text="person")
    assert result["moments"] and not result["nothing"] and result["job"] is None
    best = result["moments"][0]
    assert best["heard"][0]["word"] == "person" and best["by"] == ["said"]
    assert best["heard"][0]["where"] == "video"  # of which it is said as a whole
    assert best["start"] <= best["key_time"] <= best["end"]
    assert "said" in result["how"]


def test_what_nobody_says_is_nothing_unless_all_is_asked_for(indexed):
    nothing = found(indexed, text="zebra")
    assert nothing["nothing"] and not nothing["moments"]
    assert "zebra" in " ".join(nothing["notes"])
    assert found(indexed, text="zebra", everything=True)["moments"]
    page = indexed.post("/parts/search", data={"text": "zebra <b>"}).text
    assert "Nothing found" in page and "<b>" not in page


def test_a_picture_finds_its_own_shot_and_so_does_a_part_of_it(indexed, tmp_path):
    video = indexed.get("/api/v1/videos").json()["videos"][0]
    frame = indexed.get(f"/api/v1/videos/{video['id']}/frame", params={"time": 1.0})
    assert frame.headers["content-type"] == "image/jpeg"
    (tmp_path / "frame.jpg").write_bytes(frame.content)
    height, width = cv2.imread(str(tmp_path / "frame.jpg")).shape[:2]
    assert (width, height) == (video["width"], video["height"])
    for region in ("", f"{width // 4},{height // 4},{width // 2},{height // 2}"):
        files = {"image": ("../x.jpg", frame.content, "image/jpeg")}
        result = indexed.post("/api/v1/search", files=files, data={"region": region}).json()
        best = result["moments"][0]
        assert best["by"] == ["picture"] and best["parts"] and best["visual"] is not None
    assert best["video_id"] in {v["id"] for v in indexed.get("/api/v1/videos").json()["videos"]}


@pytest.mark.slow
def test_a_picture_is_compared_with_candidates_or_with_every_shot(indexed, monkeypatch):
    video = indexed.get("/api/v1/videos").json()["videos"][0]
    frame = indexed.get(f"/api/v1/videos/{video['id']}/frame", params={"time": 1.0}).content
    looked = []
    real = JointSearch._search_candidates
    monkeypatch.setattr(joint, "MANY_DOCUMENTS", 0)
    monkeypatch.setattr(searching, "_opened", {})
    monkeypatch.setattr(
        JointSearch,
        "_search_candidates",
        lambda self, *rest: looked.append(self) or real(self, *rest),
    )
    answers = []
    for exact, looks in (("false", 2), ("true", 2)):
        files, data = {"image": ("x.jpg", frame, "image/jpeg")}, {"exact": exact}
        answers.append(indexed.post("/api/v1/search", files=files, data=data).json()["moments"])
        assert indexed.post("/parts/search", files=files, data=data).status_code == 200
        assert len(looked) == looks  # nobody chose candidates where every shot was to be compared
    assert answers[0] == answers[1] and answers[0]


@pytest.mark.slow
def test_more_like_this_leaves_the_example_out(indexed):
    video = indexed.get("/api/v1/videos").json()["videos"][0]["id"]
    result = found(indexed, like=f"{video}@1.0")
    assert result["moments"] and video not in [one["video_id"] for one in result["moments"]]
    part = found(indexed, like=f"{video}@1.0", region="40,40,60,60")
    assert all("said" not in one["by"] for one in part["moments"])
    assert "More like" in indexed.get("/search", params={"like": f"{video}@1.0"}).text


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        {},  # nothing
        {"text": "   "},  # blanks
        {"like": "ghost@1"},  # no such video
        {"like": "street-000"},  # no time
        {"text": "chair", "region": "1,2,3,4"},  # a part of no picture
        {"like": "street-000@1", "region": "nan,nan,inf,1"},  # no part of any
        {"text": "chair", "by": "magic"},  # no such way
        {"text": "chair", "by": "meaning"},  # nothing was learned
        {"text": "x" * 501},  # too long
        {"text": "chair", "top": 0},  # nothing wanted
    ],
)
def test_bad_questions_are_answered_kindly(indexed, asked):
    answer = indexed.get("/api/v1/search", params=asked)
    assert answer.status_code in (404, 422) and answer.json()["detail"]
    assert indexed.post("/parts/search", data=asked).status_code in (200, 422)


@pytest.mark.parametrize("content", [b"", b"GIF89a", b"\x89PNG broken"])
def test_what_is_no_picture_is_refused(indexed, content):
    answer = indexed.post("/api/v1/search", files={"image": ("a.png", content)})
    assert answer.status_code == 422 and "picture" in str(answer.json()["detail"])


@pytest.mark.slow
@pytest.mark.usefixtures("indexed_library")
def test_new_videos_are_indexed_beside_and_the_old_index_answers(library, film, tmp_path):
    other = tmp_path / "copy.mp4"
    other.write_bytes(film.read_bytes() + b"\0")
    with Library.open(library) as opened:
        opened.add(other, detector="rendered", sentences=["A zebra appeared."], workers=1)
    with studio_of(library, jobs_at_once=0) as client:
        before = found(client, text="zebra")
        assert not before["moments"] and before["job"]["state"] == "queued"
        assert found(client, text="person")["moments"]
    with studio_of(library, jobs_at_once=1) as client:
        finished(client, before["job"]["id"])
        assert found(client, text="zebra")["moments"][0]["name"] == "copy.mp4"


def test_an_empty_library_says_so(tmp_path):
    with LocalClient(create_app(StudioSettings(library=str(tmp_path / "new")))) as client:
        result = found(client, text="chair")
        assert result["nothing"] and result["job"] is None and "no video" in result["notes"][0]


@pytest.mark.slow
def test_a_sentence_about_many_videos_is_a_job_that_is_done_once(indexed, library, monkeypatch):
    with Library.open(library) as opened:
        labels = opened.detections(opened.videos()[0].id).label_names
        truth = next(s.text for s in opened.sentences())
    hand_lexicon(labels).save(library / "lexicon")
    directly = found(indexed, text=truth, by="meaning", everything=True)
    assert directly["moments"] and directly["job"] is None  # of a few videos it is told at once
    judged = [(one["holds"], one["verdict"]) for one in directly["moments"]]
    kinds = {(True, "likely"), (False, "not likely"), (True, "unsure"), (False, "unsure")}
    assert set(judged) <= kinds and (True, "likely") in judged  # what is judged is never unsaid
    few = found(indexed, text=truth, by="meaning", everything=True, prune=1)
    assert any("at most" in note and "left out" in note for note in few["notes"])
    monkeypatch.setattr(searching, "_AT_ONCE", 2)
    first = found(indexed, text=truth, by="meaning", everything=True)
    assert first["job"]["kind"] == "search" and not first["moments"]
    assert "Not yet" in indexed.post("/parts/search", data={"text": truth, "by": "meaning"}).text
    assert finished(indexed, first["job"]["id"])["state"] == "done"
    again = found(indexed, text=truth, by="meaning", everything=True)
    assert again["job"] is None
    assert [(m["video_id"], m["score"]) for m in again["moments"]] == [
        (m["video_id"], m["score"]) for m in directly["moments"]
    ]
    assert "Look for" not in indexed.get("/").text  # parts of pages are no work of their own


def test_what_was_found_is_kept_until_the_library_changes(indexed, library, monkeypatch):
    asked = {"text": "person", "by": "said"}
    found = [indexed.get("/api/v1/search", params=asked).json() for _ in range(2)]
    monkeypatch.setattr("wordsight.studio.api.search.answer", lambda *_: pytest.fail("asked again"))
    found.append(indexed.get("/api/v1/search", params=asked).json())
    found.append(indexed.post("/api/v1/search", data=asked).json())
    assert found[0]["moments"] and all(one == found[0] for one in found)
    monkeypatch.undo()
    with Library.open(library) as opened:
        opened.remove(found[0]["moments"][0]["video_id"])
    searching._looked.clear()  # three seconds later
    again = indexed.get("/api/v1/search", params=asked).json()
    gone = found[0]["moments"][0]["video_id"]
    assert gone not in {one["video_id"] for one in again["moments"]}
