"""What the studio refuses: other sites, other hosts, strangers, and too much at once."""

import io
import os
import zipfile

import numpy as np
import pytest

from tests.studio.conftest import LocalClient, finished
from wordsight.records.arrays import save_npz
from wordsight.studio import StudioSettings, create_app
from wordsight.studio.server import is_loopback, without_paths


def test_a_page_of_another_site_may_look_at_nothing_it_could_change(client):
    for headers in (
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://other.localhost"},
    ):
        answer = client.post("/api/v1/uploads?name=a.mp4", content=b"x", headers=headers)
        assert answer.status_code == 403
    own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/v1/jobs/1/cancel", headers=own).status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "testserver", ""])
def test_a_rebound_name_is_refused(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 400
    assert client.get("/", headers={"Host": "localhost:8321"}).status_code == 200


def test_hosts_and_origins_that_are_no_addresses_are_refused(client):
    for host in ("[::1", "][", "[x]", "a b"):
        assert client.get("/api/v1/jobs", headers={"Host": host}).status_code == 400, host
    for origin in ("http://[", "null", "localhost", "://"):
        answer = client.post("/api/v1/jobs/1/cancel", headers={"Origin": origin})
        assert answer.status_code == 403, origin


@pytest.mark.slow
def test_elsewhere_a_token_is_asked_for(library):
    settings = StudioSettings(library=str(library), host="192.0.2.1")
    assert settings.token and settings.token in settings.address
    assert settings.token not in repr(settings)
    with LocalClient(create_app(settings)) as client:
        assert client.get("/api/v1/videos").status_code == 401
        assert client.get("/?token=wrong").status_code == 401
        bearer = {"Authorization": f"Bearer {settings.token}"}
        assert client.get("/api/v1/videos", headers=bearer).status_code == 200
        opened = client.get(f"/?token={settings.token}")
        assert opened.status_code == 200 and "token=" not in str(opened.url)
        assert client.get("/api/v1/videos").status_code == 200  # the cookie stays


def test_too_large_a_request_is_refused(library):
    settings = StudioSettings(library=str(library), max_upload=1000, max_body=500)
    with LocalClient(create_app(settings)) as client:
        big = client.post("/api/v1/uploads?name=a.mp4", content=b"x" * 2000)
        assert big.status_code == 413

        def pieces():
            for _ in range(20):
                yield b"x" * 100

        streamed = client.post("/api/v1/uploads?name=a.mp4", content=pieces())
        assert streamed.status_code == 413
        assert not list((library / "studio" / "uploads").glob("*"))
        asked = client.post("/api/v1/videos/a/track", json={"sentence": "x" * 600})
        assert asked.status_code == 413
        # A body in pieces does not say how long it is: it is counted while it comes.
        json = {"Content-Type": "application/json"}
        for path in ("/api/v1/videos/a/track", "/api/v1/alignments", "/api/v1/lexicon/learn"):
            streamed = client.post(path, content=pieces(), headers=json)
            assert streamed.status_code == 413 and "500" in streamed.json()["detail"]


def test_pages_and_api_take_the_same_pictures(indexed):
    # A photo of more than a megabyte is no picture once noise is appended, but it is let in.
    photo = indexed.get("/api/v1/videos").json()["videos"][0]["id"]
    photo = indexed.get(f"/api/v1/videos/{photo}/frame?time=1").content + bytes(2 << 20)
    for path in ("/api/v1/search", "/parts/search"):
        answer = indexed.post(path, files={"image": ("a.jpg", photo)})
        assert answer.status_code == 200, answer.text


def test_a_page_of_another_site_begins_nothing(client):
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    for path in ("/", "/search?text=a", "/api/v1/videos", "/api/v1/search?text=a", "/parts/jobs"):
        assert client.get(path, headers=elsewhere).status_code == 403
    link = elsewhere | {"Sec-Fetch-Mode": "navigate"}
    assert client.get("/api/v1/search?text=a", headers=link).status_code == 403
    # A link to a page is followed, but the page then asks nothing by itself.
    assert "data-ask=" not in client.get("/search?text=a", headers=link).text
    assert "data-ask=" in client.get("/search?text=a").text


def test_nothing_that_is_only_looked_at_begins_a_job(client):
    schema = client.get("/openapi.json").json()["paths"]
    number = client.get("/api/v1/videos").json()["videos"][0]["id"]
    values = {"video_id": number, "entry": "chair", "number": "1", "word": "red"}
    asked = {"text": "person", "time": "1", "at": "1"}
    pages = ["/", "/search?text=person", "/lexicon", "/lexicon/chair", "/align", "/states"]
    for path in [*(path for path, ways in schema.items() if "get" in ways), *pages]:
        client.get(
            path.format_map({**dict.fromkeys(("name", "file"), "0" * 12), **values}), params=asked
        )
    assert client.get("/api/v1/jobs").json() == []


def test_what_packed_boxes_unpack_to_is_read_before_they_are(client, tmp_path):
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("boxes.npy", "w", force_zip64=True) as entry,
    ):
        for _ in range(600):
            entry.write(bytes(1 << 20))
    labels = ("labels", ("a.csv", b"video,start,end,fact\n"))
    bomb = ("boxes", ("a.npz", packed.getvalue()))
    answer = client.post("/api/v1/states/learn", files=[labels, bomb])
    assert answer.status_code == 422 and "unpack" in answer.json()["detail"]
    assert not list((client.app.state.studio.folder).rglob("*.npz"))


def test_an_array_that_lies_about_its_size_is_refused_before_room_is_made(tmp_path):
    from wordsight.errors import FormatError
    from wordsight.records.arrays import load_npz

    save_npz(tmp_path / "a.npz", "Thing", 1, {"a": np.zeros(4)}, {})
    with zipfile.ZipFile(tmp_path / "a.npz") as good:
        header, array = good.read("record.json"), good.read("a.npy")
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as bad:
        bad.writestr("record.json", header)
        bad.writestr("a.npy", array.replace(b"(4,), }", b"(4000000000,), }")[: len(array)])
    with pytest.raises(FormatError, match="says that it holds 32,000,000,000 bytes"):
        load_npz(tmp_path / "b.npz", "Thing", 1)
    (tmp_path / "c.npz").symlink_to("/dev/zero")
    with pytest.raises(FormatError, match="not a plain file"):
        load_npz(tmp_path / "c.npz", "Thing", 1)


def test_what_is_no_plain_file_is_not_read(tmp_path):
    from wordsight.errors import WordsightError
    from wordsight.files import sha256_of
    from wordsight.language.captions import read_captions
    from wordsight.perception.formats import read_boxes
    from wordsight.video import read_image

    for ending, read in ((".srt", read_captions), (".csv", read_boxes), (".png", read_image)):
        (tmp_path / f"a{ending}").symlink_to("/dev/zero")
        with pytest.raises(WordsightError, match="not a plain file"):
            read(tmp_path / f"a{ending}")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "a.srt", tmp_path / "pipe"):
        with pytest.raises(OSError, match="not a plain file"):
            sha256_of(path)


@pytest.mark.slow
def test_errors_name_no_place_on_this_machine(client, library):
    sent = client.post("/api/v1/uploads", params={"name": "a.mp4"}, content=b"not a video at all")
    said = [finished(client, sent.json()["id"])["message"]]
    said.append(
        client.post("/api/v1/convert", files={"source": ("a.json", b"{")}, data={"to": "csv"}).text
    )
    run = {"run": ("a.run", b"no run"), "qrels": ("a.qrels", b"q1 0 d1 1\n")}
    said.append(client.post("/api/v1/search/evaluate", files=run).text)
    number = client.get("/api/v1/videos").json()["videos"][0]["id"]
    for artefact in library.rglob("*.npz"):
        artefact.write_bytes(b"damaged")
    said.append(client.get(f"/api/v1/videos/{number}/detections").text)
    for text in said:
        assert text and str(library) not in text and "/tmp" not in text, text


def test_paths_are_taken_out_of_messages():
    assert without_paths("no a.csv in '/home/ann/my lib/b.csv'.").count("/") <= 1
    assert without_paths("cannot read /a/b/c.mp4: gone") == "cannot read c.mp4: gone"
    for text in ("km/h and/or 3/4", "ask /api/v1/search with POST", "see https://a.org/b/c"):
        assert without_paths(text) == text


def test_other_cookies_do_not_lock_out_and_no_address_leads_away(library):
    settings = StudioSettings(library=str(library), host="192.0.2.1", token="known")
    with LocalClient(create_app(settings)) as client:
        for before in ("bad[cookie]=1; ", "=; ", 'a="unclosed; ', ";;; "):
            cookie = {"Cookie": f"{before}wordsight_token=known"}
            assert client.get("/api/v1/videos", headers=cookie).status_code == 200, before
        for path in ("//evil.example/a", "/%5Cevil.example", "///evil.example"):
            answer = client.get(
                f"http://localhost{path}?token=known&text=a", follow_redirects=False
            )
            where = answer.headers["location"]
            assert answer.status_code == 303 and where.startswith("/") and where[1] not in "/\\"
            assert where.endswith("?text=a")


def test_the_address_that_is_printed_can_be_opened_by_others():
    address = StudioSettings(library="a", host="0.0.0.0").address
    assert "0.0.0.0" not in address and "token=" in address
    assert "[::]" not in StudioSettings(library="a", host="::").address
    assert StudioSettings(library="a", host="127.0.0.1").address == "http://127.0.0.1:8321/"


def test_every_answer_carries_the_headers(client):
    for address in ("/", "/nowhere", "/static/studio.css", "/api/v1/videos"):
        headers = client.get(address).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd"]
)
def test_static_files_stay_in_their_folder(client, path):
    assert client.get(path).status_code == 404


def test_loopback_is_known():
    assert all(map(is_loopback, ["127.0.0.1", "localhost", "::1", "[::1]", "127.9.9.9"]))
    assert not any(map(is_loopback, ["0.0.0.0", "192.168.1.2", "example.org", ""]))


def test_bytes_that_are_no_text_are_refused_in_words(client):
    for path in ("/api/v1/states/rules", "/api/v1/lexicon/words/chair"):
        answer = client.put(path, content=b"\xff\xfe rubbish")
        assert answer.status_code == 422 and answer.json()["detail"][0]["msg"]
    page = client.get("/", params={"page": "0"})
    assert page.status_code == 422 and "page" in page.text
