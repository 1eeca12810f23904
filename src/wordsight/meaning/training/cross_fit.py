"""Learn words without some videos, and judge them on those: how good learning is, measured."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wordsight.engine import Engine
from wordsight.language import Lexicon
from wordsight.meaning.model.quality import HeldOut
from wordsight.meaning.tasks.judge import JudgedChoice, held_out_quality, judge_choices
from wordsight.meaning.tasks.rivals import ask
from wordsight.meaning.training.learner import WordLearner
from wordsight.meaning.training.settings import TrainingSettings
from wordsight.progress import Progress
from wordsight.records import Clip, Sentence

__all__ = ["CrossFit", "cross_fit", "quick_settings", "video_folds", "why_not_judged"]

QUICK_FOLDS, FULL_FOLDS = 3, 5
LEAST_VIDEOS = 4
"""Videos with sentences below which nothing can be held out that says much."""

LEAST_CHOICES = 10
"""Sentences, with words that other videos have too, below which nothing is said."""


@dataclass(frozen=True)
class CrossFit:
    """What came of learning without each part of the videos.

    Attributes:
        answers: Of every choice that could be asked.
        unknown: Sentences that could not, since a word of them is said of no other part.
        folds: Number of parts.
    """

    answers: tuple[JudgedChoice, ...]
    unknown: int
    folds: int

    def quality(self, lexicon: Lexicon, training: str) -> HeldOut | None:
        """Sum up; None where too little could be asked."""
        if len(self.answers) < LEAST_CHOICES:
            return None
        return held_out_quality(
            self.answers, lexicon, unknown=self.unknown, folds=self.folds, training=training
        )


def quick_settings(settings: TrainingSettings) -> TrainingSettings:
    """Return settings that learn in a fraction of the time, a little worse."""
    return replace(
        settings,
        restarts=1,
        tempered_iterations=min(settings.tempered_iterations, 10),
        iterations=min(settings.iterations, 10 if settings.tempered_iterations == 0 else 3),
        discriminative=None,
        max_candidates=min(settings.max_candidates, 12),
    )


def video_folds(videos: Sequence[str], count: int, *, random_state: int = 0) -> list[int]:
    """Return the part of each clip; clips of one video are in the same part.

    Args:
        videos: The video of each clip.
        count: Number of parts, about equal in clips; fewer where there are fewer videos.
        random_state: Seed of which videos come together.
    """
    clips = Counter(videos)
    names = sorted(clips)
    np.random.default_rng(random_state).shuffle(names)
    sizes = [0] * max(1, min(count, len(names)))
    parts: dict[str, int] = {}
    for name in sorted(names, key=lambda one: -clips[one]):  # the largest first, to the smallest
        parts[name] = sizes.index(min(sizes))
        sizes[parts[name]] += clips[name]
    return [parts[video] for video in videos]


def why_not_judged(clips: Sequence[Clip]) -> str:
    """Return why nothing can be said of how good words are; empty if something can."""
    videos = len({clip.video_id for clip in clips})
    if videos >= LEAST_VIDEOS:
        return ""
    return (
        f"with {videos} described video{'' if videos == 1 else 's'} none can be held out; "
        f"{LEAST_VIDEOS} or more are needed, and words that several of them share."
    )


def cross_fit(
    clips: Sequence[Clip],
    sentences: Sequence[Sequence[Sentence]],
    rivals: Sequence[Sequence[Sentence]],
    lexicon: Lexicon,
    settings: TrainingSettings,
    *,
    folds: int = QUICK_FOLDS,
    threads: int = 1,
    engine: Engine | None = None,
    device: str | None = None,
    progress: Progress | None = None,
) -> CrossFit:
    """Learn without each part of the videos, and let the words choose there.

    Args:
        clips: The clips.
        sentences: Per clip its true sentences.
        rivals: Per clip the false sentences.
        lexicon: The grammar.
        settings: How to learn.
        folds: Number of parts.
        threads: Number of clips to work on at once.
        engine: As :class:`WordLearner` has it.
        device: As :class:`WordLearner` has it.
        progress: Called after every step.
    """
    parts = video_folds(
        [clip.video_id for clip in clips], folds, random_state=settings.random_state
    )
    count = max(parts) + 1
    answers: list[JudgedChoice] = []
    unknown = 0
    for part in range(count):
        kept = [n for n, own in enumerate(parts) if own != part and sentences[n]]
        words = {w.entry for n in kept for one in sentences[n] for w in one.words}
        learner = WordLearner(settings, threads=threads, engine=engine, device=device).fit(
            [clips[n] for n in kept],
            [list(sentences[n]) for n in kept],
            lexicon=lexicon,
            candidates=[list(rivals[n]) for n in kept],
            progress=_shifted(progress, part, count),
        )
        known = [q for n in kept for q in ask(clips[n], sentences[n], rivals[n])]
        asked = [
            question
            for n, own in enumerate(parts)
            if own == part
            for question in ask(clips[n], sentences[n], rivals[n])
        ]
        fair = [one for one in asked if words.issuperset(w.entry for w in one.true.words)]
        unknown += len(asked) - len(fair)
        answers += judge_choices(learner.lexicon_, fair, known)
    return CrossFit(tuple(answers), unknown, count)


def _shifted(progress: Progress | None, part: int, count: int) -> Progress | None:
    """Return the progress of one part, as a share of all."""
    if progress is None:
        return None

    def forward(done: float, total: float | None, what: str) -> None:
        progress(part + (done / total if total else 0.0), count, f"part {part + 1}: {what}")

    return forward
