"""A small file that claims to be enormous costs neither memory nor time; it is refused in words."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.bombs import BOMBS

MOST_BYTES = 700 << 20  # beyond what the program needs to start
MOST_SECONDS = 20.0
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, resource, sys, time, warnings
from pathlib import Path
from tests.faults.bombs import read_bomb
import wordsight.attributes, wordsight.language.captions, wordsight.records, wordsight.states
import wordsight.video
from wordsight.errors import WordsightError
warnings.simplefilter("ignore")
most = int(sys.argv[1])
for path in map(Path, sys.argv[2:]):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    whole = pages * resource.getpagesize() + most
    resource.setrlimit(resource.RLIMIT_AS, (whole, resource.RLIM_INFINITY))
    begun, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        read_bomb(path)
        said = "read"
    except WordsightError as error:
        said = "refused: " + str(error)
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    seconds = time.process_time() - begun
    print(json.dumps({"said": said, "seconds": seconds, "kilobytes": grown}))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Every bomb read under a limit on memory, by one process."""
    paths = []
    for number, (file, make) in enumerate(BOMBS.values()):
        folder = tmp_path_factory.mktemp(f"bomb{number}")
        paths.append(folder / file)
        paths[-1].write_bytes(make())
    command = [sys.executable, "-c", PROGRAM, str(MOST_BYTES), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == len(BOMBS), done.stderr
    return dict(zip(BOMBS, map(json.loads, lines), strict=True))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused(name, answers):
    answer = answers[name]
    assert answer["said"].startswith("refused: ") and len(answer["said"]) > 30, answer
    assert len(answer["said"]) < 1000, "nobody reads that"
    assert answer["seconds"] < MOST_SECONDS
    assert answer["kilobytes"] < MOST_BYTES >> 11, "half of what was allowed was used"
