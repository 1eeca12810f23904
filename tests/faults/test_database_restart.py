"""A database away between two transactions is waited for; if it stays away, that is told."""

import threading
import time

import pytest

from benchmarks.reliability_places import postgres_server
from wordsight.errors import LibraryError
from wordsight.library import Library, database


@pytest.mark.slow
def test_a_restart_is_waited_out_and_a_longer_absence_is_told(tmp_path, monkeypatch):
    with postgres_server() as server:
        where = server.get_uri()
        with Library.create(where, artefacts=tmp_path / "library") as library:
            assert len(library) == 0
            server.stop()
            again = threading.Timer(1.5, server.start)
            again.start()
            begun = time.monotonic()
            assert len(library) == 0
            assert time.monotonic() - begun > 1.0, "it was never away"
            again.join()
            server.stop()
            monkeypatch.setattr(database, "RESTART_SECONDS", 0.5)
            with pytest.raises(LibraryError, match="check the address, that the server is running"):
                len(library)
            server.start()
            assert len(library) == 0
