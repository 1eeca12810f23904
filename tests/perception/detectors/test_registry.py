"""Finding detectors by name: what is there, and what is said when something is not."""

from importlib.metadata import EntryPoint

import pytest

from wordsight.perception import Detector, DetectorError, available_detectors, load_detector
from wordsight.perception.detectors import registry as module

OWN = {"boxes", "onnx", "people", "regions"}


def announce(monkeypatch, **announced):
    entries = [
        EntryPoint(name, value, module.ENTRY_POINT_GROUP) for name, value in announced.items()
    ]
    monkeypatch.setattr(module, "_entries", lambda: entries)


def test_our_detectors_are_announced_with_one_line_each():
    found = available_detectors()
    assert set(found) >= OWN
    assert list(found) == sorted(found)
    assert all(line and "\n" not in line and "cannot" not in line for line in found.values())


@pytest.mark.parametrize("name", ["people", "regions"])
def test_loaded_detectors_keep_the_protocol(name):
    detector = load_detector(name)
    assert isinstance(detector, Detector)
    assert detector.name == name and detector.label_names


def test_options_reach_the_detector():
    assert load_detector("regions", max_boxes=3).settings()["max_boxes"] == 3


def test_unknown_name_lists_the_nearest():
    with pytest.raises(
        DetectorError, match=r"no detector 'regoins'\. Did you mean regions\?.*onnx"
    ):
        load_detector("regoins")


def test_unknown_name_without_likeness_lists_all():
    with pytest.raises(DetectorError, match=r"Installed detectors: .*people") as caught:
        load_detector("zzzz")
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    "name, options, words",
    [
        ("regions", {"max_box": 3}, "max_box.*Its options: max_boxes"),  # misspelt
        ("onnx", {}, "missing.*'model'"),  # left out
    ],
)
def test_wrong_options_list_the_right_ones(name, options, words):
    with pytest.raises(DetectorError, match=words):
        load_detector(name, **options)


def test_missing_package_names_the_extra(monkeypatch, tmp_path):
    (tmp_path / "needy.py").write_text("import torch.nothing_here\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    announce(monkeypatch, needy="needy:Needy")
    with pytest.raises(DetectorError, match=r"pip install 'wordsight\[gpu\]'"):
        load_detector("needy")


def test_missing_onnxruntime_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(DetectorError, match="pip install onnxruntime"):
        load_detector("onnx", model=tmp_path / "model.onnx")


def test_a_broken_plug_in_does_not_hide_the_others(monkeypatch):
    announce(
        monkeypatch,
        regions="wordsight.perception.detectors.regions:Regions",
        gone="no_such_module:Gone",
        moved="wordsight.perception.detectors.regions:Moved",
    )
    found = available_detectors()
    assert found["regions"].startswith("Moving or distinct")
    assert "cannot be loaded" in found["gone"] and "no_such_module" in found["gone"]
    assert "does not exist" in found["moved"]


def test_nothing_installed_is_said(monkeypatch):
    announce(monkeypatch)
    with pytest.raises(DetectorError, match="none; install Wordsight again"):
        load_detector("regions")
    assert available_detectors() == {}
