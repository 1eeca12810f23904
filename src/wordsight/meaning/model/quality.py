"""How good learned words are, measured on clips they were not learned from; kept in the card."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from wordsight.evaluation import Estimate
from wordsight.meaning.model.lexicon import LearnedLexicon

__all__ = [
    "HeldOut",
    "Quality",
    "WordQuality",
    "quality_lines",
    "quality_of",
    "word_line",
    "word_rows",
]

NOTE = "quality"
"""Under which name the notes of a lexicon have its quality."""


@dataclass(frozen=True)
class HeldOut:
    """What words reach on clips of videos they were not learned from.

    Attributes:
        videos: Number of videos judged.
        choices: Number of choices among sentences about one clip.
        unknown: Sentences left out since one of their words is said of no other video.
        folds: Number of times words were learned without some videos; 0 if they were given.
        training: How they were learned: ``quick``, ``full`` or ``given``.
        accuracy: Share of choices in which the true sentence is preferred.
        blind: The same of a guesser that knows how often each sentence is true, and sees nothing.
        chance: The same of a choice at random.
        gain: Difference of accuracy and blind, clip by clip.
        f1: F1 of judging every candidate true or false.
        blind_f1: F1 of the guesser, which judges by how often each sentence is true elsewhere.
        chance_f1: F1 of answering at random.
        confusions: The word that was true, the word that was preferred, and how often.
    """

    videos: int
    choices: int
    unknown: int
    folds: int
    training: str
    accuracy: Estimate
    blind: float
    chance: float
    gain: Estimate
    f1: Estimate
    blind_f1: float
    chance_f1: float
    confusions: tuple[tuple[str, str, int], ...] = ()

    @property
    def is_better_than_guessing(self) -> bool:
        """Whether accuracy is above blind and chance by more than the interval."""
        return self.gain.low > 0 and self.accuracy.low > self.chance


@dataclass(frozen=True)
class WordQuality:
    """What is known of how good one word is.

    Attributes:
        clips: Number of clips of which it is said.
        choices: Number of choices in which the true sentence has it and some rival has not.
        right: Share of these in which the preferred sentence has it.
        blind: The same of the guesser.
        chance: The same at random.
        remarks: What is to be said of it in plain words.
    """

    clips: int
    choices: int = 0
    right: Estimate | None = None
    blind: float | None = None
    chance: float | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quality:
    """How good a lexicon is.

    Attributes:
        words: What is known of each word.
        held_out: What the words reach on clips not learned from; None if that was not measured.
        unjudged: Why it was not measured.
        advice: What is wrong and what would help.
    """

    words: dict[str, WordQuality] = field(default_factory=dict)
    held_out: HeldOut | None = None
    unjudged: str = ""
    advice: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return a JSON representation, without what was not measured."""
        return {
            "held_out": None if self.held_out is None else asdict(self.held_out),
            "unjudged": self.unjudged,
            "advice": list(self.advice),
            "words": {entry: asdict(word) for entry, word in self.words.items()},
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Quality":
        """Undo :meth:`to_json`."""
        held_out = values["held_out"]
        words = {
            entry: WordQuality(
                **{**row, "right": _estimate(row["right"]), "remarks": tuple(row["remarks"])}
            )
            for entry, row in values["words"].items()
        }
        if held_out is not None:
            estimates = {name: _estimate(held_out[name]) for name in ("accuracy", "gain", "f1")}
            confusions = tuple((str(a), str(b), int(n)) for a, b, n in held_out["confusions"])
            held_out = HeldOut(**{**held_out, **estimates, "confusions": confusions})
        return cls(words, held_out, str(values["unjudged"]), tuple(values["advice"]))


def _estimate(values: Mapping[str, float] | None) -> Estimate | None:
    return None if values is None else Estimate(**values)


def quality_of(lexicon: LearnedLexicon) -> Quality | None:
    """Return what is known of how good a lexicon is; None of lexicons of earlier versions."""
    known = lexicon.notes.get(NOTE)
    return Quality.from_json(known) if isinstance(known, Mapping) else None


def quality_lines(quality: Quality) -> list[str]:
    """Return the figures over all words, as lines of text."""
    held = quality.held_out
    if held is None:
        return [f"How good the words are cannot be judged: {quality.unjudged}"]
    return [
        f"On videos not learned from ({_how(held)}), in {held.choices} choices among sentences:",
        f"  right sentence chosen  {held.accuracy}; blind {held.blind:.2f}, "
        f"chance {held.chance:.2f}",
        f"  judged true or false   F1 {held.f1}; blind {held.blind_f1:.2f}, "
        f"chance {held.chance_f1:.2f}",
    ]


def _how(held: HeldOut) -> str:
    videos = f"{held.videos} videos"
    if not held.folds:
        return videos
    return f"{videos} in {held.folds} parts, words learned without each, {held.training} training"


def word_line(word: WordQuality) -> str:
    """Return in one line what is known of a word."""
    parts = [f"said of {word.clips} clip{'' if word.clips == 1 else 's'}"]
    if word.right is not None:
        parts.append(
            f"right in {word.right} of {word.choices} choices (blind {word.blind:.2f}, "
            f"chance {word.chance:.2f})"
        )
    return "; ".join([*parts, *word.remarks])


def word_rows(words: Mapping[str, WordQuality]) -> list[Sequence[Any]]:
    """Return the rows of a table: word, clips, choices, right, blind, chance, remarks."""
    return [
        (
            entry,
            word.clips,
            word.choices,
            "–" if word.right is None else str(word.right),
            word.blind,
            word.chance,
            "; ".join(word.remarks),
        )
        for entry, word in sorted(words.items())
    ]
