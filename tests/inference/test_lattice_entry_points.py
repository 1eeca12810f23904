"""The compiled kernel: loaded late, compiled anew when any of its files changes."""

import subprocess
import sys
from pathlib import Path

from wordsight.inference.lattice.kernels import entry_points

ROOM = Path(entry_points.__file__).parent


def test_importing_the_room_does_not_import_numba():
    code = "import sys, wordsight.inference; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_digest_covers_every_file_of_the_kernel():
    compiled = {path.stem for path in ROOM.glob("*.py") if "njit(" in path.read_text()}
    covered = {module.__name__.rsplit(".", 1)[1] for module in entry_points.KERNEL_MODULES}
    covered.remove("numba_support")  # how the others are compiled
    assert compiled == covered | {"entry_points"}

    for entry in (entry_points.counts, entry_points.move_on):
        assert entry.py_func.__closure__[-1].cell_contents == entry_points.kernel_digest()


def test_a_changed_file_changes_the_key_of_the_code_on_disk():
    kept = entry_points._counts_made_from("one digest")
    changed = entry_points._counts_made_from("another digest")
    same = entry_points._counts_made_from("one digest")
    keys = [f.py_func.__closure__[0].cell_contents for f in (kept, changed, same)]
    assert keys[0] == keys[2] != keys[1]
    assert kept._cache._index_key((), _codegen()) == same._cache._index_key((), _codegen())
    assert kept._cache._index_key((), _codegen()) != changed._cache._index_key((), _codegen())


def _codegen():
    from numba.core.registry import cpu_target

    return cpu_target.target_context.codegen()
