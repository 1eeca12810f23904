"""How good words are: measured on clips with what is said of them, and said in plain words."""

import json
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordsight.errors import WordsightError
from wordsight.workflows.lexicon import readable_grammar
from wordsight.workflows.reporter import Reporter
from wordsight.workflows.settings import setting
from wordsight.workflows.units import count

if TYPE_CHECKING:
    from wordsight.language import Lexicon
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon, TrainingSettings
    from wordsight.meaning.model.quality import HeldOut, Quality, WordQuality
    from wordsight.meaning.tasks.judge import JudgedChoice
    from wordsight.progress import Progress
    from wordsight.records import Clip, Sentence
    from wordsight.workflows.annotator import ClipAnnotator

__all__ = [
    "DescribedClips",
    "candidates_setting",
    "given_words_quality",
    "learning_quality",
    "read_described",
]

_SAME_TIME = 0.05  # seconds by which times of a file may differ from those of the library

_ONCE, _TOGETHER = "seen once", "always together with"
_USUAL = "as usual as everywhere: no information"
_OF_THINGS = ("noun", "adjective")  # parts of speech of words that say what a thing is
_HEADINGS = {
    "Seen once, which is too little to learn from": _ONCE,
    "Never said without each other, so they cannot be told apart": _TOGETHER,
    "As usual as everywhere, so without information": _USUAL,
}
_NO_DIFFERENCE = 0.05  # total variation from the background below which a word says nothing
_FEW_CLIPS = 6  # clips per word below which more of them are the first advice
_BLIND_FOLDS = 10  # parts of a library, for a guesser that knows how often sentences are true
_SHOWN = 3  # confused pairs that advice names


def candidates_setting() -> Any:
    """Declare the setting that says what might be said of each clip."""
    return setting(
        None,
        "What might be said of each clip, as JSON lines of video, start, end and candidates; by "
        "default all sentences of the library's patterns about the things its video is said to "
        "show, or those that differ in one word.",
        metavar="FILE",
        default_text="made of the library's sentences",
    )


@dataclass(frozen=True)
class DescribedClips:
    """Clips, and what is true and what is false of them.

    Attributes:
        lexicon: The grammar of the sentences.
        clips: The clips, their things named if words need it.
        sentences: Per clip its true sentences.
        rivals: Per clip the false sentences that compete with them.
        given: Whether some rivals come from a file, or from other clips of the same video.
        cut: Whether most sentences are about a part of their video, with its times.
    """

    lexicon: "Lexicon"
    clips: Sequence["Clip"]
    sentences: Sequence[Sequence["Sentence"]]
    rivals: Sequence[Sequence["Sentence"]]
    given: bool
    cut: bool

    @property
    def num_sentences(self) -> int:
        """Number of pairs of a clip and a sentence."""
        return sum(map(len, self.sentences))

    def part(self, numbers: Sequence[int]) -> "DescribedClips":
        """Return some of the clips."""
        return replace(
            self,
            clips=[self.clips[n] for n in numbers],
            sentences=[self.sentences[n] for n in numbers],
            rivals=[self.rivals[n] for n in numbers],
        )


def read_described(
    library: "Library",
    known: "Lexicon | None",
    annotator: "ClipAnnotator | None",
    candidates: Path | None,
    reporter: Reporter,
    *,
    aligned: Sequence[Path] = (),
    random_state: int = 0,
    synonyms: bool = False,
) -> DescribedClips:
    """Read all described clips of a library; sentences that cannot be read are left out.

    Args:
        library: The library.
        known: How words combine, as far as it is written down.
        annotator: Names things or knows facts of them, if words need that.
        candidates: File of what might be said of each clip, if there is one.
        reporter: Takes what cannot be read.
        aligned: Alignments whose lines are sentences, too.
        random_state: Seed of the rivals that are drawn where there are too many.
        synonyms: Whether new words are taken for known ones that mean about the same.
    """
    from wordsight.meaning.tasks.rivals import described_by_clip, rivals_of
    from wordsight.workflows.clips import clips_with_sentences, read_aligned

    lines = read_aligned(library, aligned)
    clips, texts = clips_with_sentences(library, lines)
    asked = None if candidates is None else _candidates_of(library, clips, candidates)
    seen = clips if annotator is None else annotator.name_clips(library, clips, reporter)
    read = readable_grammar if annotator is None else annotator.grammar
    videos = [clip.video_id for clip in clips]
    if asked is None:
        lexicon, said = read(known, texts, reporter, videos=videos, synonyms=synonyms)
    else:
        lexicon, said = read(
            known, [*texts, *asked], reporter, videos=[*videos, *videos], synonyms=synonyms
        )
    sentences, candidates_read = said[: len(clips)], said[len(clips) :]
    rivals = rivals_of(clips, sentences, lexicon, random_state=random_state)
    for place, row in enumerate(candidates_read):
        if row:
            rivals[place] = row
    return DescribedClips(
        lexicon,
        seen,
        sentences,
        rivals,
        asked is not None or bool(described_by_clip(clips)),
        _are_cut(library, len(lines)),
    )


def learning_quality(
    said: "DescribedClips",
    settings: "TrainingSettings",
    check: str,
    *,
    learned: "LearnedLexicon | None" = None,
    progress: "Progress | None" = None,
    **compute: Any,
) -> "Quality":
    """Measure how good words are that are learned as these, by learning without some videos.

    Args:
        said: Clips and sentences.
        settings: How words are learned.
        check: ``quick`` learns in less time and fewer parts than ``full``; ``none`` only remarks on
            words.
        learned: The words learned from all clips, to be remarked on too.
        progress: Called after every step.
        compute: Threads, engine and device.
    """
    from wordsight.meaning import MeaningWarning
    from wordsight.meaning.tasks.judge import (
        FULL_FOLDS,
        QUICK_FOLDS,
        cross_fit,
        quick_settings,
        why_not_judged,
    )

    kept = [n for n, clip in enumerate(said.clips) if clip.mask.any() and said.sentences[n]]
    clips = [said.clips[n] for n in kept]
    why = "it was not measured (--check none)." if check == "none" else why_not_judged(clips)
    if why:
        return _quality(said, (), None, why, learned)
    quick = check == "quick"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeaningWarning)  # said once, of learning from all clips
        fitted = cross_fit(
            clips,
            [said.sentences[n] for n in kept],
            [said.rivals[n] for n in kept],
            said.lexicon,
            quick_settings(settings) if quick else settings,
            folds=QUICK_FOLDS if quick else FULL_FOLDS,
            progress=progress,
            **compute,
        )
    held_out = fitted.quality(said.lexicon, check)
    why = "" if held_out else _too_few(len(fitted.answers), fitted.unknown)
    return _quality(said, fitted.answers, held_out, why, learned)


def given_words_quality(
    said: "DescribedClips", learned: "LearnedLexicon", progress: "Progress | None" = None
) -> "Quality":
    """Measure how good given words are on clips they were not learned from."""
    from wordsight.meaning.tasks.judge import held_out_quality, judge_choices, video_folds
    from wordsight.meaning.tasks.rivals import ask

    whole = replace(learned, lexicon=said.lexicon)
    rows = zip(said.clips, said.sentences, said.rivals, strict=True)
    asked = [one for row in rows if row[0].mask.any() for one in ask(*row)]
    fair = [one for one in asked if learned.words.keys() >= {w.entry for w in one.true.words}]
    if not fair:
        return _quality(said, (), None, _too_few(0, len(asked)), learned)
    # The guesser knows how often sentences are true of other videos of this library.
    parts = video_folds([one.clip.video_id for one in asked], _BLIND_FOLDS)
    answers = []
    for part in range(max(parts) + 1):
        rest = [one for one, own in zip(asked, parts, strict=True) if own != part]
        own = {one.clip.video_id for one in asked} - {one.clip.video_id for one in rest}
        answers += judge_choices(whole, [one for one in fair if one.clip.video_id in own], rest)
        if progress is not None:
            progress(len(answers), len(fair), "")
    unknown = len(asked) - len(fair)
    return _quality(
        said, answers, held_out_quality(answers, said.lexicon, unknown=unknown), "", learned
    )


def _are_cut(library: "Library", aligned: int) -> bool:
    timed = [one.start is not None for one in library.sentences()]
    return (sum(timed) + aligned) * 2 > len(timed) + aligned


def _candidates_of(library: "Library", clips: Sequence["Clip"], path: Path) -> list[list[str]]:
    """Return the candidates of each clip; empty where the file has none."""
    from wordsight.workflows.clips import names_of

    rows: dict[str, list[tuple[float | None, float | None, list[str]]]] = {}
    for number, line in enumerate(_text_of(path).splitlines(), start=1):
        if line.strip():
            video, *row = _row(line, f"{path}, line {number}")
            rows.setdefault(video, []).append((row[0], row[1], row[2]))
    names = {video: names_of(library, video) for video in {clip.video_id for clip in clips}}
    found = []
    for clip in clips:
        own = [row for name in dict.fromkeys(names[clip.video_id]) for row in rows.get(name, ())]
        fitting = (texts for start, end, texts in own if _is_at(clip, start, end))
        found.append(next(fitting, []))
    if not any(found):
        raise WordsightError(
            f"no line of {path} is about a described clip of {library.location}: `video` must be "
            "the name or id of a video, `start` and `end` those of its sentence, in seconds."
        )
    return found


def _is_at(clip: "Clip", start: float | None, end: float | None) -> bool:
    return (start is None or abs(clip.start - start) <= _SAME_TIME) and (
        end is None or abs(clip.end - end) <= _SAME_TIME
    )


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WordsightError(f"{path} cannot be read: {error}.") from error


def _row(line: str, where: str) -> tuple[Any, ...]:
    """Return video, start, end and candidates of a line."""
    try:
        row = json.loads(line)
        video = str(row.get("video") or row["file_name"])
        start, end = (None if row.get(n) is None else float(row[n]) for n in ("start", "end"))
        texts = row["candidates"]
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError("candidates are a list of sentences")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WordsightError(
            f'{where}: expected {{"video": NAME, "start": s, "end": s, "candidates": [sentence, '
            f"...]}}, got {line[:80]!r} ({error})."
        ) from error
    return video, start, end, texts


def _too_few(asked: int, unknown: int) -> str:
    rest = (
        f"; {count(unknown, 'sentence')} more have words that no other video has" if unknown else ""
    )
    return f"only {count(asked, 'choice')} can be asked{rest}. More described videos would help."


def _quality(
    said: "DescribedClips",
    answers: Sequence["JudgedChoice"],
    held_out: "HeldOut | None",
    why: str,
    learned: "LearnedLexicon | None",
) -> "Quality":
    from wordsight.meaning.model.quality import Quality
    from wordsight.meaning.tasks.judge import word_quality

    used = _clips_of_words(said.sentences)
    words = word_quality(answers, {entry: len(clips) for entry, clips in sorted(used.items())})
    remarks = _remarks(used, said.lexicon, learned)
    words = {
        entry: replace(word, remarks=(*remarks[entry], *word.remarks))
        for entry, word in words.items()
    }
    advice = (*_advice(held_out, words, said), *_summary(remarks))
    return Quality(words, held_out, why, advice)


def _clips_of_words(sentences: Iterable[Iterable["Sentence"]]) -> dict[str, frozenset[int]]:
    used = defaultdict(set)
    for number, several in enumerate(sentences):
        for word in (word for sentence in several for word in sentence.words):
            used[word.entry].add(number)
    return {entry: frozenset(numbers) for entry, numbers in used.items()}


def _remarks(
    used: dict[str, frozenset[int]], lexicon: "Lexicon", learned: "LearnedLexicon | None"
) -> dict[str, list[str]]:
    """Return per word what its use and its tables say against it."""
    remarks: dict[str, list[str]] = {entry: [] for entry in used}
    same = defaultdict(list)
    for entry, clips in used.items():
        same[clips, lexicon[entry].part in _OF_THINGS].append(entry)
        if len(clips) == 1:
            remarks[entry].append(_ONCE)
    for entries in same.values():
        for entry in entries if len(entries) > 1 else ():
            others = ", ".join(other for other in entries if other != entry)
            remarks[entry].append(f"{_TOGETHER} {others}: cannot be told apart")
    for entry in used:
        if learned is not None and entry in learned.words and _says_nothing(learned, entry):
            remarks[entry].append(_USUAL)
    return remarks


def _summary(remarks: dict[str, list[str]]) -> Iterable[str]:
    """Yield one line for each kind of remark, with the words it is made of."""
    for heading, begin in _HEADINGS.items():
        found = set()
        for entry, remark in ((e, r) for e, own in remarks.items() for r in own):
            if remark.startswith(begin):
                others = remark.removeprefix(begin).partition(":")[0].strip()
                with_others = [entry, *others.split(", ")] if begin == _TOGETHER else [entry]
                found.add(" and ".join(sorted(with_others)))
        if found:
            yield f"{heading}: {', '.join(sorted(found))}."


def _says_nothing(learned: "LearnedLexicon", entry: str) -> bool:
    word = learned.words[entry]
    return all(
        float(np.abs(table - learned.background[slot.feature]).sum(axis=1).max()) / 2
        < _NO_DIFFERENCE
        for slot, table in zip(word.slots, word.emissions, strict=True)
    )


def _advice(
    held_out: "HeldOut | None", words: dict[str, "WordQuality"], said: "DescribedClips"
) -> Iterable[str]:
    """Yield what is wrong with the words and what would help."""
    from wordsight.meaning.tasks.judge import LEAST_CHOICES, NO_BETTER

    if held_out is None:
        return
    if held_out.choices < LEAST_CHOICES:
        yield (
            f"{count(held_out.choices, 'choice')} cannot show whether words are better than "
            f"guessing; {LEAST_CHOICES} or more would. More described videos would help."
        )
        return
    guessing = [entry for entry, word in words.items() if NO_BETTER in word.remarks]
    if not held_out.is_better_than_guessing:
        yield (
            "The words are no better than guessing: on videos not learned from they choose the "
            f"right sentence in {held_out.accuracy} of {count(held_out.choices, 'choice')}, where "
            f"guessing without looking has {max(held_out.blind, held_out.chance):.2f}. "
            "What would help:"
        )
        yield from _help(held_out, words, said)
        return
    if held_out.f1.low <= max(held_out.blind_f1, held_out.chance_f1):
        yield (
            "Whether one sentence is true is judged no better than by guessing "
            f"(F1 {held_out.f1}, guessing {max(held_out.blind_f1, held_out.chance_f1):.2f}): "
            "trust which of several sentences fits best rather than `true`."
        )
    if guessing:
        yield f"No better than guessing: {', '.join(guessing)}. What would help:"
        yield from _help(held_out, {entry: words[entry] for entry in guessing}, said)


def _help(
    held_out: "HeldOut", words: dict[str, "WordQuality"], said: "DescribedClips"
) -> Iterable[str]:
    """Yield what would help some words that are no better than guessing."""
    usual = Counter({entry: word.clips for entry, word in words.items()})
    few = [f"{entry} ({number})" for entry, number in sorted(usual.items(), key=lambda one: one[1])]
    rare = sum(number < _FEW_CLIPS for number in usual.values())
    if rare:
        yield (
            f"- more described clips: {rare} of {count(len(usual), 'word')} "
            f"{'is' if rare == 1 else 'are'} said of fewer than {_FEW_CLIPS} clips, such as "
            f"{', '.join(few[: min(rare, _SHOWN)])};"
        )
    else:
        yield "- sentences that are true of their clips: play some and compare;"
    if any(said.lexicon[entry].part == "noun" for entry in words):
        yield f"- a detector that knows the things that are spoken of: {_labels(said)};"
    pairs = [
        f"{true} with {other} ({number})"
        for true, other, number in held_out.confusions
        if true in words or other in words
    ]
    if pairs:
        yield f"- more clips that differ in what is confused: {', '.join(pairs[:_SHOWN])}."


def _labels(said: "DescribedClips") -> str:
    names = sorted({name for clip in said.clips for name in clip.detections.label_names})
    if not names or all(name.startswith("look-") for name in names):
        return "`regions` has no names; see `wordsight detectors list`"
    more = ", …" if len(names) > _SHOWN else ""
    return f"this one has {count(len(names), 'label')} ({', '.join(names[:_SHOWN])}{more})"
