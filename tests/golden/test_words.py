"""Words learned from a library, what they say of its videos, and searching it."""

import json

import pytest

from tests.golden.harness import wordsight
from tests.golden.sample import OWN_RULES, OWN_WORDS, WORKBENCH_TEXT

pytestmark = pytest.mark.slow

TRUE = "The person approached the backpack."
FALSE = "The person carried the chair."


def test_a_library_of_films(golden, own):
    root, ids = own
    with golden("films", root, ids) as book:
        where = ("-L", "library")
        book.keep("add", json.loads((root / "add.json").read_text()))
        book.run("list", "list", *where)
        book.run("show-street", "show", "street-003", *where)
        book.run("show-workbench", "show", "workbench", *where)
        (root / "own.rules").write_text(OWN_RULES)
        (root / "words.txt").write_text(OWN_WORDS)
        seen = ("workbench-000-a", WORKBENCH_TEXT, *where)
        book.run("align", "align", *seen, "--save", "bench", "-o", "lines.vtt")
        book.file("lines.vtt", root / "lines.vtt")
        book.folder("aligner", root / "bench")
        book.run("states", "states", "infer", "tabletop-stack", *RULES, *where)
        book.run("verify", "verify", *where)
        book.folder("library", root / "library" / "videos")


RULES = ("--rules", "own.rules", "--vocabulary", "words.txt", "--transition-cost", 1)


def test_the_saved_words(golden, own):
    root, ids = own
    with golden("words-model", root, ids) as book:
        book.folder("words", root / "words")


def test_learned_words(golden, own):
    root, ids = own
    where = ("-w", "words", "-L", "library")
    with golden("words", root, ids) as book:
        book.keep("learn", json.loads((root / "learn.json").read_text()))
        book.run("lexicon", "lexicon", "approached", "--plot", "word.png", "-w", "words")
        book.run("score", "score", "street-000", TRUE, FALSE, *where)
        book.run("score-part", "score", "street-000", TRUE, "--from", 1, "--to", 3, *where)
        book.run("score-pruned", "score", "street-000", TRUE, "--prune", 2, *where)
        book.run("track", "track", "street-000", TRUE, "-o", "drawn.mp4", *where)
        book.run("explain", "explain", "street-000", FALSE, *where)
        for name, how in {"describe": ("-k", 3)}.items():
            found = wordsight(root, "describe", "street-003", *how, *where, "--json").json
            # What is equally good may come in any order.
            book.keep(name, sorted(found, key=lambda one: (-round(one["score"], 6), one["text"])))
        # A long film, in which moments are found first.
        book.run("score-long", "score", "workbench", TRUE, *where)


def test_learning_in_other_ways(golden, own):
    root, ids = own
    taken = [number for number, name in ids.items() if not name.startswith("street")]
    assert wordsight(root, "remove", *taken, "-L", "library").code == 0
    once = ("--restarts", 1, "--grammar", "street", "-L", "library")
    with golden("learning", root, ids) as book:
        book.run("sharpened", "learn", *once, "-w", "sharpened")
        other = ("--phases", 3, "--two-phase", "--any-order", "--quick", "--seed", 5)
        book.run("other", "learn", *once, *other, "-w", "other")
        book.run("lexicon", "lexicon", "-w", "other")
        book.run("inferred", "learn", "--quick", "--restarts", 2, "-w", "new", "-L", "library")
        book.run("inferred-word", "lexicon", "backpack", "-w", "new")
    with golden("learning-model", root, ids) as book:
        book.folder("sharpened", root / "sharpened")


def test_search(golden, own):
    root, ids = own
    where = ("-w", "words", "-L", "library")
    (root / "queries.txt").write_text("q1 picked up backpack\nq2 stacked block\n")
    with golden("search", root, ids) as book:
        book.run("index", "index", "--describe", *where)
        book.run("index-again", "index", *where)
        book.run("words", "search", "picked up the backpack", "--by", "said", *where)
        book.run("sentence", "search", TRUE, "-k", 3, *where)
        book.run("meaning", "search", FALSE, "--by", "meaning", "-k", 3, *where)
        book.run("expand", "search", "stool slowly", "--by", "said", "--expand", *where)
        book.run("like", "search", "--like", "street-001@1.0", "-k", 4, *where)
        region = ("--region", "300,200,200,200")
        book.run("part", "search", "--like", "tabletop-stack-000@3.0", *region, "-k", 3, *where)
        both = ("--like", "street-001@1.0", "--weight", 0.5, "-k", 3)
        book.run("both", "search", "stool", *both, *where)
        run = ("--queries", "queries.txt", "--run", "found.run")
        book.run("queries", "search", *run, *where)
        book.file("found.run", root / "found.run")
        lines = [line.split() for line in (root / "found.run").read_text().splitlines()]
        judged = "".join(f"{q} 0 {shot} {int(rank) % 2}\n" for q, _, shot, rank, *_ in lines)
        (root / "qrels.txt").write_text(judged)
        book.run("evaluate", "evaluate", "found.run", "qrels.txt", "--per-query")
        book.run("measures", "evaluate", "found.run", "qrels.txt", "RR", "P@5", "AP")
