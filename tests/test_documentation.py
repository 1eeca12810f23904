"""Everything public is documented, and the pages are true."""

import ast
import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "wordsight"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Syntax trees, not imports: collecting these tests loads no part of the package.
MODULES = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if not {"cli", "migrations"} & set(path.relative_to(PACKAGE).parts)
)
WITHOUT_API_PAGE = {
    "cli",
    "studio",
    "workflows",
}  # workflows are on the page of the package


def _name(path):
    return str(path.relative_to(PACKAGE))


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_every_public_name_has_a_docstring(module):
    tree = ast.parse(module.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "the module has no docstring"
    public = _public_names(tree) or set()
    missing = []
    for node in tree.body:
        if getattr(node, "name", None) not in public:
            continue
        missing += [] if ast.get_docstring(node) or _is_extra(node) else [node.name]
        if isinstance(node, ast.ClassDef):
            missing += [f"{node.name}.{name}" for name in _undocumented_methods(node)]
    assert not missing


@pytest.mark.parametrize("module", MODULES, ids=_name)
def test_every_module_lists_its_public_names(module):
    tree = ast.parse(module.read_text(encoding="utf-8"))
    defined = [
        node.name
        for node in tree.body
        if isinstance(node, _DEFINITIONS) and not node.name.startswith("_")
        if not node.decorator_list or isinstance(node, ast.ClassDef)  # a decorator registers it
    ]
    if defined:
        assert _public_names(tree) is not None, f"lacks __all__ although it defines {defined}"


@pytest.mark.parametrize(
    "room",
    sorted(p.parent.name for p in PACKAGE.glob("*/__init__.py")),
)
def test_every_room_has_an_api_page(room):
    if room not in WITHOUT_API_PAGE:
        page = ROOT / "docs" / "api" / f"{room}.md"
        assert f"::: wordsight.{room}" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs", reason="the documentation tools are not installed (extra docs)")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "Clip" in (tmp_path / "site" / "api" / "records.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_pictures_exist(page):
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) + re.findall(r'src="([^"]+)"', text)
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not missing


def test_every_picture_of_the_studio_can_be_made_again():
    makers = importlib.import_module("docs.make_images").PICTURES
    kept = {path.name for path in (ROOT / "docs" / "images").glob("studio-*")}
    assert kept == {f"studio-{name}.jpg" for name in makers}


@pytest.mark.parametrize("begun", [False, True], ids=["no folder", "a folder that broke off"])
def test_some_pictures_need_those_before_them(tmp_path, monkeypatch, begun):
    maker = importlib.import_module("docs.make_images")
    monkeypatch.setattr(maker, "installed_browser", lambda: "chromium")
    monkeypatch.setattr(maker, "sample", lambda folder: pytest.fail("began to make a library"))
    if begun:
        (tmp_path / "sample" / "library").mkdir(parents=True)
    with pytest.raises(SystemExit, match="without --only first"):
        maker.make_images(tmp_path / "sample", tmp_path, ["states"])


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _public_names(tree):
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return {constant.value for constant in node.value.elts}
    return None


def _undocumented_methods(definition):
    for node in definition.body:
        public = isinstance(node, _DEFINITIONS) and not node.name.startswith("_")
        if public and not ast.get_docstring(node) and not _is_extra(node):
            yield node.name


def _is_extra(node):
    """Overloads and setters are documented where the function or property itself is."""
    decorators = " ".join(ast.unparse(decorator) for decorator in node.decorator_list)
    return "overload" in decorators or "setter" in decorators


def test_the_settings_page_is_current():
    path = ROOT / "docs" / "make_settings.py"
    spec = importlib.util.spec_from_file_location("make_settings", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert script.page() == written, "run: python docs/make_settings.py"
