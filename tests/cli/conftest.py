"""Running the program in this process, as its users would in a shell."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from wordsight.cli.main import main
from wordsight.video import VideoWriter


@dataclass(frozen=True)
class Answer:
    """What a call of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Call the program with arguments in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORDSIGHT_LIBRARY", raising=False)
    monkeypatch.setenv("COLUMNS", "120")

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["wordsight", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Answer(int(ended.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def footage(tmp_path_factory):
    """A real two-second video: a red square crosses a grey place, then a cut to a dark one."""
    path = tmp_path_factory.mktemp("foot age 🎬") / "red square.mp4"
    rng = np.random.default_rng(0)
    bright = rng.integers(150, 170, (120, 160, 3), dtype=np.uint8)
    dark = rng.integers(20, 40, (120, 160, 3), dtype=np.uint8)
    with VideoWriter(path, (160, 120), frame_rate=20) as writer:
        for i in range(40):
            image = (bright if i < 24 else dark).copy()
            image[40:80, 10 + 3 * i : 40 + 3 * i] = (210, 30, 30)
            writer.write(image)
    return path
