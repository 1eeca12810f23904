"""Evaluation of words on clips and by cross-validation: forced choice and truth, and guessing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wordsight.engine import Engine
from wordsight.evaluation import (
    FrequencyGuesser,
    best_threshold,
    choice_credit,
    estimate_difference,
    estimate_mean,
    estimate_ratio,
)
from wordsight.language import Lexicon
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.model.quality import HeldOut, WordQuality
from wordsight.meaning.tasks.rivals import ForcedChoice, ask
from wordsight.meaning.training.learner import WordLearner
from wordsight.meaning.training.settings import TrainingSettings
from wordsight.progress import Progress
from wordsight.records import Clip, Sentence, Word

__all__ = [
    "CrossFit",
    "JudgedChoice",
    "cross_fit",
    "held_out_quality",
    "judge_choices",
    "quick_settings",
    "video_folds",
    "why_not_judged",
    "word_quality",
]

NO_BETTER = "no better than guessing"
"""The remark of words that are preferred as often where they are false as where they are true."""

_FEW = 5  # choices; of a word with fewer nothing is said

QUICK_FOLDS, FULL_FOLDS = 3, 5

LEAST_VIDEOS = 4
"""Videos with sentences below which nothing can be held out that says much."""

LEAST_CHOICES = 10
"""Sentences, with words that other videos have too, below which nothing is said."""


@dataclass(frozen=True)
class JudgedChoice:
    """What words, and a guesser that does not look, make of one choice.

    Attributes:
        asked: The choice.
        chosen: Which sentence the words prefer.
        guessed: Which one the guesser prefers.
        credit: 1 if the words prefer the true sentence, 1/n where n sentences are equally good.
        blind_credit: The same of the guesser.
        held: Per candidate whether the words judge it true.
        guessed_held: The same of the guesser, whose limit is the best where truth is known.
    """

    asked: ForcedChoice
    chosen: int
    guessed: int
    credit: float
    blind_credit: float
    held: tuple[bool, ...]
    guessed_held: tuple[bool, ...]


def judge_choices(
    lexicon: LearnedLexicon, choices: Sequence[ForcedChoice], known: Iterable[ForcedChoice]
) -> list[JudgedChoice]:
    """Let words choose, and a guesser that knows how often sentences were true.

    Args:
        lexicon: The words; sentences with words that have no meaning compete by their others.
        choices: What to choose among.
        known: Choices with their truth, as the words were learned from; for the guesser.
    """
    whole = lexicon.with_silent(entry.name for entry in lexicon.lexicon)
    guesser, limit = _guesser(list(known))
    found = []
    for one in choices:
        seen, sentences = whole.observe(one.clip), list(one.candidates)
        scorer = whole.scorer(seen)
        liked = whole.preferences(seen, sentences, scorer=scorer)
        rates = guesser.scores([sentence.words for sentence in sentences])
        detected = bool(seen.view.present.any())
        held = (whole.scores(seen, sentences, scorer) >= whole.threshold) & detected
        found.append(
            JudgedChoice(
                one,
                int(np.argmax(liked)),
                int(np.argmax(rates)),
                choice_credit(liked, one.truth),
                choice_credit(rates, one.truth),
                tuple(held.tolist()),
                tuple((np.exp(rates) >= limit).tolist()),
            )
        )
    return found


def _guesser(
    known: Sequence[ForcedChoice],
) -> tuple[FrequencyGuesser[tuple[Word, ...]], float]:
    """Return a guesser that does not look, and from which rate on it judges truth best."""
    rows = [[sentence.words for sentence in one.candidates] for one in known]
    truth = [one.truth for one in known]
    guesser = FrequencyGuesser[tuple[Word, ...]]().fit(rows, truth)
    rates = [rate for row in rows for rate in np.exp(guesser.scores(row))]
    right = [n == number for row, number in zip(rows, truth, strict=True) for n in range(len(row))]
    return guesser, best_threshold(rates, right)[0]


def held_out_quality(
    answers: Sequence[JudgedChoice],
    lexicon: Lexicon,
    *,
    unknown: int = 0,
    folds: int = 0,
    training: str = "given",
) -> HeldOut:
    """Sum up answers; intervals come from drawing whole videos.

    Args:
        answers: The answers, at least one.
        lexicon: The grammar, for confusions.
        unknown: Sentences left out since the words cannot know them.
        folds: Number of times words were learned.
        training: How they were learned.
    """
    videos = [one.asked.clip.video_id for one in answers]
    credit = np.array([one.credit for one in answers])
    blind = np.array([one.blind_credit for one in answers])
    # Of each clip's candidates one is true.
    hits = np.array([one.held[one.asked.truth] for one in answers], dtype=np.float64)
    said = np.array([sum(one.held) for one in answers], dtype=np.float64)
    guessed_hits = sum(one.guessed_held[one.asked.truth] for one in answers)
    guessed = sum(sum(one.guessed_held) for one in answers)
    rate = len(answers) / sum(len(one.asked.candidates) for one in answers)
    return HeldOut(
        len(set(videos)),
        len(answers),
        unknown,
        folds,
        training,
        estimate_mean(credit, videos),
        float(blind.mean()),
        float(np.mean([1 / len(one.asked.candidates) for one in answers])),
        estimate_mean(credit - blind, videos, share=False),
        estimate_ratio(2 * hits, said + 1, videos),
        2 * guessed_hits / (guessed + len(answers)),
        rate / (rate + 0.5),
        _confusions(answers, lexicon),
    )


def word_quality(answers: Sequence[JudgedChoice], clips: dict[str, int]) -> dict[str, WordQuality]:
    """Return how often each word was chosen where it was true.

    Args:
        answers: The answers.
        clips: Per word of how many clips it is said.
    """
    rows: dict[str, list[tuple[str, _Row]]] = defaultdict(list)
    for one in answers:
        asked = one.asked
        true = {word.entry: word for word in asked.true.words}
        for entry in {word.entry for sentence in asked.candidates for word in sentence.words}:
            having = [
                true[entry] in sentence.words
                if entry in true
                else any(word.entry == entry for word in sentence.words)
                for sentence in asked.candidates
            ]
            if not all(having):
                share = sum(having) / len(having)
                row = _Row(entry in true, having[one.chosen], having[one.guessed], share)
                rows[entry].append((asked.clip.video_id, row))
    return {entry: _of_word(number, rows[entry]) for entry, number in clips.items()}


@dataclass(frozen=True)
class _Row:
    """A choice in which only some sentences have a word.

    Attributes:
        true: Whether the true one has it.
        chosen: Whether the preferred one has it.
        guessed: Whether the guesser's has it.
        share: Of the candidates that have it.
    """

    true: bool
    chosen: bool
    guessed: bool
    share: float


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


def _of_word(clips: int, rows: Sequence[tuple[str, _Row]]) -> WordQuality:
    true = [(video, row) for video, row in rows if row.true]
    if not true:
        return WordQuality(clips)
    # Choosing a word whatever is seen is often right, but as often where the word is false.
    gap = estimate_difference(
        [row.chosen for _, row in rows], [row.true for _, row in rows], [video for video, _ in rows]
    )
    no_better = len(true) >= _FEW and len(true) < len(rows) and gap.low <= 0
    return WordQuality(
        clips,
        len(true),
        estimate_mean([row.chosen for _, row in true], [video for video, _ in true]),
        float(np.mean([row.guessed for _, row in true])),
        float(np.mean([row.share for _, row in true])),
        (NO_BETTER,) if no_better else (),
    )


def _confusions(
    answers: Sequence[JudgedChoice], lexicon: Lexicon
) -> tuple[tuple[str, str, int], ...]:
    found: Counter[tuple[str, str]] = Counter()
    for one in answers:
        chosen = one.asked.candidates[one.chosen]
        for word in one.asked.true.words:
            other = _instead(word, chosen, lexicon)
            if other is not None:
                found[word.entry, other] += 1
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return tuple((true, other, count) for (true, other), count in ranked)


def _instead(word: Word, chosen: Sentence, lexicon: Lexicon) -> str | None:
    """Return the word in place of a true one: of its part of speech, about the same thing."""
    if word in chosen.words:
        return None
    part = lexicon[word.entry].part
    for other in chosen.words:
        if lexicon[other.entry].part is part and other.participants[0] == word.participants[0]:
            return other.entry if other.entry != word.entry else None
    return None


def _shifted(progress: Progress | None, part: int, count: int) -> Progress | None:
    """Return the progress of one part, as a share of all."""
    if progress is None:
        return None

    def forward(done: float, total: float | None, what: str) -> None:
        progress(part + (done / total if total else 0.0), count, f"part {part + 1}: {what}")

    return forward
