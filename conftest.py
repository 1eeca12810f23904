"""What pytest collects: tests, and doctests only of files that have some."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """Leave out doctests of files that have none.

    To look for them, pytest imports a module and walks through all that is in it; the text of most
    modules tells a hundred times faster that there are none.
    """
    found = yield
    if file_path.suffix == ".py" and b">>>" not in file_path.read_bytes():
        return [one for one in found if not isinstance(one, DoctestModule)]
    return found
