"""Functions for worker processes to run; they import this module by its name."""

import ctypes
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from wordsight.engine import send_note
from wordsight.errors import FormatError


def double(number):
    return 2 * number


def misbehave(order):
    """Do as told: die in one of several ways, raise, or answer."""
    if order == "exit":
        os._exit(3)
    if order == "segfault":
        ctypes.string_at(0)
    if order == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if order == "raise":
        raise ZeroDivisionError("no such quotient")
    if order == "refuse":
        raise FormatError("a message for people")
    if order == "unsendable":
        return lambda: None
    return order


def count_up(steps):
    for step in range(steps):
        send_note(step)
    return steps


def sleep_and_write(path):
    """Write our process id to a file, then work for far longer than any test."""
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)


def tidy_up(path):
    """Keep a file only as long as we live in an orderly way."""
    Path(path).write_text(str(os.getpid()))
    try:
        time.sleep(600)
    finally:
        Path(path).unlink()


class _Ends:
    """Is told to leave while it is forgotten, where Python drops what is raised."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)


def tidy_after_a_dropped_end(order):
    if order == "answer":
        return order
    Path(order).write_text(str(os.getpid()))
    try:
        _Ends()
        time.sleep(600)
    finally:
        Path(order).unlink()


def chatter(text):
    print(text)
    return text


def threads_of_opencv(_):
    import cv2

    return cv2.getNumThreads()


def process_id(_):
    time.sleep(0.05)
    return os.getpid()


def tidy_or_answer(order):
    return order if order == "answer" else tidy_up(order)


def weighted_sum(part, weight):
    """Add up a part, times a weight."""
    return float(weight * sum(part))


def weighted_sum_or_die(part, request):
    """Die once at the second part, as often as the folder has no mark."""
    import os
    import pathlib

    weight, folder, deaths = request
    marks = list(pathlib.Path(folder).glob("*"))
    if part[0] == 10 and len(marks) < deaths:
        (pathlib.Path(folder) / str(len(marks))).touch()
        os._exit(9)
    return float(weight * sum(part))


def nap(seconds):
    time.sleep(seconds)
    return seconds


def tell_and_wait(path):
    """Tell something and wait until whoever hears it has made a file."""
    send_note("under way")
    patience = time.monotonic() + 120
    while not Path(path).exists():
        if time.monotonic() > patience:
            raise TimeoutError("nobody has heard it")
        time.sleep(0.02)
    return path


def die_once(path):
    """Die the first time, leaving a mark; answer the second."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path


def worker_processes():
    """Return the ids of the worker processes this one has started."""
    import psutil

    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):  # other children may end while we look
            if "wordsight.engine.worker" in " ".join(child.cmdline()):
                found.append(child.pid)
    return found
