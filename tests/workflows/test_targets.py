"""Nothing that is there is replaced unless somebody says so, and nobody waits to hear it."""

import pytest

from wordsight.errors import WordsightError
from wordsight.workflows.workflow import refuse_existing


def test_what_is_there_is_refused_by_name_wherever_it_stands(tmp_path):
    there = tmp_path / "boxes.csv"
    there.write_text("frame")
    for targets in ((there,), (None, there), (tmp_path / "new.csv", there)):
        with pytest.raises(WordsightError, match=r"boxes\.csv exists already.*--force"):
            refuse_existing(*targets, force=False)


def test_a_folder_counts_too(tmp_path):
    with pytest.raises(WordsightError, match="exists already"):
        refuse_existing(tmp_path, force=False)


def test_new_names_and_force_go_through(tmp_path):
    refuse_existing(tmp_path / "new.csv", None, force=False)
    refuse_existing(tmp_path, force=True)
    assert list(tmp_path.iterdir()) == []
