"""A recording reporter keeps notes and warnings and passes everything on."""

from contextlib import contextmanager

import pytest

from wordsight.workflows.reporter import RecordingReporter, Reporter


class Listener:
    """Notes everything with what it is."""

    def __init__(self):
        self.heard = []

    def note(self, text):
        self.heard.append(("note", text))

    def detail(self, text):
        self.heard.append(("detail", text))

    def warn(self, text):
        self.heard.append(("warn", text))

    @contextmanager
    def progress(self, heading):
        yield lambda done, total, what: self.heard.append((heading, done, total, what))


def report(reporter):
    reporter.note("first")
    reporter.detail("for experts")
    reporter.warn("second")
    with reporter.progress("Indexing") as progress:
        progress(1, 2, "a film")


def test_notes_and_warnings_are_kept_in_order_and_details_are_not():
    recorder = RecordingReporter()
    report(recorder)
    assert recorder.notes == ["first", "second"]


def test_progress_reaches_a_callback():
    seen = []
    report(RecordingReporter(lambda *values: seen.append(values)))
    assert seen == [(1, 2, "a film")]


@pytest.mark.parametrize("depth", [1, 2])
def test_everything_reaches_another_reporter(depth):
    listener = Listener()
    assert isinstance(listener, Reporter)
    recorder = listener
    for _ in range(depth):
        recorder = RecordingReporter(recorder)
    report(recorder)
    assert listener.heard == [
        ("note", "first"),
        ("detail", "for experts"),
        ("warn", "second"),
        ("Indexing", 1, 2, "a film"),
    ]
    assert recorder.notes == ["first", "second"]
