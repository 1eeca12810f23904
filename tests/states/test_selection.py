import numpy as np
import pytest

from tests.states.builders import HOLDING, carrying
from wordsight.states import (
    ClausalSettings,
    SelectionSettings,
    StateError,
    StateLearningSettings,
    StateModel,
    parse_rules,
    prepare_videos,
)
from wordsight.states.discovery.selection import cross_validate_costs, select_rules

FILMS = [carrying(f"film{k}", k) for k in range(4)]
SEEN, TOLD = [film[0] for film in FILMS], [film[1] for film in FILMS]
RULES = parse_rules(
    """
    hard: attached(X,Y), grounded(Y) -> false
    1: speed(Y) >= 30, distance(X,Y) <= 10 -> attached(X,Y)
    1: speed(Y) >= 60, distance(X,Y) <= 10 -> attached(X,Y)
    1: speed(Y) <= 5 -> grounded(Y)
    1: block(Y), attached(X,Y) -> false
    1: speed(Y) >= 0 -> grounded(Y)
    """
)


@pytest.fixture(scope="module")
def videos():
    return prepare_videos(RULES, SEEN, TOLD, HOLDING)


def test_few_rules_are_selected_and_hard_ones_kept(videos):
    found = select_rules(videos, RULES, 5.0, SelectionSettings(criterion="frames"))
    assert RULES[0] in found.rules
    assert 2 <= len(found.rules) < len(RULES)
    assert found.score > 0.95


def test_the_score_is_that_of_the_states_inferred(videos):
    """What is skipped because a rule is not violated would not have changed."""
    found = select_rules(videos, RULES, 5.0, SelectionSettings(criterion="frames"))
    weights = np.array([rule.weight if rule in found.rules else 0.0 for rule in RULES])
    states = [video.predict(weights, 5.0) for video in videos]
    hits = sum((s & v.truth).sum() for s, v in zip(states, videos, strict=True))
    total = sum(s.sum() + v.truth.sum() for s, v in zip(states, videos, strict=True))
    assert found.score == pytest.approx(2 * hits / total)


def test_a_rule_more_never_makes_the_criterion_fall(videos):
    scores = [
        select_rules(videos, RULES, 5.0, SelectionSettings(most_rules=k, least_gain=0.0)).score
        for k in (1, 2, 3)
    ]
    assert scores == sorted(scores)


def test_costs_are_cross_validated(videos):
    folds = [(videos[:2], videos[2:], RULES), (videos[2:], videos[:2], RULES)]
    settings = SelectionSettings(criterion="frames", costs=(5.0, 1e6))
    found = cross_validate_costs(folds, settings)
    cost, scores = found.cost, found.scores
    assert len(found.videos) == len(found.weights) == 4
    assert cost == 5.0  # with the other, nothing ever changes
    assert scores[0] > scores[1]


@pytest.mark.slow
def test_a_model_of_few_clauses_says_how_sound_they_are():
    settings = StateLearningSettings(
        ClausalSettings(accuracy=0.9, least_videos=2, num_thresholds=4),
        selection=SelectionSettings(most_rules=4, costs=(10.0,)),
    )
    model = StateModel(vocabulary=HOLDING, learning=settings).fit(SEEN, TOLD)
    assert sum(not rule.hard for rule in model.rules_) <= 4
    assert model.score(SEEN, TOLD) >= 0.75
    uses = model.notes_["violations"]
    assert len(uses) == len(model.rules_)
    for rule, (violated, applied) in zip(model.rules_, uses, strict=True):
        assert 0 <= violated <= applied
        assert violated == 0 if rule.hard else violated <= 0.11 * applied


def test_settings_that_make_no_sense():
    with pytest.raises(StateError, match="criterion"):
        SelectionSettings(criterion="facts")  # type: ignore[arg-type]
