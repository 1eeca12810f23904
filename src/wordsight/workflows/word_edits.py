"""Changing a word by hand: what the change does to sentences, and the versions kept before it."""

import json
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wordsight.errors import WordsightError
from wordsight.files import read_present, write_text
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon, SentenceScore, best_moment
from wordsight.meaning.tasks.clip import score_all
from wordsight.progress import Progress
from wordsight.records import Clip
from wordsight.workflows.annotator import ClipAnnotator, load_annotator, save_lexicon
from wordsight.workflows.clips import clip_between, clips_with_sentences

__all__ = [
    "Effect",
    "Version",
    "compare_words",
    "edited",
    "effects_of",
    "find_examples",
    "keep_version",
    "list_versions",
    "load_version",
    "restore_version",
]

_NOTE = "version.json"

_MOST = 100  # of the latest versions are kept


@dataclass(frozen=True)
class Version:
    """A lexicon as it was.

    Attributes:
        number: Of the version; later ones have higher numbers.
        time: When it was kept, in seconds since 1970.
        note: Why it was kept.
    """

    number: int
    time: float
    note: str


def keep_version(words: Path, note: str) -> Version | None:
    """Keep a lexicon as it is now.

    Args:
        words: The folder of the lexicon; its versions are in a folder beside it.
        note: What is about to happen to it.

    Returns:
        The version, or ``None`` where there is no lexicon yet.
    """
    if not (words / "model.json").is_file():
        return None
    folder = _versions_folder(words)
    folder.mkdir(parents=True, exist_ok=True)
    number = max((one.number for one in list_versions(words)), default=0) + 1
    version = Version(number, time.time(), note)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as beside:
        copy = Path(beside) / "copy"
        shutil.copytree(words, copy / words.name)
        write_text(copy / _NOTE, json.dumps(vars(version)))
        copy.rename(folder / f"{number:06d}")  # there is all of it, or nothing
    for old in list_versions(words)[_MOST:]:
        shutil.rmtree(folder / f"{old.number:06d}", ignore_errors=True)
    return version


def list_versions(words: Path) -> list[Version]:
    """Return the versions of a lexicon that are kept, the latest first."""
    notes = sorted(_versions_folder(words).glob(f"[0-9]*/{_NOTE}"), reverse=True)
    return read_present(notes, lambda path: Version(**json.loads(path.read_text(encoding="utf-8"))))


def load_version(words: Path, number: int) -> LearnedLexicon:
    """Read an earlier version of a lexicon.

    Raises:
        WordsightError: If there is none of that number.
    """
    folder = _version_folder(words, number)
    if not folder.is_dir():
        raise WordsightError(f"there is no version {number} of the lexicon.")
    return LearnedLexicon.load(folder)


def restore_version(words: Path, number: int) -> LearnedLexicon:
    """Restore an earlier version; the lexicon that is there becomes a version too.

    Raises:
        WordsightError: If there is none of that number.
    """
    earlier = load_version(words, number)
    keep_version(words, f"before going back to version {number}")
    annotator = load_annotator(_version_folder(words, number))
    save_lexicon(earlier, words, annotator, overwrite=True)
    return earlier


def _versions_folder(words: Path) -> Path:
    return words.with_name(f"{words.name}-versions")


def _version_folder(words: Path, number: int) -> Path:
    return _versions_folder(words) / f"{number:06d}" / words.name


_LEAST = 1e-6  # share of a bin; what was called impossible may happen all the same

_MOST_CLIPS = 300  # looked at in one comparison
_MOST_SENTENCES = 100  # looked at for examples
_MOST_ROWS = 200  # of a comparison that are listed; the rest is counted


@dataclass(frozen=True)
class Effect:
    """What a change does to one sentence about one video.

    Attributes:
        video_id: The video.
        sentence: The sentence.
        said: Whether it is said of this video; otherwise of another one.
        before: Its score with the word as it was.
        after: Its score with the word as it is to be.
        holds_before: Whether it was said to be true.
        holds_after: Whether it is.
    """

    video_id: str
    sentence: str
    said: bool
    before: float
    after: float
    holds_before: bool
    holds_after: bool


def edited(
    lexicon: LearnedLexicon, entry: str, edits: Sequence[Mapping[str, Any]]
) -> LearnedLexicon:
    """Return a lexicon in which distributions of one word are replaced.

    Args:
        lexicon: The lexicon.
        entry: The word.
        edits: Each with ``feature``, ``roles``, ``state`` and ``shares``, which are scaled to sum
            to one.

    Raises:
        WordsightError: If there is no such word, state or feature, or shares are none.
    """
    word = lexicon[entry]
    places = [(slot.feature, tuple(slot.roles)) for slot in word.slots]
    tables = [table.copy() for table in word.emissions]
    for edit in edits:
        place = (edit["feature"], tuple(edit["roles"]))
        if place not in places or edit["state"] >= word.num_states:
            raise WordsightError(
                f"{entry} has no state {edit['state'] + 1} or no feature {edit['feature']}."
            )
        row = tables[places.index(place)][edit["state"]]
        shares = np.asarray(edit["shares"], dtype=np.float64)
        usable = shares.shape == row.shape and np.isfinite(shares).all() and (shares >= 0).all()
        if not usable or shares.sum() <= 0:
            raise WordsightError(
                f"{edit['feature']} needs {len(row)} shares of 0 or more that are not all 0, got "
                f"{len(shares)}."
            )
        kept = np.maximum(shares / shares.sum(), _LEAST)
        row[:] = kept / kept.sum()
    changed = replace(word, emissions=tuple(tables))
    return lexicon.with_words({**lexicon.words, entry: changed})


def effects_of(
    library: Library,
    entry: str,
    before: LearnedLexicon,
    after: LearnedLexicon,
    progress: Progress,
    namer: ClipAnnotator | None = None,
) -> list[Effect]:
    """Score the sentences with a word before and after a change, those that change most first.

    Each is asked of the video it is said of and of the next one of which it is not said, so that a
    word that has become true of everything shows.
    """
    clips, said = clips_with_sentences(library)
    spoken = [_with(entry, each, (before, after)) for each in said]
    count = len(clips)
    asked: list[tuple[int, list[tuple[str, bool]]]] = []
    for number in range(count):
        other = next(
            (n for n in ((number - k) % count for k in range(1, count)) if spoken[n]), number
        )
        elsewhere = [text for text in spoken[other] if text not in said[number]]
        texts = [(text, True) for text in spoken[number]] + [(t, False) for t in elsewhere[:2]]
        if texts:
            asked.append((number, texts))
    found: list[Effect] = []
    for done, (number, texts) in enumerate(asked[:_MOST_CLIPS], start=1):
        clip = clips[number] if namer is None else namer.name_clip(library, clips[number])
        found += _effects(clip, texts, before, after)
        progress(done, min(len(asked), _MOST_CLIPS), "scoring before and after")
    flips = [one.holds_before != one.holds_after for one in found]
    # Equal moves may differ in the last bits, which processors round in their own ways.
    moved = [round(abs(one.after - one.before), 9) for one in found]
    order = sorted(range(len(found)), key=lambda n: (not flips[n], -moved[n]))
    return [found[number] for number in order]


def compare_words(
    library: Library,
    words: Path,
    entry: str,
    before: LearnedLexicon,
    after: LearnedLexicon,
    progress: Progress,
) -> dict[str, Any]:
    """Score sentences with a word before and after a change, and count what becomes true or false.

    Args:
        library: Whose sentences are scored.
        words: The folder of the lexicon, which names things as it needs them.
        entry: The word.
        before: The lexicon it was in.
        after: The lexicon it is in now.
        progress: Called with how far it is.
    """
    effects = effects_of(library, entry, before, after, progress, load_annotator(words))
    names = {video.id: video.name for video in library.videos()}
    said = [one for one in effects if one.said]
    unsaid = [one for one in effects if not one.said]
    return {
        "entry": entry,
        "sentences": len(effects),
        "flips": sum(one.holds_before != one.holds_after for one in effects),
        "said_true_before": sum(one.holds_before for one in said),
        "said_true_after": sum(one.holds_after for one in said),
        "said": len(said),
        "unsaid_true_before": sum(one.holds_before for one in unsaid),
        "unsaid_true_after": sum(one.holds_after for one in unsaid),
        "rows": [{**asdict(one), "name": names[one.video_id]} for one in effects[:_MOST_ROWS]],
    }


def find_examples(
    library: Library, words: Path, entry: str, top: int, progress: Progress
) -> dict[str, Any]:
    """Find the videos whose sentences have a word and where it fits best, and worst."""
    lexicon, annotator = LearnedLexicon.load(words), load_annotator(words)
    names = {video.id: video.name for video in library.videos()}
    said = [one for one in library.sentences() if entry.replace("-", " ") in _plain(one.text)]
    said = said[:_MOST_SENTENCES]
    found: list[dict[str, Any]] = []
    for done, one in enumerate(said, start=1):
        try:
            clip = clip_between(library, one.video_id, one.start, one.end, annotator)
            explained = lexicon.explain(best_moment(lexicon, clip, one.text), one.text)
        except WordsightError:
            continue  # a sentence the lexicon cannot read is no example of anything
        fits = [word.fit for word in explained.words if word.word.split("(")[0] == entry]
        if fits:
            row = {"video_id": one.video_id, "name": names[one.video_id], "sentence": one.text}
            found.append(row | {"fit": float(np.nan_to_num(max(fits)))})
        progress(done, len(said), one.text)
    found.sort(key=lambda one: -one["fit"])
    return {"surest": found[:top], "least": found[::-1][:top]}


def _plain(text: str) -> str:
    return text.lower().replace("-", " ")


def _with(entry: str, texts: Sequence[str], lexicons: Sequence[LearnedLexicon]) -> list[str]:
    """Return the sentences with a word that all lexicons can read, each once."""
    kept = []
    for text in dict.fromkeys(texts):
        try:
            parsed = [lexicon.sentence(text) for lexicon in lexicons]
        except WordsightError:
            continue
        if any(word.entry == entry for word in parsed[0].words):
            kept.append(text)
    return kept


def _effects(
    clip: Clip,
    texts: Sequence[tuple[str, bool]],
    before: LearnedLexicon,
    after: LearnedLexicon,
) -> list[Effect]:
    asked = [text for text, _ in texts]
    rows = zip(texts, score_all(before, clip, asked), score_all(after, clip, asked), strict=True)
    return [
        Effect(clip.video_id, text, said, _finite(was), _finite(now), was.holds, now.holds)
        for (text, said), was, now in rows
    ]


def _finite(found: SentenceScore) -> float:
    return float(np.nan_to_num(found.score, nan=0.0, posinf=1e9, neginf=-1e9))
