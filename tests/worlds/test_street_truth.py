"""Truth against what physics and bodies did, without using the code that decides truth."""

from itertools import pairwise

import numpy as np
import pytest

from wordsight.language import parse
from wordsight.records import Sentence, Word
from wordsight.worlds import WorldError
from wordsight.worlds.street import street_sentences
from wordsight.worlds.street.people import JOINTS

HAND, PELVIS = JOINTS.index("near_hand"), JOINTS.index("pelvis")
MIRRORS = {
    "picked-up": "put-down",
    "put-down": "picked-up",
    "towards": "away-from",
    "away-from": "towards",
    "to-the-left-of": "to-the-right-of",
    "to-the-right-of": "to-the-left-of",
    "quickly": "slowly",
    "slowly": "quickly",
}


def grips(film):
    """Yield person, thing and frames of everything that is held for a while."""
    recording = film.truth.recording
    for thing, row in enumerate(recording.holders):
        for person in range(len(recording.people)):
            frames = np.flatnonzero(row == person)
            if len(frames) > 3:
                yield person, thing, frames


def mirrored(sentence):
    """Yield the sentence with one word turned into its opposite."""
    for at, word in enumerate(sentence.words):
        if word.entry in MIRRORS:
            words = list(sentence.words)
            words[at] = Word(MIRRORS[word.entry], word.participants)
            yield Sentence("", tuple(words))


def test_held_things_stay_in_the_hand(corpus):
    for film in corpus:
        recording = film.truth.recording
        for person, thing, frames in grips(film):
            prop = recording.scenario.props[thing]
            x, y, angle = recording.places[thing, frames].T
            grip = np.stack([x - prop.grip * np.sin(angle), y + prop.grip * np.cos(angle)], axis=1)
            hand = recording.joints[person, frames, HAND]
            assert np.abs(grip - hand).max() < 0.12, film.name


def test_boxes_of_held_things_move_with_the_hand(corpus):
    for film in corpus:
        recording = film.truth.recording
        view = recording.scenario.place.view
        for person, thing, frames in grips(film):
            box = film.truth.boxes[recording.things[thing]][frames]
            hand = view.pixels(recording.joints[person, frames, HAND])
            # Beyond the edge of the picture boxes are cut; shake moves boxes, not metres.
            inside = (box[:, 0] > 0) & (box[:, 2] < 640)
            offset = (box[:, :2] + box[:, 2:])[inside] / 2 - hand[inside]
            assert len(offset) == 0 or np.ptp(offset, axis=0).max() < 40


def test_what_is_picked_up_rises_with_the_hand_and_what_is_put_down_sinks(corpus):
    seen = set()
    for film in corpus:
        recording = film.truth.recording
        for event in film.truth.events:
            if event.verb not in ("picked-up", "put-down"):
                continue
            sign = 1 if event.verb == "picked-up" else -1
            thing = recording.things.index(event.patient)
            person = recording.people.index(event.agent)
            frames = np.arange(event.span.first, event.span.last + 1)
            held = frames[recording.holders[thing, frames] == person]
            hand = recording.joints[person, held, HAND, 1]
            assert (
                sign
                * (recording.places[thing, frames[-1], 1] - recording.places[thing, frames[0], 1])
                > 0.3
            )
            assert sign * (hand[-1] - hand[0]) > 0.3
            boxes = film.truth.boxes[event.patient]
            assert sign * (boxes[frames[0], 3] - boxes[frames[-1], 3]) > 25  # rows grow downwards
            seen.add(event.verb)
    assert seen == {"picked-up", "put-down"}


def test_things_nobody_holds_lie_on_the_ground_or_fall_to_it(corpus):
    for film in corpus:
        recording = film.truth.recording
        for row, places in zip(recording.holders, recording.places, strict=True):
            recently = np.convolve(row >= 0, np.ones(8), mode="full")[: len(row)] > 0
            assert np.abs(places[~recently, 1]).max(initial=0.0) < 0.02
            assert places[:, 1].min() > -0.02
            assert np.abs(places[~recently, 2]).max(initial=0.0) < 0.1


def test_things_on_the_ground_do_not_overlap(corpus):
    for film in corpus:
        recording = film.truth.recording
        standing = [
            (places[0, 0], prop.width)
            for prop, places, row in zip(
                recording.scenario.props, recording.places, recording.holders, strict=True
            )
            if row[0] < 0
        ]
        standing.sort()
        for (x1, w1), (x2, w2) in pairwise(standing):
            assert x2 - x1 > (w1 + w2) / 2


def test_people_who_approach_come_nearer_in_the_picture(corpus):
    for film in corpus:
        for event in film.truth.events:
            if event.verb == "approached":
                boxes = [film.truth.boxes[name] for name in (event.agent, event.patient)]
                middles = [(box[:, 0] + box[:, 2]) / 2 for box in boxes]
                gap = np.abs(middles[0] - middles[1])
                assert gap[event.span.last] < gap[event.span.first] - 40


@pytest.mark.slow
def test_quick_and_slow_movements_do_not_meet(corpus):
    peaks = {"quickly": [], "slowly": []}
    for film in corpus:
        recording = film.truth.recording
        for event in film.truth.events:
            if event.agent not in recording.people:
                continue
            pelvis = recording.joints[recording.people.index(event.agent), :, PELVIS]
            head = recording.joints[recording.people.index(event.agent), :, 0]
            span = slice(event.span.first, event.span.last + 1)
            steps = np.diff((pelvis + head)[span] / 2, axis=0) * recording.frame_rate
            peak = float(np.hypot(*steps.T).max())
            name = event.agent
            told = [word for word in peaks if _manner(film, event, word)]
            assert len(told) == 1, (film.name, name)
            peaks[told[0]].append(peak)
    assert max(peaks["slowly"]) < 1.1 < 1.4 < min(peaks["quickly"])


def _manner(film, event, word):
    return any(fact == [word, event.agent] for fact in _record_of(film, event)["facts"])


def _record_of(film, event):
    return next(
        told
        for told in film.truth.record()["events"]
        if (told["verb"], told["agent"], told["patient"], told["frames"])
        == (event.verb, event.agent, event.patient, [event.span.first, event.span.last])
    )


@pytest.mark.slow
def test_mirrors_of_true_sentences_are_false_unless_both_happen(corpus):
    checked = 0
    for film in corpus[:30]:
        kinds = film.truth.kinds
        if len(set(kinds.values())) < len(kinds):
            continue  # the opposite may be true of a namesake
        happened = [(event.verb, event.agent, event.patient) for event in film.truth.events]
        both = {("picked-up", *pair[1:]) for pair in happened if pair[0] == "put-down"}
        if len(set(happened)) < len(happened) or both & set(happened):
            continue  # the opposite may truly happen as well
        for sentence in film.truth.true_sentences(max_participants=3):
            for opposite in mirrored(sentence):
                assert not film.truth.holds(opposite), (film.name, sentence.text, opposite.meaning)
                checked += 1
    assert checked > 300


def test_nothing_but_people_acts_and_nobody_is_carried(corpus):
    impossible = [
        "The chair picked up the person.",
        "The backpack put down the chair.",
        "The person carried the person.",
        "The trash-can carried the backpack.",
        "The person picked up another person.",
    ]
    for film in corpus:
        assert not any(film.truth.holds(text) for text in impossible)


def test_each_clip_has_some_but_few_true_sentences(corpus):
    plain = [s for s in street_sentences() if len(s.words) == 3]
    shares = [np.mean([film.truth.holds(s) for s in plain]) for film in corpus]
    assert min(shares) > 0
    assert np.mean(shares) < 0.06  # of 120 sentences of two nouns and a verb


def test_things_carried_approach_as_well(corpus):
    assert any(film.truth.kinds[e.agent] != "person" for film in corpus for e in film.truth.events)


def test_sentences_without_a_verb_are_judged_over_the_whole_film(corpus):
    film = next(f for f in corpus if len(set(f.truth.kinds.values())) == len(f.truth.kinds) > 3)
    still = [
        name
        for name, row in zip(film.truth.recording.things, film.truth.recording.holders, strict=True)
        if np.all(row < 0)
    ]
    left, right = sorted(still[:2], key=lambda name: film.truth.boxes[name][0, 0])
    left, right = film.truth.kinds[left], film.truth.kinds[right]
    assert film.truth.holds(f"The {left} is to the left of the {right}.")
    assert not film.truth.holds(f"The {left} is to the right of the {right}.")
    assert film.truth.holds(f"There is a {left}.")


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("The person picked up the bagpack.", "bagpack"),
        ("Person the up picked.", "no sentence of the street"),
        ("", "no sentence of the street"),
        (Sentence("unparsed"), "must be parsed"),
        (Sentence("", (Word("kicked", (0, 1)),)), "no word 'kicked'"),
        (Sentence("", (Word("picked-up", (0,)),)), "wrong number of participants"),
        (Sentence("", (Word("carried", (0, 1)), Word("approached", (0, 1)))), "one verb"),
        (Sentence("", (Word("chair", (0,)), Word("stool", (0,)))), "at once"),
    ],
)
def test_impossible_sentences_are_refused(corpus, sentence, message):
    with pytest.raises(WorldError, match=message):
        corpus[0].truth.holds(sentence)


def test_a_text_and_its_reading_are_judged_alike(corpus):
    for film in corpus[:5]:
        for text in film.sentences:
            assert film.truth.holds(text) == film.truth.holds(parse(text))
