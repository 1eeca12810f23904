"""Model folders: whole or not at all, and what is damaged says so."""

import json

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.records import model_folder
from wordsight.records.model_folder import ModelFolder

KIND = ModelFolder("Thing", 2, "a saved thing", "make it again")


def save(path, **options):
    KIND.write(path, {"a": 1}, arrays={"x": np.arange(3)}, texts={"card.md": "# A"}, **options)


def test_what_is_written_is_read(tmp_path):
    save(tmp_path / "thing")
    values, arrays = KIND.read(tmp_path / "thing")
    assert values["a"] == 1 and arrays["x"].tolist() == [0, 1, 2]
    assert (tmp_path / "thing" / "card.md").read_text() == "# A"
    KIND.write(tmp_path / "plain", {"a": 2}, texts={})
    assert KIND.read(tmp_path / "plain")[1] == {}


def test_only_a_model_of_the_kind_is_replaced_and_only_if_asked(tmp_path):
    save(tmp_path / "thing")
    with pytest.raises(FileExistsError):
        save(tmp_path / "thing")
    save(tmp_path / "thing", overwrite=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "dear.txt").write_text("keep")
    with pytest.raises(FileExistsError):
        save(tmp_path / "other", overwrite=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other", "thing"]


def test_a_failure_leaves_what_was_there(tmp_path):
    save(tmp_path / "thing")
    with pytest.raises(ValueError, match="JSON"):
        KIND.write(tmp_path / "thing", {"a": float("nan")}, texts={}, overwrite=True)
    assert KIND.read(tmp_path / "thing")[0]["a"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["thing"]


def test_damage_is_told(tmp_path):
    save(tmp_path / "thing")
    model = tmp_path / "thing" / "model.json"
    good = json.loads(model.read_text())
    for changes, said in [
        ({"kind": "Other"}, "does not describe a saved thing"),
        ({"version": 3}, "newer"),
        ({"version": None}, "newer"),
        ({"arrays_sha256": "0"}, "do not belong together"),
    ]:
        model.write_text(json.dumps(good | changes))
        with pytest.raises(FormatError, match=said):
            KIND.read(tmp_path / "thing")
    model.write_text("{")
    with pytest.raises(FormatError, match="cannot be read"):
        KIND.read(tmp_path / "thing")
    with pytest.raises(FormatError, match="holds no model"):
        KIND.read(tmp_path / "nothing")
    with pytest.raises(FormatError, match=r"damaged.*make it again"), KIND.restoring("it"):
        {}["a"]


def test_a_model_that_is_replaced_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    save(tmp_path / "thing")
    load = model_folder.load_npz

    def replacing(*how):
        monkeypatch.setattr(model_folder, "load_npz", load)
        arrays = {"x": np.arange(4)}
        KIND.write(tmp_path / "thing", {"a": 2}, arrays=arrays, texts={}, overwrite=True)
        return load(*how)

    monkeypatch.setattr(model_folder, "load_npz", replacing)
    values, arrays = KIND.read(tmp_path / "thing")
    assert values["a"] == 2 and len(arrays["x"]) == 4
