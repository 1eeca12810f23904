"""Instructions are read from files of all kinds, and bad ones are refused in plain words."""

import pytest

from wordsight.alignment import AlignmentError
from wordsight.alignment.text import instructions_from_text, read_instructions
from wordsight.errors import FormatError
from wordsight.language.captions import CaptionWarning


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    return path


def test_lines_carry_step_nouns_and_verbs():
    found = instructions_from_text("1. Fill the cup. Mix.\n2. Drink.", "tea")
    assert found.name == "tea"
    assert [line.step for line in found.lines] == [0, 0, 1]
    assert found.lines[0].nouns == ("cup",)
    # A line without a thing can still be found by its verb.
    assert found.lines[1].nouns == ("mix",)


@pytest.mark.parametrize("text", ["", "  \n\n", "# Only a title\n", "---"])
def test_empty_text_is_refused(text):
    with pytest.raises(AlignmentError, match="has no sentence"):
        instructions_from_text(text)


def test_an_endless_text_is_refused():
    with pytest.raises(AlignmentError, match="the right file"):
        instructions_from_text("Take the cup.\n" * 6000)


def test_subtitles_give_one_step_each_whatever_their_times(tmp_path):
    # The second one overlaps the first; alignment looks for the times itself.
    text = (
        "1\n00:00:01,000 --> 00:00:09,000\nFill the\ncup.\n\n"
        "2\n00:00:02,000 --> 00:00:03,000\nDrink it.\n"
    )
    found = read_instructions(write(tmp_path, "tea.srt", text))
    assert [line.text for line in found.lines] == ["Fill the cup.", "Drink it."]


def test_subtitles_with_negative_times_are_refused(tmp_path):
    path = write(tmp_path, "tea.srt", "1\n-00:00:01,000 --> 00:00:09,000\nFill the cup.\n")
    with pytest.raises(FormatError, match="times of 0 or later"):
        read_instructions(path)


@pytest.mark.parametrize(
    "data",
    [
        "1. Fill the café cup.\n".encode("utf-16"),  # with its mark
        "1. Fill the café cup.\n".encode("utf-8-sig"),
    ],
)
def test_marked_encodings(tmp_path, data):
    assert read_instructions(write(tmp_path, "a.txt", data)).lines[0].text == "Fill the café cup."


def test_mixed_encodings_are_read_line_by_line(tmp_path):
    data = "1. Fill the café cup.\n".encode() + "2. Add the crème.\n".encode("cp1252")
    with pytest.warns(CaptionWarning, match="1 of 2 lines are not UTF-8"):
        found = read_instructions(write(tmp_path, "mixed.txt", data))
    assert [line.text for line in found.lines] == ["Fill the café cup.", "Add the crème."]


@pytest.mark.parametrize("data", [b"\0\1\2\3", b"MZ\0\0"])
def test_files_that_are_no_text_are_refused(tmp_path, data):
    with pytest.raises(FormatError, match="text"):
        read_instructions(write(tmp_path, "a.txt", data))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FormatError, match="does not exist"):
        read_instructions(tmp_path / "nothing.txt")


def test_parses_take_the_place_of_the_rules(tmp_path):
    text = write(tmp_path, "a.txt", "Step Mix.\n  Put it. Dry it.\n")
    parses = write(tmp_path, "p.txt", "(S1 (NP (NN Mix)))\n(S (VP (VB Put) (NP (NN box))))\n")
    found = read_instructions(text, parses=parses)
    assert [(line.text, line.nouns) for line in found.lines] == [
        ("Mix.", ("mix",)),
        ("Put it. Dry it.", ("box",)),
    ]


def test_too_few_parses_are_refused(tmp_path):
    text = write(tmp_path, "a.txt", "1. Mix.\n2. Drink.\n")
    parses = write(tmp_path, "p.txt", "(S1 (NP (NN Mix)))\n")
    with pytest.raises(FormatError, match="2 lines but 1 parses"):
        read_instructions(text, parses=parses)


def test_real_protocols_with_their_parses(shared_data):
    folder = shared_data("wetlab", "protocols")
    counts = {}
    for name in ("CELL", "LLGM", "YPAD"):
        parses = folder / f"parses_{name}.txt"
        found = read_instructions(folder / f"protocol_{name}.txt", parses=parses)
        counts[name] = (len(found.lines), int(found.steps[-1]) + 1)
    assert counts == {"CELL": (34, 13), "LLGM": (12, 5), "YPAD": (25, 8)}
