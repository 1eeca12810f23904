"""Teaching and naming: text and speech, one word and several, new words, bad lessons, files."""

import json

import cv2
import numpy as np
import pytest

from tests.attributes.toys import COLOURS, SHAPES, lessons, thing, word
from wordsight.attributes import (
    ANNEALED,
    FAITHFUL,
    AttributeLearner,
    Autocorrelation,
    Lessons,
    SoundError,
    SpokenWord,
    TeachingError,
)
from wordsight.attributes.report import used_features
from wordsight.errors import FormatError, VideoError
from wordsight.video import read_image


@pytest.fixture(scope="module")
def taught():
    return AttributeLearner().fit(*lessons(160, np.random.default_rng(0)))


@pytest.fixture(scope="module")
def told():
    """Taught by recordings alone."""
    return AttributeLearner().fit(*lessons(240, np.random.default_rng(1), spoken=True))


def rate(learner, seed=9, names=None):
    random = np.random.default_rng(seed)
    right = []
    for colour in COLOURS:
        for shape in SHAPES:
            said = learner.name(thing(colour, shape, random)).words
            said = [names[w] for w in said] if names else said
            right += [colour in said, shape in said]
    return np.mean(right)


@pytest.mark.slow
def test_text_is_enough(taught):
    groups = [{word.name for word in group} for group in taught.attributes()]
    assert sorted(map(sorted, groups)) == [sorted(COLOURS), sorted(SHAPES)]
    assert rate(taught) >= 0.95


@pytest.mark.slow
def test_speech_alone_is_enough_and_is_played_back(told):
    assert told.num_attributes_ == 2
    assert len(told.words_) == 6
    naming = told.name(thing("blue", "tall", np.random.default_rng(5)))
    assert len(naming.words) == 2
    spoken = told.say(naming)
    assert 0.4 < spoken.duration < 1.0
    assert all(word.name.startswith("word-") for word in told.words_)


@pytest.mark.slow
def test_renaming_gives_a_spelling(told):
    learner = AttributeLearner().fit_lessons(AttributeLearnerLessons.of(told))
    learner.rename("word-1", "ruby")
    assert "ruby" in {word.name for word in learner.words_}
    with pytest.raises(TeachingError, match="already"):
        learner.rename("word-2", "ruby")
    with pytest.raises(TeachingError, match="no word"):
        learner.rename("word-99", "x")


class AttributeLearnerLessons:
    """The lessons of a learner, to teach another."""

    @staticmethod
    def of(learner):
        from wordsight.attributes import Lessons

        parts = learner.space_.parts
        kinds = tuple(learner.x_[:, part] for part in parts)
        return Lessons(kinds, learner.texts_, learner.speech_, learner.sounds_)


@pytest.mark.slow
def test_the_order_and_the_names_of_words_do_not_matter(taught):
    pictures, words = lessons(160, np.random.default_rng(0))
    other = {name: f"w{number}" for number, name in enumerate([*SHAPES, *COLOURS])}
    renamed = AttributeLearner().fit(pictures, [other[w] for w in words])
    groups = {frozenset(w.name for w in group) for group in renamed.attributes()}
    assert groups == {frozenset(other[w.name] for w in group) for group in taught.attributes()}


@pytest.mark.slow
def test_several_words_in_one_utterance():
    random = np.random.default_rng(2)
    pictures, words = [], []
    for _ in range(100):
        colour, shape = random.choice(list(COLOURS)), random.choice(SHAPES)
        pictures.append(thing(colour, shape, random))
        words.append(f"{colour} {shape}")
    learner = AttributeLearner().fit(pictures, words)
    assert learner.num_attributes_ == 2 and len(learner.texts_) == 200
    assert rate(learner) >= 0.95


def test_saving_and_loading_changes_no_answer(taught, told, tmp_path):
    picture = thing("green", "wide", np.random.default_rng(7))
    for name, learner in (("text", taught), ("speech", told)):
        learner.save(tmp_path / name)
        loaded = AttributeLearner.load(tmp_path / name)
        assert loaded.name(picture) == learner.name(picture)
        assert loaded.words_ == learner.words_
        assert "lessons" in (tmp_path / name / "card.md").read_text()
    one, other = told.say(told.name(picture)), loaded.say(loaded.name(picture))
    assert np.array_equal(one.samples, other.samples)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [ANNEALED, FAITHFUL])
def test_the_mixtures_learn_save_and_load(settings, tmp_path):
    pictures, words = lessons(120, np.random.default_rng(3), spoken=True)
    for recall in ("nearest", "nearest-sound"):
        learner = AttributeLearner(settings, num_attributes=2, recall=recall, iterations=15)
        learner.fit(pictures, words)
        learner.save(tmp_path / recall)
        again = AttributeLearner.load(tmp_path / recall)
        picture = thing("red", "tall", np.random.default_rng(1))
        assert again.name(picture) == learner.name(picture)


def test_damaged_and_foreign_folders_are_refused(taught, tmp_path):
    taught.save(tmp_path / "a")
    with pytest.raises(FileExistsError):
        taught.save(tmp_path / "a")
    taught.save(tmp_path / "a", overwrite=True)
    path = tmp_path / "a" / "model.json"
    model = json.loads(path.read_text())
    for change in ({"version": 99}, {"kind": "Other"}, {"arrays_sha256": "0"}):
        path.write_text(json.dumps(model | change))
        with pytest.raises(FormatError):
            AttributeLearner.load(tmp_path / "a")
    with pytest.raises(FormatError, match=r"model\.json"):
        AttributeLearner.load(tmp_path)


@pytest.mark.slow
def test_new_words_join_their_attribute(monkeypatch):
    random = np.random.default_rng(0)
    learner = AttributeLearner().fit(*lessons(160, random))
    monkeypatch.setitem(COLOURS, "yellow", (220, 210, 40))
    shapes = [str(random.choice(SHAPES)) for _ in range(41)]
    pictures = [thing("yellow", shape, random) for shape in shapes]
    assert "yellow" not in learner.name(pictures[0]).words
    said = [shape if n % 2 else "yellow" for n, shape in enumerate(shapes)]
    learner.teach(pictures[:40], said[:40])
    by_name = {word.name: word.attribute for word in learner.words_}
    assert by_name["yellow"] == by_name["red"] != by_name["tall"]
    assert set(learner.name(pictures[40]).words) == {"yellow", shapes[40]}


def test_a_picture_unlike_all_others_gets_no_word(taught):
    noise = np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)
    naming = taught.name(noise)
    assert not all(answer.known for answer in naming.attributes)
    assert "no word" in naming.text


@pytest.mark.slow
def test_a_colour_that_was_never_named_has_no_word_but_its_digit_has(shared_data):
    photos = sorted(shared_data("cards", "crops").glob("*.png"))
    names = [path.stem.split("_")[1:3] for path in photos]
    pictures = [read_image(path) for path in photos]
    known = [n for n, (colour, _) in enumerate(names) if colour != "yellow"]
    taught, asked = [n for n in known if n % 4], known[::4]
    words = [" ".join(names[n]) for n in taught]
    learner = AttributeLearner().fit([pictures[n] for n in taught], words)
    colour = next(word.attribute for word in learner.words_ if word.name == "red")

    def words_for(which, attribute):
        named = learner.name_all([pictures[n] for n in which])
        return np.mean([naming.attributes[attribute].known for naming in named])

    yellow = [n for n, (colour, _) in enumerate(names) if colour == "yellow"]
    assert words_for(asked, colour) > 0.85 and words_for(yellow, colour) < 0.6
    assert words_for(asked, 1 - colour) > 0.85 and words_for(yellow, 1 - colour) > 0.8
    # Of yellow cards only the new word is ever said, so that it never meets a digit either.
    learner.teach([pictures[n] for n in yellow[::2]], ["yellow"] * len(yellow[::2]))
    assert {word.name for word in learner.attributes()[colour]} == {
        "red",
        "green",
        "blue",
        "yellow",
    }
    named = learner.name_all([pictures[n] for n in yellow[1::2]])
    assert np.mean([naming.attributes[colour].word == "yellow" for naming in named]) > 0.9


@pytest.mark.slow
def test_a_new_word_that_is_only_heard_joins_its_attribute():
    random = np.random.default_rng(6)
    pictures, words = lessons(300, random)
    first = [n for n, said in enumerate(words) if said != "red"]
    later = [n for n, said in enumerate(words) if said == "red" or n % 5 == 0]
    learner = AttributeLearner().fit(
        [pictures[n] for n in first], [word(words[n], random) for n in first]
    )
    known = len(learner.words_)
    learner.teach([pictures[n] for n in later], [word(words[n], random) for n in later])
    # One word or several that sound a little different, but of no other recording.
    new = learner.words_[known:]
    assert sum(one.count for one in new) == words.count("red")
    shown = learner.name(thing("red", "wide", random))
    blue = learner.name(thing("blue", "wide", random))
    different = [a.word != b.word for a, b in zip(shown.attributes, blue.attributes, strict=True)]
    assert sorted(different) == [False, True]  # the shapes are called alike, the colours not
    assert {one.name for one in new} & {answer.word for answer in shown.attributes}


@pytest.mark.slow
def test_words_of_an_attribute_that_nobody_named_before_found_it(shared_data):
    photos = sorted(shared_data("cards", "crops").glob("*.png"))
    names = [path.stem.split("_")[1:3] for path in photos]
    pictures = [read_image(path) for path in photos]
    taught = range(0, len(photos), 2)
    learner = AttributeLearner().fit(
        [pictures[n] for n in taught], [" ".join(names[n]) for n in taught]
    )
    assert learner.num_attributes_ == 2
    random = np.random.default_rng(0)
    later = random.permutation(np.arange(1, len(photos), 2))
    blurred = [cv2.GaussianBlur(pictures[n], (0, 0), 2) for n in later[:90]]
    plain = [pictures[n] for n in later[90:180]]
    # Of every third picture its colour and its digit are said as well.
    new = ["blurred"] * 90 + ["plain"] * 90
    said = [w if i % 3 else " ".join([w, *names[later[i]]]) for i, w in enumerate(new)]
    learner.teach([*blurred, *plain], said)
    by_name = {word.name: word.attribute for word in learner.words_}
    assert by_name["blurred"] == by_name["plain"] not in (by_name["red"], by_name["3"])
    assert learner.num_attributes_ == 3


def test_few_lessons_can_grow():
    random = np.random.default_rng(4)
    learner = AttributeLearner().fit(*lessons(2, random))
    learner.teach(*lessons(60, random))
    assert learner.name(thing("red", "wide", random)).attributes


def test_confidence_is_a_probability(taught):
    naming = taught.name(thing("red", "wide", np.random.default_rng(3)))
    for answer in naming.attributes:
        assert 0 < answer.confidence <= 1
        assert answer.confidence + sum(p for _, p in answer.others) <= 1 + 1e-9


@pytest.mark.slow
def test_a_word_heard_once_and_tiny_pictures():
    random = np.random.default_rng(4)
    pictures, words = lessons(100, random)
    pictures.append(np.zeros((3, 3, 3), dtype=np.uint8))
    words.append("speck")
    learner = AttributeLearner().fit(pictures, words)
    assert "speck" in {word.name for word in learner.words_}
    assert learner.name(pictures[-1]).attributes
    old = AttributeLearner(pictures=[Autocorrelation()]).fit(pictures, words)
    assert old.name(pictures[-1]).attributes


def test_identical_pictures_with_one_word_only(capfd):
    picture = np.full((16, 16, 3), 77, dtype=np.uint8)
    learner = AttributeLearner().fit([picture] * 30, ["grey"] * 30)
    assert learner.num_attributes_ == 1
    assert learner.name(picture).words == ("grey",)
    assert capfd.readouterr() == ("", "")  # no library complains behind our back


def test_the_same_word_in_text_and_speech():
    random = np.random.default_rng(5)
    pictures, words = lessons(120, random)
    said = [SpokenWord(text, word(text, random)) for text in words]
    learner = AttributeLearner().fit(pictures, said)
    naming = learner.name(pictures[0])
    assert set(naming.words) <= {*COLOURS, *SHAPES}
    assert learner.say(naming).duration > 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "pictures", "words", "match"),
    [
        ({}, [], [], "nothing to learn"),
        ({}, [np.zeros((9, 9, 3), np.uint8)], ["a", "b"], "1 pictures came with 2"),
        ({}, [np.zeros((9, 9, 3), np.uint8)], ["a"], "two lessons"),
        ({}, [np.zeros((9, 9, 3), np.uint8)] * 2, ["a", "  "], "no word"),
        ({}, [np.zeros((9, 9, 3), np.uint8)] * 2, ["a", 3], "text or a sound"),
        ({"num_attributes": 9}, None, None, "only 6 different words"),  # K above the words
        ({"method": "guess"}, None, None, "method"),
        ({"recall": "guess"}, None, None, "recall"),
        ({"pictures": "best"}, None, None, "recommended"),
        ({"pictures": ()}, None, None, "at least one"),
        ({"recall": "nearest-sound"}, None, None, "mixture"),
    ],
)
def test_lessons_and_settings_that_make_no_sense(settings, pictures, words, match):
    if pictures is None:
        pictures, words = lessons(60, np.random.default_rng(0))
    with pytest.raises(TeachingError, match=match):
        AttributeLearner(**settings).fit(pictures, words)


def test_other_misuse_is_told(taught):
    with pytest.raises(TeachingError, match="no setting"):
        AttributeLearner(colour="red")
    with pytest.raises(TeachingError, match="fit first"):
        AttributeLearner().attributes()
    with pytest.raises(VideoError, match="uint8"):
        taught.name(np.zeros((5, 5)))
    with pytest.raises(SoundError, match="text"):
        taught.say(taught.name(thing("red", "tall", np.random.default_rng(0))))


def knocked(count, random):
    """Things that are seen and weighed, with one word each: a colour or a weight."""
    pictures, words, grams = [], [], []
    for number in range(count):
        colour, heavy = random.choice(list(COLOURS)), bool(random.integers(2))
        pictures.append(thing(colour, random.choice(SHAPES), random))
        grams.append((300.0 if heavy else 150.0) + 10 * random.normal())
        words.append(("heavy" if heavy else "light") if number % 2 else str(colour))
    return pictures, words, np.array(grams)


def test_things_are_weighed_too(tmp_path):
    random = np.random.default_rng(0)
    pictures, words, grams = knocked(160, random)
    learner = AttributeLearner().fit(pictures, words, sources={"weight": grams})
    learner.save(tmp_path / "taught")
    for one in (learner, AttributeLearner.load(tmp_path / "taught")):
        assert one.sources_ == ("weight",)
        naming = one.name(thing("blue", "tall", random), sources={"weight": 301.0})
        assert set(naming.words) == {"blue", "heavy"}
        # Unweighed, nothing is said of the weight.
        assert one.name(thing("blue", "tall", random)).words == ("blue",)
    used = [set(used_features(learner, recall)) for recall in learner.recalls_]
    assert {"weight"} in used
    learner.teach_one(thing("red", "tall", random), "light", sources={"weight": 149.0})
    learner.teach([thing("red", "tall", random)], ["red"])
    assert np.isnan(learner.kinds_[-1][-1]).all() and learner.kinds_[-1][-2] == 149.0
    with pytest.raises(TeachingError, match="no source smell"):
        learner.name(pictures[0], sources={"smell": 1.0})
    with pytest.raises(TeachingError, match="taught with 1 numbers, got 2"):
        learner.name(pictures[0], sources={"weight": [1.0, 2.0]})
    with pytest.raises(TeachingError, match="a row of numbers for each of 160"):
        AttributeLearner().fit(pictures, words, sources={"weight": [1.0]})


def kinds_and_words(truth, random, count=300):
    """Points around the corner of each thing, and one of the words for it."""
    rows = random.integers(0, len(truth), count)
    columns = random.integers(0, len(truth[0][1]), count)
    points = np.array([truth[row][0] for row in rows]) + 0.1 * random.normal(size=(count, 2))
    words = tuple(truth[row][1][column] for row, column in zip(rows, columns, strict=True))
    return Lessons((points[:, :1], points[:, 1:]), words, np.zeros((count, 0)), (None,) * count)


def test_nonlinear_maps_find_what_no_line_sets_apart(tmp_path):
    random = np.random.default_rng(0)
    truth = [
        ((heat, size), ("usual" if heat == 0 else "odd", "big" if size else "small"))
        for heat in (-1, 0, 1)
        for size in (0, 1)
    ]
    lessons = kinds_and_words(truth, random)
    learner = AttributeLearner(maps="nonlinear").fit_lessons(lessons)
    learner.save(tmp_path / "taught")
    loaded = AttributeLearner.load(tmp_path / "taught")
    for (heat, size), words in truth:
        for one in (learner, loaded):
            recalled = one.recall((np.array([[heat]]), np.array([[size]])))
            assert set(one.namings(recalled)[0].words) == set(words)
    with pytest.raises(TeachingError, match="linear or nonlinear"):
        AttributeLearner(maps="curved").fit_lessons(lessons)


def hierarchy_and_senses():
    """Hues 0 to 3 and sizes 0 to 3: warm is hue 0 and 1, orange both hue 3 and size 3."""
    hues, sizes = ("red", "yellow", "green", "orange"), ("tiny", "small", "large", "orange")
    return [
        ((hue, size), (hues[hue], sizes[size], "warm" if hue < 2 else hues[hue]))
        for hue in range(4)
        for size in range(4)
    ]


def test_words_over_words_and_words_of_two_attributes(tmp_path):
    random = np.random.default_rng(0)
    learner = AttributeLearner().fit_lessons(kinds_and_words(hierarchy_and_senses(), random, 700))
    assert learner.num_attributes_ == 2
    words = {word.name: word for word in learner.words_}
    assert set(words["warm"].covers) == {"red", "yellow"}
    assert [name for name, word in words.items() if word.also] == ["orange"]
    learner.save(tmp_path / "taught")
    for one in (learner, AttributeLearner.load(tmp_path / "taught")):
        naming = one.namings(one.recall((np.array([[1.0]]), np.array([[3.0]]))))[0]
        assert set(naming.words) == {"yellow", "orange"}
        assert [word for answer in naming.attributes for word, _ in answer.above] == ["warm"]
    learner.rename("yellow", "amber")
    assert set({word.name: word for word in learner.words_}["warm"].covers) == {"red", "amber"}
    learner.merge("tiny", "small")
    assert set({word.name: word for word in learner.words_}["warm"].covers) == {"red", "amber"}
    assert [word.name for word in learner.words_ if word.also] == ["orange"]
    flat = AttributeLearner(relations=False)
    flat.fit_lessons(kinds_and_words(hierarchy_and_senses(), random, 300))
    assert not any(word.also or word.covers for word in flat.words_)


def test_recordings_are_kept_for_words_that_change(tmp_path):
    """Words of a file that are split, or learned again, can still be played; no two are alike."""
    random = np.random.default_rng(4)
    AttributeLearner().fit(*lessons(60, random, spoken=True)).save(tmp_path / "taught")
    loaded = AttributeLearner.load(tmp_path / "taught")
    loaded.split(max(loaded.words_, key=lambda one: one.count).name)
    loaded.save(tmp_path / "taught", overwrite=True)
    again = AttributeLearner.load(tmp_path / "taught").teach(*lessons(6, random, spoken=True))
    names = [one.name for one in again.words_]
    assert len(names) > 6 and len(set(names)) == len(names)
    assert all(again.sounds_[one.example] is not None for one in again.words_)
