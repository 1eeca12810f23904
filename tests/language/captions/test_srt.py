"""SRT as it is found in the wild."""

import pytest

from wordsight.errors import FormatError
from wordsight.language.captions import Caption, parse_captions, render_captions

TWO = [Caption(1, 2.5, "one"), Caption(3, 4, "two\nlines")]


@pytest.mark.parametrize(
    "text",
    [
        # as the players write it
        "1\n00:00:01,000 --> 00:00:02,500\none\n\n2\n00:00:03,000 --> 00:00:04,000\ntwo\nlines\n",
        # no index
        "00:00:01,000 --> 00:00:02,500\none\n\n00:00:03,000 --> 00:00:04,000\ntwo\nlines",
        # a point before the milliseconds, no hours, one digit of them
        "1\n0:01.000 --> 0:02.5\none\n\n2\n0:0:3.0 --> 00:04\ntwo\nlines",
        # missing and extra empty lines, also inside the text
        "\n\n1\n00:00:01,000-->00:00:02,500\none\n"
        "2\n00:00:03,000 --> 00:00:04,000\ntwo\n\nlines\n\n",
        # positions after the timing, simple tags
        "1\n00:00:01,000 --> 00:00:02,500 X1:100 X2:100\n<i>one</i>\n\n"
        "2\n00:00:03,000 --> 00:00:04,000\n<B>two</B>\nlines\n",
        # more digits than milliseconds
        "1\n00:00:01,000999 --> 00:00:02,5009\none\n\n"
        "2\n00:00:03,000 --> 00:00:04,000\ntwo\nlines\n",
        # an empty cue between them
        "1\n00:00:01,000 --> 00:00:02,500\none\n\n2\n00:00:02,500 --> 00:00:03,000\n\n"
        "3\n00:00:03,000 --> 00:00:04,000\ntwo\nlines\n",
    ],
)
def test_what_real_files_hold_is_tolerated(text):
    assert parse_captions(text, "srt") == TWO


def test_numbers_and_arrows_can_be_text():
    text = (
        "1\n00:00:01,000 --> 00:00:02,000\n42\n\n"
        "2\n00:00:02,000 --> 00:00:03,000\nA --> B\n<red><font color=red>C</font></red>\n"
    )
    words = [caption.text for caption in parse_captions(text, "srt")]
    assert words == ["42", "A --> B\n<red>C</red>"]


def test_overlap_and_disorder_are_kept():
    captions = [Caption(5, 9, "late"), Caption(1, 6, "early")]
    assert parse_captions(render_captions(captions, "srt"), "srt") == captions


def test_text_that_reads_as_a_timing_is_made_harmless():
    captions = [Caption(0, 1, "see\n00:00:07,000 --> 00:00:08,000\nthere")]
    back = parse_captions(render_captions(captions, "srt"), "srt")
    assert [c.text for c in back] == ["see\n00:00:07,000 -> 00:00:08,000\nthere"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\nworld", "line 1: expected an index and a timing"),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nx", "line 1: .*name the format"),
        ("1\n00:00:05,000 --> 00:00:04,000\nx", "line 2: .*not before the start"),
        ("1\n-00:00:01,000 --> 00:00:04,000\nx", "line 2: .*shift all times"),
        ("1\n00:61:00,000 --> 00:62:00,000\nx", "line 2: .*up to 59"),
        ("1\n00:00:01,000 --> \nx", "line 2: .*correct the line"),
        ("1\nsoon --> later\nx", "line 2: .*correct the line"),
        ("1\n00:00:01,000 --> 00:00:02,000\nx\n\n2\n00:00:xx --> 1\ny", "line 6: "),
        (f"1\n{'9' * 5000}:00:00,0 --> 00:00:02,000\nx", "line 2: "),  # absurd hours
    ],
)
def test_errors_name_the_line_and_the_way_out(text, message):
    with pytest.raises(FormatError, match=message):
        parse_captions(text, "srt")
