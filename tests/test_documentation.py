"""Everything public is documented, and the pages tell the truth."""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_spec = importlib.util.spec_from_file_location("make_api", ROOT / "docs" / "make_api.py")
make_api = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_api)

MODULES = list(make_api.public_modules())
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_has_a_docstring(module):
    assert inspect.getdoc(module), f"{module.__name__} has no docstring"
    missing = [name for name, member in make_api.public_members(module) if not _told(member)]
    for name, member in make_api.public_members(module):
        if inspect.isclass(member):
            missing += [
                f"{name}.{attribute}"
                for attribute, value in vars(member).items()
                if not attribute.startswith("_") and _is_method(value) and not _told(value)
            ]
    assert not missing, f"undocumented in {module.__name__}: {missing}"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_module_says_what_is_public(module):
    defined = [
        name
        for name, member in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(member) or inspect.isfunction(member))
        and member.__module__ == module.__name__
    ]
    if defined:
        assert hasattr(module, "__all__"), f"{module.__name__} lacks __all__"


def test_the_api_page_is_current():
    assert make_api.PAGE.read_text(encoding="utf-8") == make_api.page(), (
        "docs/api.md is stale: run python docs/make_api.py"
    )


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


def _is_method(value):
    return inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod)


def _told(member):
    member = getattr(member, "__func__", member)
    return (not callable(member) and not isinstance(member, property)) or bool(
        inspect.getdoc(member)
    )
