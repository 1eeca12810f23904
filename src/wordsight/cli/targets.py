"""Files and folders that a command is about to write, and the refusal to replace any unasked."""

from pathlib import Path

from wordsight.errors import WordsightError

__all__ = ["refuse_existing"]


def refuse_existing(*targets: Path | None, force: bool) -> None:
    """Refuse targets that are there already; those left out (``None``) are nobody's trouble.

    Called before the work rather than after it: nobody wants to wait an hour for "it exists".

    Raises:
        WordsightError: If one exists, unless ``force`` says that it may be replaced.
    """
    for target in targets:
        if target is not None and target.exists() and not force:
            raise WordsightError(f"{target} exists already; choose another name, or --force.")
