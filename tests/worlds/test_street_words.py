"""Truth conditions word by word, on scenes staged by hand whose truth is plain to see."""

import numpy as np
import pytest

from wordsight.worlds.street.acts import pick_up, put_down, turn, wait, walk
from wordsight.worlds.street.people import cast_look
from wordsight.worlds.street.places import PLACES
from wordsight.worlds.street.recording import PersonScript, StreetScenario, perform
from wordsight.worlds.street.things import cast_prop
from wordsight.worlds.street.truth import StreetTruth

RNG = np.random.default_rng(11)
SLOW, QUICK = (0.7, 2.0), (2.1, 7.0)  # speed and acceleration


def stage(spots, *parts, holding=(), duration=5.0):
    """Perform a scene: things by noun and x; parts as x, facing, held noun, acts."""
    props = tuple(cast_prop(noun, f"{noun}-1", RNG) for noun in (*spots, *holding))
    played = tuple(
        PersonScript(f"person-{k}", cast_look(RNG), x, facing, held and f"{held}-1", tuple(acts))
        for k, (x, facing, held, acts) in enumerate(parts, start=1)
    )
    places = {f"{noun}-1": x for noun, x in spots.items()}
    scenario = StreetScenario(PLACES["park"], props, places, played, duration)
    return StreetTruth(perform(scenario))


@pytest.fixture(scope="module")
def fetching():
    """From the left, quickly, past the stool, to the chair; then the chair goes up slowly."""
    acts = [wait(0.3), walk(0.54, *QUICK), wait(0.2), pick_up("chair-1", 1.1, 1.1)]
    spots = {"chair": 1.0, "stool": -0.6, "trash-can": -2.3}
    return stage(spots, (-1.7, 1, None, acts))


@pytest.fixture(scope="module")
def bringing():
    """The backpack is carried slowly from the chair leftwards to the cone and put down quickly."""
    acts = [wait(0.2), walk(-0.4, *SLOW), wait(0.1), put_down("backpack-1", 0.4, 0.4)]
    spots = {"chair": 2.0, "traffic-cone": -1.55}
    return stage(spots, (1.5, -1, "backpack", acts), holding=["backpack"])


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("The person approached the chair.", True),
        ("The person approached the chair quickly.", True),
        ("The person approached the chair slowly.", False),
        ("The person picked up the chair.", True),
        ("The person picked up the chair slowly.", True),
        ("The person picked up the chair quickly.", False),
        ("The person put down the chair.", False),
        ("The person carried the chair.", False),
        # It walks past the stool: near it only on the way.
        ("The person approached the stool.", False),
        ("The person approached the chair towards the stool.", False),
        ("The person approached the chair away from the stool.", False),
        ("The person approached the chair away from the trash-can.", True),
        ("The person approached the chair towards the trash-can.", False),
        ("The person picked up the chair away from the trash-can.", False),
        ("The person approached the trash-can.", False),
        # On which side, throughout.
        ("The person to the right of the trash-can approached the chair.", True),
        ("The person to the left of the trash-can approached the chair.", False),
        ("The person to the left of the stool approached the chair.", False),
        ("The person to the right of the stool picked up the chair.", True),
        ("The person approached the chair to the right of the stool.", True),
        ("The person approached the chair to the left of the stool.", False),
        # Nobody is to the left of what they hold.
        ("The person to the left of the chair picked up the chair.", False),
        ("The chair approached the person.", False),
        ("The person approached the backpack.", False),
    ],
)
def test_fetching_a_chair(fetching, text, truth):
    assert fetching.holds(text) is truth


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("The person carried the backpack.", True),
        ("The person carried the backpack slowly.", True),
        ("The person carried the backpack quickly.", False),
        ("The person carried the backpack towards the traffic-cone.", True),
        ("The person carried the backpack away from the chair.", True),
        ("The person carried the backpack towards the chair.", False),
        ("The person carried the backpack away from the traffic-cone.", False),
        ("The person carried the backpack slowly towards the traffic-cone.", True),
        ("The person carried the backpack quickly towards the traffic-cone.", False),
        ("The backpack approached the traffic-cone.", True),
        ("The backpack approached the traffic-cone slowly.", True),
        ("The backpack approached the chair.", False),
        ("The person put down the backpack.", True),
        ("The person put down the backpack quickly.", True),
        ("The person put down the backpack slowly.", False),
        ("The person picked up the backpack.", False),
        ("The person put down the backpack to the left of the chair.", True),
        ("The person put down the backpack to the right of the chair.", False),
        ("The person carried the chair.", False),
        # Everything at once, on one and the same stretch of time.
        (
            "The person to the left of the chair carried the backpack slowly away from the chair.",
            True,
        ),
        ("The person put down the backpack quickly towards the traffic-cone.", False),
        ("The backpack was carried by the person.", True),
    ],
)
def test_bringing_a_backpack(bringing, text, truth):
    assert bringing.holds(text) is truth


def test_two_people_are_not_mixed_up():
    """One walks quickly to the stool, the other puts the trash-can down slowly."""
    truth = stage(
        {"stool": 0.2},
        (-1.6, 1, None, [wait(0.2), walk(-0.3, *QUICK)]),
        (2.2, -1, "trash-can", [wait(0.2), put_down("trash-can-1", 1.2, 1.2)]),
        holding=["trash-can"],
    )
    assert truth.holds("The person approached the stool quickly.")
    assert truth.holds("The person put down the trash-can slowly.")
    assert not truth.holds("The person put down the trash-can quickly.")
    assert not truth.holds("The person approached the stool slowly.")
    assert truth.holds("The person to the right of the stool put down the trash-can.")
    assert not truth.holds("The person to the left of the stool put down the trash-can.")
    # Participants of the same noun must be different individuals.
    assert truth.holds("The person to the right of another person put down the trash-can.")
    assert not truth.holds("The person to the left of another person put down the trash-can.")


def test_leaving_something_behind_leads_away_from_it():
    acts = [put_down("backpack-1", 0.4, 0.4), turn(-1), walk(-1.0, *QUICK)]
    truth = stage({"chair": -1.6}, (0.8, 1, "backpack", acts), holding=["backpack"])
    assert truth.holds("The person approached the chair away from the backpack.")
    assert not truth.holds("The person approached the chair towards the backpack.")
    assert not truth.holds("The person carried the backpack.")


def test_a_movement_that_is_cut_off_by_the_end_of_the_film_is_not_told():
    acts = [wait(0.5), pick_up("stool-1", 1.1, 1.1)]
    truth = stage({"stool": 0.46}, (0.0, 1, None, acts), duration=1.2)
    assert truth.events == ()


def test_a_step_is_no_approach_and_no_carrying():
    truth = stage({"stool": 1.4}, (0.6, 1, None, [walk(0.9, *SLOW)]))
    assert truth.events == ()
    truth = stage({}, (0.6, 1, "chair", [walk(0.9, *SLOW)]), holding=["chair"])
    assert truth.events == ()
