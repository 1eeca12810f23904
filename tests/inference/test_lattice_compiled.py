"""The compiled kernel: loaded late, compiled anew when any of its files changes."""

import subprocess
import sys
from pathlib import Path

from wordsight.inference import lattice_compiled, lattice_segments, lattice_workspace

ROOM = Path(lattice_compiled.__file__).parent


def test_importing_the_room_does_not_import_numba():
    code = "import sys, wordsight.inference; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_digest_covers_every_file_of_the_kernel():
    compiled = {path.stem for path in ROOM.glob("lattice_*.py") if "njit(" in path.read_text()}
    covered = {name for name in vars(lattice_compiled) if name.startswith("lattice_")}
    covered.remove("lattice_options")  # how the others are compiled
    assert compiled == covered | {"lattice_compiled", "lattice_segments"}

    for entry in (lattice_compiled.counts, lattice_segments.move_on):
        assert entry.py_func.__closure__[-1].cell_contents == lattice_compiled.kernel_digest()


def test_a_changed_file_changes_the_key_of_the_code_on_disk():
    kept = lattice_compiled._counts_made_from("one digest")
    changed = lattice_compiled._counts_made_from("another digest")
    same = lattice_compiled._counts_made_from("one digest")
    keys = [f.py_func.__closure__[0].cell_contents for f in (kept, changed, same)]
    assert keys[0] == keys[2] != keys[1]
    assert kept._cache._index_key((), _codegen()) == same._cache._index_key((), _codegen())
    assert kept._cache._index_key((), _codegen()) != changed._cache._index_key((), _codegen())


def _codegen():
    from numba.core.registry import cpu_target

    return cpu_target.target_context.codegen()


def test_work_areas_are_reused_and_grow():
    first = lattice_workspace.borrowed("test", (3, 4))
    first[:] = 7.0
    assert (lattice_workspace.borrowed("test", (2, 2)) == 7.0).all()
    assert lattice_workspace.borrowed("test", (50, 50)).shape == (50, 50)
    assert lattice_workspace.borrowed("other", (3, 4)).base is not first.base
