"""Room, rights, the database and the right time taken away from commands, and given back."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.reliability_cases import Case, Content, content_of, lost, must
from benchmarks.reliability_places import Place, PostgresPlace
from benchmarks.reliability_process import Command, Ending, KillPoint, call_command, run

__all__ = [
    "FaultRow",
    "can_mount",
    "clock_set_back",
    "disk_full",
    "mounted",
    "read_only",
    "restart",
]

_MEGABYTES = 200  # of the small disk; what is free of it is a matter of the trial
_ROOMS = (0, 4_000, 30_000, 100_000, 250_000)  # bytes
_SHARES = (0.15, 0.4, 0.65, 0.9)  # of the work, after which the database goes
_SHOWN = 400  # characters of a message


@dataclass
class FaultRow:
    """What came of one command under one fault, over several trials.

    Attributes:
        fault: What was taken away.
        command: From which command.
        database: On which database.
        runs: How many trials.
        failed: How many of them ended with a message.
        tracebacks: How many with more than a message.
        lost: How many lost something.
        verify_clean: After how many the library was in order.
        resumed_equal: After how many the same command came to what it does undisturbed.
        said: What was said, each once.
        problems: What was not as it should be.
    """

    fault: str
    command: str
    database: str
    runs: int = 0
    failed: int = 0
    tracebacks: int = 0
    lost: int = 0
    verify_clean: int = 0
    resumed_equal: int = 0
    said: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def note(self, ending: Ending, gone: list[str], clean: bool, equal: bool) -> None:
        """Take down one trial."""
        self.runs += 1
        self.failed += ending.status != 0
        # Also what no user should see, if in one line.
        odd = "Traceback" in ending.said or "should not have happened" in ending.said
        self.tracebacks += odd
        self.lost += bool(gone)
        self.verify_clean += clean
        self.resumed_equal += equal
        lines = [line for line in ending.said.splitlines() if line.startswith(("Err", "Warn"))]
        told = lines[-1][:_SHOWN] if lines and ending.status else ""
        if told and told not in self.said:
            self.said.append(told)
        if odd or gone or not clean or not equal or ending.hung or (ending.status and not told):
            self.problems.append(
                f"lost {gone[:2]}, clean {clean}, equal {equal}, hung {ending.hung}: "
                f"{ending.said[-_SHOWN:]}"
            )


@dataclass(frozen=True)
class _Calm:
    before: Content
    done: Content
    seconds: float


def can_mount() -> bool:
    """Tell whether this process may mount a small disk."""
    return os.geteuid() == 0 and shutil.which("mount") is not None


@contextmanager
def mounted(folder: Path) -> Iterator[Path]:
    """Mount a small disk of its own on a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    size = f"size={_MEGABYTES}m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


def disk_full(place: Place, case: Case, films: Path) -> FaultRow:
    """Leave a command little or no room, then give it room and run it again."""
    calm = _calm(place, case, films)
    row = FaultRow("disk full", case.name, place.name)
    filler = place.home / "filler"
    for room in _ROOMS:
        place.set_back(case.name)
        _fill(filler, room)
        ending = run(case.command(place, films), place.work)
        filler.unlink()
        _note(row, ending, place, case, films, calm)
    return row


def read_only(place: Place, case: Case, films: Path, disk: Path) -> FaultRow:
    """Make the disk read-only for a command, then writable again."""
    calm = _calm(place, case, films)
    row = FaultRow("read-only", case.name, place.name)
    place.set_back(case.name)
    with _read_only(disk):
        ending = run(case.command(place, films), place.work)
    _note(row, ending, place, case, films, calm)
    return row


def restart(place: PostgresPlace, case: Case, films: Path) -> FaultRow:
    """Stop the database in the middle of a command, as if its machine failed, and start it."""
    calm = _calm(place, case, films)
    row = FaultRow("database restarted", case.name, place.name)
    for share in _SHARES:
        place.set_back(case.name)
        ending = run(
            case.command(place, films),
            place.work,
            kill=KillPoint(seconds=share * calm.seconds),
            after=lambda: _restart(place.server),
        )
        _note(row, ending, place, case, films, calm)
    return row


def clock_set_back(place: Place, case: Case, films: Path, library: str) -> FaultRow:
    """Run a command with the clock four hundred days back, and set back in its middle.

    Args:
        place: Where.
        case: The command.
        films: Its films.
        library: The shared library of libfaketime.
    """
    calm = _calm(place, case, films)
    row = FaultRow("clock set back", case.name, place.name)
    for jump in (False, True):
        place.set_back(case.name)
        when = place.home / "clock"
        when.write_text("+0d" if jump else "-400d")
        setting = {
            "LD_PRELOAD": library,
            "FAKETIME_TIMESTAMP_FILE": str(when),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # as on a machine whose clock is set
        }
        ending = _run_program(case, place, films, setting, when if jump else None, calm.seconds)
        _note(row, ending, place, case, films, calm)
    return row


def _calm(place: Place, case: Case, films: Path) -> _Calm:
    place.clear()
    case.prepare(place, films)
    place.keep(case.name)
    before = content_of(place)
    ending = must(place, case.command(place, films))
    return _Calm(before, content_of(place), ending.seconds)


def _note(
    row: FaultRow, ending: Ending, place: Place, case: Case, films: Path, calm: _Calm
) -> None:
    gone = lost(calm.before, content_of(place), calm.done)
    clean = _is_clean(place)
    again = run(case.command(place, films), place.work)
    equal = again.status == 0 and content_of(place) == calm.done
    row.note(ending, gone, clean and _is_clean(place), equal)


def _is_clean(place: Place) -> bool:
    ending = run(call_command("verify", "--library", place.library), place.work)
    return ending.status == 0


def _fill(filler: Path, room: int) -> None:
    """Take all the disk has but for some bytes."""
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * (1 << 16))
    if room:
        os.truncate(filler, max(0, filler.stat().st_size - room))


@contextmanager
def _read_only(disk: Path) -> Iterator[None]:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


def _restart(server: Any) -> None:
    server.stop()
    time.sleep(1.0)
    server.start()


def _run_program(
    case: Case,
    place: Place,
    films: Path,
    setting: dict[str, str],
    jump: Path | None,
    seconds: float,
) -> Ending:
    """Run a command as a program of its own, since the clock is chosen when a program starts."""
    command = case.command(place, films)
    assert isinstance(command, Command)
    process = subprocess.Popen(
        [sys.executable, "-m", "wordsight", *command.arguments],
        cwd=place.work,
        env=os.environ | setting,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if jump is not None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(1.0 + seconds / 2)
        jump.write_text("-400d")
    said, _ = process.communicate(timeout=600)
    return Ending(process.returncode, 0.0, 0, said)
