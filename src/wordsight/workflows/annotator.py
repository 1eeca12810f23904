"""`ClipAnnotator`: adds taught names and inferred facts to clips, as features for words."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import FormatError, WordsightError
from wordsight.files import write_text
from wordsight.workflows.reporter import Reporter
from wordsight.workflows.teach import load_taught

if TYPE_CHECKING:
    from wordsight.attributes import AttributeLearner
    from wordsight.language import Entry, Lexicon
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon
    from wordsight.meaning.features import AnnotatedClip, FeatureSet
    from wordsight.meaning.model.word import WordModel
    from wordsight.records import Clip, Sentence
    from wordsight.states import StateModel
    from wordsight.states.rules.facts import StateFeatures

__all__ = [
    "KINDS_NAME",
    "ClipAnnotator",
    "StateAnnotator",
    "load_annotator",
    "load_state_annotator",
    "save_lexicon",
]


KINDS_NAME = "kinds.json"
"""Beside a saved model: the kind of each label, as given when it was learned."""

_MOST_ARGUMENTS = 2  # of a fact that words can look at


def load_state_annotator(folder: Path) -> "StateAnnotator":
    """Read rules of states, with the kinds of labels they were learned for.

    Raises:
        WordsightError: If there are none, or they are damaged.
    """
    from wordsight.states import StateModel

    if not folder.exists():
        raise WordsightError(
            f"there is no learned model of states at {folder}; make one with `wordsight states "
            "learn`, or name its folder."
        )
    return StateAnnotator(StateModel.load(folder), _kinds(folder / KINDS_NAME))


@dataclass(frozen=True)
class StateAnnotator:
    """Infers states of clips, so that learned words can look at them.

    Attributes:
        model: The rules.
        kinds: The kind of each label; a label is its own kind where none is given.
    """

    model: "StateModel"
    kinds: dict[str, str] = field(default_factory=dict)

    @cached_property
    def predicates(self) -> dict[str, int]:
        """Per predicate that words can look at how many arguments it has."""
        known = self.model.vocabulary_.predicates
        return {p.name: p.arity for p in known if 1 <= p.arity <= _MOST_ARGUMENTS}

    @property
    def steady(self) -> bool:
        """Whether the shake of the camera is taken out before anything is measured."""
        return bool(self.model.notes_.get("steady"))

    def facts(self, clip: "Clip") -> dict[str, NDArray[np.int8]]:
        """Return which facts hold in a clip whose detections have identities.

        Returns:
            Per predicate ``(T, J)`` or ``(T, J, J)`` whether it holds of each detection: 1 or 0,
            -1 where that is not known. Nothing where nothing is followed.
        """
        from wordsight.states import StateObservations, TrackSmoothing
        from wordsight.states.rules.facts import state_columns

        seen = clip.detections
        if seen.ids is None or not (seen.ids[seen.mask] >= 0).any():
            return {}
        measured = StateObservations.from_clip(
            clip,
            kinds=self.kinds,
            vocabulary=self.model.vocabulary_,
            smoothing=TrackSmoothing(steady=self.steady),
        )
        states = self.model.predict(measured)
        columns = state_columns(states, [thing.name for thing in measured.objects], clip.times)
        known = seen.mask & (seen.ids >= 0)
        things = np.searchsorted(np.unique(seen.ids[known]), seen.ids)
        return {
            name: _laid_out(columns, name, arity, np.where(known, things, -1))
            for name, arity in self.predicates.items()
        }

    def save(self, folder: Path, *, overwrite: bool = True) -> None:
        """Write the rules and the kinds of labels to a folder."""
        self.model.save(folder, overwrite=overwrite)
        text = json.dumps(self.kinds, ensure_ascii=False, indent=2)
        write_text(folder / KINDS_NAME, text + "\n")


def _laid_out(
    columns: "StateFeatures", name: str, arity: int, things: NDArray[np.intp]
) -> NDArray[np.int8]:
    """Return a table over things as one over detections; ``things`` is ``(T, J)``, -1 for none."""
    table = columns.table(name, arity)
    table = np.where(np.isnan(table), -1, table).astype(np.int8)
    frames, known = np.arange(len(things))[:, None], things >= 0
    if arity == 1:
        return np.where(known, table[frames, things], -1).astype(np.int8)
    both = known[:, :, None] & known[:, None]
    values = table[frames[:, :, None], things[:, :, None], things[:, None]]
    return np.where(both, values, -1).astype(np.int8)


def _kinds(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    try:
        kinds = json.loads(path.read_text(encoding="utf-8"))
        return {str(label): str(kind) for label, kind in kinds.items()}
    except (ValueError, AttributeError) as error:
        raise FormatError(
            f"{path} is damaged ({error}); restore it, or remove it and give --kind LABEL=KIND."
        ) from None


_BESIDE, _STATES = "attributes", "states"

_RIGHT = 0.9  # how often a thing is given its own word, for words that sentences never used


def load_annotator(words: Path) -> "ClipAnnotator | None":
    """Return the taught words and the rules of states a lexicon was learned with, if it was."""
    taught = load_taught(words / _BESIDE) if (words / _BESIDE).exists() else None
    stated = None
    if (words / _STATES).exists():
        stated = load_state_annotator(words / _STATES)
    return None if taught is None and stated is None else ClipAnnotator(taught, stated)


def save_lexicon(
    learned: "LearnedLexicon",
    words: Path,
    annotator: "ClipAnnotator | None",
    *,
    overwrite: bool = False,
) -> None:
    """Write a lexicon, and beside it the taught words it was learned with.

    Args:
        learned: The lexicon.
        words: The folder to make.
        annotator: What named things for it, if anything did.
        overwrite: Whether to replace a lexicon that is there.
    """
    learned.save(words, overwrite=overwrite)
    if annotator is not None:
        annotator.save(words)


@dataclass(frozen=True)
class ClipAnnotator:
    """Names things in clips and infers facts of them, so that learned words can look at that.

    Attributes:
        taught: The taught words, if any.
        stated: What infers facts, if anything does.
    """

    taught: "AttributeLearner | None" = None
    stated: "StateAnnotator | None" = None

    @classmethod
    def of(cls, attributes: Path | None, states: Path | None) -> "ClipAnnotator | None":
        """Read taught words and rules of states from their folders; ``None`` without either."""
        if attributes is None and states is None:
            return None
        taught = None if attributes is None else load_taught(attributes)
        return cls(taught, None if states is None else load_state_annotator(states))

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Per attribute its words, as lexicons call them."""
        if self.taught is None:
            return ()
        from wordsight.attributes.recall.videos import adjective_name

        return tuple(
            tuple(sorted({adjective_name(word.name) for word in words}))
            for words in self.taught.attributes()
        )

    def features(
        self, base: "str | FeatureSet" = "recommended", lexicon: "Lexicon | None" = None
    ) -> "FeatureSet":
        """Return a set of features with those of the names of things, and those of facts.

        Args:
            base: The set.
            lexicon: How words combine; nouns of it that were taught look at the names, too.
        """
        from wordsight.language import PartOfSpeech
        from wordsight.meaning.features import get_feature_set, with_facts, with_names

        found = get_feature_set(base)
        nouns = () if lexicon is None else lexicon.of_part(PartOfSpeech.NOUN)
        if self.taught is not None:
            found = with_names(found, self.groups, [entry.name for entry in nouns])
        return found if self.stated is None else with_facts(found, self.stated.predicates)

    def grammar(
        self,
        known: "Lexicon | None",
        sentences: Sequence[Sequence[str]],
        reporter: Reporter,
        *,
        videos: Sequence[str] | None = None,
        synonyms: bool = False,
    ) -> tuple["Lexicon", list[list["Sentence"]]]:
        """Return a lexicon with the taught words as adjectives, and the sentences it can read.

        Words the lexicon has in another part of speech stay what they are: "chair", taught as a
        shape, is still a noun, which then looks at what things are called.

        Args:
            known: How words combine; what it does not say is inferred from the sentences.
            sentences: What is said of each clip.
            reporter: Receives words that were inferred, and of sentences that cannot be read.
            videos: The video of each clip, for pronouns.
            synonyms: Whether a new word is taken for a known one that means about the same.
        """
        from wordsight.attributes.recall.videos import adjective_entries
        from wordsight.language import Lexicon
        from wordsight.workflows.lexicon import readable_grammar

        adjectives = () if self.taught is None else tuple(adjective_entries(self.taught))
        every = [text for said in sentences for text in said]
        used = _new(_used(adjectives, every), known or Lexicon())
        wider, kept = readable_grammar(
            known, sentences, reporter, taught=used, videos=videos, synonyms=synonyms
        )
        return Lexicon((*wider, *_new(adjectives, wider))), kept

    def name_clips(
        self, library: "Library", clips: Sequence["Clip"], reporter: Reporter
    ) -> list["AnnotatedClip"]:
        """Name the things of clips of a library, and say which facts hold of them.

        Raises:
            WordsightError: If facts are wanted, but none can be inferred of any clip.
        """
        named = []
        with reporter.progress("Naming") as progress:
            for done, clip in enumerate(clips, start=1):
                named.append(self.name_clip(library, clip))
                progress(done, len(clips), clip.video_id)
        if self.stated is not None and not any(clip.facts for clip in named):
            raise WordsightError(
                "no states can be inferred: nothing is followed in these clips. Add videos with "
                "boxes that have identities, or with a detector that has classes."
            )
        return named

    def name_clip(self, library: "Library", clip: "Clip") -> "AnnotatedClip":
        """Name the things of a clip of a library; see :meth:`name_film`."""
        return self.name_film(
            None if self.taught is None else library.video(clip.video_id).path, clip
        )

    def name_film(self, path: "str | Path | None", clip: "Clip") -> "AnnotatedClip":
        """Name the things of a clip, a few looks a second; each thing gets what most looks say.

        And say which facts hold of them, if any are inferred.

        Args:
            path: The video, if there are taught words.
            clip: What is seen in it.
        """
        from wordsight.meaning.features import AnnotatedClip

        named = self._named(path, clip)
        facts = {} if self.stated is None else self.stated.facts(clip)
        return AnnotatedClip(
            clip.video_id, clip.start, clip.end, clip.detections, self.groups, named, facts
        )

    def _named(self, path: "str | Path | None", clip: "Clip") -> NDArray[np.int64]:
        """Return ``(groups, T, J)`` which word of each group fits each detection."""
        seen = clip.detections
        if self.taught is None or path is None:
            return np.zeros((0, *seen.mask.shape), dtype=np.int64)
        from wordsight.attributes.recall.videos import (
            adjective_name,
            label_by_attribute,
            name_detections,
        )

        looks = name_detections(self.taught, path, seen)
        named = np.full((len(self.groups), *seen.mask.shape), -1, dtype=np.int64)
        for number, words in enumerate(self.groups):
            if not looks:
                break
            labelled = label_by_attribute(seen, looks, number)
            places = {word: place for place, word in enumerate(words)}
            numbers = [places.get(adjective_name(name), -1) for name in labelled.label_names]
            named[number] = np.where(seen.mask, np.array(numbers)[labelled.labels], -1)
        return named

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
        from wordsight.meaning.features import name_feature
        from wordsight.meaning.model.word import uniform_word

        group = next((words for words in self.groups if name in words), None)
        feature = None if group is None else name_feature(group)
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
        """Keep taught words and rules of states beside a lexicon that was learned with them."""
        if self.taught is not None:
            self.taught.save(words / _BESIDE, overwrite=True)
        if self.stated is not None:
            self.stated.save(words / _STATES)


def _new(entries: Iterable["Entry"], known: "Lexicon") -> tuple["Entry", ...]:
    """Return the entries whose names a lexicon does not have yet."""
    names = {entry.name for entry in known}
    return tuple(entry for entry in entries if entry.name not in names)


def _used(entries: Sequence["Entry"], texts: Sequence[str]) -> tuple["Entry", ...]:
    """Return the entries that are said: others would only mislead the inference."""
    said = {word.strip(".,;:!?").lower() for text in texts for word in text.split()}
    return tuple(entry for entry in entries if set(entry.name.split("-")) <= said)
