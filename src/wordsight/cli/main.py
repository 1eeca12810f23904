"""The ``wordsight`` program: what happens when a command fails or is stopped."""

import errno
import sys
from collections import namedtuple

from wordsight.errors import WordsightError

__all__ = ["main"]

_NEXT = {  # what to do, after what the system says
    errno.ENOSPC: "free some space and run the same command again.",
    errno.EDQUOT: "free some of your space and run the same command again.",
    errno.EROFS: "name another place, or ask its owner for the right to write there.",
    errno.EACCES: "name another place, or ask its owner for the right.",
    errno.EPERM: "name another place, or ask its owner for the right.",
}

_INTERRUPTED = 130  # as shells have it


def main() -> None:
    """Run the program and exit with 0, 1 (it failed), 2 (called wrongly) or 130 (Ctrl-C)."""
    try:
        # Only here: this takes a third of a second, in which Ctrl-C must not end in a traceback.
        from wordsight.cli.app import app

        app()
    except SystemExit as leaving:
        if leaving.code == _INTERRUPTED:  # Typer takes Ctrl-C for itself and leaves in silence
            _stopped()
        raise
    except KeyboardInterrupt:
        _stopped()
    except BrokenPipeError:
        from wordsight.cli.output import flush_quietly

        flush_quietly()
        sys.exit(1)
    except Exception as error:
        if _came_of_stopping(error):
            _stopped()
        _fail(_told(error), type(error).__name__)


def _came_of_stopping(error: BaseException) -> bool:
    """Tell whether an error only came while we tidied up after Ctrl-C."""
    before = error.__context__
    return before is not None and (
        isinstance(before, KeyboardInterrupt) or _came_of_stopping(before)
    )


def _told(error: Exception) -> str:
    if isinstance(error, WordsightError):
        return str(error)
    if isinstance(error, OSError):
        return _plain(error)
    return (
        f"this should not have happened ({type(error).__name__}: {error}). Run again with -v to "
        "see where, and please report it."
    )


def _stopped() -> None:
    # Where Ctrl-C met code that is made from text, as that of data classes is, Python takes it for
    # unhandled and kills itself in the end, unless other such code, as a named tuple's, has run.
    namedtuple("Handled", ())
    what = "stopped. Nothing is lost: run the same command again to resume."
    _fail(what, "Interrupted", _INTERRUPTED)


def _fail(message: str, kind: str, code: int = 1) -> None:
    from wordsight.cli.options import current_output

    output = current_output()
    if output.style.verbose:
        import traceback

        traceback.print_exc()
    output.error(message, kind)
    sys.exit(code)


def _plain(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    what = f"{where}{error.strerror or error}"
    return f"{what}; {_NEXT[error.errno]}" if error.errno in _NEXT else what
