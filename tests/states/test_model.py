import numpy as np
import pytest

from tests.states.builders import HOLDING, carrying
from wordsight.errors import FormatError
from wordsight.states import (
    BoostingSettings,
    Fact,
    InferenceSettings,
    PerceptronSettings,
    SegmentSearchSettings,
    StateError,
    StateLearningSettings,
    StateModel,
    StateObservations,
    StateSequence,
    TrackedObject,
    parse_rules,
)

FILMS = [carrying(f"film{k}", k) for k in range(8)]
SEEN, TOLD = [film[0] for film in FILMS], [film[1] for film in FILMS]
QUICK = StateLearningSettings(BoostingSettings(rounds=15, least_videos=2))


@pytest.fixture(scope="module")
def model():
    return StateModel(vocabulary=HOLDING, learning=QUICK).fit(SEEN[:6], TOLD[:6])


@pytest.mark.slow
def test_states_of_new_videos(model):
    assert model.score(SEEN[6:], TOLD[6:]) == 1.0
    said = model.predict(SEEN[7])
    assert (said.values == TOLD[7].table(said.facts)).mean() > 0.95


def test_search_and_enumeration_agree(model):
    for seen in SEEN[6:]:
        whole = model.predict(seen)
        model.inference = InferenceSettings("search", search=SegmentSearchSettings(bound=-1))
        searched = model.predict(seen)
        model.inference = InferenceSettings()
        assert searched == whole


@pytest.mark.slow
def test_renaming_objects_changes_nothing(model):
    names = {"hand": "zeta", "red": "alpha", "green": "Mid dle"}
    seen = [s.renamed(names) for s in SEEN[:6]]
    told = [
        StateSequence(
            t.video_id,
            t.times,
            tuple(Fact(f.predicate, tuple(names[a] for a in f.arguments)) for f in t.facts),
            t.values,
        )
        for t in TOLD[:6]
    ]
    other = StateModel(vocabulary=HOLDING, learning=QUICK).fit(seen, told)
    assert other.rules_ == model.rules_
    assert other.transition_cost_ == model.transition_cost_
    said, renamed = model.predict(SEEN[7]), other.predict(SEEN[7].renamed(names))
    for fact in said.facts:
        same = Fact(fact.predicate, tuple(names[a] for a in fact.arguments))
        assert np.array_equal(said.table([fact]), renamed.table([same]))


def test_saving_and_loading(tmp_path, model):
    model.save(tmp_path / "model")
    loaded = StateModel.load(tmp_path / "model")
    assert loaded.rules_ == model.rules_
    assert loaded.vocabulary_ == model.vocabulary_
    assert all(loaded.predict(seen) == model.predict(seen) for seen in SEEN[6:])
    assert "attached(hand, block)" in (tmp_path / "model" / "card.md").read_text()
    described = tmp_path / "model" / "model.json"
    described.write_text(described.read_text().replace('"version": 2', '"version": 1'))
    assert StateModel.load(tmp_path / "model").rules_ == model.rules_  # of an earlier version
    with pytest.raises(FileExistsError, match="exists already"):
        model.save(tmp_path / "model")
    model.save(tmp_path / "model", overwrite=True)
    (tmp_path / "precious").mkdir()
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "precious", overwrite=True)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rules.txt", "1: a(X) -> b(Y)", "Y is not bound"),  # edited by hand, wrongly
        ("model.json", "{", "cannot be read"),
        ("model.json", '{"kind": "Lexicon"}', "does not describe"),
        ("model.json", '{"kind": "StateModel", "version": 99}', "newer"),
        ("model.json", '{"kind": "StateModel", "version": 1}', "damaged"),
    ],
)
def test_damaged_models(tmp_path, model, name, text, message):
    model.save(tmp_path / "model")
    (tmp_path / "model" / name).write_text(text)
    with pytest.raises(FormatError, match=message):
        StateModel.load(tmp_path / "model")


def test_an_object_that_appears_halfway_has_no_facts_before():
    boxes = np.tile([0.0, 0, 10, 10], (40, 2, 1))
    boxes[:, 1, [0, 2]] += 50
    boxes[:20, 1] = np.nan
    things = [TrackedObject("red", "block"), TrackedObject("green", "block")]
    seen = StateObservations.from_boxes("v", np.arange(40) / 30, things, boxes)
    model = StateModel(parse_rules("1: block(X) -> grounded(X)"), 2.0, HOLDING)
    said = model.predict(seen)
    assert said.table([Fact("grounded", ("green",))])[:, 0].tolist() == [False] * 20 + [True] * 20
    assert said.table([Fact("grounded", ("red",))]).all()


def test_online_says_what_was_known_then(model):
    causal = [carrying(f"film{k}", k)[0] for k in range(1)]
    whole = model.predict_online(causal[0])
    assert whole.values.shape == model.predict(causal[0]).values.shape


@pytest.mark.slow
def test_weights_of_given_rules_are_learned_from_labels_in_order():
    rules = parse_rules(
        "1: distance(X,Y) <= 12, speed(Y) >= 40 -> attached(X,Y)\n"
        "1: speed(Y) <= 40, attached(X,Y) -> false\n1: block(Y) -> grounded(Y)\n"
        "hard: attached(X,Y), grounded(Y) -> false"
    )
    learning = StateLearningSettings(
        transition="given", perceptron=PerceptronSettings(30, average=False)
    )
    model = StateModel(rules, 0.0, HOLDING, learning=learning)
    model.fit(SEEN[:5], [told.compress() for told in TOLD[:5]])
    assert model.score(SEEN[:5], TOLD[:5]) == 1.0


@pytest.mark.parametrize(
    ("seen", "told", "message"),
    [
        ([], [], "no video"),  # an empty training set
        (SEEN[:2], TOLD[:1], "every video needs its states"),
        (SEEN[:1], TOLD[1:2], "are given for the video"),  # lists in different order
        (SEEN[:1], [TOLD[0].compress()], "every frame needs a label"),
    ],
)
def test_training_sets_that_teach_nothing(seen, told, message):
    with pytest.raises(StateError, match=message):
        StateModel(learning=QUICK).fit(seen, told)


def test_contradictory_labels_are_refused():
    other = StateSequence("film0", TOLD[0].times, TOLD[0].facts, ~TOLD[0].values)
    with pytest.raises(StateError, match="contradict"):
        StateModel(learning=QUICK).fit([SEEN[0], SEEN[0]], [TOLD[0], other])


def test_labels_about_an_object_that_is_not_there():
    odd = StateSequence("film0", TOLD[0].times, (Fact("grounded", ("blue",)),), np.ones((90, 1)))
    with pytest.raises(StateError, match="'blue', which is not among its objects"):
        StateModel(learning=QUICK).fit(SEEN[:1], [odd])


def test_a_model_without_rules_says_so():
    with pytest.raises(StateError, match="call fit first"):
        StateModel().predict(SEEN[0])
