"""Tasks on one clip: scoring, choosing, tracking and explaining sentences.

Each function takes a learned lexicon and a clip; :class:`LearnedLexicon` has them as methods.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError
from wordsight.inference import collect_losses
from wordsight.language import PartOfSpeech
from wordsight.meaning.checks import SentenceLike
from wordsight.meaning.features import Observation, Slot
from wordsight.meaning.features.columns import runs
from wordsight.meaning.features.observation import Layout
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.model.wording import statement, typical_bin
from wordsight.meaning.scoring.scorer import BestPath, make_scorer
from wordsight.meaning.tasks.results import (
    LivingWord,
    SentenceExplanation,
    SentenceScore,
    TrackedSentence,
    WordTime,
)
from wordsight.records import Clip, Sentence, Track, Word

__all__ = ["choose", "evidence_of", "explain", "living_sentence", "score", "score_all", "track"]

Array = NDArray[np.float64]

_FAILING = 0.25
"""A word fails in frames with less than this share of the evidence typical of it."""

_NOUN = PartOfSpeech.NOUN
_HARDLY_EVER = 1e-6  # weight of what is unseen where things that are seen must be taken
_INSISTS = 8  # times that a noun is said again there
_LIT = 0.5  # belief from which on a word counts as true
_AROUND = 0.2  # seconds on both sides over which the fit of frames is averaged
_PIECE = re.compile(r"\s*[^\s]+")


def score(lexicon: LearnedLexicon, clip: Clip, sentence: SentenceLike) -> SentenceScore:
    """Score how well a sentence fits a clip, and judge whether it is true."""
    return score_all(lexicon, clip, [sentence])[0]


def score_all(
    lexicon: LearnedLexicon, clip: Clip, sentences: Sequence[SentenceLike]
) -> list[SentenceScore]:
    """Score several sentences about one clip with shared inference."""
    parsed = lexicon.sentences(sentences)
    observation = lexicon.observe(clip)
    scorer = lexicon.scorer(observation)
    with collect_losses() as losses:
        ratios = lexicon.log_ratios(observation, parsed, scorer)
        scores = lexicon.scores(observation, parsed, scorer)
    preferences = lexicon.calibrated(ratios, parsed, observation.duration)
    # Without detections no sentence is true, whatever the threshold.
    detected = bool(observation.view.present.any())
    return [
        SentenceScore(
            clip.video_id,
            clip.start,
            clip.end,
            float(scores[k]),
            sentence.text,
            bool(scores[k] >= lexicon.threshold) and detected,
            float(ratios[k]),
            float(preferences[k]),
            max(losses, default=0.0),
        )
        for k, sentence in enumerate(parsed)
    ]


def choose(lexicon: LearnedLexicon, clip: Clip, candidates: Sequence[SentenceLike]) -> int:
    """Return the index of the sentence that describes a clip best."""
    if not candidates:
        raise MeaningError("there is nothing to choose from: no sentences were given.")
    observation = lexicon.observe(clip)
    return int(np.argmax(lexicon.preferences(observation, lexicon.sentences(candidates))))


def track(lexicon: LearnedLexicon, clip: Clip, sentence: SentenceLike) -> TrackedSentence:
    """Find the best track of every participant, and the states of every word.

    A clip without detections gives tracks without boxes. Where a sentence is not true because the
    thing that is seen does something else, that thing is followed.
    """
    parsed = lexicon.sentence(sentence)
    observation = lexicon.observe(clip)
    scored = score(lexicon, clip, parsed)
    with collect_losses() as losses:
        path, words = _best_explanation(lexicon, observation, parsed, holds=scored.holds)
    tracks = tuple(
        _track(lexicon, observation, parsed, path, p) for p in range(parsed.num_participants)
    )
    return TrackedSentence(
        clip.video_id,
        clip.start,
        clip.end,
        scored.score,
        parsed,
        observation.view.times,
        tracks,
        words,
        max(*losses, scored.lost_mass, 0.0),
    )


def explain(lexicon: LearnedLexicon, clip: Clip, sentence: SentenceLike) -> SentenceExplanation:
    """Explain which word fits when, and which one fits least."""
    parsed = lexicon.sentence(sentence)
    observation = lexicon.observe(clip)
    scored = score(lexicon, clip, parsed)
    with collect_losses() as losses:
        _, words = _best_explanation(lexicon, observation, parsed, holds=scored.holds)
    weakest = min(words, key=lambda word: word.fit)
    return SentenceExplanation(
        clip.video_id,
        clip.start,
        clip.end,
        scored.score,
        parsed.text,
        observation.view.times,
        words,
        weakest.word,
        weakest.failing,
        weakest.reason,
        max(*losses, scored.lost_mass, 0.0),
    )


def evidence_of(
    lexicon: LearnedLexicon, observation: Observation, sentence: Sentence
) -> tuple[WordTime, ...]:
    """Return the evidence of every word under the best explanation of a clip."""
    return _best_explanation(lexicon, observation, sentence)[1]


def _best_explanation(
    lexicon: LearnedLexicon, observation: Observation, sentence: Sentence, *, holds: bool = True
) -> tuple[BestPath | None, tuple[WordTime, ...]]:
    """Return the best path of a sentence, and the evidence of its words along it.

    The best path of a false sentence may leave out a thing that does not do what is said, as if it
    were unseen, or take another. The reason why the sentence fails is then what that thing does.
    """
    if not observation.num_frames:
        empty = np.zeros(0)
        states = empty.astype(np.int64)
        return None, tuple(WordTime(str(w), states, empty, empty) for w in sentence.words)
    path = lexicon.scorer(observation).best_path(sentence)
    if not holds:
        path = _with_what_is_seen(lexicon, observation, sentence, path)
    words: list[WordTime] = []
    for number, word in enumerate(sentence.words):
        states = path.states[:, number]
        logs = lexicon.tables[word.entry].logs(observation)
        objects = tuple(path.objects[:, p] for p in word.participants)
        evidence = logs[(np.arange(len(states)), *objects, states)]
        typical = _typical_evidence(lexicon, word.entry)[states]
        failing = _longest_failure(evidence, typical)
        if failing is None:
            words.append(WordTime(str(word), states, evidence, typical))
            continue
        times = observation.view.times
        span = float(times[failing[0]]), float(times[failing[1] - 1])
        reason = _reason(lexicon, observation, sentence, word, states, objects, failing)
        words.append(WordTime(str(word), states, evidence, typical, span, reason))
    return path, tuple(words)


def _with_what_is_seen(
    lexicon: LearnedLexicon, observation: Observation, sentence: Sentence, path: BestPath
) -> BestPath:
    """Return the best path of things that nouns fit, if there are any for all participants."""
    named = [(n, w) for n, w in enumerate(sentence.words) if lexicon[w.entry].part is _NOUN]
    unseen = (path.objects == observation.num_objects - 1).any(axis=0)
    if not unseen.any() and _nouns_fit(lexicon, observation, named, path):
        return path
    # Nouns that are said more than once weigh more than what the others say.
    insisting = replace(sentence, words=(*sentence.words, *_INSISTS * [w for _, w in named]))
    prior = replace(lexicon.track_prior, unseen=_HARDLY_EVER)
    found = make_scorer(observation, lexicon.tables, prior).best_path(insisting)
    other = replace(found, states=found.states[:, : len(sentence.words)])
    return other if _nouns_fit(lexicon, observation, named, other) else path


def _nouns_fit(
    lexicon: LearnedLexicon,
    observation: Observation,
    named: Sequence[tuple[int, Word]],
    path: BestPath,
) -> bool:
    """Return whether nouns fit the things of a path, which are seen most of the time."""
    for number, word in named:
        things = path.objects[:, word.participants[0]]
        seen = np.flatnonzero(things != observation.num_objects - 1)
        logs = lexicon.tables[word.entry].logs(observation)
        if 2 * len(seen) < len(things):
            return False
        if logs[seen, things[seen], path.states[seen, number]].mean() <= 0:
            return False
    return True


def living_sentence(lexicon: LearnedLexicon, tracked: TrackedSentence) -> tuple[LivingWord, ...]:
    """Return the pieces of a sentence with how true each is in every frame.

    A word of several states, such as "approached", becomes true step by step: in each frame it
    counts how far it has come, times how well the frame fits.

    Args:
        lexicon: The words.
        tracked: The sentence and its best explanation, as :func:`track` returns them.
    """
    pieces = _PIECE.findall(tracked.sentence.text)
    places = _places(pieces, [word.entry for word in tracked.sentence.words])
    living = []
    for piece, place in zip(pieces, places, strict=True):
        if place is None:
            living.append(LivingWord(piece))
            continue
        word, known = tracked.sentence.words[place], tracked.words[place]
        belief = _belief(lexicon, word.entry, known, tracked.times)
        lit = runs(belief >= _LIT)
        begins = float(tracked.times[lit[0][0]]) if lit else None
        more = (belief, begins, known.failing, known.reason)
        living.append(LivingWord(piece, known.word, word.participants[0], *more))
    return tuple(living)


def _belief(lexicon: LearnedLexicon, entry: str, known: WordTime, times: Array) -> Array:
    if not len(times):
        return np.zeros(0)
    share = np.clip(known.evidence / np.maximum(known.typical, 0.1), -1.0, 1.0)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    width = min(len(times), 1 + 2 * round(_AROUND / max(step, 1e-6)))
    weights = np.convolve(np.ones(len(times)), np.ones(width), mode="same")
    fits = np.clip(np.convolve(share, np.ones(width), mode="same") / weights, 0.0, 1.0)
    model = lexicon[entry]
    if model.num_states > 1 and np.allclose(np.tril(model.transition, -1), 0.0):
        fits = fits * (known.states % model.num_phases + 1) / model.num_phases
    return fits


def _places(pieces: Sequence[str], entries: Sequence[str]) -> list[int | None]:
    """Return for every piece of a text the number of the word it belongs to."""
    letters = [re.sub(r"\W+", "", piece).lower() for piece in pieces]
    places: list[int | None] = [None] * len(pieces)
    for number, entry in enumerate(entries):
        parts = [part for part in re.split(r"[\W_]+", entry.lower()) if part]
        for exact in (True, False):  # "carries" is a form of "carried"
            found = next(
                (
                    first
                    for first in range(len(pieces) - len(parts) + 1)
                    if all(
                        places[first + n] is None and _alike(letters[first + n], part, exact)
                        for n, part in enumerate(parts)
                    )
                ),
                None,
            )
            if found is not None:
                places[found : found + len(parts)] = [number] * len(parts)
                break
    return places


def _alike(letters: str, part: str, exact: bool) -> bool:
    return letters == part or (not exact and len(part) > 3 and letters[:4] == part[:4])


def _reason(
    lexicon: LearnedLexicon,
    observation: Observation,
    sentence: Sentence,
    word: Word,
    states: NDArray[np.int64],
    objects: Sequence[NDArray[np.int64]],
    failing: tuple[int, int],
) -> str:
    """Say in plain words why a word fails in some frames: what is seen, and what it expects."""
    frames = np.arange(*failing)
    nouns = [_noun(lexicon, sentence, participant) for participant in word.participants]
    things = [f"the {noun}" if noun != "something" else noun for noun in nouns]
    for thing, chosen in zip(things, objects, strict=True):
        if (chosen[frames] == observation.num_objects - 1).mean() > 0.5:
            return f"{thing} is not seen"
    model = lexicon[word.entry]
    state = int(np.bincount(states[frames]).argmax())
    worst, why = 0.0, ""
    for number, (slot, table) in enumerate(zip(model.slots, model.emissions, strict=True)):
        bins = _bins_of(lexicon, observation, slot, [objects[role] for role in slot.roles])[frames]
        if (bins < 0).all():
            continue
        usual = lexicon.background[slot.feature]
        ratios = np.log(table + 1e-12) - np.log(usual + 1e-12)
        evidence = np.where(bins < 0, 0.0, ratios[states[frames], bins]).mean()
        seen, wanted = int(np.bincount(bins[bins >= 0]).argmax()), 0
        wanted = typical_bin(lexicon, word.entry, number, state)
        texts = [statement(lexicon, slot, one, things) for one in (seen, wanted)]
        if evidence < worst and texts[0] != texts[1]:
            worst, why = float(evidence), f"{texts[0]}; expected: {texts[1]}"
    return why


def _bins_of(
    lexicon: LearnedLexicon,
    observation: Observation,
    slot: Slot,
    objects: Sequence[NDArray[np.int64]],
) -> NDArray[np.int64]:
    """Return ``(T,)`` the bin of a feature of the objects of a path, -1 where not measured."""
    single = len(slot.roles) == 1
    names = lexicon.vocabulary.singles if single else lexicon.vocabulary.pairs
    if slot.feature not in names:
        return np.full(observation.num_frames, -1)
    row = names.index(slot.feature)
    start = int(Layout.of(names, lexicon.vocabulary).starts[row]) + 1
    positions = (observation.singles if single else observation.pairs)[row]
    return np.asarray(positions[(np.arange(observation.num_frames), *objects)] - start)


def _track(
    lexicon: LearnedLexicon,
    observation: Observation,
    sentence: Sentence,
    path: BestPath | None,
    participant: int,
) -> Track:
    clip = observation.view.clip
    frames, boxes, scores, observed = _boxes_of(clip, observation, path, participant)
    times = clip.times[frames]
    return Track(
        clip.video_id,
        float(times[0]) if len(times) else clip.start,
        float(times[-1]) if len(times) else clip.start,
        float(scores[observed].mean()) if observed.any() else 0.0,
        times,
        boxes,
        scores,
        observed,
        _noun(lexicon, sentence, participant),
        participant,
    )


def _boxes_of(
    clip: Clip, observation: Observation, path: BestPath | None, participant: int
) -> tuple[NDArray[np.int64], Array, Array, NDArray[np.bool_]]:
    """Return the frames, boxes and scores of a participant, and which boxes were detected.

    Columns that follow identities have boxes between the sampled frames too.
    """
    if path is None:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 4)), np.zeros(0), np.zeros(0, dtype=bool)
    view, objects = observation.view, path.objects[:, participant]
    if view.participants == "boxes":
        indices = view.indices[np.arange(len(view.frames)), objects]
        frames, indices = view.frames[indices >= 0], indices[indices >= 0]
        boxes, scores = clip.boxes[frames, indices], clip.scores[frames, indices]
        return frames, boxes, scores, np.ones(len(frames), dtype=bool)
    columns = view.all_columns()
    nearest = np.abs(np.arange(len(clip))[:, None] - view.frames).argmin(axis=1)
    chosen = view.columns[objects[nearest]]
    frames = np.flatnonzero(objects[nearest] < observation.num_objects - 1)
    frames = frames[columns.present[frames, chosen[frames]]]
    at = (frames, chosen[frames])
    detected = columns.indices[at] >= 0
    known = clip.boxes[frames, columns.indices[at]]
    boxes = np.where(detected[:, None], known, columns.boxes[at])
    scores = np.where(detected, clip.scores[frames, columns.indices[at]], 0.0)
    return frames, boxes, scores, detected


def _noun(lexicon: LearnedLexicon, sentence: Sentence, participant: int) -> str:
    for word in sentence.words:
        if word.participants == (participant,) and lexicon[word.entry].part is PartOfSpeech.NOUN:
            return word.entry
    return "something"


def _typical_evidence(lexicon: LearnedLexicon, entry: str) -> Array:
    """Return ``(I,)`` the mean log ratio of each state where the word is true."""
    word = lexicon[entry]
    total = np.zeros(word.num_states)
    for slot, table in zip(word.slots, word.emissions, strict=True):
        background = lexicon.background[slot.feature]
        total += (table * (np.log(table + 1e-12) - np.log(background + 1e-12))).sum(axis=1)
    return total


def _longest_failure(evidence: Array, typical: Array) -> tuple[int, int] | None:
    """Return the first and the last frame but one of the longest run in which a word fails."""
    failing = runs(evidence < _FAILING * typical)
    return max(failing, key=lambda run: run[1] - run[0]) if failing else None
