"""What holds for all caption formats: round trips, never overwriting, errors that name the line."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.errors import FormatError, RecordError, WordsightError
from wordsight.language.captions import (
    FORMATS,
    Caption,
    parse_captions,
    read_captions,
    render_captions,
    write_captions,
)

HUNDRED_HOURS_MS = 360_000_000
# Letters near and far, every kind of space and line break, and what the formats use for themselves.
NASTY = "abBiI é日🎬\u200b \t\xa0\n\r\x0b\x0c\x1c\x85\u2028\ufeff<>&;-/:.,0123456789\"'\\{}#\x07"
EXACTLY = "abé日 \n0123456789.,:-'&<"


@st.composite
def texts(draw, alphabet=NASTY):
    words = draw(st.text(alphabet, min_size=1, max_size=30))
    try:
        return Caption(None, None, words).text
    except RecordError:
        return "nothing but white space"


@st.composite
def captions(draw, alphabet=NASTY):
    start = draw(st.integers(0, HUNDRED_HOURS_MS))
    length = draw(st.integers(0, 100_000))
    return Caption(start / 1000, (start + length) / 1000, draw(texts(alphabet)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vtt", "jsonl"])
@settings(deadline=None)
@given(given_captions=st.lists(captions(), max_size=8))
def test_any_text_and_time_comes_back_exactly(name, given_captions):
    assert parse_captions(render_captions(given_captions, name), name) == given_captions


# SRT has no escapes: letters, digits, punctuation and line breaks, but no tags and no arrows.
@settings(deadline=None)
@given(given_captions=st.lists(captions(EXACTLY), max_size=8))
def test_srt_comes_back_exactly(given_captions):
    assert parse_captions(render_captions(given_captions, "srt"), "srt") == given_captions


@settings(deadline=None)
@given(given_captions=st.lists(captions(), max_size=6))
def test_srt_keeps_every_time_whatever_the_text(given_captions):
    back = parse_captions(render_captions(given_captions, "srt"), "srt")
    marks_only = re.compile(r"(</?[ib]>|\s)*", re.IGNORECASE)
    wanted = [(c.start, c.end) for c in given_captions if not marks_only.fullmatch(c.text)]
    assert [(c.start, c.end) for c in back] == wanted


@settings(deadline=None)
@given(lines=st.lists(texts(), max_size=8))
def test_plain_lines_come_back_but_for_line_breaks(lines):
    back = parse_captions(
        render_captions([Caption(None, None, line) for line in lines], "lines"), "lines"
    )
    assert [c.text for c in back] == [line.replace("\n", " ") for line in lines]
    assert all(c.start is None and c.end is None for c in back)


@settings(deadline=None)
@given(start=st.floats(0, 1e6), length=st.floats(0, 1e4))
def test_jsonl_keeps_all_digits(start, length):
    given_captions = [Caption(start, start + length, "x"), Caption(None, None, "y")]
    assert parse_captions(render_captions(given_captions, "jsonl"), "jsonl") == given_captions


@pytest.mark.parametrize("name", ["srt", "vtt"])
@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (1.9999, "00:00:01X999"),  # cut off, not rounded up
        (1.001, "00:00:01X001"),  # the binary number lies below 1.001
        (59.9996, "00:00:59X999"),
        (0.0009, "00:00:00X000"),
        (4.1e-05, "00:00:00X000"),  # printed with an exponent
        (359999.999, "99:59:59X999"),
        (360000.0, "100:00:00X000"),  # more than two digits of hours
    ],
)
def test_milliseconds_are_cut_off(name, seconds, code):
    text = render_captions([Caption(0, seconds, "x")], name)
    assert f"--> {code.replace('X', ',' if name == 'srt' else '.')}\n" in text


@pytest.mark.parametrize("name", FORMATS)
def test_files_go_by_their_ending_and_are_not_overwritten(tmp_path, name):
    path = tmp_path / f"some words 🎬{FORMATS[name].suffixes[0].upper()}"
    wanted = [Caption(0.5, 2, "Take a cup."), Caption(1, 3, "Überlappend, 重なる")]
    write_captions(path, wanted)
    before = path.read_bytes()
    with pytest.raises(WordsightError, match="exists already"):
        write_captions(path, [Caption(0, 1, "other")])
    assert path.read_bytes() == before
    assert [c.text for c in read_captions(path)] == [c.text for c in wanted]
    write_captions(path, wanted[:1], overwrite=True)
    assert len(read_captions(path)) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_no_captions(name):
    assert parse_captions(render_captions([], name), name) == []


@pytest.mark.parametrize("name", ["srt", "vtt"])
def test_captions_without_times_are_refused_where_times_are_needed(tmp_path, name):
    path = tmp_path / f"a.{name}"
    with pytest.raises(FormatError, match=r"caption 2 \('no time'\) has none; write plain lines"):
        write_captions(path, [Caption(0, 1, "x"), Caption(None, None, "no time")])
    assert not path.exists()


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("name", FORMATS)
def test_line_ends_do_not_matter(tmp_path, name, ending):
    wanted = [Caption(0, 1, "one"), Caption(1, 2, "two")]
    path = tmp_path / "file"
    path.write_bytes(render_captions(wanted, name).encode().replace(b"\n", ending))
    assert [c.text for c in read_captions(path, name)] == ["one", "two"]


def test_errors_name_file_and_line(tmp_path):
    path = tmp_path / "talk.srt"
    path.write_text("1\n00:00:05,000 --> 00:00:04,000\nwrong way round\n")
    with pytest.raises(FormatError, match=r"talk\.srt, line 2: .*swap or correct the times"):
        read_captions(path)


def test_unknown_formats_are_named():
    with pytest.raises(FormatError, match="known are srt, vtt, lines, jsonl"):
        parse_captions("", "sub")
    with pytest.raises(FormatError, match="no suffix of a caption format"):
        read_captions("words.docx")


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WordsightError):
        write_captions(tmp_path / "file" / "a.srt", [])
