"""The cards experiment: its loaders on made-up files, and a few seeds on the real ones."""

import json

import numpy as np
import pytest

from experiments.attribute_scores import control, evaluate
from experiments.cards import Cards, _only, _row, _scored, _shared, main
from experiments.data.cards import DIGITS, read_photos, read_recordings
from tests.attributes.toys import lessons, word
from wordsight.attributes import RECOMMENDED, AttributeLearner, describe_pictures, write_sound
from wordsight.errors import FormatError
from wordsight.video import read_image, write_image


def test_photos_are_read_by_their_names(tmp_path, capsys):
    picture = np.zeros((8, 8, 3), dtype=np.uint8)
    for name in (
        "train_red_3_ab.png",
        "test_Blue_7_x1.jpg",
        "green_0.png",
        "held_out_red_5_a_1.jpeg",
    ):
        write_image(tmp_path / name, picture)
    write_image(tmp_path / "holiday.png", picture)
    (tmp_path / "train_red_4_zz.png").write_bytes(b"no picture")
    photos = read_photos(tmp_path)
    found = set(zip(photos.colours.tolist(), photos.digits.tolist(), strict=True))
    assert found == {("red", "three"), ("blue", "seven"), ("green", "zero"), ("red", "five")}
    said = capsys.readouterr().err
    assert "holiday.png" in said and "train_red_4_zz.png" in said
    with pytest.raises(FormatError, match="not a folder"):
        read_photos(tmp_path / "nowhere")


def test_recordings_are_read_with_and_without_an_index(tmp_path):
    random = np.random.default_rng(0)
    (tmp_path / "wav").mkdir()
    write_sound(tmp_path / "wav" / "a_c_red.wav", word("red", random))
    write_sound(tmp_path / "wav" / "a_d_two.wav", word("tall", random))
    by_name = read_recordings(tmp_path)
    assert by_name.words.tolist() == ["red", "two"] and by_name.kinds.tolist() == ["c", "d"]
    (tmp_path / "index.csv").write_text("utt,wav,kind,word\na,a_c_red.wav,c,Red\nb,no.wav,d,one\n")
    assert read_recordings(tmp_path).words.tolist() == ["red"]
    (tmp_path / "index.csv").write_text("name\nx\n")
    with pytest.raises(FormatError, match="columns"):
        read_recordings(tmp_path)


@pytest.mark.slow
def test_scores_cost_an_attribute_too_many():
    random = np.random.default_rng(0)
    pictures, words = lessons(160, random)
    learner = AttributeLearner().fit(pictures, words)
    said = np.array(words)
    meant = np.array([int(w in ("red", "blue", "green")) for w in words])
    tests = pictures[:40]
    kinds = describe_pictures(tests)
    names = np.array([sorted(learner.name(p).words) for p in tests])
    colour_first = np.isin(names[:, :1], ["red", "blue", "green"])
    truth = np.where(colour_first, names[:, ::-1], names)
    right = evaluate(learner, kinds, truth, said, meant)
    assert right.rate == 1.0 and right.assignment == 1.0 and right.num_attributes == 2
    learner.regroup(np.arange(160) % 4)
    assert evaluate(learner, kinds, truth, said, meant).rate <= 0.5
    assert control(AttributeLearner().fit(pictures, words), 0).num_attributes_ == 2


def test_words_that_only_one_side_has_are_left_out(capsys):
    shown, said = np.array(["red", "blue", "pink", "red"]), np.array(["blue", "red", "white"])
    assert _shared("colours", shown, said) == ["blue", "red"]
    assert "pink, white" in capsys.readouterr().err
    with pytest.raises(FormatError, match="share at least two digits; they share 1"):
        _shared("digits", np.array(["one", "two"]), np.array(["two", "six"]))


@pytest.mark.slow
def test_real_photos_and_speech(shared_data, capsys):
    images, speech = shared_data("cards", "crops"), shared_data("spoken")
    main(["--images", str(images), "--speech", str(speech), "--seeds", "1", "--json"])
    results = json.loads(capsys.readouterr().out)
    assert results["mean"] >= 0.9 and results["k_found"] == 1
    assert results["unseen_combinations"] >= 0.85
    assert results["rows"]["faithful"]["mean"] < results["rows"]["annealed"]["mean"]
    assert {"min", "max", "colour", "digit"} <= set(results)
    assert len(DIGITS) == 10


@pytest.mark.slow
def test_other_photos_of_another_split(shared_data, tmp_path):
    images, speech = shared_data("cards", "crops"), shared_data("spoken")
    for number, path in enumerate(sorted(images.glob("*.png"))):
        picture = read_image(path)
        _, colour, digit, name = path.stem.split("_")
        half = "one" if number % 2 else "two"
        (tmp_path / half).mkdir(exist_ok=True)
        # The other half comes as JPEG under the name of another split.
        kept = path.name if half == "one" else f"held_out_{colour}_{digit}_{name}.jpg"
        write_image(tmp_path / half / kept, picture)
    colours = ["blue", "green", "red"]
    photos, tests = (
        _only(read_photos(tmp_path / half), colours, list(DIGITS)) for half in ("one", "two")
    )
    cards = Cards.describe(photos, tests, read_recordings(speech), RECOMMENDED)
    row = _row(cards, RECOMMENDED, range(1), 200, "default")
    assert row["mean"] >= 0.97 and row["k_found"] == row["k_found_by_mdl"] == 1
    assert row["unseen_combinations"] >= 0.9


def test_no_photo_of_a_combination_that_was_held_back():
    random = np.random.default_rng(0)
    pictures, _ = lessons(40, random)
    truth = np.array([["red", "one"]] * 40)
    cards = Cards(
        describe_pictures(pictures), truth, describe_pictures(pictures[:1]),
        np.array([["red", "two"]]), True, np.zeros((1, 3)), None,
    )  # fmt: skip
    assert _scored(cards, RECOMMENDED, 0, 10, "default", unseen=True) is None
