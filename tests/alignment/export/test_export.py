"""Every format holds the same moments, and nothing is ever overwritten by accident."""

import json
from xml.etree import ElementTree

import pytest

from tests.alignment.builders import TEA, tea_alignment
from wordsight.alignment import LineSpan
from wordsight.alignment.export import (
    EXPORTS,
    export_paths,
    line_rows,
    step_rows,
    write_alignment,
)
from wordsight.alignment.text import instructions_from_text
from wordsight.errors import FormatError, RecordError, WordsightError
from wordsight.language.captions import read_captions


def written(tmp_path, name, formats=None):
    return write_alignment(tmp_path / name, tea_alignment(), TEA, formats)


def test_rows_are_in_order_of_time_and_leave_out_what_did_not_happen():
    rows = line_rows(tea_alignment(), TEA)
    assert [(row.line, row.step, row.start) for row in rows] == [
        (1, 1, 0.0),
        (3, 2, 3.0),
        (1, 1, 4.0),
        (4, 3, 5.0),
    ]


def test_rows_never_overlap_nor_start_before_the_video():
    spans = (LineSpan(0, -1.0, 2.0, 1.0), LineSpan(1, 1.0, 3.0, 1.0), LineSpan(2, 1.5, 2.5, 1.0))
    rows = line_rows(tea_alignment(spans=spans), TEA)
    assert [(row.start, row.end) for row in rows] == [(0.0, 2.0), (2.0, 3.0)]


def test_steps_join_their_lines():
    spans = (LineSpan(1, 0, 1, 0.5), LineSpan(2, 1, 3, 0.8), LineSpan(3, 3, 4, 1.0))
    steps = step_rows(line_rows(tea_alignment(spans=spans), TEA), TEA)
    assert [(row.step, row.start, row.end, row.text) for row in steps] == [
        (2, 0, 3, "Put a bag into the cup."),
        (3, 3, 4, "Drink < 2 cups & rest."),
    ]
    assert steps[0].confidence == pytest.approx(0.7)


def test_an_alignment_of_another_text_is_refused():
    with pytest.raises(RecordError, match="give the text that was aligned"):
        line_rows(tea_alignment(), instructions_from_text("Drink."))


@pytest.mark.parametrize("name", ["out.srt", "out.vtt"])
def test_subtitles_read_back(tmp_path, name):
    written(tmp_path, name)
    found = read_captions(tmp_path / name)
    assert [(c.start, c.end) for c in found] == [(0, 2), (3, 4), (4, 5), (5, 7.5)]
    assert found[-1].text == "Drink < 2 cups & rest."


def test_webvtt_comes_with_chapters(tmp_path):
    assert written(tmp_path, "out.vtt") == [tmp_path / "out.vtt", tmp_path / "out.chapters.vtt"]
    chapters = read_captions(tmp_path / "out.chapters.vtt")
    assert chapters[0].text == "1. Fill the kettle with water."
    assert len(chapters) == 4


def test_tables(tmp_path):
    written(tmp_path, "out.tsv")
    rows = [row.split("\t") for row in (tmp_path / "out.tsv").read_text().splitlines()]
    assert rows[0][:3] == ["start", "end", "text"]
    assert rows[1] == ["0", "2000", "Fill the kettle with water.", "1", "1", "0.950"]
    written(tmp_path, "labels.txt")
    first = (tmp_path / "labels.txt").read_text().splitlines()[0]
    assert first == "0.000000\t2.000000\tFill the kettle with water."


def test_json_tells_also_what_did_not_happen(tmp_path):
    written(tmp_path, "out.json")
    found = json.loads((tmp_path / "out.json").read_text())
    assert [line["happened"] for line in found["lines"]] == [True, False, True, True]
    assert [len(line["spans"]) for line in found["lines"]] == [2, 0, 1, 1]
    assert found["lines"][1]["expected_at"] == 2.0
    assert found["boundaries"][0] == {"time": 2.0, "before": 1, "after": None, "confidence": 0.9}


def test_elan_file(tmp_path):
    video = tmp_path / "my film.mp4"
    write_alignment(tmp_path / "out.eaf", tea_alignment(), TEA, video=video)
    root = ElementTree.parse(tmp_path / "out.eaf").getroot()
    assert root.tag == "ANNOTATION_DOCUMENT"
    slots = {s.get("TIME_SLOT_ID"): int(s.get("TIME_VALUE")) for s in root.iter("TIME_SLOT")}
    tiers = {tier.get("TIER_ID"): tier for tier in root.iter("TIER")}
    assert list(tiers) == ["steps", "lines", "confidence"]
    lines = [
        (slots[a.get("TIME_SLOT_REF1")], slots[a.get("TIME_SLOT_REF2")], a[0].text)
        for a in tiers["lines"].iter("ALIGNABLE_ANNOTATION")
    ]
    assert lines[0] == (0, 2000, "Fill the kettle with water.")
    assert lines[-1] == (5000, 7500, "Drink < 2 cups & rest.")
    names = [a.get("ANNOTATION_ID") for a in root.iter("ALIGNABLE_ANNOTATION")]
    assert len(set(names)) == len(names) == 12
    assert root.find("HEADER/MEDIA_DESCRIPTOR").get("MEDIA_URL").endswith("my%20film.mp4")


def test_all_formats_at_once(tmp_path):
    paths = written(tmp_path, "out.vtt", ["all"])
    assert {path.name for path in paths} == {
        "out.srt",
        "out.vtt",
        "out.chapters.vtt",
        "out.tsv",
        "out.json",
        "out.eaf",
        "out.labels.txt",
    }
    assert all(path.stat().st_size for path in paths)


def test_nothing_is_overwritten_silently(tmp_path):
    written(tmp_path, "out.srt")
    before = (tmp_path / "out.srt").read_bytes()
    with pytest.raises(WordsightError, match="exists already"):
        write_alignment(tmp_path / "out.srt", tea_alignment(spans=()), TEA)
    assert (tmp_path / "out.srt").read_bytes() == before


def test_inputs_are_never_overwritten_even_when_told_to(tmp_path):
    text = tmp_path / "tea.srt"
    text.write_text("kept")
    with pytest.raises(WordsightError, match="is an input"):
        write_alignment(text, tea_alignment(), TEA, protected=[text], overwrite=True)
    assert text.read_text() == "kept"


@pytest.mark.parametrize(("name", "formats"), [("out.doc", None), ("out", None), ("out", ["doc"])])
def test_unknown_formats_are_named(name, formats):
    with pytest.raises(FormatError, match="srt"):
        export_paths(name, formats)


def test_nothing_found_makes_valid_empty_files(tmp_path):
    for path in write_alignment(tmp_path / "out", tea_alignment(spans=()), TEA, list(EXPORTS)):
        assert path.exists()
