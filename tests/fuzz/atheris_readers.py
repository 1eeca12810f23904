"""Readers under coverage-guided fuzzing: ``python -m tests.fuzz.atheris_readers NAME ...``.

Atheris sees which lines an input reaches and keeps those that reach new ones. It is no dependency
of the tests (``pip install atheris`` where it has a wheel); options are those of libFuzzer, such as
``-max_total_time=60``. Anything but an error of ours ends the run and leaves the input in a file.
``python -m benchmarks.reliability fuzz`` runs all readers so: with ``--each FOLDER`` every name has
a process of its own, forked from one that has imported everything, with its words in FOLDER.
"""

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

__all__ = ["main"]

_PACKAGE = "wordsight"
_SOURCE = Path(__file__).resolve().parents[2] / "src"


def main(arguments: list[str]) -> None:
    """Fuzz one reader until libFuzzer ends the process, or each of several in turn."""
    try:
        import atheris
    except ImportError:
        sys.exit("coverage-guided fuzzing needs atheris: pip install atheris")
    folder = Path(arguments[1]) if arguments[0] == "--each" else None
    told = arguments if folder is None else arguments[2:]
    names = [each for each in told if not each.startswith("-")]
    options = [each for each in told if each.startswith("-")]
    with atheris.instrument_imports(include=[_PACKAGE], exclude=_compiled_modules()):
        import tests.fuzz.samples  # noqa: F401 - and with it all that it reads with
    if folder is None:
        _fuzz(atheris, names[0], options)
        return
    for name in names:
        print(json.dumps(_in_a_process(atheris, name, options, folder)), flush=True)


def _in_a_process(
    atheris: Any, name: str, options: list[str], folder: Path
) -> dict[str, str | int]:
    """Fuzz a reader in a child of this process; tell how that ended."""
    file = name.replace(" ", "-")
    child = os.fork()
    if child == 0:
        words = os.open(folder / f"{file}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(words, 1)
        os.dup2(words, 2)
        # It ends the process; on its way out libFuzzer writes down the input that broke something.
        _fuzz(atheris, name, [*options, f"-artifact_prefix={folder}/{file}-"])
        sys.exit(70)
    _, status, used = os.wait4(child, 0)
    peak = round(used.ru_maxrss / 1024)
    return {"reader": name, "status": os.waitstatus_to_exitcode(status), "peak_mb": peak}


def _fuzz(atheris: Any, name: str, options: list[str]) -> None:
    from tests.fuzz.samples import readers
    from wordsight.errors import WordsightError

    with tempfile.TemporaryDirectory(dir=_fast_folder()) as scratch:
        folder, corpus = Path(scratch) / "file", Path(scratch) / "corpus"
        (Path(scratch) / "good").mkdir()
        reader = readers(Path(scratch) / "good")[name]
        folder.mkdir()
        corpus.mkdir()
        (corpus / "good").write_bytes(reader.content)
        path = folder if reader.folder is not None else folder / reader.name
        for beside, whole in (reader.folder or {}).items():
            (folder / beside).write_bytes(whole)
        warnings.simplefilter("ignore")  # damage may be told of without being refused

        def read(data: bytes) -> None:
            (folder / reader.name).write_bytes(data)
            try:
                reader.read(path)
            except WordsightError as error:
                assert len(str(error)) > 10, "an error without a message"

        atheris.Setup([sys.argv[0], *options, str(corpus)], read)
        atheris.Fuzz()


def _compiled_modules() -> list[str]:
    """Name the modules numba compiles; it cannot read code that counts its own lines."""
    return [
        ".".join(path.relative_to(_SOURCE).with_suffix("").parts)
        for path in (_SOURCE / _PACKAGE).rglob("*.py")
        if "njit" in path.read_text(encoding="utf-8") or "kernel" in path.name
    ]


def _fast_folder() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


if __name__ == "__main__":
    main(sys.argv[1:])
