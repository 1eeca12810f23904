"""Judge words on clips: forced choice and truth, beside guessing, over all and word by word."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from wordsight.evaluation import (
    FrequencyGuesser,
    blind_f1_of_counts,
    choice_credit,
    estimate_difference,
    estimate_mean,
    estimate_ratio,
)
from wordsight.language import Lexicon
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.model.quality import HeldOut, WordQuality
from wordsight.meaning.tasks.rivals import ForcedChoice
from wordsight.records import Sentence, Word

__all__ = ["JudgedChoice", "held_out_quality", "judge_choices", "word_quality"]

NO_BETTER = "no better than guessing"
"""The remark of words that are preferred as often where they are false as where they are true."""

_FEW = 5  # choices; of a word with fewer nothing is said


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
    """

    asked: ForcedChoice
    chosen: int
    guessed: int
    credit: float
    blind_credit: float
    held: tuple[bool, ...]


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
    guesser: FrequencyGuesser[tuple[Word, ...]] = FrequencyGuesser()
    for one in known:
        guesser.fit([[sentence.words for sentence in one.candidates]], [one.truth])
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
            )
        )
    return found


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
    true_of: Counter[tuple[Word, ...]] = Counter(one.asked.true.words for one in answers)
    asked_of: Counter[tuple[Word, ...]] = Counter(
        sentence.words for one in answers for sentence in one.asked.candidates
    )
    rate = len(answers) / asked_of.total()
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
        blind_f1_of_counts(
            [true_of[words] for words in asked_of],
            [count - true_of[words] for words, count in asked_of.items()],
        ),
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
