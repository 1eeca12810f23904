"""What the studio refuses: other sites, other hosts, strangers, and too much at once."""

import pytest
from fastapi.testclient import TestClient

from wordsight.studio import StudioSettings, create_app
from wordsight.studio.settings import is_loopback


def test_a_page_of_another_site_may_look_at_nothing_it_could_change(client):
    for headers in (
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://other.localhost"},
    ):
        answer = client.post("/api/v1/uploads?name=a.mp4", content=b"x", headers=headers)
        assert answer.status_code == 403
    own = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/v1/jobs/1/cancel", headers=own).status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
def test_a_rebound_name_is_refused(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 400
    assert client.get("/", headers={"Host": "localhost:8321"}).status_code == 200


@pytest.mark.slow
def test_elsewhere_a_token_is_asked_for(library):
    settings = StudioSettings(library=str(library), host="192.0.2.1")
    assert settings.token and settings.token in settings.address
    assert settings.token not in repr(settings)
    with TestClient(create_app(settings)) as client:
        assert client.get("/api/v1/videos").status_code == 401
        assert client.get("/?token=wrong").status_code == 401
        bearer = {"Authorization": f"Bearer {settings.token}"}
        assert client.get("/api/v1/videos", headers=bearer).status_code == 200
        opened = client.get(f"/?token={settings.token}")
        assert opened.status_code == 200 and "token=" not in str(opened.url)
        assert client.get("/api/v1/videos").status_code == 200  # the cookie stays


def test_too_large_a_request_is_refused(library):
    settings = StudioSettings(library=str(library), max_upload=1000, max_body=500)
    with TestClient(create_app(settings)) as client:
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
