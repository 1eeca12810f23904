"""Query by picture on small folders: right answers where there can be no doubt, and bad folders."""

import json

import numpy as np
import pytest

from experiments.image_folders import find_images, read_images
from experiments.images import main, measure, ranking_scores
from tests.retrieval.visual.test_embedding import write_network
from wordsight.errors import FormatError
from wordsight.video import write_image

LOOKS = {"sky": (90, 140, 230), "grass": (60, 160, 50), "brick": (170, 80, 60)}
METHODS = ("gmm", "gmm_background", "ala", "document_generation", "histogram", "bag_of_words")


def write_classes(folder, count=5):
    """Write noisy pictures of one colour per class, with a stripe anywhere."""
    random = np.random.default_rng(0)
    for name, colour in LOOKS.items():
        (folder / name).mkdir(parents=True)
        for n in range(count):
            image = np.clip(np.array(colour) + random.normal(0, 12, (48, 64, 3)), 0, 255)
            top = random.integers(0, 40)
            image[top : top + 8] = random.integers(0, 256, 3)
            write_image(folder / name / f"{n}.png", image.astype(np.uint8))
    return folder


@pytest.mark.slow
def test_clear_classes_are_found_by_every_method(tmp_path, capsys):
    main(["--data", str(write_classes(tmp_path)), "--json"])
    results = json.loads(capsys.readouterr().out)
    for name in METHODS:
        assert set(results[name]) == {"map", "p10"}
        assert results[name]["map"] > 0.8 > results["chance"]["map"], name
    assert results["gmm_background"]["map"] > 0.95
    assert (results["images"], results["classes"], results["queries"]) == (15, 3, 15)


@pytest.mark.slow
def test_the_table_names_every_method(tmp_path, capsys):
    network = write_network(tmp_path / "net.onnx")
    data = write_classes(tmp_path / "pictures", 2)
    main(["--data", str(data), "--queries", "3", "--embedding", str(network)])
    out = capsys.readouterr().out
    assert "colour histogram" in out and "background" in out and "with the network" in out


def test_measures_are_those_of_a_ranking_done_by_hand():
    labels = np.array([0, 0, 1, 0])
    # For picture 0 the others rank 2, 1, 3: right at ranks 2 and 3.
    scores = ranking_scores(lambda _: np.array([9.0, 2.0, 3.0, 1.0]), labels, np.array([0]))
    assert scores == {"map": round((1 / 2 + 2 / 3) / 2, 4), "p10": round(2 / 3, 4)}


@pytest.mark.slow
def test_damaged_pictures_are_left_out(tmp_path, capsys):
    write_classes(tmp_path)
    (tmp_path / "sky" / "broken.png").write_bytes(b"no picture")
    (tmp_path / "sky" / "notes.txt").write_text("not even the name of one")
    results = measure(tmp_path)
    assert results["images"] == 15
    assert "broken.png" in capsys.readouterr().err


def test_classes_can_stand_in_the_names(tmp_path):
    for name in ("train_red_1_a", "train_red_1_b", "train_red_2_c"):
        write_image(tmp_path / f"{name}.png", np.zeros((8, 8, 3), dtype=np.uint8))
    assert [label for _, label in find_images(tmp_path)] == ["train_red_1"] * 2 + ["train_red_2"]


def test_large_pictures_are_shrunk_once(tmp_path):
    write_image(tmp_path / "x_1.png", np.zeros((400, 800, 3), dtype=np.uint8))
    images, _, _ = read_images([(tmp_path / "x_1.png", "x")], 352)
    assert images[0].shape == (176, 352, 3)


@pytest.mark.parametrize("content", ["missing", "empty", "one class", "one each"])
def test_folders_without_classes_are_refused(tmp_path, content):
    folder = tmp_path / "data"
    if content != "missing":
        folder.mkdir()
    names = {"one class": ["a/1", "a/2"], "one each": ["a/1", "b/1"]}.get(content, [])
    for name in names:
        write_image(folder / f"{name}.png", np.zeros((8, 8, 3), dtype=np.uint8))
    with pytest.raises(FormatError, match="folder"):
        find_images(folder)


@pytest.mark.slow
def test_real_cards_by_their_looks(shared_data, tmp_path):
    for path in sorted(shared_data("cards", "crops").glob("*_[0-3]_*.png"))[::2]:
        (tmp_path / path.name).symlink_to(path)
    results = measure(tmp_path, queries=40)
    assert (results["images"], results["classes"]) == (80, 16)
    assert results["gmm_background"]["map"] > 2 * results["chance"]["map"]
    assert results["gmm_background"]["map"] > results["histogram"]["map"]
