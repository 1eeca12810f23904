"""Calibration of log ratios: into preferences among sentences, and into probabilities of truth.

Features of a verb depend on each other, and some verbs have more of them than others, so raw log
ratios are overconfident by a different factor for every verb. A :class:`Calibration` has a scale
and a bias per verb, chosen so that the true sentence is preferred among candidates; the duration of
the clip and how often nouns fill the roles of a verb are evidence, too.

A :class:`Belief` turns the evidence of each word into the probability that the word is true. Log
ratios of words add up, so that a verb that fits very well would make up for an adverb that fails;
probabilities cannot exceed 1, and a sentence is as likely true as all its words together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError
from wordsight.language import Lexicon, PartOfSpeech
from wordsight.meaning.checks import require_number, require_numbers
from wordsight.meaning.scoring.evidence import NUM_EVIDENCE
from wordsight.meaning.scoring.scorer import ClipScorer
from wordsight.records import Sentence

__all__ = [
    "NUM_ASSIGNMENTS",
    "Belief",
    "Calibration",
    "Durations",
    "FilledRole",
    "RolePriors",
    "Sayings",
    "filled_roles",
    "log_sigmoid",
]

Array = NDArray[np.float64]
FilledRole = tuple[str, int, str]
"""A verb, the index of one of its roles, and the noun that fills it."""

_UNSAID = 0.3  # sentences behind every role, with any noun
_SAID_ANYWAY = (PartOfSpeech.NOUN, PartOfSpeech.VERB)

NUM_ASSIGNMENTS = 8
"""Number of assignments of objects, the best ones, on which the truth of a sentence is judged."""


@dataclass(frozen=True)
class Durations:
    """How long events last, as log ratios against all clips.

    Attributes:
        edges: ``(D - 1,)`` edges of bins in seconds; empty if durations are not used.
        ratios: Per verb ``(D,)`` log ratio of its clips to all clips.
        weight: Factor of the ratios.
    """

    edges: Array = field(default_factory=lambda: np.zeros(0))
    ratios: dict[str, Array] = field(default_factory=dict)
    weight: float = 0.0

    def __call__(self, verbs: Sequence[str], duration: float) -> Array:
        """Return the unweighted log ratio of each verb for a clip of ``duration`` seconds."""
        place = int(np.digitize(duration, self.edges))
        known = self.ratios
        return np.array([known[v][place] if v in known else 0.0 for v in verbs])


@dataclass(frozen=True)
class RolePriors:
    """How often nouns fill roles of verbs, as log ratios against the mean of the role.

    "The person drank from the microwave" is grammatical, and hardly ever true.

    Attributes:
        ratios: Per verb, per role of it, the log ratio of each noun; 0 for nouns not listed.
        weight: Factor of the ratios; 0 if role priors are not used.
    """

    ratios: dict[str, tuple[dict[str, float], ...]] = field(default_factory=dict)
    weight: float = 0.0

    def __call__(self, sentences: Sequence[Sentence], lexicon: Lexicon) -> Array:
        """Return ``(K,)`` unweighted log ratios of sentences, summed over their roles."""
        return np.array([sum(map(self._ratio, filled_roles(s, lexicon))) for s in sentences], float)

    def _ratio(self, role: FilledRole) -> float:
        verb, place, noun = role
        places = self.ratios.get(verb, ())
        return places[place].get(noun, 0.0) if place < len(places) else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return a JSON representation."""
        # Sorted, so that a training that was interrupted and resumed writes the same bytes.
        ratios = {
            verb: [dict(sorted(row.items())) for row in rows] for verb, rows in self.ratios.items()
        }
        return {"ratios": ratios, "weight": self.weight}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "RolePriors":
        """Undo :meth:`to_json`."""
        require_number("the weight of role priors", values["weight"], least=0.0)
        ratios = {
            verb: tuple(require_numbers(f"the role prior of {verb!r}", row) for row in rows)
            for verb, rows in values["ratios"].items()
        }
        return cls(ratios, float(values["weight"]))


def filled_roles(
    sentence: Sentence, lexicon: Lexicon, *, only_verbs: bool = True
) -> Iterator[FilledRole]:
    """Yield the roles of verbs, or of all words but nouns, that nouns of a sentence fill."""
    parts = [(word, lexicon[word.entry].part) for word in sentence.words]
    nouns = {w.participants[0]: w.entry for w, part in parts if part is PartOfSpeech.NOUN}
    for word, part in parts:
        if part is PartOfSpeech.VERB or not (only_verbs or part is PartOfSpeech.NOUN):
            for place, participant in enumerate(word.participants):
                if participant in nouns:
                    yield word.entry, place, nouns[participant]


@dataclass(frozen=True)
class Sayings:
    """How often words were said of which things, which says what a person would say.

    Role priors compare what might be said of one clip; here any sentence has a probability: how
    usual its nouns are in the roles of its other words, and whether modifiers are worth saying.

    Attributes:
        counts: Per word but nouns, per role of it, how often each noun filled it.
        nouns: Number of nouns.
        sentences: Number of sentences; 0 if nothing is known.
    """

    counts: dict[str, tuple[dict[str, float], ...]] = field(default_factory=dict)
    nouns: int = 1
    sentences: int = 0

    @classmethod
    def of(cls, sentences: Sequence[Sentence], lexicon: Lexicon) -> "Sayings":
        """Count sentences."""
        counts: dict[str, tuple[dict[str, float], ...]] = {}
        for sentence in sentences:
            for word, place, noun in filled_roles(sentence, lexicon, only_verbs=False):
                rows = counts.setdefault(word, tuple({} for _ in lexicon[word].roles))
                rows[place][noun] = rows[place].get(noun, 0.0) + 1.0
        return cls(counts, max(1, len(lexicon.of_part(PartOfSpeech.NOUN))), len(sentences))

    def of_roles(self, sentence: Sentence, lexicon: Lexicon) -> float:
        """Return the log probability of the nouns of a sentence, given its other words."""
        total = 0.0
        for word, place, noun in filled_roles(sentence, lexicon, only_verbs=False):
            row = self._row(word, place)
            share = (row.get(noun, 0.0) + _UNSAID / self.nouns) / (sum(row.values()) + _UNSAID)
            total += float(np.log(share)) if self.sentences else 0.0
        return total

    def of_modifiers(self, sentence: Sentence, lexicon: Lexicon) -> float:
        """Return the log odds that the words beside nouns and verbs are said at all, up to 0."""
        total = 0.0
        for word in sentence.words:
            if self.sentences and lexicon[word.entry].part not in _SAID_ANYWAY:
                said = sum(self._row(word.entry, 0).values()) + 1 / self.nouns
                total += min(0.0, float(np.log(said / max(self.sentences - said, 1.0))))
        return total

    def _row(self, word: str, place: int) -> dict[str, float]:
        rows = self.counts.get(word, ())
        return rows[place] if place < len(rows) else {}

    def to_json(self) -> dict[str, Any]:
        """Return a JSON representation."""
        counts = {word: list(rows) for word, rows in self.counts.items()}
        return {"counts": counts, "nouns": self.nouns, "sentences": self.sentences}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Sayings":
        """Undo :meth:`to_json`."""
        counts = {
            word: tuple(require_numbers(f"the count of {word!r}", row) for row in rows)
            for word, rows in values["counts"].items()
        }
        for name in ("nouns", "sentences"):
            require_number(f"the number of {name}", values[name], least=0)
        return cls(counts, max(1, int(values["nouns"])), int(values["sentences"]))


@dataclass(frozen=True)
class Calibration:
    """Makes the log ratios of sentences about one clip comparable.

    Attributes:
        scales: Per verb the factor of the log ratio; :attr:`other_scale` for verbs not listed.
        biases: Per verb what is added; 0 for verbs not listed.
        durations: Evidence of the duration of the clip.
        other_scale: The factor for sentences whose verb is not listed.
        role_priors: Evidence of the nouns that fill roles.
        sayings: What is usually said: whether modifiers are worth saying and, in descriptions,
            of which things.
    """

    scales: dict[str, float] = field(default_factory=dict)
    biases: dict[str, float] = field(default_factory=dict)
    durations: Durations = field(default_factory=Durations)
    other_scale: float = 1.0
    role_priors: RolePriors = field(default_factory=RolePriors)
    sayings: Sayings = field(default_factory=Sayings)

    def preferences(
        self,
        ratios: Array,
        verbs: Sequence[str],
        duration: float | None,
        role_ratios: Array | Sequence[float] = (),
    ) -> Array:
        """Return ``(K,)`` calibrated scores of sentences about one clip.

        Args:
            ratios: Their log ratios.
            verbs: Their verbs.
            duration: Duration of the clip in seconds; None where its bounds are arbitrary.
            role_ratios: Their log ratios by :attr:`role_priors`; empty to leave them out.
        """
        scale = np.array([self.scales.get(verb, self.other_scale) for verb in verbs])
        bias = np.array([self.biases.get(verb, 0.0) for verb in verbs])
        lasting = np.zeros(len(verbs))
        if duration is not None and self.durations.weight:
            lasting = self.durations.weight * self.durations(verbs, duration)
        roles = np.asarray(role_ratios, dtype=np.float64)
        prior = self.role_priors.weight * roles if len(roles) else 0.0
        return np.asarray(scale * ratios + bias + lasting + prior)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON representation."""
        ratios = {verb: row.tolist() for verb, row in self.durations.ratios.items()}
        return {
            "scales": dict(self.scales),
            "biases": dict(self.biases),
            "other_scale": self.other_scale,
            "duration_edges": self.durations.edges.tolist(),
            "duration_ratios": ratios,
            "duration_weight": self.durations.weight,
            "habits": self.role_priors.to_json(),
            "said": self.sayings.to_json(),
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Calibration":
        """Undo :meth:`to_json`."""
        durations = Durations(
            np.array(values["duration_edges"], dtype=np.float64),
            {
                verb: np.array(row, dtype=np.float64)
                for verb, row in values["duration_ratios"].items()
            },
            float(values["duration_weight"]),
        )
        most = len(durations.edges) + 1
        if not all(row.shape == (most,) for row in durations.ratios.values()):
            raise MeaningError(f"{most - 1} edges of durations make {most} log ratios per verb.")
        if not (np.diff(durations.edges) >= 0).all():
            raise MeaningError("edges of durations are rising numbers.")
        scales = require_numbers("the scale", values["scales"])
        biases = require_numbers("the bias", values["biases"])
        require_number("other_scale", values["other_scale"], above=0.0)
        # Lexicons of earlier versions have no role priors, or no counts of what is said.
        priors = RolePriors.from_json(values["habits"]) if "habits" in values else RolePriors()
        said = Sayings.from_json(values["said"]) if "said" in values else Sayings()
        return cls(scales, biases, durations, float(values["other_scale"]), priors, said)


_NO_ASSIGNMENT = -1e3  # log probability of a sentence that no objects can be assigned to


@dataclass(frozen=True)
class Belief:
    """How the evidence of each word turns into the probability that it is true.

    Attributes:
        slopes: Per entry the factors of its kinds of evidence, 0 for those missing; see
            :data:`wordsight.meaning.scoring.evidence.NUM_EVIDENCE`.
        offsets: Per entry what is added; the sum is the log odds that the word is true.
        verb_offsets: Per verb and word what is added to the word's log odds beside that verb:
            bending down quickly is slower than walking quickly.
    """

    slopes: dict[str, tuple[float, ...]]
    offsets: dict[str, float]
    verb_offsets: dict[str, dict[str, float]] = field(default_factory=dict)

    def log_probability(self, entries: Sequence[str], evidence: Array) -> float:
        """Return the log probability that all words are true of the best of several assignments.

        Args:
            entries: The L words; those without slopes are taken as true.
            evidence: ``(C, L, NUM_EVIDENCE)`` their evidence on each assignment.
        """
        known = [number for number, entry in enumerate(entries) if entry in self.slopes]
        slopes = np.zeros((len(known), NUM_EVIDENCE))
        for row, number in zip(slopes, known, strict=True):
            own = self.slopes[entries[number]]
            row[: len(own)] = own
        verb = next((entry for entry in entries if entry in self.verb_offsets), "")
        added = self.verb_offsets.get(verb, {})
        offsets = np.array([self.offsets[entries[n]] + added.get(entries[n], 0.0) for n in known])
        odds = (evidence[:, known] * slopes).sum(axis=2) + offsets
        # Where fewer objects are kept than the sentence has participants, there is no assignment.
        return float(log_sigmoid(odds).sum(axis=1).max(initial=_NO_ASSIGNMENT))

    def scores(self, scorer: ClipScorer, sentences: Sequence[Sentence]) -> Array:
        """Return ``(K,)`` the log probability that each sentence is true of a clip."""
        return np.array(
            [
                self.log_probability(
                    [word.entry for word in sentence.words],
                    scorer.evidence(sentence, NUM_ASSIGNMENTS),
                )
                for sentence in sentences
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """Return a JSON representation."""
        slopes = {entry: list(own) for entry, own in self.slopes.items()}
        beside = {verb: dict(row) for verb, row in self.verb_offsets.items()}
        return {"slopes": slopes, "offsets": dict(self.offsets), "beside": beside}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Belief":
        """Undo :meth:`to_json`; earlier versions had one slope per word and no verb offsets."""
        slopes = {
            entry: tuple(map(float, own)) if isinstance(own, list) else (float(own),)
            for entry, own in values["slopes"].items()
        }
        offsets = require_numbers("the offset", values["offsets"])
        if not slopes.keys() <= offsets.keys():
            raise MeaningError("every word with slopes has an offset, too.")
        if not all(len(own) <= NUM_EVIDENCE and np.isfinite(own).all() for own in slopes.values()):
            raise MeaningError(f"a word has up to {NUM_EVIDENCE} slopes, which are numbers.")
        rows = values.get("beside", {}).items()
        return cls(slopes, offsets, {v: require_numbers("the verb offset", row) for v, row in rows})


def log_sigmoid(values: Array) -> Array:
    """Return the logarithm of the logistic function, exact for large values of either sign."""
    return np.asarray(-np.logaddexp(0.0, -values))
