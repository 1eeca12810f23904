"""Taught words for things in videos: adjectives for sentences, and names for what is detected."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wordsight.desk.teller import Teller
from wordsight.errors import WordsightError

if TYPE_CHECKING:
    from wordsight.attributes import AttributeLearner
    from wordsight.language import Entry, Lexicon
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon
    from wordsight.meaning.features import FeatureSet, NamedClip
    from wordsight.meaning.word import WordModel
    from wordsight.records import Clip

__all__ = ["Namer", "load_taught", "namer_of", "save_words"]

_BESIDE = "attributes"
_RIGHT = 0.9  # how often a thing is given its own word, for words that sentences never used


def load_taught(taught: Path) -> "AttributeLearner":
    """Read taught words.

    Raises:
        WordsightError: If there are none.
    """
    from wordsight.attributes import AttributeLearner

    if not taught.exists():
        raise WordsightError(
            f"nothing was taught at {taught}; teach with `wordsight teach FOLDER`, or name the "
            "folder in which taught words are kept."
        )
    return AttributeLearner.load(taught)


def namer_of(words: Path) -> "Namer | None":
    """Return the taught words that a lexicon was learned with, if it was."""
    return Namer(load_taught(words / _BESIDE)) if (words / _BESIDE).exists() else None


def save_words(
    learned: "LearnedLexicon", words: Path, namer: "Namer | None", *, overwrite: bool = False
) -> None:
    """Write a lexicon, and beside it the taught words it was learned with.

    Args:
        learned: The lexicon.
        words: The folder to make.
        namer: Who named things for it, if anybody did.
        overwrite: Whether to replace a lexicon that is there.
    """
    learned.save(words, overwrite=overwrite)
    if namer is not None:
        namer.save(words)


@dataclass(frozen=True)
class Namer:
    """Whoever names things in clips, so that learned words can look at the names.

    Attributes:
        taught: The taught words.
    """

    taught: "AttributeLearner"

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Per attribute its words, as lexicons call them."""
        from wordsight.attributes.videos import adjective_name

        return tuple(
            tuple(sorted({adjective_name(word.name) for word in words}))
            for words in self.taught.attributes()
        )

    def features(self) -> "FeatureSet":
        """Return the recommended features, with adjectives that look at the names of things."""
        from wordsight.meaning.features import feature_set, with_told

        return with_told(feature_set("recommended"), self.groups)

    def grammar(
        self, known: "Lexicon | None", sentences: Sequence[Sequence[str]], teller: Teller
    ) -> tuple["Lexicon", list[list[str]]]:
        """Return a lexicon with the taught words as adjectives, and the sentences it can read.

        Words the lexicon has in another part of speech stay what they are: who taught "chair" as
        a shape still reads "the chair".

        Args:
            known: How words combine; inferred from the sentences if not given.
            sentences: What is said of each clip.
            teller: Told of sentences that no grammar could be inferred from.
        """
        from wordsight.attributes.videos import adjective_entries
        from wordsight.language import Lexicon, infer_lexicon

        adjectives, kept = adjective_entries(self.taught), [list(said) for said in sentences]
        if known is None:
            every = [text for said in sentences for text in said]
            inferred = infer_lexicon(every, Lexicon(_used(adjectives, every)))
            unread = dict(inferred.unread)
            for text, why in inferred.unread[:3]:
                teller.warn(f"cannot read {text!r}: {why.splitlines()[0]}")
            known = inferred.lexicon
            kept = [[text for text in said if text not in unread] for said in kept]
        names = {entry.name for entry in known}
        new = (entry for entry in adjectives if entry.name not in names)
        return Lexicon((*known, *new)), kept

    def name_clips(
        self, opened: "Library", clips: Sequence["Clip"], teller: Teller
    ) -> list["NamedClip"]:
        """Name the things of clips of a library."""
        named = []
        with teller.progress("Naming") as progress:
            for done, clip in enumerate(clips, start=1):
                named.append(self.name_clip(opened, clip))
                progress(done, len(clips), clip.video_id)
        return named

    def name_clip(self, opened: "Library", clip: "Clip") -> "NamedClip":
        """Name the things of a clip, a few looks a second; each thing gets what most looks say."""
        from wordsight.attributes.videos import adjective_name, label_by_attribute, name_detections
        from wordsight.meaning.features import NamedClip

        seen = clip.detections
        looks = name_detections(self.taught, opened.video(clip.video_id).path, seen)
        named = np.full((len(self.groups), *seen.mask.shape), -1, dtype=np.int64)
        for number, words in enumerate(self.groups):
            if not looks:
                break
            told = label_by_attribute(seen, looks, number)
            places = {word: place for place, word in enumerate(words)}
            numbers = [places.get(adjective_name(name), -1) for name in told.label_names]
            named[number] = np.where(seen.mask, np.array(numbers)[told.labels], -1)
        return NamedClip(clip.video_id, clip.start, clip.end, seen, self.groups, named)

    def completed(self, learned: "LearnedLexicon") -> "LearnedLexicon":
        """Return a lexicon in which taught adjectives that no sentence used have a meaning too.

        They mean what they were taught: a thing that is given the word. The evidence of one look
        is its log odds, so belief takes it as it is.
        """
        words = {
            entry.name: word
            for entry in learned.lexicon
            if entry.name not in learned.words and (word := self._given(learned, entry.name))
        }
        belief = learned.belief
        if belief is not None:
            slopes = {**belief.slopes, **dict.fromkeys(words, (1.0,))}
            offsets = {**belief.offsets, **dict.fromkeys(words, 0.0)}
            belief = replace(belief, slopes=slopes, offsets=offsets)
        return replace(learned, words={**learned.words, **words}, belief=belief)

    def _given(self, learned: "LearnedLexicon", name: str) -> "WordModel | None":
        from wordsight.meaning.features import told_feature
        from wordsight.meaning.word import uniform_word

        group = next((words for words in self.groups if name in words), None)
        feature = None if group is None else told_feature(group)
        if group is None or feature not in learned.vocabulary.bins:
            return None  # never taught, or no two things of the library differ in it
        blank = uniform_word(learned.lexicon[name], learned.features, learned.vocabulary)
        tables = []
        for slot in blank.slots:
            usual = learned.background[slot.feature]
            own = np.eye(len(usual))[group.index(name)] if slot.feature == feature else usual
            tables.append((_RIGHT * own + (1 - _RIGHT) * usual)[None])
        return replace(blank, emissions=tuple(tables))

    def save(self, words: Path) -> None:
        """Keep the taught words beside a lexicon that was learned with them."""
        self.taught.save(words / _BESIDE, overwrite=True)


def _used(entries: Sequence["Entry"], texts: Sequence[str]) -> tuple["Entry", ...]:
    """Return the entries that are said: others would only mislead the inference."""
    said = {word.strip(".,;:!?").lower() for text in texts for word in text.split()}
    return tuple(entry for entry in entries if set(entry.name.split("-")) <= said)
