"""The tabletop experiment: its colours, tracks, truth and summary, on things known beforehand."""

import cv2
import numpy as np
import pytest

from experiments import ijcai2005
from experiments.tabletop_colours import SMALL, ColourDetector, ColourTable
from experiments.tabletop_corpus import scenes, true_states
from experiments.tabletop_models import Case, cases, effort, judge, mistakes
from experiments.tabletop_tracks import NamedTracker, follow_classes, overlaps
from wordsight.errors import WordsightError
from wordsight.perception import watch
from wordsight.states import (
    EXACT,
    Predicate,
    StateModel,
    StateObservations,
    StateSequence,
    StateVocabulary,
    parse_fact,
    parse_rules,
)
from wordsight.video import Frame
from wordsight.worlds import tabletop

RED, GREEN, SKIN, WALL = (204, 42, 40), (52, 150, 66), (224, 172, 140), (204, 198, 186)


def picture(time):
    """A red block at rest, a green one that moves to the right, and a hand above it."""
    image = np.full((240, 320, 3), WALL, np.uint8)
    image[20:30, 250:310] = GREEN  # a strip on the wall, no block
    boxes = {
        "red": np.array([20.0, 180, 60, 220]),
        "green": np.array([100.0 + 20 * time, 180, 140 + 20 * time, 220]),
        "hand": np.array([100.0 + 20 * time, 120, 150 + 20 * time, 180]),
    }
    for name, colour in (("red", RED), ("green", GREEN), ("hand", SKIN)):
        x1, y1, x2, y2 = boxes[name].astype(int)
        cv2.rectangle(image, (x1, y1), (x2 - 1, y2 - 1), colour, -1)
    return image, boxes


@pytest.fixture(scope="module")
def play():
    rng = np.random.default_rng(0)
    frames, truth = [], {"red": [], "green": [], "hand": []}
    for k in range(12):
        image, boxes = picture(k / 2)
        noisy = np.clip(image + rng.normal(0, 4, image.shape), 0, 255).astype(np.uint8)
        frames.append(Frame.from_array(noisy, k / 10))
        for name, box in boxes.items():
            truth[name].append(box)
    return frames, {name: np.array(boxes) for name, boxes in truth.items()}


@pytest.fixture(scope="module")
def seen(play):
    frames, truth = play
    table = ColourTable(["hand", "red", "green", "blue"])
    for k, frame in enumerate(frames):
        table.see(np.asarray(frame.image), {name: boxes[k] for name, boxes in truth.items()})
    still = np.full((SMALL[1], SMALL[0], 3), WALL, np.uint8)
    detector = ColourDetector(table, ["green", "hand", "red"], ["hand"], still)
    return watch(frames, detector, SMALL, flow=False)


def test_patches_lie_where_the_colours_are(seen, play):
    _, truth = play
    for label, name in enumerate(seen.label_names):
        rows, columns = np.nonzero(seen.mask & (seen.labels == label))
        assert len(rows) >= 12
        best = [
            overlaps(seen.boxes[row, columns[rows == row]], truth[name][row]).max()
            for row in range(12)
        ]
        assert min(best) > 0.85


@pytest.mark.slow
def test_things_are_followed_by_name(seen, play):
    _, truth = play
    clip = NamedTracker().fit([seen], [truth]).follow(seen, "play")
    for label, name in enumerate(clip.detections.label_names):
        assert overlaps(clip.boxes[:, label], truth[name]).min() > 0.85
    assert clip.mask.all()


def test_classes_are_followed_under_the_names_given(seen, play):
    """The red block and the hand only, although green is seen too, and strips on the wall."""
    _, truth = play
    clip = follow_classes(seen, {"red": "ruby", "hand": "hand"}, "play")
    assert clip.detections.label_names == ("ruby", "hand")
    for number, name in enumerate(["red", "hand"]):
        assert overlaps(clip.boxes[:, number], truth[name]).min() > 0.85


@pytest.fixture(scope="module")
def shaken(tmp_path_factory):
    folder = tmp_path_factory.mktemp("films")
    found = list(scenes(folder, 1, noise=0.3, random_state=3, see="boxes"))
    assert not list(folder.iterdir())  # nothing was rendered
    return found


@pytest.mark.slow
def test_boxes_are_those_of_the_truth_but_shaken(shaken):
    assert len({scene.kind for scene in shaken}) == 7
    for scene in shaken:
        for number, boxes in enumerate(scene.boxes.values()):
            shown = scene.clip.mask[:, number]
            assert shown.sum() >= 0.95 * np.isfinite(boxes[:, 0]).sum()
            off = np.abs(scene.clip.boxes[shown, number] - boxes[shown])
            assert 0.0 < off.mean() < 4.0


@pytest.mark.slow
def test_a_bound_cuts_searches_off_and_none_is_cut_off_without(shaken):
    rules = parse_rules(
        "2: distance(X,Y) <= 30 -> attached(X,Y)\n1: attached(X,Y) -> false\n"
        "9: attached(X,Y), attached(X,Z) -> false"
    )
    held = StateVocabulary((Predicate("attached", ("hand", "block")),))
    model, films = StateModel(rules, 1.0, held), cases(iter(shaken[:2]))
    assert effort(model, EXACT, films) == (0.0, 0.0)
    cut, dearer = effort(model, 0, films)
    assert cut > 0.0
    assert 0.0 <= dearer <= 100.0


def test_truth_says_who_supports_whom():
    film = next(tabletop(1, events=["stack"]))
    told = true_states(film)
    _, stacked, below, base = film.truth.event.strip(")").partition("(")[2].split(",")
    last = told.state(len(told) - 1)
    assert parse_fact(f"contacts({below},{stacked})") in last
    assert parse_fact(f"contacts({base},{below})") in last
    assert len(told.states()) == len(film.truth.sequence)


def test_scores_of_the_truth_and_of_nothing():
    film = next(tabletop(1, events=["pick-up"]))
    truth = true_states(film)
    empty = np.zeros((len(truth), 0), bool)
    seen = StateObservations(film.name, truth.times, (), {}, empty)
    case = Case(seen, truth, film.truth.event, 0)
    right = judge(lambda _: truth, [case])
    assert (right.error, right.events) == (0.0, 100.0)
    nothing = StateSequence(film.name, truth.times, (), empty)
    wrong = judge(lambda _: nothing, [case])
    assert (wrong.error, wrong.events) == (100.0, 0.0)
    assert mistakes(lambda _: truth, [case]) == []
    (line,) = mistakes(lambda _: nothing, [case])
    assert line.startswith(f"{film.name}: 1 states for {len(truth.states())}")
    assert "attached(" in line


def test_the_summary_takes_the_best_of_the_training_sets():
    rows = [
        {"model": "ours", "error": 4.0, "events": 90.0, "fps": 10.0},
        {"model": "ours", "bound": 0, "error": 9.0, "events": 90.0, "fps": 30.0},
        {"model": "ours", "bound": 0, "error": 7.0, "events": 95.0, "fps": 20.0},
        {"model": "fgm", "error": 80.0, "events": 10.0, "fps": 99.0},
        {"model": "published", "error": 30.0, "events": 90.0, "fps": 9.0},
    ]
    found = ijcai2005._summary(rows)
    assert found["stm"] == {"0": 7.0, "10": None, "100": None}
    assert (found["stm_exact"], found["fgm"], found["walkmaxsat"]) == (4.0, 80.0, None)
    assert (found["fps"], found["events"]) == (10.0, 95.0)
    assert (found["published"], found["chained"]) == (30.0, None)


def test_too_few_films_are_refused(tmp_path):
    with pytest.raises(WordsightError, match="3 films"):
        ijcai2005.measure(tmp_path, 2, 0.3, 0)
