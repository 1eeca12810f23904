"""Plain lines: everything but emptiness is a sentence."""

from wordsight.language.captions import Caption, parse_captions, render_captions


def test_only_blank_lines_are_skipped():
    captions = parse_captions("Take a cup.\n\n  # 2 is a number\n \t\nPour.", "lines")
    assert [c.text for c in captions] == ["Take a cup.", "# 2 is a number", "Pour."]


def test_times_are_left_out_and_breaks_become_spaces():
    assert render_captions([Caption(1, 2, "Take\na cup.")], "lines") == "Take a cup.\n"
