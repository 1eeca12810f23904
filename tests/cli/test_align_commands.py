"""Instructions timed from the command line: files in, subtitles out, refusals in plain words."""

import numpy as np
import pytest

from wordsight.alignment.models import model_by_name
from wordsight.alignment.storage import load_aligner
from wordsight.language.captions import read_captions
from wordsight.library import Library
from wordsight.video import VideoReader, VideoWriter

TEXT = """1. Fill the kettle with water.
2. Take a bag out of the box.
3. Pour the kettle into the cup.
4. Stir the cup with the spoon.
"""
THINGS = (["kettle", "water"], ["bag", "box"], ["kettle", "cup"], ["spoon", "cup"])


@pytest.fixture
def tea(tmp_path):
    """A text, and two files that say what is touched for ten seconds per step."""
    (tmp_path / "tea.md").write_text(TEXT)
    for name, skipped in (("one", ()), ("two", (1,))):
        rows, clock = ["ID start end token"], 0.0
        for step, things in enumerate(THINGS):
            if step in skipped:
                continue
            for part in range(5):
                here = things[part % 2 : part % 2 + 1] if part % 2 else things
                rows.append(f"e{len(rows)} {clock} {clock + 2} {','.join(here)},{step + 1}")
                clock += 2.0
            clock += 1.0
        (tmp_path / f"{name}.txt").write_text("\n".join(rows) + "\n")
    return tmp_path


@pytest.fixture(scope="module")
def silent(tmp_path_factory):
    """A real silent video: four squares, each of which moves in its own quarter."""
    path = tmp_path_factory.mktemp("silent") / "film.mp4"
    colours = ((200, 40, 40), (40, 160, 60), (50, 70, 200), (210, 180, 40))
    rng = np.random.default_rng(0)
    place = rng.integers(140, 160, (120, 160, 3), dtype=np.uint8)
    with VideoWriter(path, (160, 120), frame_rate=10) as writer:
        for i in range(80):
            image = place.copy()
            for number, colour in enumerate(colours):
                x = 8 + 38 * number
                y = 30 + (6 * (i % 20 if i % 20 < 10 else 20 - i % 20) if i // 20 == number else 0)
                image[y : y + 24, x : x + 24] = colour
            writer.write(image)
    return path


@pytest.mark.slow
def test_models_beside_each_other(run, tea):
    answer = run("align", "one.txt", "tea.md", "--compare")
    assert answer.code == 0, answer.err
    assert "steps start at" in answer.out and "LatentSVM" in answer.out and "HMM2" in answer.out


@pytest.mark.parametrize("name", ["LCRF", "hmm1", "DropDTW"])
def test_the_model_that_is_named_is_the_one_that_learns(run, tea, name):
    answer = run("align", "one.txt", "tea.md", "--model", name, "--save", "saved")
    assert answer.code == 0, answer.err
    assert load_aligner(tea / "saved").__class__ is model_by_name(name)


def test_sureness_is_conditional_where_it_cannot_be_judged_whether_the_text_belongs(run, tea):
    (tea / "soup.md").write_text("1. Peel the onion.\n2. Heat the pan.\n3. Serve the soup.\n")
    answer = run("align", "one.txt", "soup.md")
    assert answer.code == 0, answer.err
    assert "It cannot be judged" in answer.out and "if it belongs" in answer.out
    assert "if it belongs" not in run("align", "one.txt", "tea.md").out


def test_an_unknown_model_is_refused(run, tea):
    answer = run("align", "one.txt", "tea.md", "--model", "LCRX")
    assert answer.code == 1
    assert "LCRX" in answer.err and "LatentSVM" in answer.err and "Traceback" not in answer.err


@pytest.mark.slow
def test_subtitles_from_touched_things(run, tea):
    answer = run("align", "one.txt", "tea.md", "-o", "out.vtt", "--plot", "out.png")
    assert answer.code == 0, answer.err
    assert "4 of 4 lines found" in answer.out
    starts = [caption.start for caption in read_captions(tea / "out.vtt")]
    assert starts == pytest.approx([0, 11, 22, 33], abs=2.1)
    assert (tea / "out.chapters.vtt").exists()
    assert (tea / "out.png").stat().st_size > 1000


@pytest.mark.slow
def test_json_and_all_formats(run, tea):
    answer = run("align", "one.txt", "tea.md", "-o", "out", "--format", "all", "--json")
    assert answer.code == 0, answer.err
    assert [line["line"] for line in answer.json["lines"]] == [1, 2, 3, 4]
    assert {p.name for p in tea.glob("out.*")} == {
        "out.srt",
        "out.vtt",
        "out.chapters.vtt",
        "out.tsv",
        "out.json",
        "out.eaf",
        "out.labels.txt",
    }


@pytest.mark.slow
def test_a_name_without_an_ending_is_a_folder(run, tea):
    for _ in range(2):  # one that is not there yet, and one that is
        answer = run("align", "one.txt", "tea.md", "-o", "subtitles/", "--force")
        assert answer.code == 0, answer.err
        assert {p.name for p in (tea / "subtitles").iterdir()} == {"one.vtt", "one.chapters.vtt"}
    refused = run("align", "one.txt", "tea.md", "-o", "subtitles/")
    assert refused.code == 1 and "one.vtt exists already" in refused.err


def test_a_step_that_was_left_out(run, tea):
    answer = run("align", "two.txt", "tea.md", "--with", "one.txt", "--mistakes", "--json")
    assert answer.code == 0, answer.err
    assert [line["happened"] for line in answer.json["lines"]] == [True, False, True, True]


@pytest.mark.slow
def test_pins_move_lines(run, tea):
    answer = run("align", "one.txt", "tea.md", "--constraint", "2=0:13", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["lines"][1]["spans"][0]["start"] == pytest.approx(13, abs=2.1)


@pytest.mark.slow
def test_the_dictionary_of_a_kept_aligner(run, tea):
    assert run("align", "one.txt", "tea.md", "--save", "kept").code == 0
    answer = run("dictionary", "kept", "spoon", "--json")
    assert answer.code == 0, answer.err
    assert next(iter(answer.json["spoon"])) == "spoon"
    assert "kettle" in run("dictionary", "kept").out
    again = run("align", "two.txt", "tea.md", "--aligner", "kept", "--json")
    assert again.code == 0, again.err
    assert "it has" in run("dictionary", "kept", "sofa").err


BAD = [
    # empty text
    (("one.txt", "empty.txt"), "has no sentence"),
    # a text that is not there
    (("one.txt", "nothing.md"), "does not exist"),
    # a video that is nowhere
    (("nothing.mp4", "tea.md"), "no file nothing.mp4"),
    # no touch at all
    (("idle.txt", "tea.md"), "idle"),
    # the two files swapped
    (("tea.md", "film.mp4"), "the video comes first"),
    # constraints that contradict each other
    (("one.txt", "tea.md", "--constraint", "2=5", "--constraint", "2=9"), "keep one of the two"),
    # constraints that turn the order around
    (("one.txt", "tea.md", "--constraint", "2=30", "--constraint", "3=5"), "line"),
    # a constraint after the end
    (("one.txt", "tea.md", "--constraint", "2=9:00"), "the video lasts"),
    # a constraint on a line that is not there
    (("one.txt", "tea.md", "--constraint", "9=3"), "has lines 1 to 4"),
    # the output is the input
    (("one.txt", "tea.md", "-o", "one.txt", "--force"), "is an input"),
    # the output exists
    (("one.txt", "tea.md", "-o", "there.srt"), "exists already"),
    # formats
    (("one.txt", "tea.md", "-o", "out.doc"), "does not name a format"),
    (("one.txt", "tea.md", "-o", "out", "--format", "doc"), "unknown format 'doc'"),
    (("one.txt", "tea.md", "--format", "srt"), "--output"),
    # nothing to draw on
    (("one.txt", "tea.md", "--burn", "out.mp4"), "needs the video file"),
    # subtitles with negative times for a text
    (("one.txt", "late.srt"), "times of 0 or later"),
    # a file of touched things with a negative time
    (("negative.txt", "tea.md"), "start at 0 s or later"),
    # a detector that is not there, though none is needed
    (("one.txt", "tea.md", "--detector", "eyes"), "no detector 'eyes'"),
    # no aligner
    (("one.txt", "tea.md", "--aligner", "nothing"), "no aligner at"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "words"), BAD, ids=lambda value: str(value)[:40])
def test_bad_input_is_refused_in_plain_words(run, tea, arguments, words):
    (tea / "empty.txt").write_text("\n\n")
    (tea / "idle.txt").write_text("ID start end token\na 0 30 \n")
    (tea / "there.srt").write_text("mine")
    (tea / "late.srt").write_text("1\n-00:00:01,000 --> 00:00:02,000\nFill the cup.\n")
    (tea / "negative.txt").write_text("a -3 2 cup\n")
    before = {path.name: path.read_bytes() for path in tea.iterdir()}
    answer = run("align", *arguments)
    assert answer.code == 1
    assert words in " ".join(answer.err.split())
    assert "Traceback" not in answer.err
    assert {path.name: path.read_bytes() for path in tea.iterdir()} == before


def test_more_lines_than_chunks(run, tea):
    (tea / "short.txt").write_text("a 0 0.5 cup\nb 0.5 1 spoon\n")
    answer = run("align", "short.txt", "tea.md")
    assert answer.code == 0, answer.err
    assert "only 2 chunks" in answer.err


@pytest.mark.slow
def test_a_video_without_touch_does_not_spoil_the_others(run, tea):
    (tea / "idle.txt").write_text("ID start end token\na 0 30 \n")
    answer = run("align", "one.txt", "tea.md", "--with", "idle.txt", "--json")
    assert answer.code == 0, answer.err
    assert "idle: nothing is touched" in answer.err


@pytest.mark.slow
def test_a_real_video_with_the_line_drawn_in(run, tea, silent):
    answer = run(
        "align", silent, "tea.md", "-o", "out.srt", "--burn", "out.mp4", "--constraint", "2=2"
    )
    assert answer.code == 0, answer.err
    assert "found no hand" in answer.err
    assert read_captions(tea / "out.srt")
    with VideoReader(tea / "out.mp4") as burned, VideoReader(silent) as plain:
        pairs = zip(burned.frames(), plain.frames(), strict=True)
        changed = [np.abs(a.image.astype(int) - b.image).mean() for a, b in pairs]
    assert max(changed) > 5


@pytest.mark.slow
def test_videos_of_a_library_together(run, tea, silent):
    with Library.create(tea / "library") as library:
        for name in ("film-a.mp4", "film-b.mp4"):
            # A byte more at the end makes it another video to the library.
            (tea / name).write_bytes(silent.read_bytes() + name.encode())
            library.add(tea / name, workers=1)
        videos = [video.id for video in library.videos()]
    answer = run("align", "film-", "tea.md", "-L", "library", "-o", "out", "--plot", "plots", "-q")
    assert answer.code == 0, answer.err
    for video in videos:
        assert read_captions(tea / "out" / f"{video}.vtt")
        assert (tea / "plots" / f"{video}.png").exists()
    pinned = run("align", "film-", "tea.md", "-L", "library", "--constraint", "1=0")
    assert "stands for 2" in pinned.err


def test_a_folder_of_touched_things_is_no_video(run, tea):
    assert "holds no video" in run("align", ".", "tea.md").err
