"""`LearnedLexicon`: the word models of a learner, and what is needed to apply them to clips."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError, nearest
from wordsight.language import Lexicon, PartOfSpeech, Understood, read_query, read_sentence
from wordsight.meaning.checks import (
    SentenceLike,
    require_clip,
    require_instance,
    require_integer,
    require_number,
    require_one_of,
    require_sentence,
)
from wordsight.meaning.features import (
    ClipView,
    FeatureSet,
    FeatureVocabulary,
    Observation,
    Participants,
    observe,
    view_clip,
)
from wordsight.meaning.model.calibration import Belief, Calibration
from wordsight.meaning.model.noun_looks import NounLooks
from wordsight.meaning.model.word import WordModel, uniform_word
from wordsight.meaning.scoring.scorer import ClipScorer, TrackPrior, make_scorer
from wordsight.meaning.scoring.tables import WordTables, word_tables
from wordsight.records import Clip, Sentence
from wordsight.records.html import table_html

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
    """How frames and objects of a clip are selected and weighed.

    Attributes:
        rate: Frames per second to sample; all frames if None.
        max_objects: At most this many objects per clip, those visible longest with the highest
            scores; all if None.
        min_visible: Tracks that are visible in a smaller share of the clip are left out.
        participants: What a participant may be: a track, a chain of tracklets, or any boxes. If
            None, tracks where all detections have identities, else boxes.
        track_prior: Weights of objects and tracks, independent of any word.
        parts: Body parts, such as hands, that sentences mention, so that they are objects, too.
    """

    rate: float | None = 6.0
    max_objects: int | None = None
    min_visible: float = 0.25
    participants: Participants | None = None
    track_prior: TrackPrior = field(default_factory=TrackPrior)
    parts: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        require_number("rate", self.rate, above=0.0, none=True)
        require_integer("max_objects", self.max_objects, least=1, none=True)
        require_number("min_visible", self.min_visible, least=0.0)
        require_one_of("participants", self.participants, (*get_args(Participants), None))
        require_instance("track_prior", self.track_prior, TrackPrior)

    def view(self, clip: Clip) -> ClipView:
        """Return the view of a clip under these settings."""
        return view_clip(
            require_clip(clip),
            rate=self.rate,
            max_objects=self.max_objects,
            min_visible=self.min_visible,
            participants=self.participants,
            parts=self.parts or (),
        )


@dataclass(frozen=True)
class LearnedLexicon:
    """Words with meanings.

    Attributes:
        lexicon: The grammar: parts of speech, roles and spellings.
        words: The model of each entry.
        features: The features of each part of speech.
        vocabulary: The bins of all features.
        background: Per feature the distribution of its bins over the corpus.
        view_settings: How frames and objects of clips are selected.
        calibration: Makes sentences with different verbs comparable.
        threshold: A sentence whose score is at least this is judged true.
        belief: Probabilities that single words are true; without it a sentence is judged by its
            log ratio per frame.
        add_log_states: Whether every word adds the log of its number of states to the score of
            each frame, as Eq. 10 of the paper does.
        notes: How and on what the lexicon was trained, for its card.
        noun_looks: What nouns look like, where the boxes of clips have no classes.
        silent: Words that were never trained; see :meth:`with_silent`.
    """

    lexicon: Lexicon
    words: dict[str, WordModel]
    features: FeatureSet
    vocabulary: FeatureVocabulary
    background: dict[str, Array]
    view_settings: ViewSettings = field(default_factory=ViewSettings)
    calibration: Calibration = field(default_factory=Calibration)
    threshold: float = 0.0
    belief: Belief | None = None
    add_log_states: bool = False
    notes: dict[str, object] = field(default_factory=dict)
    noun_looks: NounLooks | None = None
    silent: frozenset[str] = frozenset()

    def __getitem__(self, entry: str) -> WordModel:
        if entry not in self.words:
            close = nearest(entry, self.words)
            some = ", ".join(close or sorted(self.words)[:5])
            hint = f" {'Nearest' if close else 'There are, for example'}: {some}."
            raise MeaningError(f"no meaning has been learned for {entry!r}.{hint}")
        return self.words[entry]

    def _repr_html_(self) -> str:
        """Show the words and what they look for as a table, in notebooks."""
        from wordsight.meaning.model.wording import looks_for

        rows = [
            (entry, word.part, word.num_states, looks_for(self, entry))
            for entry, word in sorted(self.words.items(), key=lambda one: (one[1].part, one[0]))
        ]
        heading = f"{len(rows)} words, learned with the features {self.features.name}"
        return table_html(("word", "part", "states", "looks for"), rows, heading)

    @property
    def example(self) -> str:
        """A sentence of these words as it is usually said, to show in messages."""
        known = Lexicon(tuple(entry for entry in self.lexicon if entry.name in self.words))
        ratios = self.calibration.role_priors.ratios

        def fit(verb: str, place: int, noun: str) -> float:
            rows = ratios.get(verb, ())
            return rows[place].get(noun, 0.0) if place < len(rows) else 0.0

        return known.example(fit)

    @property
    def track_prior(self) -> TrackPrior:
        """Weights of objects and tracks, independent of any word."""
        return self.view_settings.track_prior

    @cached_property
    def tables(self) -> dict[str, WordTables]:
        """The words, ready for inference."""
        return self.tables_at(1.0)

    def tables_at(self, temper: float) -> dict[str, WordTables]:
        """Return the words with the ratios of those with several states raised to a power."""
        return {
            entry: word_tables(
                word,
                self.vocabulary,
                self.background,
                temper=temper,
                features=self.features.parts.get(word.part),
            )
            for entry, word in self.words.items()
        }

    def named(self, clip: Clip) -> Clip:
        """Return a clip with its boxes named by what nouns look like, where that was learned."""
        return clip if self.noun_looks is None else self.noun_looks.named(require_clip(clip))

    def observe(self, clip: Clip) -> Observation:
        """Measure and bin the features of a clip."""
        return observe(self.view_settings.view(self.named(clip)), self.vocabulary)

    def scorer(self, clip: Clip | Observation, *, threads: int = 1) -> ClipScorer:
        """Return the scorer of a clip with these words."""
        observation = self.observe(clip) if isinstance(clip, Clip) else clip
        return make_scorer(observation, self.tables, self.track_prior, threads=threads)

    def sentence(self, text: SentenceLike) -> Sentence:
        """Read a sentence and check that every word of it has a meaning."""
        given = require_sentence(text)
        parsed = read_sentence(given, self.lexicon) if isinstance(given, str) else given
        if not parsed.words:
            parsed = read_sentence(parsed.text, self.lexicon)
        return self._checked(parsed)

    def query(self, text: str) -> Understood:
        """Read a query: a sentence, a question, several events, a denial or a bare phrase."""
        understood = read_query(text, self.lexicon)
        for statement in understood.statements:
            self._checked(statement.sentence)
        return understood

    def _checked(self, parsed: Sentence) -> Sentence:
        for word in parsed.words:
            if len(word.participants) != self[word.entry].arity:
                raise MeaningError(
                    f"{word} has {len(word.participants)} participants, but {word.entry!r} was "
                    f"learned with {self[word.entry].arity}."
                )
        return parsed

    def sentences(self, texts: Iterable[SentenceLike]) -> list[Sentence]:
        """Parse several sentences."""
        return [self.sentence(text) for text in texts]

    def verb(self, sentence: Sentence) -> str:
        """Return the first verb of a sentence, or an empty text."""
        return verb_of(sentence, self.lexicon)

    def log_ratios(
        self,
        observation: Observation,
        sentences: Sequence[Sentence],
        scorer: ClipScorer | None = None,
    ) -> Array:
        """Return ``(K,)`` log ratios of sentences, with the term of Eq. 10 where it is used."""
        ratios = (scorer or self.scorer(observation)).log_ratios(sentences)
        if not self.add_log_states:
            return ratios
        states = [
            sum(float(np.log(self[word.entry].num_states)) for word in sentence.words)
            for sentence in sentences
        ]
        return np.asarray(ratios + observation.num_frames * np.array(states))

    def scores(
        self,
        observation: Observation,
        sentences: Sequence[Sentence],
        scorer: ClipScorer | None = None,
    ) -> Array:
        """Return ``(K,)`` scores that compare across clips and sentences.

        They are log probabilities that all words are true or, without a belief, log ratios per
        frame.

        Args:
            observation: The clip.
            sentences: The sentences.
            scorer: The scorer of the clip with these words, where there is one already.
        """
        scorer = scorer or self.scorer(observation)
        if self.belief is not None:
            return self.belief.scores(scorer, sentences)
        ratios = self.log_ratios(observation, sentences, scorer)
        mean = self.calibration.other_scale
        scales = [self.calibration.scales.get(self.verb(s), mean) / mean for s in sentences]
        return np.asarray(np.array(scales) * ratios / max(1, observation.num_frames))

    def preferences(
        self,
        observation: Observation,
        sentences: Sequence[Sentence],
        *,
        timed: bool = True,
        scorer: ClipScorer | None = None,
    ) -> Array:
        """Return ``(K,)`` calibrated scores that compare sentences about one clip.

        A verb that was never trained may mean what any other means: its sentence has the mean
        odds of those with a trained verb in its place.

        Args:
            observation: The clip.
            sentences: The sentences.
            timed: Whether the clip begins and ends with the event, so that its duration counts.
            scorer: The scorer of the clip with these words, where there is one already.
        """
        rows = [self._with_trained_verbs(sentence) for sentence in sentences]
        every = [sentence for row in rows for sentence in row]
        ratios = self.log_ratios(observation, every, scorer)
        values = self.calibrated(ratios, every, observation.duration if timed else None)
        if len(every) == len(sentences):
            return values
        parts = np.split(values, np.cumsum([len(row) for row in rows])[:-1])
        return np.array([np.logaddexp.reduce(part) - np.log(len(part)) for part in parts])

    def _with_trained_verbs(self, sentence: Sentence) -> list[Sentence]:
        """Return a sentence once for each trained verb that may stand for one that is not."""
        verb = self.verb(sentence)
        if verb not in self.silent:
            return [sentence]
        arity = self.lexicon[verb].arity
        trained = [
            entry
            for entry, word in self.words.items()
            if entry not in self.silent and word.part is PartOfSpeech.VERB and word.arity == arity
        ]
        return [
            replace(
                sentence,
                words=tuple(
                    replace(word, entry=entry) if word.entry == verb else word
                    for word in sentence.words
                ),
            )
            for entry in trained
        ] or [sentence]

    def calibrated(
        self, ratios: Array, sentences: Sequence[Sentence], duration: float | None
    ) -> Array:
        """Return the preferences of ``(K,)`` log ratios; see :meth:`preferences`."""
        verbs = [self.verb(sentence) for sentence in sentences]
        role_ratios = self.calibration.role_priors(sentences, self.lexicon)
        values = self.calibration.preferences(ratios, verbs, duration, role_ratios)
        sayings = self.calibration.sayings
        said = [sayings.of_modifiers(one, self.lexicon) for one in sentences]
        return np.asarray(values + np.array(said))

    def score(self, clip: Clip, sentence: SentenceLike) -> "SentenceScore":
        """Score how well a sentence fits a clip, and judge whether it is true."""
        from wordsight.meaning.tasks.clip import score

        return score(self, clip, sentence)

    def choose(self, clip: Clip, candidates: Sequence[SentenceLike]) -> int:
        """Return the index of the sentence that describes a clip best."""
        from wordsight.meaning.tasks.clip import choose

        return choose(self, clip, candidates)

    def track(self, clip: Clip, sentence: SentenceLike) -> "TrackedSentence":
        """Find the track of every participant, and the state of every word in every frame."""
        from wordsight.meaning.tasks.clip import track

        return track(self, clip, sentence)

    def explain(self, clip: Clip, sentence: SentenceLike) -> "SentenceExplanation":
        """Explain which word of a sentence fits when, and which one fits least."""
        from wordsight.meaning.tasks.clip import explain

        return explain(self, clip, sentence)

    def describe(self, clip: Clip, **options: Any) -> "list[Description]":
        """Find the sentences that describe a clip best; options of :mod:`.tasks.describe`."""
        from wordsight.meaning.tasks.describe import describe

        return describe(self, clip, **options)

    def search(
        self, clips: Iterable[Clip], sentence: SentenceLike, **options: Any
    ) -> "list[SentenceHit]":
        """Rank moments by how well a sentence fits; options of :mod:`.tasks.search`."""
        from wordsight.meaning.tasks.search import search

        return search(self, clips, sentence, **options)

    def page(self, entry: str, *, strongest: int = 12) -> str:
        """Return a word's states and the typical features of each, as plain text."""
        from wordsight.meaning.model.wording import word_page

        return word_page(self, entry, strongest=strongest)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the lexicon to a folder of JSON, arrays and a card."""
        from wordsight.meaning.model.storage import save_lexicon

        save_lexicon(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "LearnedLexicon":
        """Read a lexicon that :meth:`save` wrote; its scores are identical."""
        from wordsight.meaning.model.storage import load_lexicon

        return load_lexicon(path)

    def with_silent(self, entries: Iterable[str]) -> "LearnedLexicon":
        """Return the lexicon with untrained words of ratio 1 added.

        Sentences with unknown words can then compete by their other words.
        """
        words = dict(self.words)
        entries = [entry for entry in entries if entry not in words]
        for entry in entries:
            blank = uniform_word(self.lexicon[entry], self.features, self.vocabulary)
            tables = (
                np.tile(self.background[slot.feature], (blank.num_states, 1))
                for slot in blank.slots
            )
            words[entry] = replace(blank, emissions=tuple(tables))
        return replace(self, words=words, silent=self.silent | set(entries))

    def with_words(self, words: dict[str, WordModel]) -> "LearnedLexicon":
        """Return the lexicon with other word models."""
        return replace(self, words=dict(words))


def verb_of(sentence: Sentence, lexicon: Lexicon) -> str:
    """Return the first verb of a sentence, or an empty text."""
    for word in sentence.words:
        if lexicon[word.entry].part == "verb":
            return word.entry
    return ""
