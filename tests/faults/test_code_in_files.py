"""A file from anywhere cannot run code: nothing in the package unpickles or evaluates."""

import ast
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from wordsight.errors import FormatError, IndexDamagedError
from wordsight.meaning import LearnedLexicon
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.retrieval.index.segments import Segment

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "wordsight"
# Modules that make objects from bytes by calling what the bytes name.
UNPACKERS = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "joblib"}
BUILTINS = {"eval", "exec", "compile", "__import__"}


def offences(tree):
    """Yield what could run code that comes from a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {alias.name.split(".")[0] for alias in node.names}
            yield from names & UNPACKERS
        elif isinstance(node, ast.ImportFrom):
            yield from {(node.module or "").split(".")[0]} & UNPACKERS
        elif isinstance(node, ast.Call):
            yield from _call_offences(node)


def _call_offences(call):
    name = call.func.id if isinstance(call.func, ast.Name) else None
    name = call.func.attr if isinstance(call.func, ast.Attribute) else name
    if isinstance(call.func, ast.Name) and name in BUILTINS:
        yield name
    given = {word.arg: word.value for word in call.keywords}
    of = getattr(getattr(call.func, "value", None), "id", "")
    reads_arrays = (of in ("np", "numpy") and name == "load") or name == "read_array"
    pickles = given.get("allow_pickle")
    allowed = isinstance(pickles, ast.Constant) and pickles.value is False
    if (reads_arrays or pickles is not None) and not allowed:
        yield f"{name} without allow_pickle=False"
    if of == "torch" and name == "load":
        yield "torch.load"
    if of == "yaml" and name != "safe_load":
        yield f"yaml.{name}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "room", sorted(p.name for p in PACKAGE.iterdir() if p.suffix in ("", ".py"))
)
def test_nothing_in_the_package_can_run_code_from_a_file(room):
    place = PACKAGE / room
    for path in [place] if place.is_file() else place.rglob("*.py"):
        found = list(offences(ast.parse(path.read_text(encoding="utf-8"))))
        assert not found, f"{path.relative_to(PACKAGE)}: {found}"


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from joblib import load",
        "eval('1')",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.lib.format.read_array(file)",
        "torch.load(path)",
    ],
)
def test_the_check_can_fail(text):
    assert list(offences(ast.parse(text)))


class Trap:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_a_trap_in_a_model_does_not_go_off(tmp_path):
    mark = tmp_path / "went off"
    hand_lexicon(["person", "chair"]).save(tmp_path / "lexicon")
    np.save(tmp_path / "trap.npy", np.array([Trap(mark)], dtype=object), allow_pickle=True)
    trap = (tmp_path / "trap.npy").read_bytes()
    whole = tmp_path / "lexicon" / "arrays.npz"
    with zipfile.ZipFile(whole) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, trap if name.endswith(".npy") else content)
    with pytest.raises(FormatError):
        LearnedLexicon.load(tmp_path / "lexicon")
    whole.write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(FormatError):
        LearnedLexicon.load(tmp_path / "lexicon")
    (tmp_path / "text.counts.npy").write_bytes(trap)
    with pytest.raises(IndexDamagedError):
        Segment(tmp_path).array("text", "counts")
    assert not mark.exists()
    pickle.loads(pickle.dumps(Trap(mark)))  # noqa: S301  it is our own
    assert mark.exists(), "the trap is no trap"
