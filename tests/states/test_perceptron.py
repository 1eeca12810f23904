import numpy as np
import pytest

from tests.states.builders import HOLDING, carrying
from wordsight.states import (
    Fact,
    PerceptronSettings,
    StateError,
    StateSequence,
    edit_share,
    learn_weights,
    parse_rules,
    prepare_videos,
)
from wordsight.states.discovery.learning import choose_cost, choose_transition, make_folds

RULES = parse_rules(
    """
    0.1: distance(X,Y) <= 12, speed(Y) >= 40 -> attached(X,Y)
    1: speed(Y) <= 40, attached(X,Y) -> false
    2: elevation(X) >= 0, block(Y) -> attached(X,Y)
    1: block(Y) -> grounded(Y)
    hard: attached(X,Y), grounded(Y) -> false
    """
)
FILMS = [carrying(f"film{k}", k) for k in range(5)]
WEIGHTS = np.array([rule.weight for rule in RULES])


def videos(compressed=False):
    seen = [film[0] for film in FILMS]
    told = [film[1].compress() if compressed else film[1] for film in FILMS]
    return prepare_videos(RULES, seen, told, HOLDING)


@pytest.mark.parametrize("compressed", [False, True], ids=["every frame", "order only"])
def test_it_converges_on_separable_data(compressed):
    found = learn_weights(
        videos(compressed), WEIGHTS, 0.0, PerceptronSettings(iterations=60, average=False)
    )
    assert found.history[0] < 1.0
    assert found.history[-1] == 1.0
    assert len(found.history) < 61  # it stops when nothing is wrong any more


def test_weights_are_never_negative_and_hard_rules_stay_hard():
    found = learn_weights(videos(), WEIGHTS, 0.0, PerceptronSettings(iterations=5))
    assert (found.steps >= 0).all()
    assert np.isinf(found.weights[4]) and found.transition_cost >= 0


def test_the_mean_is_the_mean_of_the_steps():
    settings = PerceptronSettings(iterations=1, average=True)
    plain = PerceptronSettings(iterations=1, average=False)
    one = videos()[:1]
    mean, last = (learn_weights(one, WEIGHTS, 3.0, s) for s in (settings, plain))
    assert mean.weights.tolist() == last.weights.tolist()  # of one step


def test_the_iteration_is_chosen_on_videos_held_out():
    settings = PerceptronSettings(iterations=8, held_out=0.4, average=False)
    found = learn_weights(videos(), WEIGHTS, 0.0, settings, random_state=1)
    assert found.history[found.iteration] == max(found.history)
    assert np.array_equal(found.steps[found.iteration][:4], found.weights[:4])


def test_a_margin_goes_on_where_the_plain_one_is_content():
    plain = learn_weights(videos(), WEIGHTS, 0.0, PerceptronSettings(60, average=False))
    start = plain.weights, plain.transition_cost
    again = learn_weights(videos(), *start, PerceptronSettings(1, average=False))
    wider = learn_weights(videos(), *start, PerceptronSettings(1, average=False, margin=5.0))
    assert np.array_equal(again.weights, plain.weights)
    assert not np.array_equal(wider.weights, plain.weights)


def test_labels_in_order_are_laid_out_where_they_cost_least():
    video = videos(compressed=True)[0]
    laid = video.aligned(np.array([2.0, 1.0, 0.0, 1.0, np.inf]))
    assert video.is_right(laid)
    truth = FILMS[0][1].table(video.grounding.facts)
    assert (laid == truth).mean() > 0.9


def test_an_empty_training_set_and_impossible_labels():
    with pytest.raises(StateError, match="no video"):
        learn_weights([], WEIGHTS, 0.0)
    _, told = carrying()
    other, _ = carrying(names=("hand", "blue", "green"))
    with pytest.raises(StateError, match="labels of film contain"):
        prepare_videos(RULES, [other], [told], HOLDING)
    short, _ = carrying(frames=3)
    flicker = np.tile([[True], [False]], (5, 1))
    many = StateSequence("film", np.arange(10.0), (Fact("grounded", ("red",)),), flicker)
    with pytest.raises(StateError, match="10 states in its labels but only 3 frames"):
        prepare_videos(RULES, [short], [many], HOLDING)


def test_the_transition_cost_lies_in_the_middle_of_the_plateau():
    grid = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
    cost, scores = choose_cost(lambda cost: float(4.0 <= cost <= 16.0), grid)
    assert cost == 8.0
    assert scores == (0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0)


def test_a_cost_is_chosen_under_which_sequences_are_right():
    made = videos()
    weights = np.array([2.0, 1.0, 0.0, 1.0, np.inf])
    cost, _ = choose_transition(made, [weights] * len(made))
    assert sum(video.is_right(video.predict(weights, cost)) for video in made) >= 4


def test_folds_follow_groups():
    folds = make_folds(4, ["a", "b", "a", "c"], np.random.default_rng(0))
    assert folds.tolist() == [0, 1, 0, 2]
    assert sorted(make_folds(7, None, np.random.default_rng(0))) == [0, 0, 1, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("found", "truth", "share"),
    [
        ([[0], [1]], [[0], [1]], 0.0),
        ([[0]], [[0], [1]], 0.5),  # one is missing
        ([[0], [1], [0]], [[0], [1]], 0.5),  # one too many
        ([], [[1]], 1.0),
    ],
)
def test_edit_share(found, truth, share):
    one, other = (np.array(rows, bool).reshape(-1, 1) for rows in (found, truth))
    assert edit_share(one, other) == share
