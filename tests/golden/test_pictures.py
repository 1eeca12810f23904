"""Words taught with pictures: teach, name, attributes, and what they keep."""

from tests.golden.sample import figure, write_pictures, write_png


def test_teach_name_and_attributes(golden, tmp_path):
    write_pictures(tmp_path)
    write_png(tmp_path / "new.png", figure("blue", "square", 10, (25, 22)))
    with golden("attributes", tmp_path) as book:
        book.run("teach", "teach", "lessons", "--attributes", 2)
        book.folder("taught", tmp_path / "taught")
        book.run("name", "name", "new.png")
        book.run("name-part", "name", "new.png", "--box", "10,8,24,26")
        book.run("attributes", "attributes", "--plot")
        book.run("teach-more", "teach", "more", "--add")
        book.run("name-again", "name", "new.png")
        book.run("rename", "attributes", "--rename", "round=circular")
        figures = ("--pictures", "figures", "-K", 2, "--seed", 3)
        book.run("teach-figures", "teach", "lessons", "-t", "figures", *figures)
        book.run("name-figures", "name", "new.png", "-t", "figures")
        for method in ("annealed", "faithful"):
            how = ("--method", method, "-K", 2)
            book.run(f"teach-{method}", "teach", "lessons", "-t", method, *how)
            book.run(f"name-{method}", "name", "new.png", "-t", method)
        book.run("teach-unknown-number", "teach", "lessons", "-t", "free")
