"""Steps told apart by the motion of the things they name, learned without labels."""

from dataclasses import replace

import numpy as np
import pytest

from tests.alignment.fetching import TEXT, fetching
from wordsight.alignment import DetectedThings, Line, LineSpan, load_aligner
from wordsight.alignment.models import HSMM, Ensemble, MotionHSMM
from wordsight.alignment.models.encoding import encode, label_chunks, vocabulary_of
from wordsight.alignment.models.motion import RoleClassifier, names_followed


def film(number):
    seen, spans = fetching(number)
    observed = DetectedThings(f"film{number}", seen).observe()
    return (replace(TEXT, name=f"text{number}"), observed), spans


def accuracy(model, pair, spans):
    middles = pair[1].times.mean(axis=1)
    return np.mean(model.predict(*pair) == np.searchsorted(spans[1:, 0], middles, side="right"))


@pytest.fixture(scope="module")
def films():
    return [film(number) for number in range(12)]


@pytest.fixture(scope="module")
def fitted(films):
    return MotionHSMM().fit([pair for pair, _ in films[:8]])


def test_things_are_followed_where_boxes_have_identities(films):
    (_, observed), spans = films[0]
    assert observed.motion.names == ("cup", "plate")
    assert observed.motion.values.shape[:2] == (2, len(observed.chunks))
    speed = observed.motion.values[0, :, 0]
    middles = observed.times.mean(axis=1)
    held = (middles > spans[1, 0] + 0.4) & (middles < spans[1, 1] - 0.4)
    waiting = middles < spans[0, 1] - 0.4
    assert speed[held].min() > speed[waiting].max()
    assert observed.motion.values[1, :, 0].max() < 0.5  # the plate rests


def test_roles_are_what_lines_say_of_things(films):
    pair, _ = films[0]
    known = vocabulary_of([pair])
    assert known.roles == ("", "lower", "move", "reach")
    encoded = encode(*pair, known)
    assert encoded.roles.tolist() == [[3, 0], [2, 0], [1, 0]]
    assert "to move" in known.nouns and "~sliding" in known.things
    other = replace(pair[0], lines=(Line("Wait.", 0, (), ("wait",)),))
    assert encode(other, pair[1], known).roles.tolist() == [[-1, -1]]
    assert names_followed(encoded)
    assert not names_followed(encode(other, pair[1], known))


def test_motion_finds_steps_that_touches_and_clock_do_not(fitted, films):
    unseen = films[8:]
    found = np.mean([accuracy(fitted, *one) for one in unseen])
    touches = HSMM().fit([pair for pair, _ in films[:8]])
    assert found > 0.85
    assert found >= np.mean([accuracy(touches, *one) for one in unseen])


def test_the_default_uses_motion_where_texts_name_what_is_followed(films):
    model = Ensemble().fit([pair for pair, _ in films[:6]])
    assert {type(member) for member in model.members_} == {MotionHSMM}
    plain = [(text, replace(seen, motion=None)) for (text, seen), _ in films[:6]]
    assert MotionHSMM not in {type(member) for member in Ensemble(hsmm=2).fit(plain).members_}


def test_without_motion_it_is_the_semi_markov_model(films):
    plain = [(text, replace(seen, motion=None)) for (text, seen), _ in films[:4]]
    motion, touches = MotionHSMM().fit(plain), HSMM().fit(plain)
    assert np.array_equal(motion.posterior(*plain[0]), touches.posterior(*plain[0]))


def test_posteriors_survive_saving(fitted, films, tmp_path):
    fitted.save(tmp_path / "aligner")
    loaded = load_aligner(tmp_path / "aligner")
    assert np.array_equal(loaded.posterior(*films[9][0]), fitted.posterior(*films[9][0]))


def test_labels_are_learned_from(films):
    """Shifted labels shift what is found in other videos, so they are looked at."""
    pairs = [pair for pair, _ in films[:8]]
    late = {
        pair[1].video_id: [
            LineSpan(line, start + (1.0 if line else 0.0), end + 1.0, 1.0)
            for line, (start, end) in enumerate(spans)
        ]
        for pair, spans in films[:4]
    }
    usual, shifted = MotionHSMM().fit(pairs), MotionHSMM().fit(pairs, labels=late)
    pair, _ = films[9]
    starts = [np.flatnonzero(m.predict(*pair) == 2)[0] for m in (usual, shifted)]
    assert starts[1] > starts[0]


def test_labels_bind_the_posteriors_of_learning(films):
    pair, spans = films[0]
    rows = [LineSpan(line, *times, 1.0) for line, times in enumerate(spans.tolist())]
    labels = label_chunks(pair[1], rows)
    assert set(labels.tolist()) <= {-1, 0, 1, 2}
    assert (np.diff(labels[labels >= 0]) >= 0).all()
    model = HSMM(iterations=3).fit([pair], labels={pair[1].video_id: rows})
    assert np.isfinite(model.objectives_).all()
    assert (np.diff(model.objectives_) > -1e-6).all()


def test_the_classifier_prefers_the_true_role(films):
    """With true labels each line explains its own chunks best."""
    encoded = [encode(*pair, vocabulary_of([p for p, _ in films])) for pair, _ in films]
    true = []
    for one, (pair, spans) in zip(encoded, films, strict=True):
        rows = [LineSpan(line, *times, 1.0) for line, times in enumerate(spans.tolist())]
        labels = label_chunks(pair[1], rows)
        true.append((labels[:, None] == np.arange(one.num_lines)).astype(float))
    classifier = RoleClassifier(4, 3.0).fit(encoded[:8], true[:8])
    lines, _ = classifier.ratios(encoded[9])
    known = true[9].any(axis=1)
    assert (lines.argmax(axis=1) == true[9].argmax(axis=1))[known].mean() > 0.9
