"""Fixtures shared by all tests."""

import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A shell that runs the tests in the background has them ignore Ctrl-C, and with them every process
# they start; some of those are there to show what Ctrl-C does.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Which detector is the default depends on what the user fetched; tests begin with nothing.
os.environ["WORDSIGHT_CACHE"] = tempfile.mkdtemp(prefix="wordsight-tests-")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# No deadline, and none for making examples: how long they take says more about the machine than
# about the code. The same examples every time, so that a failure is the change's own; to go out and
# look for new ones, run with EXPLORE=1.
settings.register_profile(
    "house",
    deadline=None,
    derandomize="EXPLORE" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")


@pytest.fixture(scope="session")
def shared_data():
    """Folder of the real data sets that lie beside the project, if they do."""

    def find(*parts: str) -> Path:
        path = SHARED_DATA.joinpath(*parts)
        if not path.exists():
            pytest.skip(f"real data {'/'.join(parts)} is not beside the project (../shared/data)")
        return path

    return find
