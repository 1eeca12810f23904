"""Captions are tidied and checked when they are made."""

import math

import pytest

from wordsight.errors import RecordError
from wordsight.language.captions import Caption


@pytest.mark.parametrize(
    ("text", "tidy"),
    [
        ("  a  ", "a"),
        ("a \r\n\r\n b", "a\nb"),  # Windows line ends, an empty line
        ("a\u2028b\x0bc", "a\nb\nc"),  # rare line separators
        ("\ufeffa", "a"),  # a byte order mark
        ("a\xa0", "a"),  # a no-break space
    ],
)
def test_text_is_tidied(text, tidy):
    assert Caption(None, None, text).text == tidy
    assert Caption(None, None, tidy).text == tidy


@pytest.mark.parametrize(
    ("start", "end", "text", "message"),
    [
        (-1, 2, "x", "0 s or later, got -1"),
        (2, 1, "x", "not end before it starts"),
        (math.nan, 1, "x", "0 s or later"),
        (0, math.inf, "x", "0 s or later"),
        (0, 10**400, "x", "0 s or later"),  # larger than any float
        (1, None, "x", "both a start and an end"),
        (None, 1, "x", "both a start and an end"),
        (0, 1, " \n ", "some text"),
        (0, 1, "a\0b", "no file can hold"),
        (0, 1, "a\ud800", "no file can hold"),  # half of a surrogate pair
    ],
)
def test_impossible_captions_are_refused(start, end, text, message):
    with pytest.raises(RecordError, match=message):
        Caption(start, end, text)


def test_a_caption_may_last_no_time_at_all():
    assert Caption(1, 1, "flash").is_timed
    assert not Caption(None, None, "flash").is_timed
