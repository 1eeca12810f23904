"""Topics of words and pictures: rows, what is right, and that both together are no worse."""

import json

import numpy as np
import pytest

from experiments.multimodal import Topic, main, mean_average_precision, measure, rendered


def test_precision_leaves_the_topics_own_document_out():
    blank = np.zeros((1, 1, 3), np.uint8)
    topic = Topic("", blank, 0, frozenset({2, 3}))
    scores = np.array([9.0, 1.0, 3.0, 0.5])  # own, wrong, right, right
    assert mean_average_precision([scores], [topic]) == pytest.approx((1 + 2 / 3) / 2, abs=1e-4)


@pytest.mark.slow
def test_rendered_films_have_every_row():
    collection = rendered("street", films=16)
    assert all(topic.own not in topic.right for topic in collection.topics)
    found = measure(collection)
    assert {"text", "picture", "joint", "plain", "dynamic", "kl", "ala"} <= found.keys()
    assert found["joint"] >= max(found["text"], found["picture"]) - 0.02


def test_an_unknown_collection_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--collections", "nothing", "--json"])
    assert "there is no collection nothing" in capsys.readouterr().err


def test_pairs_of_wikipedia(tmp_path, capsys):
    scipy_io = pytest.importorskip("scipy.io")
    rng = np.random.default_rng(0)
    folder = tmp_path / "wikipedia"
    folder.mkdir()
    values = {}
    for part, name in (("tr", "train"), ("te", "test")):
        kinds = np.arange(40) % 4
        values[f"I_{part}"] = rng.random((40, 128)) + 3 * np.eye(4, 128)[kinds]
        values[f"T_{part}"] = rng.random((40, 10)) + 3 * np.eye(4, 10)[kinds]
        (folder / f"{name}set.list").write_text("".join(f"t i {k + 1}\n" for k in kinds))
    scipy_io.savemat(folder / "raw_features.mat", values)
    main(["--data", str(tmp_path), "--collections", "wikipedia", "--json"])
    found = json.loads(capsys.readouterr().out)["wikipedia"]
    assert found["joint"] >= max(found["text"], found["picture"]) - 0.02
