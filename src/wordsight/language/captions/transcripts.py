"""What speech recognisers write: JSON with the times of single words, and subtitles word by word.

Whisper, faster-whisper and WhisperX write ``{"segments": [{"start", "end", "text", "words"}]}``,
whisper.cpp ``{"transcription": [{"offsets": {"from", "to"}, "text"}]}`` in milliseconds. A segment
may hold several sentences or end inside one; where words have times, every sentence gets its own.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from wordsight.errors import FormatError, RecordError
from wordsight.language.captions.caption import Caption, CaptionFormat, require_times

__all__ = ["TRANSCRIPT", "join_words", "looks_like_transcript", "without_word_cues"]

_SHAPE = '{"segments": [{"start": 1.5, "end": 2.0, "text": "..."}]}'
_ENDS = (".", "!", "?", "…", "。", "！", "？")
_PAUSE = 1.5  # seconds of silence that end a sentence without a full stop
_SAME_CUE = 0.25  # seconds between cues that repeat a sentence for its next word
_FEW = 4  # cues of one word each, from which a file is taken to be word by word

_TimedWord = tuple[float, float, str]


def looks_like_transcript(text: str) -> bool:
    """Whether a JSON text is what a speech recogniser wrote."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and isinstance(_segments(content), list)


def _segments(content: dict[str, Any]) -> Any:
    return content.get("segments", content.get("transcription"))


def _parse(text: str) -> list[Caption]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected {_SHAPE}, but it is not JSON ({error}).") from error
    segments = _segments(content) if isinstance(content, dict) else None
    if not isinstance(segments, list):
        raise FormatError(
            f'expected {_SHAPE}, as speech recognisers write it, but there are no "segments".'
        )
    found: list[Caption] = []
    words: list[_TimedWord] = []
    for number, segment in enumerate(segments, start=1):
        try:
            timed = _words(segment)
            if timed is not None:
                words += timed
                continue
            found += join_words(words)
            words = []
            start, end = _span(segment)
            if str(segment["text"]).strip():
                found.append(Caption(start, end, str(segment["text"])))
        except (KeyError, TypeError, ValueError, AttributeError, RecordError) as error:
            raise FormatError(f"segment {number}: expected {_SHAPE} ({error!r}).") from error
    return found + join_words(words)


def _span(row: dict[str, Any]) -> tuple[float, float]:
    if "offsets" in row:
        return float(row["offsets"]["from"]) / 1000, float(row["offsets"]["to"]) / 1000
    return float(row["start"]), float(row["end"])


def _words(segment: dict[str, Any]) -> list[_TimedWord] | None:
    """Return the words of a segment with their times; None if there are none."""
    rows = segment.get("words")
    if not rows:
        return None
    found: list[_TimedWord] = []
    before = _span(segment)[0]
    for row in rows:
        text = str(row["word"] if "word" in row else row["text"]).strip()
        # Numbers may come without times: then they take no time after the word before.
        start, end = _span(row) if "start" in row or "offsets" in row else (before, before)
        if text:
            found.append((start, max(start, end), text))
        before = max(start, end)
    return found or None


def join_words(words: Iterable[_TimedWord]) -> list[Caption]:
    """Join words into sentences, each from its first word to its last.

    Args:
        words: Start, end and text of each word, in order.
    """
    found: list[Caption] = []
    sentence: list[_TimedWord] = []
    for word in words:
        if sentence and word[0] - sentence[-1][1] > _PAUSE:
            found.append(_joined(sentence))
            sentence = []
        sentence.append(word)
        if word[2].endswith(_ENDS):
            found.append(_joined(sentence))
            sentence = []
    return [*found, _joined(sentence)] if sentence else found


def _joined(words: Sequence[_TimedWord]) -> Caption:
    return Caption(words[0][0], max(word[1] for word in words), " ".join(w[2] for w in words))


def without_word_cues(captions: Sequence[Caption], underlined: Sequence[bool]) -> list[Caption]:
    """Return whole sentences where a recogniser wrote a cue per word.

    Either every cue is one word, some with a full stop, or it repeats its sentence with another
    word underlined.

    Args:
        captions: The cues without tags, all with times.
        underlined: Per cue whether a word of it is underlined.
    """
    single = sum(len(caption.text.split()) == 1 for caption in captions)
    stops = any(caption.text.endswith(_ENDS) for caption in captions)
    if stops and len(captions) >= _FEW and single >= 0.9 * len(captions):
        return join_words((c.start or 0.0, c.end or 0.0, c.text) for c in captions)
    found: list[Caption] = []
    marked = False
    for caption, mark in zip(captions, underlined, strict=True):
        last = found[-1] if found else Caption(None, None, "none")
        pause = (caption.start or 0.0) - (last.end or 0.0)
        if last.text == caption.text and (mark or marked) and abs(pause) <= _SAME_CUE:
            found[-1] = Caption(last.start, caption.end, caption.text)
        else:
            found.append(caption)
        marked = mark
    return found


def _render(captions: Sequence[Caption]) -> str:
    timed = require_times(captions, "a transcript")
    rows = [{"start": start, "end": end, "text": text} for start, end, text in timed]
    return json.dumps({"segments": rows}, ensure_ascii=False, indent=1) + "\n"


TRANSCRIPT = CaptionFormat(
    "transcript", (".json",), "JSON of speech recognisers such as Whisper", _parse, _render
)
"""Sentences get the times of their words where these are known; words are not written."""
