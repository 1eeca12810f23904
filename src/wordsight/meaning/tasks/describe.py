"""Describing a clip: beam search over the grammar for the sentences that explain it best.

The search starts with every verb and every choice of nouns, keeps the best, and adds one modifier
at a time.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

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

_IDLE = 1e-6  # change of preference up to which a modifier is not said

_NUM_JUDGED = 60
"""Number of the best sentences that are judged, of which those held false are left out."""

_NOT_ABSURD = float(np.log(0.02))  # what the sentence that fits best is taken for, at least


def describe(
    lexicon: LearnedLexicon,
    clip: Clip,
    *,
    top: int = 5,
    beam: int = 12,
    max_modifiers: int = 2,
    max_participants: int = 3,
    timed: bool = True,
    only_true: bool = True,
) -> list[Description]:
    """Find the sentences that describe a clip best, of those that are judged true.

    Besides what is seen counts what is usually said: "the bottle stood beside the table" may be as
    true as "the hand put down the bottle", and is not what a person would say.

    Args:
        lexicon: The words.
        clip: The clip.
        top: Number of sentences to return.
        beam: Number of sentences that are kept from one length to the next.
        max_modifiers: Maximum number of adjectives, adverbs, directions and prepositions.
        max_participants: Maximum number of participants.
        timed: Whether the clip begins and ends with its event.
        only_true: Whether to leave out sentences that are judged false, but for the one that fits
            best where it may well be true.

    Returns:
        Descriptions, the best first; none for a clip without detections, or where no sentence may
        be true.
    """
    found = _described(lexicon, clip, top, beam, max_modifiers, max_participants, timed, only_true)
    return [description for _, description in found]


def describe_moments(
    lexicon: LearnedLexicon,
    clip: Clip,
    *,
    top: int = 5,
    windows: Windows | None = None,
    progress: Progress | None = None,
) -> list[Description]:
    """Find the moments of a long video with the likeliest descriptions.

    Args:
        lexicon: The words.
        clip: Any clip; one that is not long is described as a whole.
        top: Number of sentences to return.
        windows: How long videos are cut; only the longest windows are described.
        progress: Called after every window.

    Returns:
        Descriptions; of a long video one for each moment, the likeliest true first.
    """
    how = windows or Windows.of(lexicon)
    if not is_long_video(lexicon, require_clip(clip), how):
        return describe(lexicon, clip, top=top)
    longest = replace(how, lengths=(max(how.lengths),))
    found: list[tuple[float, Description]] = []
    for span in report(longest.spans(clip), progress, "describing"):
        found += _described(lexicon, clip.part(*span), 1, timed=False)
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
    only_true: bool = True,
) -> list[tuple[float, Description]]:
    """Return descriptions as :func:`describe` does, each after its score of truth.

    That score compares across clips, which the descriptions' own scores do not.
    """
    observation = lexicon.observe(clip)
    if not observation.view.present.any():
        return []
    with collect_losses() as losses:
        weighed = _beam_search(lexicon, observation, beam, max_modifiers, max_participants, timed)
        found = _descriptions(lexicon, clip, observation, weighed, losses, only_true)
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
        longer: _Weighed = {}  # with the preference of what they extend
        for sentence, value in best.values():
            for s in _extended(sentence, known, max_participants):
                longer.setdefault(s.words, (s, value))
        fresh = [s for words, (s, _) in longer.items() if words not in weighed]
        if not fresh:
            break
        grown = _weighed(lexicon, observation, fresh, timed)
        # A modifier that explains nothing more, such as one of a thing that is not seen, is idle.
        grown = {w: pair for w, pair in grown.items() if abs(pair[1] - longer[w][1]) > _IDLE}
        weighed |= grown
        best = dict(sorted(grown.items(), key=lambda item: -item[1][1])[:beam])
    return weighed


def _weighed(
    lexicon: LearnedLexicon,
    observation: Observation,
    sentences: list[Sentence],
    timed: bool,
) -> _Weighed:
    values = lexicon.preferences(observation, sentences, timed=timed)
    sayings = lexicon.calibration.sayings
    return {
        sentence.words: (
            sentence,
            float(value) + sayings.of_roles(sentence, lexicon.lexicon),
        )
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
            # What the sentence has named already would be named a second time.
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
    losses: list[float],
    only_true: bool,
) -> list[tuple[float, Description]]:
    """Return the best sentences, each after its score of truth."""
    ranked = sorted(weighed.values(), key=lambda pair: -pair[1])
    if not ranked:
        return []
    values = np.array([value for _, value in ranked])
    shares = np.exp(values - values.max())
    shares /= shares.sum()
    chosen = [sentence for sentence, _ in ranked[:_NUM_JUDGED]]
    scores = lexicon.scores(observation, chosen)
    least = min(lexicon.threshold, _NOT_ABSURD) if lexicon.belief else lexicon.threshold
    return [
        (
            float(scores[k]),
            Description(
                clip.video_id,
                clip.start,
                clip.end,
                float(values[k]),
                sentence.text,
                float(shares[k]),
                max(losses, default=0.0),
                bool(scores[k] < lexicon.threshold),
            ),
        )
        for k, sentence in enumerate(chosen)
        if not only_true or scores[k] >= (lexicon.threshold if k else least)
    ]
