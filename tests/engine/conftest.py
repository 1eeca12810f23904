"""One small Dask cluster for all tests of engines: starting one takes seconds."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    from wordsight.engine.cluster import Cluster

    with Cluster(workers=2) as started:
        yield started
