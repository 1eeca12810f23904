"""Threads share two heaps, and what is loaded is not looked through again and again."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import sys, threading
from pathlib import Path
from wordsight.studio.server import share_heaps
if sys.argv[1] == "shared":
    assert share_heaps()

def heaps():  # glibc maps heaps of 64 MB and uses their beginning
    lines = Path("/proc/self/maps").read_text().splitlines()
    sizes = [[int(end, 16) for end in line.split()[0].split("-")] for line in lines]
    return sum(b - a < 1 << 26 and a % (1 << 26) == 0 for a, b in sizes)

gate = threading.Barrier(9)
def work():
    kept = [bytes(3000) for _ in range(200)]
    gate.wait()
    gate.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
gate.wait()
print(heaps())
gate.wait()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="heaps of glibc")
def test_threads_share_heaps():
    def heaps(how):
        command = [sys.executable, "-c", PROGRAM, how]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert heaps("shared") <= 5 < heaps("own")  # other mappings may look like one, by chance


LOADED = """
import gc
from wordsight.studio import StudioSettings, create_app
from wordsight.studio.server import keep_for_good
app = create_app(StudioSettings("none"))
before = len(gc.get_objects())
keep_for_good()
print(len(gc.get_objects()) / before)
"""


def test_what_is_loaded_is_not_looked_through_for_garbage_again():
    command = [sys.executable, "-c", LOADED]
    share = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert float(share) < 0.01
