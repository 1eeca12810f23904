"""`AttributeLearner`: learns from pictures and single words which attribute every word names."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.attributes.errors import SoundError, TeachingError
from wordsight.attributes.features.sounds import Sound, join_sounds
from wordsight.attributes.grouping.assignment import (
    AttributeAssignment,
    LessonVocabulary,
    find_vocabulary,
    group_by_exclusivity,
    group_by_mixture,
)
from wordsight.attributes.grouping.attribute_count import CountScore
from wordsight.attributes.grouping.words import find_word_types, medoids
from wordsight.attributes.lessons import (
    Lessons,
    Utterance,
    describe_pictures,
    describe_sources,
    make_lessons,
)
from wordsight.attributes.picture_space import PictureSpace
from wordsight.attributes.recall.answers import (
    DiscriminantRecall,
    LearnedWord,
    NamedAttribute,
    Naming,
    Recall,
    RecallResult,
    make_recall,
)
from wordsight.attributes.settings import AttributeSettings
from wordsight.progress import Progress

if TYPE_CHECKING:
    from wordsight.attributes.questions import LessonQuestion

__all__ = ["AttributeLearner"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
Picture = NDArray[np.uint8]

_MAX_OTHERS = 4
_LIKELIER = 0.5


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
        wrong = sorted(set(changes) - known)
        if wrong:
            raise TeachingError(
                f"there is no setting {', '.join(wrong)}; known are {', '.join(sorted(known))}."
            )
        self.settings = replace(settings or AttributeSettings(), **changes)

    words_: tuple[LearnedWord, ...]
    kinds_: tuple[Array, ...]
    vocabulary_: LessonVocabulary
    sounds_: tuple[Sound | None, ...]
    sources_: tuple[str, ...]

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
        elif self.settings.method == "mixture":
            attribution = group_by_mixture(vocabulary, lessons.speech, x, self.settings)
        else:
            raise TeachingError(
                f"method must be 'exclusivity' or 'mixture', got {self.settings.method!r}."
            )
        self._set_lessons(lessons, space, x, vocabulary, attribution)
        return self

    def name(self, picture: Picture, *, sources: Mapping[str, ArrayLike] | None = None) -> Naming:
        """Return the words for a thing; ``sources`` as in :meth:`fit`, of this thing."""
        return self.name_all([picture], sources=_of_one(sources))[0]

    def name_all(
        self, pictures: Sequence[Picture], *, sources: Mapping[str, ArrayLike] | None = None
    ) -> list[Naming]:
        """Return the words for each of several things; ``sources`` as in :meth:`fit`."""
        self._check_fitted()
        if not len(pictures):
            return []
        kinds = describe_pictures(pictures, self.settings.pictures)
        return self.namings(self.recall((*kinds, *self._measured(sources, len(pictures)).values())))

    def _measured(self, sources: Mapping[str, ArrayLike] | None, count: int) -> dict[str, Array]:
        """Return what was measured of things; sources that are not given are unmeasured."""
        own = self.space_.means[len(self.space_.means) - len(self.sources_) :]
        widths = {name: len(mean) for name, mean in zip(self.sources_, own, strict=True)}
        return describe_sources(sources or {}, count, widths)

    def recall(self, kinds: Sequence[Array]) -> list[RecallResult]:
        """Return the results of each attribute for described pictures.

        An attribute that looks at a source which was not measured has no word.
        """
        self._check_fitted()
        x = self.space_.transform(kinds)
        missing = [~np.isfinite(kind).all(axis=1) for kind in kinds]
        answers = [recall.answer(x) for recall in self.recalls_]
        if not np.any(missing):
            return answers
        seen = []
        for recall, answer in zip(self.recalls_, answers, strict=True):
            known = answer.known.copy()
            for part, without in zip(self.space_.parts, missing, strict=True):
                if not isinstance(recall, DiscriminantRecall) or recall.looks_at(part):
                    known &= ~without
            seen.append(replace(answer, known=known))
        return seen

    def namings(self, recalled: Sequence[RecallResult]) -> list[Naming]:
        """Convert the results of all attributes to words."""
        return [
            Naming(tuple(self._named(k, one, row) for k, one in enumerate(recalled)))
            for row in range(len(recalled[0].words))
        ]

    def say(self, naming: Naming, *, pause: float = 0.15) -> Sound:
        """Return the recordings of a naming's words, concatenated.

        Raises:
            SoundError: If there is no word, or none was recorded.
        """
        if not naming.words:
            raise SoundError("there is no word for this picture, so there is nothing to play.")
        examples = [self._recording(answer) for answer in naming.attributes if answer.known]
        return join_sounds([sound for sound in examples if sound is not None], pause=pause)

    def rename(self, word: str, name: str) -> None:
        """Give a recorded word a spelling.

        Raises:
            TeachingError: If there is no such word, or another has that name.
        """
        self._number(word)
        if name in [one.name for one in self.words_]:
            raise TeachingError(f"another word is already called {name!r}.")
        names = tuple(
            name if one.name == word else one.name if one.spelled else None for one in self.words_
        )
        self.vocabulary_ = replace(self.vocabulary_, names=names)
        self.words_ = self._learned_words()

    def merge(self, word: str, into: str) -> Self:
        """Make the lessons of a word lessons of another: it was the same one, heard differently."""
        old, kept = self._number(word), self._number(into)
        if old == kept:
            raise TeachingError(f"{word!r} cannot be merged with itself.")
        words = np.where(self.vocabulary_.words == old, kept, self.vocabulary_.words)
        names = self.vocabulary_.names
        return self._relabelled(words - (words > old), (*names[:old], *names[old + 1 :]), old)

    def split(self, word: str) -> Self:
        """Split the recordings of a word into the two that they resemble most; one keeps its name.

        Raises:
            TeachingError: If there is no such word, or fewer than two recordings of it.
        """
        number = self._number(word)
        own = np.flatnonzero((self.vocabulary_.words == number) & self.vocabulary_.places.any(1))
        if len(own) < 2:
            raise TeachingError(
                f"{word!r} has {len(own)} recordings; two or more are needed to split it."
            )
        parts = find_word_types(self.vocabulary_.places[own], 2).labels
        words = self.vocabulary_.words.copy()
        words[own[parts != np.bincount(parts).argmax()]] = len(self.words_)
        return self._relabelled(words, (*self.vocabulary_.names, None), None, number)

    def _relabelled(
        self,
        words: Labels,
        names: tuple[str | None, ...],
        gone: int | None,
        parent: int | None = None,
    ) -> Self:
        """Learn again with other words; ``parent`` is the one that a new last word comes from."""
        before, old = self.attribution_, self.vocabulary_.words
        groups = before.words
        groups = np.delete(groups, gone) if gone is not None else groups
        groups = np.append(groups, groups[parent]) if parent is not None else groups
        # Lessons whose word is another now go to its attribute; others keep their meaning.
        now = words + (words >= gone) if gone is not None else words
        lessons = np.where(now == old, before.lessons, groups[words])
        number = {
            n: n - (gone is not None and n > gone) for n in range(len(names) + 1) if n != gone
        }
        covers = {
            number[up]: tuple(number[n] for n in below if n in number)
            for up, below in before.covers.items()
            if up in number
        }
        self.vocabulary_ = replace(self.vocabulary_, words=words, names=names)
        self._set_attributes(
            replace(before, lessons=lessons, words=groups, partition=None, covers=covers)
        )
        return self

    def _number(self, word: str) -> int:
        names = [one.name for one in self.words_]
        if word not in names:
            raise TeachingError(f"there is no word {word!r}; known are {', '.join(names)}.")
        return names.index(word)

    def regroup(self, attributes: ArrayLike) -> Self:
        """Set the attribute of every lesson, and learn the recall again.

        Args:
            attributes: ``(N,)`` numbers from 0, one per lesson.
        """
        self._check_fitted()
        given = np.asarray(attributes, dtype=np.intp)
        words = self.vocabulary_.words
        if given.shape != words.shape or given.min() < 0:
            raise TeachingError(
                f"attributes must be {len(words)} numbers from 0, one per lesson, got shape "
                f"{given.shape}."
            )
        given = np.unique(given, return_inverse=True)[1].astype(np.intp)
        votes = np.zeros((len(self.vocabulary_.names), int(given.max()) + 1))
        np.add.at(votes, (words, given), 1)
        self._set_attributes(
            AttributeAssignment(given, votes.argmax(axis=1), self.attribution_.cca)
        )
        return self

    @property
    def counts_(self) -> tuple[CountScore, ...]:
        """The scores of each number of attributes; empty if the number was given."""
        self._check_fitted()
        return self.attribution_.counts

    def attributes(self) -> list[list[LearnedWord]]:
        """Return the words of each attribute, most frequent first."""
        self._check_fitted()
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

        self._check_fitted()
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

        Known words keep their attributes; see :func:`add_lessons`. A recording of two known words
        without a pause is split; see :func:`split_phrases`.
        """
        from wordsight.attributes.incremental import add_lessons, split_phrases

        self._check_fitted()
        said, given = split_phrases(self, words), self._measured(sources, len(pictures))
        add_lessons(self, make_lessons(pictures, said, self.settings, sources=given))
        return self

    def teach_one(
        self,
        picture: Picture,
        word: Utterance,
        *,
        sources: Mapping[str, ArrayLike] | None = None,
    ) -> Self:
        """Add one lesson within milliseconds; see :func:`add_one`. :meth:`settle` when idle."""
        from wordsight.attributes.incremental import add_one, split_phrases

        self._check_fitted()
        said, given = split_phrases(self, [word]), self._measured(_of_one(sources), 1)
        add_one(self, make_lessons([picture], said, self.settings, sources=given))
        return self

    def settle(self) -> Self:
        """Learn everything again from all lessons so far, as :meth:`fit` does from them at once.

        Names that were given to recorded words are kept if their recordings stay together.
        """
        self._check_fitted()
        lessons = Lessons(
            self.kinds_ or (self.x_,), self.texts_, self.speech_, self.sounds_, self.sources_
        )
        heard = np.array([text is None for text in self.texts_])
        before, names = self.vocabulary_.words, self.vocabulary_.names
        if self.kinds_:
            self.fit_lessons(lessons)
        else:  # of a file that keeps no descriptions: the space of pictures stays
            self._learn(lessons, self.space_, self.x_)
        given = {place: name for place, name in enumerate(names) if name is not None}
        taken = {word.name for word in self.words_}
        for place, name in given.items():
            own = self.vocabulary_.words[heard & (before == place)]
            if len(own) and name not in taken:
                self.rename(self.words_[int(np.bincount(own).argmax())].name, name)
        return self

    def ask(self, pictures: Sequence[Picture]) -> "LessonQuestion":
        """Choose the picture, and what to ask about it, that would teach most."""
        from wordsight.attributes.questions import choose_question

        self._check_fitted()
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
        self.sources_ = lessons.sources
        self.vocabulary_ = vocabulary
        self._set_attributes(attribution)

    def _set_attributes(self, attribution: AttributeAssignment) -> None:
        self.attribution_ = attribution
        self.num_settled_ = len(attribution.words)
        used = np.unique(attribution.lessons)
        self.num_attributes_ = int(max(used.max(), attribution.words.max())) + 1
        self.words_ = self._learned_words()
        self.recalls_: list[Recall] = [
            make_recall(self, k) for k in range(self.num_attributes_) if k in used
        ]

    def _learned_words(self) -> tuple[LearnedWord, ...]:
        words, attribution = self.vocabulary_.words, self.attribution_
        points = self.vocabulary_.places if self.vocabulary_.places.shape[1] else self.x_
        examples = medoids(points, words)
        counts = np.bincount(words)
        names = [name or f"word-{number + 1}" for number, name in enumerate(self.vocabulary_.names)]
        learned = []
        for number, name in enumerate(names):
            home = int(attribution.words[number])
            also = set(attribution.lessons[words == number].tolist()) - {home}
            learned.append(
                LearnedWord(
                    name,
                    home,
                    int(counts[number]),
                    self.vocabulary_.names[number] is not None,
                    int(examples[number]),
                    # The paper's mixture scatters single lessons, which are no meanings.
                    tuple(sorted(also)) if attribution.mixture is None else (),
                    tuple(names[below] for below in attribution.covers.get(number, ())),
                )
            )
        return tuple(learned)

    def _named(self, attribute: int, recalled: RecallResult, row: int) -> NamedAttribute:
        word = int(recalled.words[row])
        shares = recalled.probabilities[row]
        order = np.argsort(-shares, kind="stable")
        chance = {int(recalled.classes[place]): float(shares[place]) for place in order}
        lesson = int(recalled.lessons[row])
        entry = self.words_[word]
        others = [(self.words_[w].name, p) for w, p in chance.items() if w != word]
        names = {self.words_[w].name: p for w, p in chance.items()}
        above = {
            one.name: sum(names.get(below, 0.0) for below in one.covers)
            for one in self.words_
            if one.covers and one.attribute == attribute
        }
        return NamedAttribute(
            attribute,
            entry.name,
            chance.get(word, 0.0),
            bool(recalled.known[row]),
            lesson if lesson >= 0 else entry.example,
            tuple(others[:_MAX_OTHERS]),
            tuple((name, p) for name, p in above.items() if p > _LIKELIER),
        )

    def _recording(self, answer: NamedAttribute) -> Sound | None:
        example = next(one.example for one in self.words_ if one.name == answer.word)
        return self.sounds_[example]

    def _check_fitted(self) -> None:
        if not hasattr(self, "words_"):
            raise TeachingError("the learner is not fitted; call fit first.")


def _of_one(sources: Mapping[str, ArrayLike] | None) -> dict[str, Array]:
    """Return the measurements of one thing as those of several."""
    return {name: np.atleast_1d(np.asarray(one))[None] for name, one in (sources or {}).items()}
