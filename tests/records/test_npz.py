"""Writing arrays, interrupted in the middle of an entry."""

import signal
import zipfile

import numpy as np
import pytest

from wordsight.records.arrays import load_npz, save_npz


def test_control_c_in_the_middle_of_an_entry_is_just_that_and_keeps_what_was_there(
    tmp_path, monkeypatch
):
    path = tmp_path / "some.npz"
    save_npz(path, "Some", 1, {"a": np.arange(3)}, {})
    whole = zipfile._ZipWriteFile.close

    def pressed(entry):
        signal.raise_signal(signal.SIGINT)
        whole(entry)

    monkeypatch.setattr(zipfile._ZipWriteFile, "close", pressed)
    with pytest.raises(KeyboardInterrupt):
        save_npz(path, "Some", 1, {"a": np.arange(4)}, {})
    monkeypatch.undo()
    arrays, _ = load_npz(path, "Some", 1)
    assert arrays["a"].tolist() == [0, 1, 2]
    assert [file.name for file in tmp_path.iterdir()] == ["some.npz"]
