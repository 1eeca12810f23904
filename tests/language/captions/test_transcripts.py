"""What speech recognisers write: JSON with times of words, and a cue per word."""

import json

import pytest

from wordsight.errors import FormatError
from wordsight.language.captions import Caption, looks_like_transcript, parse_captions

WORDS = [(1.0, 1.2, " A"), (1.2, 1.5, " man"), (1.5, 2.0, " sits."), (2.5, 2.8, " He")]
WORDS += [(2.8, 3.25, " waves."), (8.0, 8.4, " Then")]
SENTENCES = [
    Caption(1.0, 2.0, "A man sits."),
    Caption(2.5, 3.25, "He waves."),
    Caption(8.0, 8.4, "Then"),
]


def _segment(start, end, words):
    rows = [{"word": text, "start": begin, "end": stop} for begin, stop, text in words]
    return {"start": start, "end": end, "text": "".join(w[2] for w in words), "words": rows}


def test_sentences_have_the_times_of_their_words_whatever_the_segments():
    for cut in (1, 3, 4, 6):
        parts = [WORDS[:cut], WORDS[cut:]]
        segments = [_segment(0.0, 9.0, part) for part in parts if part]
        text = json.dumps({"text": "...", "segments": segments, "language": "en"})
        assert looks_like_transcript(text)
        assert parse_captions(text, "transcript") == SENTENCES


def test_segments_without_words_and_milliseconds():
    plain = {
        "segments": [{"start": 0, "end": 2.5, "text": " A man sits. "}, {**_segment(3, 4, [])}]
    }
    assert parse_captions(json.dumps(plain), "transcript") == [Caption(0, 2.5, "A man sits.")]
    cpp = {"transcription": [{"offsets": {"from": 500, "to": 1500}, "text": " Hello."}]}
    assert parse_captions(json.dumps(cpp), "transcript") == [Caption(0.5, 1.5, "Hello.")]


def test_a_word_without_times_takes_none():
    segment = _segment(1.0, 2.0, WORDS[:3])
    del segment["words"][1]["start"], segment["words"][1]["end"]
    text = json.dumps({"segments": [segment]})
    assert parse_captions(text, "transcript") == SENTENCES[:1]


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        '{"boxes": []}',
        '{"segments": [7]}',
        '{"segments": [{"text": "x"}]}',
        '{"segments": [{"start": "a", "end": 1, "text": "x"}]}',
        '{"segments": [{"start": 2, "end": 1, "text": "x"}]}',
    ],
)
def test_what_is_none_is_refused(text):
    with pytest.raises(FormatError, match="expected"):
        parse_captions(text, "transcript")


def test_subtitles_with_a_cue_per_word_are_joined():
    cues = [(a, b, text.strip()) for a, b, text in WORDS]
    text = "\n".join(
        f"{n}\n00:00:0{a:.3f} --> 00:00:0{b:.3f}\n{word}\n"
        for n, (a, b, word) in enumerate(cues, 1)
    )
    assert parse_captions(text, "srt") == SENTENCES
    labels = text.replace("sits.", "sits").replace("waves.", "waves")
    assert len(parse_captions(labels, "srt")) == len(WORDS)  # labels, not words of sentences


def test_a_sentence_repeated_for_every_word_is_one():
    said = ["<u>A</u> man sits.", "A <u>man</u> sits.", "A man <u>sits.</u>", "A man sits."]
    text = "\n".join(
        f"{n}\n00:00:0{n}.000 --> 00:00:0{n + 1}.000\n{words}\n" for n, words in enumerate(said, 1)
    )
    assert parse_captions(text, "srt") == [Caption(1.0, 5.0, "A man sits.")]
    coloured = text.replace("<u>", '<font color="#00ff00">').replace("</u>", "</font>")
    assert parse_captions(coloured, "srt") == [Caption(1.0, 5.0, "A man sits.")]
    whole = text.replace("<u>", "").replace("</u>", "")
    whole = whole.replace("A man sits.", "<font color='red'>A man sits.</font>")
    assert [c.text for c in parse_captions(whole, "srt")] == ["A man sits."] * 4  # four times
    plain = text.replace("<u>", "").replace("</u>", "")
    assert len(parse_captions(plain, "srt")) == 4  # four events may be described alike
