"""`AttributeLearner`: learns from pictures and single words which attribute every word names."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import fields, replace
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.attributes.corrections import (
    keep_names,
    merge_words,
    rename_word,
    spelled_likes,
    split_word,
)
from wordsight.attributes.features.sounds import Sound, join_sounds
from wordsight.attributes.grouping.assignment import (
    AttributeAssignment,
    LessonVocabulary,
    find_vocabulary,
    group_by_exclusivity,
    group_by_mixture,
)
from wordsight.attributes.grouping.attribute_count import CountScore
from wordsight.attributes.grouping.words import known_words, split_phrases
from wordsight.attributes.lessons import (
    Lessons,
    Utterance,
    describe_pictures,
    describe_sources,
    joined_lessons,
    make_lessons,
)
from wordsight.attributes.picture_space import PictureSpace
from wordsight.attributes.recall.answers import (
    DiscriminantRecall,
    LearnedWord,
    Naming,
    Recall,
    RecallResult,
    extended_recalls,
    learned_words,
    make_recall,
    name_attribute,
)
from wordsight.attributes.settings import AttributeSettings
from wordsight.errors import SoundError, TeachingError, WordsightError
from wordsight.inference.numba_support import one_blas_thread
from wordsight.progress import Progress

if TYPE_CHECKING:
    from wordsight.attributes.questions import LessonQuestion

__all__ = ["AttributeLearner"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
Picture = NDArray[np.uint8]

_PAUSE = 0.2  # seconds without a lesson after which all are learned from
_MOST_WAITING = 0.05  # of all lessons; with more, words and attributes may be others


class AttributeLearner:
    """Learns from pictures and single words which attribute each word names, and names pictures.

    Recordings are clustered into words along canonical directions between pictures and speech;
    words that never co-occur on similar pictures are grouped into one attribute; each attribute has
    a shrunken linear discriminant on the features it depends on. ``FAITHFUL`` settings are the
    method of Akaho et al. (1997): CCA, a mixture of linear maps by EM, nearest neighbours.

    Args:
        settings: The settings.
        changes: Single settings that differ from ``settings``, by name.

    Attributes:
        words_: The learned words.
        num_attributes_: The number of attributes.
        counts_: The scores of each number of attributes; empty if the number was given.
        space_: The space of pictures.
        sources_: Names of what was measured of things beside their pictures.
        vocabulary_: The word of each lesson.
        attribution_: The attribute of each lesson and word.
        recalls_: The recall of each attribute.

    Examples:
        >>> random = np.random.default_rng(0)
        >>> def thing(colour, tall):
        ...     picture = np.full((24, 24, 3), 90, dtype=np.uint8)
        ...     picture[4:20, 9:15] = colour if tall else 90
        ...     picture[9:15, 4:20] = 90 if tall else colour
        ...     return picture + random.integers(0, 6, picture.shape, dtype=np.uint8)
        >>> colours = {"red": (220, 40, 40), "blue": (40, 40, 220)}
        >>> pictures, words = [], []
        >>> for number in range(80):
        ...     colour, tall = ("red", "blue")[number % 2], number // 2 % 2 == 0
        ...     pictures.append(thing(colours[colour], tall))
        ...     words.append(colour if number // 4 % 2 else "tall" if tall else "wide")
        >>> learner = AttributeLearner().fit(pictures, words)
        >>> sorted(learner.name(thing(colours["blue"], True)).words)
        ['blue', 'tall']
    """

    def __init__(self, settings: AttributeSettings | None = None, **changes: Any) -> None:
        known = {field.name for field in fields(AttributeSettings)}
        if wrong := sorted(set(changes) - known):
            raise TeachingError(
                f"there is no setting {', '.join(wrong)}; known are {', '.join(sorted(known))}."
            )
        self.settings = replace(settings or AttributeSettings(), **changes)
        self._waiting: list[Lessons] = []
        self._quick: list[Recall] | None = None  # with what is waiting, as far as that is possible
        self._learning, self._changing = Lock(), Lock()
        self._timer: Timer | None = None

    words_: tuple[LearnedWord, ...]
    kinds_: tuple[Array, ...]
    vocabulary_: LessonVocabulary
    sounds_: tuple[Sound | None, ...]
    sources_: tuple[str, ...]
    likes_: tuple[str | None, ...]

    def fit(
        self,
        pictures: Sequence[Picture],
        words: Sequence[Utterance],
        *,
        sources: Mapping[str, ArrayLike] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from pictures and the words about them.

        Args:
            pictures: RGB ``(H, W, 3)`` uint8, of any sizes.
            words: Per picture a text, a recording, both (:class:`SpokenWord`), or several of them.
            sources: What else was measured of each thing (its weight, how it sounds, how it feels):
                any number of arrays ``(N,)`` or ``(N, D)``, NaN where it was not.
            progress: Called as pictures are described.

        Returns:
            The learner itself.

        Raises:
            TeachingError: If nothing can be learned from them.
        """
        return self.fit_lessons(
            make_lessons(pictures, words, self.settings, sources=sources, progress=progress)
        )

    @one_blas_thread()
    def fit_lessons(self, lessons: Lessons) -> Self:
        """Learn from described lessons."""
        if len(lessons) < 2:
            raise TeachingError("at least two lessons are needed, got one.")
        if self.settings.maps not in ("linear", "nonlinear"):
            raise TeachingError(f"maps must be linear or nonlinear, got {self.settings.maps!r}.")
        space = PictureSpace.fit(
            lessons.kinds, self.settings.num_axes, nonlinear=self.settings.maps == "nonlinear"
        )
        return self._learn(lessons, space, space.transform(lessons.kinds))

    def _learn(self, lessons: Lessons, space: PictureSpace, x: Array) -> Self:
        vocabulary = find_vocabulary(lessons, x, self.settings)
        if self.settings.method == "exclusivity":
            attribution = group_by_exclusivity(vocabulary, x, self.settings, space.parts)
        elif self.settings.method in ("mixture", "variational"):
            attribution = group_by_mixture(vocabulary, lessons.speech, x, self.settings)
        else:
            methods = "'exclusivity', 'mixture' or 'variational'"
            raise TeachingError(f"method must be {methods}, got {self.settings.method!r}.")
        self._set_lessons(lessons, space, x, vocabulary, attribution)
        return self

    def name(self, picture: Picture, *, sources: Mapping[str, ArrayLike] | None = None) -> Naming:
        """Return the words for a thing; ``sources`` as in :meth:`fit`, of this thing."""
        return self.name_all([picture], sources=_of_one(sources))[0]

    @one_blas_thread()
    def name_all(
        self, pictures: Sequence[Picture], *, sources: Mapping[str, ArrayLike] | None = None
    ) -> list[Naming]:
        """Return the words for each of several things; ``sources`` as in :meth:`fit`."""
        now = self._current()
        if not len(pictures):
            return []
        kinds = describe_pictures(pictures, now.settings.pictures)
        return now.namings(now.recall((*kinds, *now._measured(sources, len(pictures)).values())))

    def _measured(self, sources: Mapping[str, ArrayLike] | None, count: int) -> dict[str, Array]:
        """Return what was measured of things; sources that are not given are unmeasured."""
        own = self.space_.means[len(self.space_.means) - len(self.sources_) :]
        widths = {name: len(mean) for name, mean in zip(self.sources_, own, strict=True)}
        return describe_sources(sources or {}, count, widths)

    def recall(self, kinds: Sequence[Array]) -> list[RecallResult]:
        """Return the results of each attribute for described pictures.

        An attribute that looks at a source which was not measured has no word.
        """
        now = self._current()
        x = now.space_.transform(kinds)
        missing = [~np.isfinite(kind).all(axis=1) for kind in kinds]
        answers, seen = [recall.answer(x) for recall in now.recalls_], []
        if not np.any(missing):
            return answers
        for recall, answer in zip(now.recalls_, answers, strict=True):
            known = answer.known.copy()
            for part, without in zip(now.space_.parts, missing, strict=True):
                if not isinstance(recall, DiscriminantRecall) or recall.looks_at(part):
                    known &= ~without
            seen.append(replace(answer, known=known))
        return seen

    def namings(self, recalled: Sequence[RecallResult]) -> list[Naming]:
        """Convert the results of all attributes to words."""
        answers = list(enumerate(recalled))
        return [
            Naming(tuple(name_attribute(self.words_, k, one, row) for k, one in answers))
            for row in range(len(recalled[0].words))
        ]

    def say(self, naming: Naming, *, pause: float = 0.15) -> Sound:
        """Return the recordings of a naming's words, concatenated.

        Raises:
            SoundError: If there is no word, or none was recorded.
        """
        if not naming.words:
            raise SoundError("there is no word for this picture, so there is nothing to play.")
        example = {word.name: self.sounds_[word.example] for word in self.words_}
        examples = [example[answer.word] for answer in naming.attributes if answer.known]
        return join_sounds([sound for sound in examples if sound is not None], pause=pause)

    def rename(self, word: str, name: str) -> None:
        """Give a word that was only recorded a spelling; see :func:`rename_word`."""
        self.settle()
        rename_word(self, word, name)

    def merge(self, word: str, into: str) -> Self:
        """Make the lessons of a word lessons of another; see :func:`merge_words`."""
        self.settle()
        merge_words(self, word, into)
        return self

    def split(self, word: str) -> Self:
        """Split the recordings of a word into two words; see :func:`split_word`."""
        self.settle()
        split_word(self, word)
        return self

    def regroup(self, attributes: ArrayLike) -> Self:
        """Set the attribute of every lesson, and learn the recall again.

        Args:
            attributes: ``(N,)`` numbers from 0, one per lesson.
        """
        self.settle()
        given, words = np.asarray(attributes, dtype=np.intp), self.vocabulary_.words
        if given.shape != words.shape or given.min() < 0:
            expected = f"{len(words)} numbers from 0, one per lesson"
            raise TeachingError(f"attributes must be {expected}, got shape {given.shape}.")
        given = np.unique(given, return_inverse=True)[1].astype(np.intp)
        votes = np.zeros((len(self.vocabulary_.names), int(given.max()) + 1))
        np.add.at(votes, (words, given), 1)
        self.set_attributes(AttributeAssignment(given, votes.argmax(axis=1), self.attribution_.cca))
        return self

    @property
    def counts_(self) -> tuple[CountScore, ...]:
        """The scores of each number of attributes; empty if the number was given."""
        self.settle()
        return self.attribution_.counts

    def attributes(self) -> list[list[LearnedWord]]:
        """Return the words of each attribute, most frequent first."""
        self.settle()
        return [
            sorted(
                (word for word in self.words_ if k in (word.attribute, *word.also)),
                key=lambda word: (-word.count, word.name),
            )
            for k in range(self.num_attributes_)
        ]

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the learner to a folder; see :func:`save_learner`."""
        from wordsight.attributes.storage import save_learner

        self.settle()
        save_learner(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "AttributeLearner":
        """Read a learner from a folder; its results equal those of the saved one."""
        from wordsight.attributes.storage import load_learner

        return load_learner(path)

    def teach(
        self,
        pictures: Sequence[Picture],
        words: Sequence[Utterance],
        *,
        sources: Mapping[str, ArrayLike] | None = None,
    ) -> Self:
        """Add lessons: more examples of known words, new words, new attributes.

        The answers are those of :meth:`fit` on all lessons so far. A recording of two known words
        without a pause is split; see :func:`split_phrases`.
        """
        self.settle()
        said, given = split_phrases(self, words), self._measured(sources, len(pictures))
        return self.teach_lessons(make_lessons(pictures, said, self.settings, sources=given))

    def teach_lessons(self, lessons: Lessons) -> Self:
        """Add described lessons."""
        self.settle()
        self._waiting.append(lessons)
        self._catch_up()
        return self

    @one_blas_thread()
    def teach_one(
        self,
        picture: Picture,
        word: Utterance,
        *,
        sources: Mapping[str, ArrayLike] | None = None,
    ) -> Self:
        """Add one lesson within milliseconds.

        Naming knows of it at once: it is an example more of its word. Which words there are, to
        which attribute each belongs and what that looks at is learned again from all lessons in
        the next pause, or at once by :meth:`settle`, and then equals :meth:`fit` on all of them.
        All methods but naming settle first; so does naming where a word is new, or one lesson in
        twenty is waiting. Attributes such as ``words_`` show what was learned last.
        """
        self._check_fitted()
        known = copy(self)  # which does not change while this reads it
        said, given = split_phrases(known, [word]), known._measured(_of_one(sources), 1)
        lesson = make_lessons([picture], said, self.settings, sources=given)
        with self._changing:
            self._waiting.append(lesson)
            self._quick = self._extended()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = Timer(_PAUSE, self._learn_in_background)
        self._timer.daemon = True
        self._timer.start()
        return self

    def settle(self) -> Self:
        """Learn from all lessons at once, those of :meth:`teach_one` among them."""
        self._check_fitted()
        if self._timer is not None:
            self._timer.cancel()
        self._catch_up()
        return self

    def _learn_in_background(self) -> None:
        # What cannot be learned waits for the next method, which raises the error.
        with suppress(WordsightError):
            self._catch_up()

    def _catch_up(self) -> None:
        """Learn from all lessons, if some are waiting."""
        with self._learning:
            while self._waiting:
                new = tuple(self._waiting)
                learned = AttributeLearner(self.settings)
                lessons = joined_lessons(spelled_likes(self, self.lessons(), new), *new)
                if self.kinds_:
                    learned.fit_lessons(lessons)
                else:  # of a file that keeps no descriptions: the space of pictures stays
                    x = [self.x_, *(self.space_.transform(one.kinds) for one in new)]
                    learned._learn(lessons, self.space_, np.vstack(x))
                keep_names(self, learned)
                with self._changing:
                    self.__dict__ |= {k: v for k, v in vars(learned).items() if k.endswith("_")}
                    del self._waiting[: len(new)]
                    self._quick = self._extended() if self._waiting else None

    def _extended(self) -> list[Recall] | None:
        """Return the recalls with what is waiting; ``None`` if that must be learned first."""
        new = joined_lessons(*self._waiting)
        if len(new) > _MOST_WAITING * len(self.texts_):
            return None
        return extended_recalls(self, self.space_.transform(new.kinds), known_words(self, new))

    def _current(self) -> "AttributeLearner":
        """Return what is known now, lessons that are waiting included; it does not change."""
        self._check_fitted()
        with self._changing:
            now = copy(self)
            ready = self._quick is not None or not self._waiting
        if not ready:
            return self.settle()._current()
        now.recalls_, now._quick, now._waiting = now._quick or now.recalls_, None, []
        return now

    def lessons(self) -> Lessons:
        """Return what was learned from."""
        taught = self.kinds_, self.texts_, self.speech_, self.sounds_
        return Lessons(*taught, self.sources_, self.likes_)

    def ask(self, pictures: Sequence[Picture]) -> "LessonQuestion":
        """Choose the picture, and what to ask about it, that would teach most."""
        from wordsight.attributes.questions import choose_question

        self.settle()
        kinds = describe_pictures(pictures, self.settings.pictures)
        return choose_question(self, (*kinds, *self._measured(None, len(pictures)).values()))

    def _set_lessons(
        self,
        lessons: Lessons,
        space: PictureSpace,
        x: Array,
        vocabulary: LessonVocabulary,
        attribution: AttributeAssignment,
    ) -> None:
        self.space_, self.x_, self.kinds_ = space, x, lessons.kinds
        self.speech_, self.texts_, self.sounds_ = lessons.speech, lessons.texts, lessons.sounds
        self.sources_, self.likes_ = lessons.sources, lessons.likes
        self.vocabulary_ = vocabulary
        self.set_attributes(attribution)

    def set_attributes(self, attribution: AttributeAssignment) -> None:
        """Set which words name which attribute, and learn the recall of each."""
        self.attribution_ = attribution
        used = np.unique(attribution.lessons)
        self.num_attributes_ = int(max(used.max(), attribution.words.max())) + 1
        self.words_ = learned_words(self)
        self.recalls_: list[Recall] = [
            make_recall(self, k) for k in range(self.num_attributes_) if k in used
        ]

    def _check_fitted(self) -> None:
        if not hasattr(self, "words_"):
            raise TeachingError("the learner is not fitted; call fit first.")


def _of_one(sources: Mapping[str, ArrayLike] | None) -> dict[str, Array]:
    return {name: np.atleast_1d(np.asarray(one))[None] for name, one in (sources or {}).items()}
