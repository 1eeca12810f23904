"""The demo: from nothing to words and moments, and again without doing anything twice."""

import pytest


@pytest.mark.slow
def test_the_demo_learns_and_finds(run, tmp_path):
    first = run("demo", "demo", "--clips", 6, "--json")
    assert first.code == 0, first.err
    assert set(first.json["f1"]) == {"chance", "blind guess", "learned", "written by hand"}
    assert all(0 <= value <= 1 for value in first.json["f1"].values())
    assert first.json["sentences"] == 12
    assert all(len(hits) == 2 for hits in first.json["found"].values())
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "demo").glob("*.*")}
    assert {path.name for path in made} == {"found.mp4", "videos.png"}
    again = run("demo", "demo", "--clips", 6)
    assert "Learned" in again.out and "Found there" in again.out
    assert made == {path: path.stat().st_mtime_ns for path in made}
