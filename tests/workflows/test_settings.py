"""Settings are declared once: what the command line, forms and Python read from them."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from wordsight.errors import WordsightError
from wordsight.workflows.settings import (
    Request,
    argument,
    changed,
    make_request,
    setting,
    settings_of,
)
from wordsight.workflows.workflow import Result, workflow


class FindRequest(Request):
    text: str = argument("Words.", metavar="TEXT")
    images: tuple[Path, ...] = argument("Pictures.", metavar="FILE...", default=())
    by: Literal["auto", "said"] = setting("auto", "What counts.")
    top: int = setting(10, "How many.", "-k", ge=1, le=100)
    share: float | None = setting(None, "A share.", gt=0, lt=1, default_text="learned")
    exact: bool = setting(False, "Compare all.", label="Compare with all")
    cache: Path | None = setting(None, "For programs.", hidden=True)


class NarrowRequest(FindRequest):
    top: int = changed(FindRequest, "top", default=5, le=20)


class FindResult(Result):
    def to_json(self):
        return {}


@workflow(FindRequest)
def find(request, *, reporter):
    """Find things."""
    reporter.note("looking")
    return request, tuple(reporter.notes)


@workflow(FindRequest)
def find_in(library, request, *, reporter):
    """Find things in a library."""
    return library, request


def test_a_setting_is_described_by_its_declaration():
    known = settings_of(FindRequest)
    assert list(known) == ["text", "images", "by", "top", "share", "exact", "cache"]
    assert known["text"].required and known["text"].setting.positional
    assert (known["images"].many, known["images"].type, known["images"].default) == (True, Path, ())
    assert (known["by"].choices, known["by"].flags) == (("auto", "said"), ("--by",))
    assert (known["top"].least, known["top"].most, known["top"].flags) == (1, 100, ("-k",))
    assert known["share"].optional and known["share"].type is float
    assert (known["exact"].label, known["by"].label) == ("Compare with all", "By")


def test_a_setting_can_be_narrowed():
    known = settings_of(NarrowRequest)["top"]
    assert (known.default, known.least, known.most, known.flags) == (5, 1, 20, ("-k",))
    assert known.help == "How many."


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        ({"text": "a", "top": 0}, False, "top should be greater than or equal to 1, got 0"),
        ({"text": "a", "top": 0}, True, "-k should be greater"),
        ({"text": "a", "share": 1.5}, True, "--share should be less than 1, got 1.5"),
        ({"text": "a", "by": "x"}, True, "--by should be 'auto' or 'said', got 'x'"),
        ({}, True, "TEXT is missing: Words."),
        ({"text": "a", "depth": 3}, False, "there is no setting 'depth'; there are text, images"),
    ],
)
def test_a_wrong_value_is_named_as_its_caller_knows_it(values, options, words):
    with pytest.raises(WordsightError) as raised:
        make_request(FindRequest, values, options=options)
    assert words in str(raised.value)


def test_a_workflow_takes_a_request_or_its_settings():
    request = FindRequest(text="cup", top=3)
    assert find(request)[0] == find("cup", top=3)[0] == find(text="cup", top=3)[0] == request
    assert find("cup", ["a.png"])[0].images == find("cup", "a.png")[0].images == (Path("a.png"),)
    assert find("cup")[1] == ("looking",)
    for wrong in ((request, 3), ("cup", [], "said", 4)):
        with pytest.raises((TypeError, WordsightError)):
            find(*wrong)


def test_a_workflow_that_needs_a_library_takes_it_first():
    with pytest.raises(TypeError, match="needs a library"):
        find_in()
    parameters = inspect.signature(find_in).parameters
    assert list(parameters)[:3] == ["library", "text", "images"]
    assert parameters["top"].kind is inspect.Parameter.KEYWORD_ONLY
    assert "How many." in find_in.__doc__


@dataclass(frozen=True)
class Counted(Result):
    """Answers of which the first is the main one."""

    number: int
    aside: str


@workflow(FindRequest)
def tally(request, *, reporter):
    """Count."""
    reporter.note("looking")
    reporter.warn(f"{request.top} at most")
    return Counted(7, "unsaid")


def test_a_result_has_what_was_reported_and_prints_its_first_field():
    result = tally("cup", top=3)
    assert result.warnings == ("looking", "3 at most")
    assert (result.to_json(), result.ok) == (7, True)
