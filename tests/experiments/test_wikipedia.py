"""Cross-modal retrieval: the reader, the measure, and both methods on made pairs."""

import numpy as np
import pytest
import scipy.io

from experiments.wikipedia import Pairs, generative, plain_cca, read_wikipedia, two_way_map
from wordsight.errors import FormatError


def made(rng, topics, count):
    which = rng.integers(0, 4, count)
    pictures = np.stack([rng.dirichlet(20 * topics[0][t] + 0.1) for t in which])
    texts = np.stack([rng.dirichlet(20 * topics[1][t] + 0.1) for t in which])
    return Pairs(pictures, texts, which)


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.ones(16), 4), rng.dirichlet(np.ones(6), 4)
    return made(rng, topics, 150), made(rng, topics, 50)


def test_both_methods_beat_chance(sides):
    train, test = sides
    chance = two_way_map(np.random.default_rng(1).random((50, 50)), test.categories)
    for score in (generative((10.0, 5.0, 0.7)), plain_cca((3, 1e-2))):
        found = two_way_map(score(train, test), test.categories)
        assert found["image_to_text"] > chance["image_to_text"] + 0.2
        assert found["text_to_image"] > chance["text_to_image"] + 0.2


def test_the_measure_by_hand():
    scores = np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0], [3.0, 1.0, 2.0]])
    # Categories a, b, a: pictures find theirs at ranks (1, 3), (1), (1, 2).
    found = two_way_map(scores, np.array([0, 1, 0]))
    assert found["image_to_text"] == pytest.approx(np.mean([(1 + 2 / 3) / 2, 1, 1]), abs=1e-4)


def test_files_there_and_not(sides, tmp_path):
    train, test = sides
    with pytest.raises(FormatError, match="raw_features"):
        read_wikipedia(tmp_path)
    inner = tmp_path / "data"
    inner.mkdir()
    values = {"I_tr": train.pictures, "T_tr": train.texts, "I_te": test.pictures}
    scipy.io.savemat(inner / "raw_features.mat", values)
    with pytest.raises(FormatError, match="list of train"):
        read_wikipedia(tmp_path)
    for name, side in (("train", train), ("test", test)):
        lines = [f"t\ti\t{category}\n" for category in side.categories]
        (inner / f"{name}set_txt_img_cat.list").write_text("".join(lines))
    with pytest.raises(FormatError, match="T_te"):
        read_wikipedia(tmp_path)
    scipy.io.savemat(inner / "raw_features.mat", values | {"T_te": test.texts})
    read = read_wikipedia(tmp_path)
    assert read[1].categories.tolist() == test.categories.tolist()


def test_the_real_files(shared_data):
    train, test = read_wikipedia(shared_data("wikipedia"))
    assert (train.pictures.shape, test.texts.shape) == ((2173, 128), (693, 10))
    found = two_way_map(generative((10.0, 5.0, 0.7))(train, test), test.categories)
    assert found["image_to_text"] > 0.241
    assert found["text_to_image"] > 0.197
