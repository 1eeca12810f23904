"""Fixtures shared by all tests."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data():
    """Folder of the real data sets that lie beside the project, if they do."""

    def find(*parts: str) -> Path:
        path = SHARED_DATA.joinpath(*parts)
        if not path.exists():
            pytest.skip(f"real data {'/'.join(parts)} is not beside the project (../shared/data)")
        return path

    return find
