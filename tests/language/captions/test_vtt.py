"""WebVTT: blocks that are not cues, settings, escapes."""

import pytest

from wordsight.errors import FormatError
from wordsight.language.captions import Caption, parse_captions, render_captions

FULL = """\
WEBVTT - a talk
Kind: captions
Language: en

STYLE
::cue { color: lime }

REGION
id:left

NOTE a comment
over two lines

intro
00:01.000 --> 00:02.500 align:start position:10%
<v Ann><i>Tom &amp; Jerry</i></v> said 1 &lt; 2

NOTE

01:00:03.000 --> 01:00:04.000
- Hi.<01:00:03.500> <c.yellow>You</c>
- a < b

100:00:00.000 --> 100:00:01.000
&nbsp;
"""


def test_cues_are_found_among_everything_else():
    assert parse_captions(FULL, "vtt") == [
        Caption(1, 2.5, "Tom & Jerry said 1 < 2"),
        Caption(3603, 3604, "- Hi. You\n- a < b"),
    ]


def test_special_characters_are_escaped():
    text = render_captions([Caption(0, 1, "a --> b & <i> &amp;")], "vtt")
    assert text == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na --&gt; b &amp; &lt;i&gt; &amp;amp;\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "WEBVTT\n00:01.000 --> 00:02.000\nx",  # no empty line after the header
        "WEBVTT\t\n\n\n\n00:01.000 --> 00:02.000\nx\n\n\n",  # many empty lines
        "\ufeffWEBVTT\n\nNOTEBOOK\n00:01.000 --> 00:02.000\nx",  # an id, not a note
        "WEBVTT\n\n7\n00:01,000 --> 00:02,000\n \nx\n",  # a comma, a line of white space
    ],
)
def test_one_cue_in_many_clothes(text):
    assert parse_captions(text, "vtt") == [Caption(1, 2, "x")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'WEBVTT'"),
        ("WEBVTTX\n\n00:01.000 --> 00:02.000\nx", "line 1: expected 'WEBVTT'"),
        ("WEBVTT\n\nno timing\nat all", "line 3: .*mark it as NOTE"),
        ("WEBVTT\n\nid\n00:03.000 --> 00:02.000\nx", "line 4: .*swap or correct"),
        ("WEBVTT\n\n00:01.000 --> soon\nx", "line 3: .*correct the line"),
    ],
)
def test_errors_name_the_line(text, message):
    with pytest.raises(FormatError, match=message):
        parse_captions(text, "vtt")
