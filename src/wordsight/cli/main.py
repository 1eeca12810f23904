"""The ``wordsight`` program: what happens when a command fails or is stopped."""

import errno
import sys

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
    except WordsightError as error:
        _fail(str(error), type(error).__name__)
    except KeyboardInterrupt:
        _stopped()
    except BrokenPipeError:
        from wordsight.cli.output import flush_quietly

        flush_quietly()
        sys.exit(1)
    except OSError as error:
        _fail(_plain(error), type(error).__name__)
    except Exception as error:
        _fail(
            f"this should not have happened ({type(error).__name__}: {error}). Run again with -v "
            "to see where, and please report it.",
            type(error).__name__,
        )


def _stopped() -> None:
    what = "stopped. Nothing is lost: the same command goes on where it was."
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
