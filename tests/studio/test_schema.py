"""The API does what its description says, whatever it is sent."""

import threading
import time

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from wordsight.studio import StudioSettings, create_app
from wordsight.studio.server import take_port

pytestmark = pytest.mark.slow

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def address(street_library, tmp_path_factory):
    """A served studio whose jobs wait forever: here only answers count."""
    folder = tmp_path_factory.mktemp("schema")
    taken = take_port("127.0.0.1", 0)
    port = taken.getsockname()[1]
    app = create_app(
        StudioSettings(
            str(street_library / "library"), folder=folder / "studio", port=port, jobs_at_once=0
        )
    )
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, args=[[taken]], daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the studio did not start"
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(60)
    taken.close()


@pytest.fixture
def described(request):
    """What the API says of itself; read when a test runs, since it takes seconds."""
    request.node._nodeid = request.node.nodeid  # where Schemathesis looks for it
    return schemathesis.openapi.from_dict(create_app(StudioSettings("none")).openapi())


# Not DELETE: the library is shared with other tests.
SCHEMA = schemathesis.pytest.from_fixture("described")
FEW = settings(
    max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@SCHEMA.include(method="GET").parametrize()
@FEW
def test_answers_are_as_described(case, address):
    case.call_and_validate(base_url=address, checks=CHECKS, timeout=120)


@SCHEMA.include(method=["POST", "PUT"]).parametrize()
@FEW
def test_changes_are_as_described(case, address):
    case.call_and_validate(base_url=address, checks=CHECKS, timeout=120)


def test_every_page_of_the_api_tells_how_it_refuses(client):
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        for method, told in methods.items():
            assert {"404", "413", "422"} <= set(told["responses"]), (method, path)
