"""A notebook writes down what the desk says and passes progress on."""

from wordsight.workflows import RecordingReporter


def test_notes_and_warnings_are_kept_in_order_and_details_are_not():
    book = RecordingReporter()
    book.note("first")
    book.detail("for experts")
    book.warn("second")
    assert book.notes == ["first", "second"]


def test_progress_reaches_the_watcher_if_there_is_one():
    told = []
    for watcher in (None, lambda done, total, what: told.append((done, total, what))):
        with RecordingReporter(watcher=watcher).progress("Indexing") as progress:
            progress(1, 2, "a film")
    assert told == [(1, 2, "a film")]
