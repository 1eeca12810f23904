"""Instructions timed against what is touched: align, its files, and the dictionary."""

from tests.golden.sample import write_tea


def test_align_and_dictionary(golden, tmp_path):
    write_tea(tmp_path)
    with golden("align", tmp_path) as book:
        kept = ("-o", "out", "--format", "all", "--plot", "plot.png", "--save", "kept")
        book.run("align", "align", "one.txt", "tea.md", *kept)
        for path in sorted(tmp_path.glob("out.*")):
            book.file(path.name, path)
        book.folder("kept", tmp_path / "kept")
        book.run("dictionary", "dictionary", "kept")
        book.run("one-noun", "dictionary", "kept", "spoon", "-k", 2)
        book.run("with-kept", "align", "two.txt", "tea.md", "--aligner", "kept")
        book.run("mistakes", "align", "two.txt", "tea.md", "--with", "one.txt", "--mistakes")
        pins = ("--constraint", "2=0:13", "--constraint", "s3=0:24")
        book.run("pins", "align", "one.txt", "tea.md", *pins)
        book.run("bad-pin", "align", "one.txt", "tea.md", "--constraint", "9=3", code=1)
