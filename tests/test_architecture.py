"""The rooms import one way only, as docs/architecture.md draws it."""

import ast
import importlib.util
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "wordsight"
FOUNDATIONS = {"closing", "errors", "files", "interrupts", "progress", "records"}
LEARNER = FOUNDATIONS | {"video", "language", "perception", "inference", "evaluation", "engine"}
ROOMS_OF_LEARNERS = {"meaning", "alignment", "states", "retrieval", "attributes"}
MAY_IMPORT = {
    "records": {"errors", "files", "interrupts"},
    "inference": {"errors"},
    "evaluation": {"errors"},
    "engine": {"closing", "errors", "interrupts", "progress"},
    "video": FOUNDATIONS,
    "language": FOUNDATIONS,
    "perception": FOUNDATIONS | {"video"},
    "worlds": FOUNDATIONS | {"video", "language"},
    "meaning": LEARNER,
    "alignment": LEARNER,
    "states": LEARNER,
    "retrieval": LEARNER,
    "attributes": LEARNER,
    "workflows": LEARNER | ROOMS_OF_LEARNERS | {"library", "worlds"},
    "studio": LEARNER | ROOMS_OF_LEARNERS | {"runs", "library", "worlds", "workflows"},
    "library": FOUNDATIONS | {"video", "language", "perception", "engine"},
}
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())


def imported_rooms(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("wordsight."):
                yield name.split(".")[1]


@pytest.mark.slow
@pytest.mark.parametrize("room", [room for room in ROOMS if room != "cli"])
def test_a_room_imports_only_what_it_may(room):
    assert room in MAY_IMPORT, f"say in MAY_IMPORT and docs/architecture.md what {room}/ may import"
    for file in (PACKAGE / room).rglob("*.py"):
        wrong = set(imported_rooms(file)) - MAY_IMPORT[room] - {room}
        assert not wrong, f"{file.relative_to(PACKAGE)} imports {sorted(wrong)}"


@pytest.mark.slow
def test_nothing_imports_the_command_line():
    for file in PACKAGE.rglob("*.py"):
        if "cli" not in file.relative_to(PACKAGE).parts and file.name != "__main__.py":
            assert "cli" not in set(imported_rooms(file)), file


def test_the_package_imports_nothing_from_outside():
    outside = {"experiments", "benchmarks", "tests", "tools", "docs"}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            assert not outside & {name.partition(".")[0] for name in names}, file


def test_every_extra_brings_a_package_that_is_imported():
    declared = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    extras = declared["project"]["optional-dependencies"]
    wanted = {
        name for extra, rows in extras.items() if extra not in ("dev", "docs") for name in rows
    }
    homes = packages_distributions().items()
    places = [PACKAGE, PACKAGE.parents[1] / "experiments"]  # which ask for the voices
    files = [path for place in places for path in place.rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for requirement in wanted:
        name = re.split(r"[\[><=]", requirement)[0]
        modules = [module for module, owners in homes if name in owners] or [name.replace("-", "_")]
        assert any(re.search(rf"\b{module}\b", code) for module in modules), requirement


def test_no_branch_serves_a_system_that_the_rest_cannot_run_on():
    """Locks of files are POSIX's everywhere, so a branch for Windows could never run."""
    for file in PACKAGE.rglob("*.py"):
        assert not re.search(r"win32|msvcrt|os\.name\b", file.read_text(encoding="utf-8")), file


@pytest.mark.slow
def test_no_public_class_name_is_used_twice_and_no_import_goes_in_a_circle():
    spec = importlib.util.spec_from_file_location("house", PACKAGE.parents[1] / "tools/house.py")
    house = importlib.util.module_from_spec(spec)
    sys.modules["house"] = house  # its dataclasses look their module up
    spec.loader.exec_module(house)
    modules = house.read_modules(PACKAGE.parent)
    assert len(modules) > 100
    assert house.double_classes(modules) == []
    assert house.cycles(modules) == []
