"""Files made of a video in the studio are those the command line writes: films, boxes, facts."""

import io
import secrets
import zipfile

import cv2
import pytest

from tests.studio.conftest import finished
from wordsight.alignment.storage import load_aligner
from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.perception import read_boxes
from wordsight.states.labels import read_intervals
from wordsight.studio.jobs import JobContext
from wordsight.studio.jobs.align import align_text
from wordsight.studio.jobs.exports import exporting, list_exports, make_file, sweep_exports
from wordsight.video import VideoReader

MADE = "/api/v1/made"
TEXT = "1. Take the cup.\n2. Take the jar.\n3. Take the cup and the spoon."
SEEN = "film 0 1 cup\nfilm 1 2 jar\nfilm 2 3 cup,spoon\n"


@pytest.fixture
def video(client):
    return client.get("/api/v1/videos").json()["videos"][0]["id"]


@pytest.fixture
def words(library):
    with Library.open(library) as opened:
        labels = opened.detections(opened.videos()[0].id).label_names
    hand_lexicon(labels).save(library / "lexicon")


def make(client, **wanted):
    begun = client.post(MADE, json=wanted)
    assert begun.status_code == 202, begun.text
    return finished(client, begun.json()["id"])


@pytest.fixture
def taken(client, library, video, tmp_path):
    """Makes a file, takes it away, and returns where it is; here, since a job costs a process."""

    def take(**wanted):
        place = JobContext(str(library), library / "studio", lambda *_: None)
        made = make_file({"video": video, "name": secrets.token_hex(6), **wanted}, place)
        answer = client.get(f"{MADE}/{made['made']}")
        assert made["file"] in answer.headers["content-disposition"]
        path = tmp_path / made["file"]
        path.write_bytes(answer.content)
        return path

    return take


@pytest.mark.slow
@pytest.mark.parametrize("what", ["film-tracks", "film-facts"])
def test_a_film_with_drawings_differs_from_the_film(library, video, what, taken):
    path = taken(what=what, start=0.5, end=1.5)
    assert path.suffix == ".mp4"
    with Library.open(library) as opened, VideoReader(opened.video(video).path) as before:
        plain = before.frame_at(1.0).image
        size = (before.info.width, before.info.height)
    with VideoReader(path) as film:
        assert (film.info.width, film.info.height) == size
        assert 0.8 < film.info.duration < 1.2  # the second that was asked for
        assert abs(film.frame_at(0.5).image.astype(int) - plain).max() > 60  # drawn upon


@pytest.mark.slow
def test_a_film_of_a_sentence_says_it(client, words, video, tmp_path):
    said = client.get(f"/api/v1/videos/{video}").json()["sentences"][0]["text"]
    done = make(client, video=video, what="film-sentence", sentence=said, prune=4, end=1.0)
    assert done["state"] == "done", done
    (made,) = client.get(MADE, params={"video": video}).json()
    assert said in made["title"] and made["size"] == done["result"]["size"]
    (tmp_path / "film.mp4").write_bytes(client.get(f"{MADE}/{made['name']}").content)
    with VideoReader(tmp_path / "film.mp4") as film:
        assert 0.8 < film.info.duration < 1.2
    assert made["file"] in client.get(f"/parts/made/{video}").text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "ending"),
    [("boxes", ".csv"), ("boxes", ".json"), ("tracks", ".txt"), ("tracks", ".xml")],
)
def test_boxes_are_those_of_the_library(library, video, what, ending, taken):
    path = taken(what=what, ending=ending)
    with Library.open(library) as opened, VideoReader(opened.video(video).path) as reader:
        seen, times = opened.detections(video), reader.times
    found = read_boxes(path, times=times, label_names=seen.label_names)
    if what == "boxes":
        assert found.mask.sum() == seen.mask.sum()
        shown = found.boxes[found.mask][:, 0].sum()
        assert shown == pytest.approx(seen.boxes[seen.mask][:, 0].sum(), rel=1e-3)
    else:
        assert found.ids is not None and (found.ids[found.mask] >= 0).all()


@pytest.mark.slow
def test_a_sheet_facts_events_and_a_timeline(client, taken):
    sheet = cv2.imread(str(taken(what="sheet")))
    assert sheet.shape[1] > 200
    models = cv2.imread(str(taken(what="models")))
    assert models.shape[1] > 2 * 352 - 1
    rules = client.get("/api/v1/states/rules").json()
    rules |= {"rules": "3: speed(Y) >= 1 -> moves(Y)\n1: moves(Y) -> false\n"}
    rules |= {"vocabulary": "predicate moves(thing)\n", "events": "", "cost": 1.0}
    assert client.put("/api/v1/states/rules", json=rules).status_code == 200
    facts = taken(what="facts")
    (rows,) = read_intervals(facts).values()  # it can be learned from as it is
    assert all(row.fact.predicate == "moves" for row in rows)
    assert "TIER" in taken(what="facts", ending=".eaf").read_text()
    events = taken(what="events", ending=".json", everything=True)
    assert events.read_text().startswith("{")
    assert taken(what="timeline").stat().st_size > 3000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ({"what": "film-boxes", "ending": ".avi"}, 422),  # films are mp4
        ({"what": "nonsense"}, 422),
        ({"what": "film-sentence"}, 422),  # which sentence?
        ({"what": "boxes", "ending": "../x"}, 422),
        ({"what": "boxes", "video": "no-such-film"}, 404),
        ({"what": "film-lines", "alignment": "../../etc"}, 422),
    ],
)
def test_what_cannot_be_made_is_refused(client, video, wanted, status):
    assert client.post(MADE, json={"video": video, **wanted}).status_code == status


@pytest.mark.slow
def test_a_film_that_cannot_be_made_leaves_nothing(client, library, video, taken):
    done = make(client, video=video, what="film-sentence", sentence="The person left.")
    assert done["state"] == "failed" and "Words page" in done["message"]
    with pytest.raises(WordsightError, match="no such alignment"):
        taken(what="film-lines", alignment="0" * 12)
    assert client.get(MADE).json() == []
    assert not list((library / "studio" / "made").glob("*"))


@pytest.mark.slow
def test_files_are_removed(client, taken):
    taken(what="boxes")
    (name,) = [one["name"] for one in client.get(MADE).json()]
    assert client.delete(f"{MADE}/{name}").status_code == 200
    assert client.get(f"{MADE}/{name}").status_code == 422
    assert client.get(MADE).json() == []


def test_what_was_never_finished_is_swept_away(tmp_path):
    with exporting(tmp_path, "a" * 12, "film", "boxes", "Boxes", "film.csv") as path:
        path.write_text("frame\n")
    (tmp_path / "made" / ("b" * 12)).mkdir()
    (tmp_path / "made" / ("b" * 12) / "film.mp4").write_bytes(b"half")
    assert sweep_exports(tmp_path) == 1 and sweep_exports(tmp_path / "nowhere") == 0
    assert [one.file for one in list_exports(tmp_path)] == ["film.csv"]


@pytest.mark.slow
def test_a_text_is_aligned_with_what_somebody_noted_and_drawn_into_the_film(
    client, library, video, taken, tmp_path
):
    asked = {"video": video, "text": TEXT, "seen": SEEN}
    done = finished(client, client.post("/api/v1/alignments", json=asked).json()["id"])
    assert done["state"] == "done", done
    name = done["result"]["alignment"]
    kept = client.get(f"/api/v1/alignments/{name}").json()
    starts = [line["spans"][0]["start"] for line in kept["result"]["lines"] if line["spans"]]
    assert starts == sorted(starts) and len(starts) >= 2
    assert any(file.endswith(".png") for file in kept["files"])  # the timeline
    assert taken(what="film-lines", alignment=name, end=1.0).is_file()
    packed = client.get(f"/api/v1/alignments/{name}/aligner").content
    zipfile.ZipFile(io.BytesIO(packed)).extractall(tmp_path)
    assert set(load_aligner(tmp_path / "aligner").dictionary_) >= {"cup", "jar"}
    place = JobContext(str(library), library / "studio", lambda *_: None)
    again = align_text({**asked, "learned": name, "name": "a" * 12}, place)
    used = client.get(f"/api/v1/alignments/{again['alignment']}").json()
    assert used["learned"] == name and used["dictionary"] == kept["dictionary"]
    refused = client.post("/api/v1/alignments", json={**asked, "learned": "f" * 12})
    assert refused.status_code == 404
    with pytest.raises(WordsightError):
        align_text({**asked, "seen": "nonsense", "name": "b" * 12}, place)
    shown = client.get(f"/align/{name}")
    assert shown.status_code == 200
    assert "Does the text belong to this film? <strong>" in shown.text
