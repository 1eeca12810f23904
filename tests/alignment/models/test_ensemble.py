"""The average of many models, and models on disk."""

import json

import numpy as np
import pytest

from tests.alignment.models.plays import accuracy, play, plays
from wordsight.alignment import (
    Alignment,
    AlignmentError,
    Constraint,
    ConstraintError,
    Observed,
    PoorEvidenceError,
)
from wordsight.alignment.models import (
    HMM1,
    HSMM,
    LCRF,
    LHMM1,
    MODELS,
    DropDTW,
    Ensemble,
    LatentPerceptron,
    model_by_name,
)
from wordsight.alignment.models.encoding import encode, vocabulary_of
from wordsight.alignment.models.ensemble import hsmm_members, lcrf_members, touch_evidence
from wordsight.alignment.storage import load_aligner, save_aligner
from wordsight.errors import FormatError

SMALL = {"hsmm": 3, "lcrf": 2}


@pytest.fixture(scope="module")
def fitted():
    films = plays(2, noise=0.1)
    return Ensemble(**SMALL).fit([(text, seen) for text, seen, _ in films]), films


def test_it_aligns_and_says_how_sure_it_is(fitted):
    model, films = fitted
    assert min(accuracy(model, *film) for film in films) > 0.9
    text, seen, _ = films[0]
    found = model.align(text, seen)
    assert isinstance(found, Alignment) and found.posterior.shape == (len(seen.chunks), 8)
    assert {span.line for span in found.spans} == set(range(8))
    for part in (*found.spans, *found.boundaries):
        assert 0.0 <= part.confidence <= 1.0
    assert np.mean([span.confidence for span in found.spans if span.happened]) > 0.7
    assert [b.time for b in found.boundaries] == sorted(b.time for b in found.boundaries)


def test_the_dictionary_can_be_read(fitted):
    model, _ = fitted
    dictionary = model.dictionary_
    assert next(iter(dictionary["cup"])) in {"cup-thing", "jug-thing"}
    for row in dictionary.values():
        assert sum(row.values()) == pytest.approx(1.0, abs=1e-3)


def test_the_same_state_gives_the_same_posteriors(fitted):
    model, films = fitted
    pairs = [(text, seen) for text, seen, _ in films]
    again = Ensemble(**SMALL).fit(pairs)
    assert np.array_equal(again.posterior(*pairs[0]), model.posterior(*pairs[0]))
    other = Ensemble(**SMALL, random_state=1).fit(pairs)
    assert not np.array_equal(other.posterior(*pairs[0]), model.posterior(*pairs[0]))


def test_progress_is_told():
    text, seen, _ = play()
    told = []
    Ensemble(hsmm=2, lcrf=0).fit([(text, seen)], progress=lambda *step: told.append(step))
    assert told == [(1, 2, "learning"), (2, 2, "learning")]


def test_pins_hold_in_the_average(fitted):
    model, films = fitted
    text, seen, _ = films[0]
    pin = Constraint(2, start=seen.chunks[9].start)
    found = model.align(text, seen, constraints=[pin])
    assert found.best[9] == 2 and (found.best[:9] < 2).all() and (found.best[9:] >= 2).all()
    with pytest.raises(ConstraintError, match="order of the text"):
        model.align(text, seen, constraints=[pin, Constraint(5, start=seen.chunks[2].start)])


def test_touches_that_tell_nothing_are_refused():
    # The same thing in hand from beginning to end, and a text of many steps.
    text, seen, _ = play((0, 1, 2, 3, 4, 5), words=tuple(f"n{i}" for i in range(12)))
    same = Observed(
        "same",
        tuple(type(c)(c.start, c.end, frozenset({"cup"})) for c in seen.chunks),
        seen.duration,
    )
    model = Ensemble(**SMALL).fit([(text, same)])
    with pytest.raises(PoorEvidenceError, match="do not depend on time"):
        model.align(text, same)
    # With constraints, or without the checks, the video is aligned.
    pinned = model.align(text, same, constraints=[Constraint(2, start=9.0)])
    assert len(pinned.best) == len(same.chunks)
    model.least_evidence, model.least_confidence = None, 0.99
    with pytest.raises(PoorEvidenceError, match="hardly distinguish the steps"):
        model.align(text, same)
    model.least_confidence = 0.0
    assert len(model.align(text, same).best) == len(same.chunks)


def test_touches_in_random_order_are_told_from_a_procedure():
    chance = np.random.default_rng(4)
    text, seen, _ = play((0, 1, 2, 3, 4, 5), words=tuple(f"n{i}" for i in range(12)))
    real = touch_evidence(encode(text, seen, vocabulary_of([(text, seen)])))
    values = []
    for _ in range(20):
        order = chance.permutation(len(seen.chunks))
        mixed = Observed(
            "mixed",
            tuple(
                type(c)(c.start, c.end, seen.chunks[i].things)
                for c, i in zip(seen.chunks, order, strict=True)
            ),
            seen.duration,
        )
        values.append(touch_evidence(encode(text, mixed, vocabulary_of([(text, mixed)]))))
    assert real > 5 and abs(np.mean(values)) < 1 and max(values) < real


def test_a_video_of_other_things_is_refused(fitted):
    model, films = fitted
    text, seen, _ = films[0]
    other = tuple(type(c)(c.start, c.end, frozenset({"zebra"})) for c in seen.chunks)
    with pytest.raises(PoorEvidenceError, match="none of the things"):
        model.align(text, Observed("zoo", other, seen.duration))


def test_settings_are_spread_over_their_ranges():
    members = hsmm_members(24)
    for name, low, high in (
        ("concentration", 2, 10),
        ("growth", 0.5, 1),
        ("temperature", 0.2, 1),
        ("dependence", 0.25, 1),
        ("null", 0.05, 0.2),
    ):
        values = np.sort([getattr(member, name) for member in members])
        assert low <= values[0] and values[-1] <= high
        assert values[0] < low + 0.2 * (high - low) and values[-1] > high - 0.25 * (high - low)
    assert {member.shape for member in lcrf_members(9)} == {"centre", "outside", "widths"}


SAVED = [
    HMM1(3),
    LHMM1(2, 2),
    HSMM(iterations=3),
    LCRF(iterations=2, sets=2),
    LatentPerceptron(rounds=2),
    DropDTW(rounds=1),
    Ensemble(hsmm=2, lcrf=1),
]


@pytest.mark.parametrize("model", SAVED, ids=lambda m: type(m).__name__)
def test_saving_and_loading_gives_the_same_bits(model, tmp_path):
    text, seen, _ = play(noise=0.2)
    model.fit([(text, seen)]).save(tmp_path / "model")
    again = load_aligner(tmp_path / "model")
    assert type(again) is type(model) and again.settings() == model.settings()
    assert np.array_equal(again.posterior(text, seen), model.posterior(text, seen))
    assert again.dictionary_ == model.dictionary_
    assert "| cup |" in (tmp_path / "model" / "card.md").read_text(encoding="utf-8")
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "model")
    model.save(tmp_path / "model", overwrite=True)


def _late(_, grid):
    return np.zeros((1, len(grid.times), 8, 1))


def test_features_must_be_given_again(tmp_path):
    text, seen, _ = play()
    model = LCRF(features=(_late,), iterations=1).fit([(text, seen)])
    model.save(tmp_path / "model")
    with pytest.raises(FormatError, match="_late"):
        load_aligner(tmp_path / "model")
    again = LCRF.load(tmp_path / "model", features=(_late,))
    assert np.array_equal(again.posterior(text, seen), model.posterior(text, seen))
    with pytest.raises(AlignmentError, match="not a HSMM"):
        HSMM.load(tmp_path / "model", features=(_late,))


def test_damaged_folders_are_refused(tmp_path):
    text, seen, _ = play()
    folder = tmp_path / "model"
    save_aligner(HMM1(1).fit([(text, seen)]), folder)
    with pytest.raises(FormatError, match=r"no model\.json"):
        load_aligner(tmp_path / "nowhere")
    values = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    for change, message in (
        ({"version": 99}, "newer Wordsight"),
        ({"kind": "Other"}, "does not describe"),
        ({"arrays_sha256": "0"}, "do not belong together"),
        ({"model": "HMM9"}, "damaged"),
    ):
        (folder / "model.json").write_text(json.dumps(values | change), encoding="utf-8")
        with pytest.raises(FormatError, match=message):
            load_aligner(folder)
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileExistsError):
        save_aligner(HMM1(1).fit([(text, seen)]), tmp_path / "mine", overwrite=True)


def test_models_are_known_by_name():
    assert model_by_name("hsmm") is HSMM and next(iter(MODELS)) == "Ensemble"
    with pytest.raises(AlignmentError, match="Ensemble, HSMM"):
        model_by_name("gpt")
    with pytest.raises(AlignmentError, match="fit first"):
        Ensemble().save("anywhere")
    with pytest.raises(AlignmentError, match="nothing to learn from"):
        HMM1().fit([])


def test_conditional_fields_count_less_where_they_learned_from_few_videos(tmp_path):
    films = plays(6, noise=0.1)
    pairs = [(text, seen) for text, seen, _ in films]
    few = Ensemble(hsmm=1, lcrf=1).fit(pairs[:2])
    many = Ensemble(hsmm=1, lcrf=1).fit(pairs)
    np.testing.assert_allclose(few.votes_, [5 / 3, 1 / 3])
    np.testing.assert_allclose(many.votes_, [1.0, 1.0])
    few.save(tmp_path / "few")
    np.testing.assert_array_equal(load_aligner(tmp_path / "few").votes_, few.votes_)
    # The pooled posterior moves from one kind to the other as votes do.
    semi, field = (member.posterior(*pairs[0]) for member in few.members_)
    even = Ensemble(hsmm=1, lcrf=1)
    even.vocabulary_, even.members_, even.votes_ = few.vocabulary_, few.members_, np.ones(2)
    pooled, evenly = few.posterior(*pairs[0]), even.posterior(*pairs[0])
    assert np.abs(pooled - semi).sum() < np.abs(evenly - semi).sum()
    assert np.abs(pooled - field).sum() > np.abs(evenly - field).sum()
