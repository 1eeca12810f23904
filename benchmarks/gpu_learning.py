"""Learning words on a device beside the processor: the same objective and the same words.

Clips are loose detections of things that stand about while a person walks up to one of them or away
from it, so that tracks and words are solved together in the lattice. Sentences come parsed, and
nothing is read or decoded: numpy, scipy and torch are all this needs.
"""

import time

import numpy as np

from wordsight.inference.numba_support import numba_available
from wordsight.language import parse_lexicon
from wordsight.meaning import LearnedLexicon, TrainingSettings, WordLearner
from wordsight.meaning.training.learner import prepare_training
from wordsight.meaning.training.trainer import Trainer
from wordsight.records import Clip, Detections, Sentence, Word

__all__ = ["measure_learning"]

THINGS = ("person", "ball", "crate", "lamp", "stool", "plant")
LEXICON = parse_lexicon(
    "".join(f"{thing} : noun\n" for thing in THINGS)
    + "approached : verb (agent, goal)\nleft : verb (agent, source)\n"
    + "near : spatial-preposition : near\n"
)
SETTINGS = TrainingSettings(
    restarts=1,
    choose_by="likelihood",
    tempered_iterations=3,
    iterations=3,
    durations=False,
    belief=False,
    calibrated=False,
    discriminative=None,
)
_FRAMES, _RATE = 36, 6.0


def measure_learning(name: str, *, quick: bool) -> dict[str, float | str]:
    """Learn from a few clips on both, then from many on the device.

    Args:
        name: Of the device, as ``--device`` takes it.
        quick: Whether few clips do.
    """
    few, many = (12, 24) if quick else (36, 1024)
    clips, said, candidates = _corpus(few, 0)
    begun = time.perf_counter()
    here = _learned(clips, said, candidates, None)
    on_processor = time.perf_counter() - begun
    there = _learned(clips, said, candidates, name)
    return {
        "learn_objective_gap": _history_gap(here, there),
        "learn_words_gap": _words_gap(here.lexicon_, there.lexicon_),
        "learn_cpu_s": on_processor,
        "learn_cpu": "compiled, one core" if numba_available() else "plain numpy",
        "learn_clips": float(many),
        "learn_clips_per_s": _rate(name, many),
    }


def _learned(
    clips: list[Clip], said: list[Sentence], candidates: list[list[Sentence]], device: str | None
) -> WordLearner:
    learner = WordLearner(SETTINGS, device=device)
    return learner.fit(clips, said, lexicon=LEXICON, candidates=candidates)


def _rate(name: str, count: int) -> float:
    """Return the clips a second of an EM iteration, with all that a processor does around it."""
    clips, said, candidates = _corpus(count, 1)
    sentences = [[one] for one in said]
    corpus, blank = prepare_training(clips, sentences, LEXICON, SETTINGS, candidates=candidates)
    training = Trainer(corpus, blank, SETTINGS, device=name)
    try:
        seconds = []
        for _ in range(5):
            begun = time.perf_counter()
            training.step()
            seconds.append(time.perf_counter() - begun)
        return count / min(seconds[2:])
    finally:
        training.close()


def _history_gap(one: WordLearner, other: WordLearner) -> float:
    """Return the largest relative difference of the objective after any iteration."""
    first, second = np.array(one.histories_[0]), np.array(other.histories_[0])
    return float(np.abs((first - second) / first).max())


def _words_gap(one: LearnedLexicon, other: LearnedLexicon) -> float:
    """Return the largest difference of any probability of any word."""
    return max(
        float(np.abs(a - b).max())
        for entry in one.words
        for a, b in zip(
            (*one[entry].emissions, one[entry].transition),
            (*other[entry].emissions, other[entry].transition),
            strict=True,
        )
    )


def _corpus(count: int, seed: int) -> tuple[list[Clip], list[Sentence], list[list[Sentence]]]:
    rng = np.random.default_rng(seed)
    clips, said, candidates = [], [], []
    for number in range(count):
        verb = ("approached", "left")[number % 2]
        goal, beside = (str(thing) for thing in rng.permutation(THINGS[1:])[:2])
        clips.append(_clip(verb, goal, beside, rng))
        third = beside if number % 4 < 2 else None
        other = ("left", "approached")[number % 2]
        said.append(_sentence(verb, goal, third))
        candidates.append([said[-1], _sentence(other, goal, third)])
    return clips, said, candidates


def _sentence(verb: str, goal: str, beside: str | None) -> Sentence:
    words = [Word("person", (0,)), Word(verb, (0, 1)), Word(goal, (1,))]
    if beside is not None:
        words += [Word("near", (1, 2)), Word(beside, (2,))]
    text = f"The person {verb} the {goal}" + (f" near the {beside}." if beside else ".")
    return Sentence(text, tuple(words))


def _clip(verb: str, goal: str, beside: str, rng: np.random.Generator) -> Clip:
    at = {thing: rng.uniform((80, 200), (560, 400)) for thing in THINGS}
    at[beside] = at[goal] + rng.uniform(-60, 60, 2)
    run = np.clip((np.arange(_FRAMES) / _FRAMES - 0.25) / 0.5, 0, 1)[:, None]
    away = 1 - run if verb == "approached" else run
    side = np.array([rng.choice([-1.0, 1.0]), 0.0])
    where = np.stack([np.tile(at[thing], (_FRAMES, 1)) for thing in THINGS], axis=1)
    where[:, 0] = at[goal] + side * (50 + 200 * away)
    where = where + rng.normal(0, 0.5, where.shape)
    half = np.stack([np.array((20.0, 30.0)) + 5 * number for number in range(len(THINGS))])
    shape = where.shape[:2]
    seen = Detections(
        times=np.arange(_FRAMES) / _RATE,
        boxes=np.concatenate([where - half, where + half], axis=2),
        scores=np.full(shape, 0.9),
        labels=np.broadcast_to(np.arange(len(THINGS)), shape),
        mask=np.ones(shape, dtype=bool),
        label_names=THINGS,
        frame_size=(640, 480),
    )
    return Clip("clip", 0.0, _FRAMES / _RATE, seen)
