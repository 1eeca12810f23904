"""JSONL: what may be left out, and what is refused with the number of the line."""

import pytest

from wordsight.errors import FormatError
from wordsight.language.captions import Caption, parse_captions, render_captions


def test_times_may_be_missing_or_null_and_other_keys_stay_aside():
    text = (
        '{"text": "a"}\n\n{"start": null, "end": null, "text": "b"}\n'
        '{"start": 1, "end": 2.5, "text": "c", "by": "Ann"}'
    )
    assert parse_captions(text, "jsonl") == [
        Caption(None, None, "a"),
        Caption(None, None, "b"),
        Caption(1, 2.5, "c"),
    ]


def test_letters_stay_readable():
    assert render_captions([Caption(0, 1, "Tür")], "jsonl") == (
        '{"start": 0.0, "end": 1.0, "text": "Tür"}\n'
    )


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        '["a list"]',
        '{"start": 1, "end": 2}',  # no text
        '{"text": 7}',
        '{"text": ""}',
        '{"start": 1, "text": "x"}',  # no end
        '{"start": 3, "end": 2, "text": "x"}',
        '{"start": -1, "end": 2, "text": "x"}',
        '{"start": "1", "end": 2, "text": "x"}',
        '{"start": true, "end": 2, "text": "x"}',
        '{"start": NaN, "end": 2, "text": "x"}',
        '{"start": 0, "end": 1e999, "text": "x"}',
        '{"start": 0, "end": ' + "9" * 5000 + ', "text": "x"}',
        '{"text": "\\u0000"}',
        "[" * 100_000,  # nested deeper than Python follows
    ],
)
def test_errors_name_the_line(line):
    with pytest.raises(FormatError, match="line 2: "):
        parse_captions('{"text": "fine"}\n' + line, "jsonl")
