"""`LearnedLexicon`: the words a learner has learned, and what is needed to read clips with them."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wordsight.language import Lexicon, parse
from wordsight.language.errors import nearest
from wordsight.meaning.checks import (
    require_clip,
    require_instance,
    require_integer,
    require_number,
    require_sentence,
)
from wordsight.meaning.errors import MeaningError
from wordsight.meaning.features import (
    ClipView,
    FeatureSet,
    FeatureVocabulary,
    Observation,
    observe,
    view_clip,
)
from wordsight.meaning.model.belief import Belief
from wordsight.meaning.model.calibration import Calibration
from wordsight.meaning.model.word import WordModel, uniform_word
from wordsight.meaning.scoring.scorer import ClipScorer, TrackPrior, make_scorer
from wordsight.meaning.scoring.tables import WordTables, word_tables
from wordsight.records import Clip, Sentence

if TYPE_CHECKING:
    from wordsight.meaning.tasks.results import (
        Description,
        SentenceExplanation,
        SentenceHit,
        SentenceScore,
        TrackedSentence,
    )

__all__ = ["LearnedLexicon", "ViewSettings", "verb_of"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ViewSettings:
    """How clips are looked at.

    Attributes:
        rate: Frames per second that are looked at; all if None.
        most: At most this many things per clip, those seen longest and surest; all if None.
        least_seen: Tracks in sight for a smaller share of the clip are left out.
        tracked: Whether detections with identities are taken as tracks; if None, where all have
            one. False solves tracks and words together.
        sight: How things are weighed before any word is heard.
    """

    rate: float | None = 6.0
    most: int | None = None
    least_seen: float = 0.25
    tracked: bool | None = None
    sight: TrackPrior = field(default_factory=TrackPrior)

    def __post_init__(self) -> None:
        require_number("rate", self.rate, above=0.0, none=True)
        require_integer("most", self.most, least=1, none=True)
        require_number("least_seen", self.least_seen, least=0.0)
        require_instance("sight", self.sight, TrackPrior)

    def view(self, clip: Clip) -> ClipView:
        """Look at a clip."""
        return view_clip(
            require_clip(clip),
            rate=self.rate,
            most=self.most,
            least_seen=self.least_seen,
            tracked=self.tracked,
        )


@dataclass(frozen=True)
class LearnedLexicon:
    """Words with meanings.

    Attributes:
        lexicon: How the words combine.
        words: The meaning of each entry.
        features: What parts of speech look at.
        vocabulary: The bins of all features.
        background: Per feature the distribution of its bins over the corpus.
        looking: How clips are looked at.
        calibration: What makes sentences with different verbs comparable.
        threshold: A sentence whose score is at least this is said to be true.
        belief: When single words are true; without it a sentence is judged by its log ratio per
            frame.
        states_count: Whether every word adds the log of its number of states to the score of each
            frame, as the paper's Eq. 10 does.
        notes: What a reader of the model's card should know: how it was trained, on what.
    """

    lexicon: Lexicon
    words: dict[str, WordModel]
    features: FeatureSet
    vocabulary: FeatureVocabulary
    background: dict[str, Array]
    looking: ViewSettings = field(default_factory=ViewSettings)
    calibration: Calibration = field(default_factory=Calibration)
    threshold: float = 0.0
    belief: Belief | None = None
    states_count: bool = False
    notes: dict[str, object] = field(default_factory=dict)

    def __getitem__(self, entry: str) -> WordModel:
        if entry not in self.words:
            close = nearest(entry, self.words)
            some = ", ".join(close or sorted(self.words)[:5])
            hint = f" {'Nearest' if close else 'There are, for example'}: {some}."
            raise MeaningError(f"no meaning has been learned for {entry!r}.{hint}")
        return self.words[entry]

    @cached_property
    def tables(self) -> dict[str, WordTables]:
        """The words, ready for inference."""
        return self.tables_at(1.0)

    def tables_at(self, temper: float) -> dict[str, WordTables]:
        """Return the words with the ratios of those with several states raised to a power."""
        return {
            entry: word_tables(word, self.vocabulary, self.background, temper=temper)
            for entry, word in self.words.items()
        }

    def observe(self, clip: Clip) -> Observation:
        """Turn a clip into bins."""
        return observe(self.looking.view(clip), self.vocabulary)

    def read(self, seen: Clip | Observation, *, threads: int = 1) -> ClipScorer:
        """Read a clip with the words."""
        if isinstance(seen, Clip):
            seen = self.observe(seen)
        return make_scorer(seen, self.tables, self.looking.sight, threads=threads)

    def sentence(self, text: str | Sentence) -> Sentence:
        """Parse a sentence and make sure that every word of it has a meaning."""
        said = require_sentence(text)
        found = parse(said, self.lexicon) if isinstance(said, str) else said
        if not found.words:
            found = parse(found.text, self.lexicon)
        for word in found.words:
            if len(word.participants) != self[word.entry].arity:
                raise MeaningError(
                    f"{word} has {len(word.participants)} participants, but {word.entry!r} was "
                    f"learned with {self[word.entry].arity}."
                )
        return found

    def sentences(self, texts: Iterable[str | Sentence]) -> list[Sentence]:
        """Parse several sentences."""
        return [self.sentence(text) for text in texts]

    def verb(self, sentence: Sentence) -> str:
        """Return the first verb of a sentence, or an empty text."""
        return verb_of(sentence, self.lexicon)

    def log_ratios(
        self, seen: Observation, sentences: Sequence[Sentence], reading: ClipScorer | None = None
    ) -> Array:
        """Return ``(K,)`` log ratios of sentences, with what Eq. 10 adds if it is to be added."""
        ratios = (reading or self.read(seen)).log_ratios(sentences)
        if not self.states_count:
            return ratios
        states = [
            sum(float(np.log(self[word.entry].num_states)) for word in sentence.words)
            for sentence in sentences
        ]
        return np.asarray(ratios + seen.num_frames * np.array(states))

    def scores(
        self, seen: Observation, sentences: Sequence[Sentence], reading: ClipScorer | None = None
    ) -> Array:
        """Return ``(K,)`` scores by which clips and sentences compare: is it true?

        They are log probabilities that all words are true or, without a belief, log ratios per
        frame.

        Args:
            seen: The clip.
            sentences: What might be true of it.
            reading: The clip read with these words, where it has been read already.
        """
        found = reading or self.read(seen)
        if self.belief is not None:
            return self.belief.scores(found, sentences)
        return self.per_frame(self.log_ratios(seen, sentences, found), sentences, seen.num_frames)

    def per_frame(self, ratios: Array, sentences: Sequence[Sentence], frames: int) -> Array:
        """Turn log ratios of a clip into scores per frame, each verb on its own scale."""
        known = self.calibration.scales
        mean = self.calibration.other_scale
        scale = np.array([known.get(self.verb(sentence), mean) / mean for sentence in sentences])
        return np.asarray(scale * ratios / max(1, frames))

    def preferences(
        self, seen: Observation, sentences: Sequence[Sentence], *, timed: bool = True
    ) -> Array:
        """Return ``(K,)`` calibrated scores by which sentences about one clip compare.

        Args:
            seen: The clip.
            sentences: What might be said of it.
            timed: Whether the clip begins and ends with the event, so that its duration counts.
        """
        ratios = self.log_ratios(seen, sentences)
        return self.compared(ratios, sentences, seen.duration if timed else None)

    def compared(
        self, ratios: Array, sentences: Sequence[Sentence], duration: float | None
    ) -> Array:
        """Turn log ratios of sentences about one clip into their preferences.

        Args:
            ratios: ``(K,)`` log ratios.
            sentences: The sentences.
            duration: Seconds the clip lasts; None where it does not end with the event.
        """
        verbs = [self.verb(sentence) for sentence in sentences]
        usual = self.calibration.habits(sentences, self.lexicon)
        return self.calibration.preferences(ratios, verbs, duration, usual)

    def score(self, clip: Clip, sentence: str | Sentence) -> "SentenceScore":
        """Say how well a sentence fits a clip, and whether it is true of it."""
        from wordsight.meaning.tasks.clip import score

        return score(self, clip, sentence)

    def choose(self, clip: Clip, candidates: Sequence[str | Sentence]) -> int:
        """Return which of several sentences describes a clip best."""
        from wordsight.meaning.tasks.clip import choose

        return choose(self, clip, candidates)

    def track(self, clip: Clip, sentence: str | Sentence) -> "TrackedSentence":
        """Find who is who in a clip, and the state of every word in every frame."""
        from wordsight.meaning.tasks.clip import track

        return track(self, clip, sentence)

    def explain(self, clip: Clip, sentence: str | Sentence) -> "SentenceExplanation":
        """Say which word of a sentence fits when, and which one fits least."""
        from wordsight.meaning.tasks.clip import explain

        return explain(self, clip, sentence)

    def describe(self, clip: Clip, **options: Any) -> "list[Description]":
        """Find the sentences that describe a clip best, see :mod:`.tasks.describe`."""
        from wordsight.meaning.tasks.describe import describe

        return describe(self, clip, **options)

    def search(
        self, clips: Iterable[Clip], sentence: str | Sentence, **options: Any
    ) -> "list[SentenceHit]":
        """Rank moments by how well a sentence fits; see :func:`wordsight.meaning.tasks.search`."""
        from wordsight.meaning.tasks.search import search

        return search(self, clips, sentence, **options)

    def page(self, entry: str, *, strongest: int = 12) -> str:
        """Return a word's states and what is typical of each, as plain text."""
        from wordsight.meaning.model.inspect import word_page

        return word_page(self, entry, strongest=strongest)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the lexicon to a folder of JSON, arrays and a card."""
        from wordsight.meaning.model.storage import save_lexicon

        save_lexicon(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "LearnedLexicon":
        """Read a lexicon that :meth:`save` wrote; it scores bit for bit alike."""
        from wordsight.meaning.model.storage import load_lexicon

        return load_lexicon(path)

    def with_silent(self, entries: Iterable[str]) -> "LearnedLexicon":
        """Return the lexicon with words that were never heard and say nothing: ratio 1 throughout.

        Lets sentences with unknown words compete by their other words.
        """
        words = dict(self.words)
        for entry in entries:
            if entry not in words:
                blank = uniform_word(self.lexicon[entry], self.features, self.vocabulary)
                tables = (
                    np.tile(self.background[slot.feature], (blank.num_states, 1))
                    for slot in blank.slots
                )
                words[entry] = replace(blank, emissions=tuple(tables))
        return self.with_words(words)

    def with_words(self, words: dict[str, WordModel]) -> "LearnedLexicon":
        """Return the same lexicon with other meanings."""
        return replace(self, words=dict(words))


def verb_of(sentence: Sentence, lexicon: Lexicon) -> str:
    """Return the first verb of a sentence, or an empty text."""
    for word in sentence.words:
        if lexicon[word.entry].part == "verb":
            return word.entry
    return ""
