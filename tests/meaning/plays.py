"""Little plays with known meaning: a person and things, as clips of boxes."""

import numpy as np

from wordsight.language import parse_lexicon
from wordsight.records import Clip, Detections

LEXICON = parse_lexicon(
    """
    person    : noun
    ball      : noun
    crate     : noun
    lifted    : verb (agent, patient)
    lowered   : verb (agent, patient)
    approached: verb (agent, goal)
    waited    : verb (agent)
    quickly   : adverb
    left-of   : spatial-preposition : left of
    """.replace("\n    ", "\n")
)
LABELS = ("person", "ball", "crate", "lamp")
SIZES = {"person": (40, 120), "ball": (20, 20), "crate": (50, 40), "lamp": (15, 60)}


def boxes_around(centres, name):
    """``(T, 4)`` boxes of a thing's size around ``(T, 2)`` centres."""
    half = np.array(SIZES[name]) / 2
    return np.concatenate([centres - half, centres + half], axis=1)


def paths(verb, patient, rng, frames):
    """Where everything is in each frame, ``(T, 2)`` per thing."""
    run = np.clip((np.arange(frames) / frames - 0.25) / 0.5, 0, 1)[:, None]
    still = np.zeros((frames, 1))
    at = {name: np.array([rng.uniform(80, 560), rng.uniform(250, 330)]) for name in LABELS}
    where = {name: at[name] + still * np.ones(2) for name in LABELS}
    other = {"ball": "crate", "crate": "ball"}[patient]
    where[other] = where[other] + np.array([0.0, 60.0])
    goal = at[patient]
    if verb == "approached":
        side = rng.choice([-1, 1])
        far = goal + np.array([side * 250.0, 0])
        near = goal + np.array([side * 60.0, 0])
        where["person"] = far + run * (near - far)
    elif verb in ("lifted", "lowered"):
        up = np.array([0.0, -110.0])
        share = run if verb == "lifted" else 1 - run
        where[patient] = goal + share * up
        where["person"] = goal + np.array([-35.0, -20.0]) + still
    return where


def play(verb, patient="ball", *, seed=0, frames=24, rate=12.0, jitter=0.4, tracked=True):
    """One clip in which the person does something with the patient.

    Detections come in another order in every frame; only identities tell them apart.
    """
    rng = np.random.default_rng(seed)
    where = paths(verb, patient, rng, frames)
    boxes = np.stack([boxes_around(where[name], name) for name in LABELS], axis=1)
    boxes = boxes + rng.normal(0, jitter, (frames, len(LABELS), 1))
    labels = np.broadcast_to(np.arange(len(LABELS)), (frames, len(LABELS)))
    order = np.stack([rng.permutation(len(LABELS)) for _ in range(frames)])
    rows = np.arange(frames)[:, None]
    seen = Detections(
        times=np.arange(frames) / rate,
        boxes=boxes[rows, order],
        scores=np.full(labels.shape, 0.9),
        labels=labels[rows, order],
        mask=np.ones(labels.shape, dtype=bool),
        label_names=LABELS,
        frame_size=(640, 480),
        ids=order if tracked else None,
    )
    return Clip("play", 0.0, frames / rate, seen)


def said(verb, patient="ball"):
    """The sentence that is true of a play."""
    if verb == "waited":
        return "The person waited."
    return f"The person {verb} the {patient}."


def troupe(count=24, *, seed=0, tracked=True, frames=24, verbs=("lifted", "lowered", "approached")):
    """Many plays, and what is said of them."""
    rng = np.random.default_rng(seed)
    clips, sentences = [], []
    for number in range(count):
        verb, patient = verbs[number % len(verbs)], ("ball", "crate")[number // len(verbs) % 2]
        clips.append(
            play(verb, patient, seed=int(rng.integers(1 << 30)), tracked=tracked, frames=frames)
        )
        sentences.append(said(verb, patient))
    return clips, sentences


def choices(verbs=("lifted", "lowered", "approached")):
    """All sentences that might be said of a play."""
    return [said(verb, patient) for verb in verbs for patient in ("ball", "crate")]


def film(parts, tracked, *, new_faces=False):
    """One long clip of several plays, one after the other; with new faces in each, if told."""
    clips = [play(verb, patient, seed=n, tracked=True) for n, (verb, patient) in enumerate(parts)]
    seen = [clip.detections for clip in clips]
    names = ("boxes", "scores", "labels", "mask", "ids")
    arrays = {name: np.concatenate([getattr(s, name) for s in seen]) for name in names}
    times = np.concatenate([s.times + 2.0 * n for n, s in enumerate(seen)])
    if new_faces:
        arrays["ids"] = np.concatenate([s.ids + 10 * n for n, s in enumerate(seen)])
    if not tracked:
        arrays["ids"] = None
    whole = Detections(times=times, label_names=LABELS, frame_size=(640, 480), **arrays)
    return Clip("film", 0.0, 2.0 * len(parts), whole)
