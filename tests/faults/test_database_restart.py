"""A database away between two transactions is waited for; if it stays away, that is told."""

import pytest

from benchmarks.reliability_places import postgres_server, start_server
from wordsight.errors import LibraryError
from wordsight.library import Library
from wordsight.library.catalog import database


@pytest.mark.slow
def test_a_restart_is_waited_out_and_a_longer_absence_is_told(tmp_path, monkeypatch):
    with postgres_server() as server:
        where = server.get_uri()
        with Library.create(where, artefacts=tmp_path / "library") as library:
            assert len(library) == 0
            server.stop()
            monkeypatch.setattr(database, "RESTART_SECONDS", 300.0)  # a busy machine takes its time
            engine = library._database._engine
            connect, tries = engine.connect, []

            def connect_at_last():
                tries.append(len(tries))
                if len(tries) == 3:
                    start_server(server)
                return connect()

            monkeypatch.setattr(engine, "connect", connect_at_last)
            assert len(library) == 0
            assert len(tries) >= 3, "it was never away"
            server.stop()
            monkeypatch.setattr(database, "RESTART_SECONDS", 0.5)
            with pytest.raises(LibraryError, match="check the address, that the server is running"):
                len(library)
            start_server(server)
            assert len(library) == 0
