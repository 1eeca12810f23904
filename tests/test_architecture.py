"""The rooms import one way only, as docs/architecture.md draws it."""

import ast
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
