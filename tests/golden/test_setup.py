"""The demo from its first film to its table, and the stable parts of the doctor's report."""

import pytest

from tests.golden.harness import wordsight


def test_doctor(golden, tmp_path):
    report = wordsight(tmp_path, "doctor", "--json").json
    shown = {
        name: sorted(part) if isinstance(part, dict) else None for name, part in report.items()
    }
    with golden("doctor", tmp_path) as book:
        book.keep("parts", {name: part for name, part in shown.items() if name != "extras"})
        book.keep("extras", {name: sorted(part) for name, part in report["extras"].items()})


@pytest.mark.slow
def test_demo(golden, tmp_path):
    with golden("demo", tmp_path) as book:
        found = wordsight(tmp_path, "demo", "--clips", 6, "--json")
        assert found.code == 0, found.err
        listed = wordsight(tmp_path, "list", "-L", "demo/library", "--json").json
        book.ids |= {video["id"]: video["name"].removesuffix(".mp4") for video in listed}
        book.keep("demo", found.json)
        book.folder("lexicon", tmp_path / "demo" / "library" / "lexicon", brief=True)
