"""Describing a clip: beam search over the grammar for the sentences that explain it best.

The search starts with every verb and every choice of nouns, keeps the best, and adds one modifier
at a time.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product

import numpy as np

from wordsight.inference import collect_losses
from wordsight.language import (
    LanguageError,
    Lexicon,
    PartOfSpeech,
    enumerate_sentences,
    sentence_of,
)
from wordsight.meaning.checks import require_clip
from wordsight.meaning.features import Observation
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.tasks.results import Description
from wordsight.meaning.tasks.search import Windows, is_long_video
from wordsight.progress import Progress, report
from wordsight.records import Clip, Sentence, Word

__all__ = ["describe", "describe_moments"]

_Weighed = dict[tuple[Word, ...], tuple[Sentence, float]]

_OF_ONE = (PartOfSpeech.ADVERB, PartOfSpeech.DIRECTION)
_OF_TWO = (PartOfSpeech.SPATIAL_PREPOSITION, PartOfSpeech.MOTION_PREPOSITION)

_NUM_JUDGED = 60
"""Number of the best sentences among which the likeliest true ones are selected."""


def describe(
    lexicon: LearnedLexicon,
    clip: Clip,
    *,
    top: int = 5,
    beam: int = 12,
    max_modifiers: int = 2,
    max_participants: int = 3,
    timed: bool = True,
    surest: bool = False,
) -> list[Description]:
    """Find the sentences that describe a clip best.

    Args:
        lexicon: The words.
        clip: The clip.
        top: Number of sentences to return.
        beam: Number of sentences that are kept from one length to the next.
        max_modifiers: Maximum number of adjectives, adverbs, directions and prepositions.
        max_participants: Maximum number of participants.
        timed: Whether the clip begins and ends with its event.
        surest: Whether to return, of the best, those that are likeliest true in every word, which
            are mostly short; else those that explain the clip best, which contain more.

    Returns:
        Descriptions, best first; none for a clip without detections.
    """
    found = _described(lexicon, clip, top, beam, max_modifiers, max_participants, timed, surest)
    return [description for _, description in found]


def describe_moments(
    lexicon: LearnedLexicon,
    clip: Clip,
    *,
    top: int = 5,
    surest: bool = False,
    windows: Windows | None = None,
    progress: Progress | None = None,
) -> list[Description]:
    """Find the moments of a long video with the likeliest descriptions.

    Args:
        lexicon: The words.
        clip: Any clip; one that is not long is described as a whole.
        top: Number of sentences to return.
        surest: Whether each moment has its likeliest true sentence, instead of the one that
            explains it best, which contains more.
        windows: How long videos are cut; only the longest windows are described.
        progress: Called after every window.

    Returns:
        Descriptions; of a long video one for each moment, the likeliest true first.
    """
    how = windows or Windows()
    if not is_long_video(lexicon, require_clip(clip), how):
        return describe(lexicon, clip, top=top, surest=surest)
    longest = replace(how, lengths=(max(how.lengths),))
    found: list[tuple[float, Description]] = []
    for span in report(longest.spans(clip), progress, "describing"):
        found += _described(lexicon, clip.part(*span), 1, timed=False, surest=surest)
    found.sort(key=lambda one: -one[0])
    return longest.without_overlaps(description for _, description in found)[:top]


def _described(
    lexicon: LearnedLexicon,
    clip: Clip,
    top: int,
    beam: int = 12,
    max_modifiers: int = 2,
    max_participants: int = 3,
    timed: bool = True,
    surest: bool = False,
) -> list[tuple[float, Description]]:
    """Return descriptions as :func:`describe` does, each after its score of truth.

    That score compares across clips, which the descriptions' own scores do not.
    """
    observation = lexicon.observe(clip)
    if not observation.view.present.any():
        return []
    with collect_losses() as losses:
        weighed = _beam_search(lexicon, observation, beam, max_modifiers, max_participants, timed)
        count = max(top, _NUM_JUDGED) if surest else top
        found = _descriptions(lexicon, clip, observation, weighed, count, losses)
    if surest:
        found.sort(key=lambda one: -one[0])
    return found[:top]


def _beam_search(
    lexicon: LearnedLexicon,
    observation: Observation,
    beam: int,
    max_modifiers: int,
    max_participants: int,
    timed: bool,
) -> _Weighed:
    """Return all sentences that were weighed, with their preferences."""
    known = Lexicon(tuple(entry for entry in lexicon.lexicon if entry.name in lexicon.words))
    plain = enumerate_sentences(
        known,
        max_participants=max_participants,
        max_relations=0,
        max_manners=0,
        max_motions=0,
    )
    weighed = _weighed(lexicon, observation, list(plain), timed)
    best = dict(sorted(weighed.items(), key=lambda item: -item[1][1])[:beam])
    for _ in range(max_modifiers):
        longer = {
            s.words: s
            for sentence, _ in best.values()
            for s in _extended(sentence, known, max_participants)
        }
        fresh = [s for words, s in longer.items() if words not in weighed]
        if not fresh:
            break
        grown = _weighed(lexicon, observation, fresh, timed)
        weighed |= grown
        best = dict(sorted(grown.items(), key=lambda item: -item[1][1])[:beam])
    return weighed


def _weighed(
    lexicon: LearnedLexicon, observation: Observation, sentences: list[Sentence], timed: bool
) -> _Weighed:
    values = lexicon.preferences(observation, sentences, timed=timed)
    return {
        sentence.words: (sentence, float(value))
        for sentence, value in zip(sentences, values, strict=True)
        if np.isfinite(value)
    }


def _extended(sentence: Sentence, known: Lexicon, max_participants: int) -> Iterator[Sentence]:
    """Yield the sentence with one more modifier."""
    for words in _additions(sentence, known, max_participants):
        try:
            yield sentence_of((*sentence.words, *words), known)
        except LanguageError:
            continue  # no unambiguous sentence has this meaning


def _additions(
    sentence: Sentence, known: Lexicon, max_participants: int
) -> Iterator[tuple[Word, ...]]:
    used = {word.entry for word in sentence.words}
    participants = range(sentence.num_participants)
    for part in _OF_ONE:
        for entry in known.of_part(part):
            if entry.name not in used:
                yield (Word(entry.name, (0,)),)
    for entry in known.of_part(PartOfSpeech.ADJECTIVE):
        if entry.name not in used:
            yield from ((Word(entry.name, (p,)),) for p in participants)
    for part in _OF_TWO:
        for entry in known.of_part(part, 2):
            if entry.name in used:
                continue
            firsts = participants if part is PartOfSpeech.SPATIAL_PREPOSITION else range(1)
            for first, second in permutations(participants, 2):
                if first in firsts:
                    yield (Word(entry.name, (first, second)),)
            if len(participants) < max_participants:
                new = len(participants)
                for first, noun in product(firsts, known.of_part(PartOfSpeech.NOUN)):
                    if noun.name not in used:
                        yield Word(noun.name, (new,)), Word(entry.name, (first, new))


def _descriptions(
    lexicon: LearnedLexicon,
    clip: Clip,
    observation: Observation,
    weighed: _Weighed,
    top: int,
    losses: list[float],
) -> list[tuple[float, Description]]:
    """Return the best sentences, each after its score of truth."""
    ranked = sorted(weighed.values(), key=lambda pair: -pair[1])
    if not ranked:
        return []
    values = np.array([value for _, value in ranked])
    shares = np.exp(values - values.max())
    shares /= shares.sum()
    chosen = [sentence for sentence, _ in ranked[:top]]
    scores = lexicon.scores(observation, chosen)
    return [
        (
            float(scores[k]),
            Description(
                clip.video_id,
                clip.start,
                clip.end,
                float(values[k]),
                sentence.text,
                bool(scores[k] >= lexicon.threshold),
                float(shares[k]),
                max(losses, default=0.0),
            ),
        )
        for k, sentence in enumerate(chosen)
    ]
