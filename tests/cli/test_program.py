"""The program as a whole: its table of contents, exit codes, doctor, and looking at one video."""

import errno
import os
import subprocess
import sys

import pytest

from wordsight.video import VideoReader


def test_help_reads_like_a_table_of_contents(run):
    answer = run("--help")
    assert answer.code == 0
    for command in ("init", "add", "list", "show", "remove", "verify", "shots", "doctor"):
        assert f" {command} " in answer.out


@pytest.mark.slow
def test_every_command_explains_itself_and_speaks_json(run):
    from wordsight.cli.app import app, load_command

    for listed in app.registered_commands:
        command = load_command(listed.name)
        first = command.help.split("\n\n")[0].replace("\n", " ")
        assert listed.callback.__doc__ == first, listed.name
        subcommands = getattr(command, "commands", {"": command})
        for name, one in subcommands.items():
            flags = {flag for option in one.params for flag in option.opts}
            assert {"--json", "--quiet", "--verbose"} <= flags, f"{listed.name} {name}"
        assert run(listed.name, "--help").code == 0


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["shots"], ["list", "--limit", "many"], ["list", "--unknown"]],
)
def test_wrong_use_exits_with_two(run, arguments):
    assert run(*arguments).code == 2


def test_version(run):
    assert run("--version").out.startswith("wordsight 0.")


def test_doctor_finds_this_installation_well(run):
    report = run("doctor", "--json").json
    assert report["ok"]
    assert report["core"]["numpy"]
    assert "regions" in report["detectors"]
    assert "pip install" in run("doctor").out or all(
        version for extra in report["extras"].values() for version in extra.values()
    )


def test_shots_of_a_video_with_a_sheet(run, footage, tmp_path):
    answer = run("shots", footage, "--sheet", tmp_path / "sheet.png", "--json")
    assert [shot["start_frame"] for shot in answer.json] == [0, 24]
    assert (tmp_path / "sheet.png").stat().st_size > 1000
    refused = run("shots", footage, "--sheet", tmp_path / "sheet.png")
    assert (refused.code, "exists already" in refused.err) == (1, True)


def test_what_models_of_shots_know(run, footage, tmp_path):
    drawn = tmp_path / "models.png"
    assert run("shots", footage, "--draw-model", drawn, "--json").code == 0
    assert drawn.stat().st_size > 1000
    assert "exists" in run("shots", footage, "--draw-model", drawn).err


def test_detecting_following_and_drawing(run, footage, tmp_path):
    answer = run(
        "detect", footage, "-o", "found.csv", "--overlay", "drawn.mp4", "--follow", "--json"
    )
    assert answer.code == 0, answer.err
    assert answer.json["boxes"] > 10
    assert answer.json["tracks"]
    with VideoReader(tmp_path / "drawn.mp4") as drawn:
        assert drawn.info.num_frames == 40
    assert run("convert", "found.csv", "found.xml").code == 0
    assert "<track" in (tmp_path / "found.xml").read_text()


def test_converting_captions(run, tmp_path):
    (tmp_path / "a.srt").write_text("1\n00:00:01,000 --> 00:00:02,500\nHello\n")
    assert run("convert", "a.srt", "a.vtt").code == 0
    assert (tmp_path / "a.vtt").read_text().startswith("WEBVTT")
    refused = run("convert", "a.srt", "a.vtt")
    assert (refused.code, "--force" in refused.err) == (1, True)


def test_an_unknown_detector_names_the_known(run, footage):
    answer = run("detect", footage, "-d", "region")
    assert answer.code == 1
    assert "regions" in answer.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-d", "onnx"], "--model FILE"),  # no model
        (["-d", "onnx", "--model", "none.onnx"], "none.onnx"),  # a model that is not there
        (["--option", "max_boxes"], "NAME=VALUE"),  # not a pair
        (["--option", "max_boxes=many"], "max_boxes='many'"),  # not a number
        (["--option", "colour=red"], "colour"),  # not an option
    ],
)
def test_senseless_options_of_a_detector(run, footage, options, words):
    answer = run("detect", footage, *options)
    assert answer.code == 1
    assert words in answer.err
    assert "should not have happened" not in answer.err


def test_help_loads_nothing_heavy_and_processes_of_jobs_no_scipy():
    from wordsight.cli.app import _PLACES

    heavy = {"cv2", "av", "numba", "sqlalchemy", "scipy", "alembic", "pymunk", "lark"}
    modules = sorted(set(_PLACES.values()) - {"demo"})
    code = (
        "import importlib, sys; sys.argv = ['wordsight', '--help']\n"
        f"for name in {modules!r}: importlib.import_module(f'wordsight.cli.{{name}}')\n"
        "from wordsight.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print(sorted(set(sys.modules) & {heavy!r}), file=sys.stderr)\n"
        "import wordsight.library.ingest.add, wordsight.studio.jobs.job_process\n"
        "print(sorted(set(sys.modules) & {'numba', 'scipy'}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.split() == ["[]", "[]"]


@pytest.mark.parametrize(
    ("number", "words"),
    [  # a full disk, somebody else's folder, a disk that is only read; anything else as it is
        (errno.ENOSPC, "No space left on device; free some space and run the same command again"),
        (errno.EACCES, "Permission denied; name another place"),
        (errno.EROFS, "Read-only file system; name another place"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_what_the_system_refuses_is_told_with_what_to_do(run, monkeypatch, number, words):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number), "some/file")

    monkeypatch.setattr("wordsight.library.Library.open", refuse)
    answer = run("list", "-L", "anywhere")
    assert answer.code == 1 and f"some/file: {words}" in " ".join(answer.err.split())


def test_an_error_while_tidying_after_control_c_is_not_told(run, monkeypatch):
    from wordsight.library import Library

    def stopped(*_, **__):
        try:
            raise KeyboardInterrupt
        finally:
            raise ValueError("a file that cannot be closed now")

    monkeypatch.setattr(Library, "open", stopped)
    answer = run("list")
    assert answer.code == 130
    assert "run the same command again" in answer.err and "cannot be closed" not in answer.err


PRESSED = """
import wordsight.cli.app
from wordsight.cli.main import main

def app():
    exec("raise KeyboardInterrupt")

wordsight.cli.app.app = app
main()
"""


def test_control_c_in_code_made_from_text_exits_alike(tmp_path):
    (tmp_path / "pressed.py").write_text(PRESSED)
    program = [sys.executable, "-m", "pressed"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 130, done.stderr
    assert "run the same command again" in done.stderr


def test_control_c_says_what_becomes_of_the_work(run, monkeypatch):
    from wordsight.library import Library

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Library, "open", stopped)
    answer = run("list", "--json")
    assert (answer.code, answer.json["error"]["kind"]) == (130, "Interrupted")
    assert "run the same command again" in answer.err and "Traceback" not in answer.err


@pytest.mark.parametrize(
    "module",
    [  # the program's own commands, what it is made with, and what a command loads
        "wordsight.cli.app",
        "typer",
        "wordsight.cli.options",
        "wordsight.cli.library",
        "rich.console",
        "wordsight.library",
        "sqlalchemy",
    ],
)
def test_control_c_while_the_program_loads_shows_no_traceback(module, tmp_path):
    code = (
        "import runpy, signal, sys\n"
        "class Tripwire:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            sys.meta_path.remove(self)\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Tripwire())\n"
        "sys.argv = ['wordsight', 'list', '-L', 'library']\n"
        "runpy.run_module('wordsight', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert "stopped." in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["learn"], ["teach", "folder"], ["states", "learn", "folder"], ["world", "street", "-o", "x"]],
    ids=lambda arguments: arguments[0],
)
def test_a_seed_below_zero_is_wrong_use(run, arguments):
    answer = run(*arguments, "--seed", "-1")
    assert (answer.code, "--seed" in answer.err) == (2, True)
