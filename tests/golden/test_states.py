"""States of things on a table: learn, infer, rules, events, explain, and the saved model."""

import pytest

from tests.golden.sample import OWN_EVENTS, OWN_RULES, OWN_WORDS, write_tabletop


@pytest.mark.slow
def test_learned_rules(golden, films, tmp_path):
    first, second = write_tabletop(tmp_path, films)
    boxes = (f"{first}.csv", f"{second}.csv")
    kinds = ("--kind", "red,green,blue,black,white,purple,yellow,orange=block")
    with golden("states", tmp_path) as book:
        book.run("learn", "states", "learn", *boxes, "--labels", "labels.csv", *kinds)
        book.folder("model", tmp_path / "states-model")
        book.run("rules", "states", "rules", "--strongest", 8)
        for ending in ("json", "csv", "eaf"):
            out = f"facts.{ending}"
            book.run(f"infer-{ending}", "states", "infer", boxes[1], "-o", out)
            book.file(out, tmp_path / out)
        book.run("infer-both", "states", "infer", *boxes)
        book.run("events", "states", "events", *boxes, "-o", "events.csv")
        book.file("events.csv", tmp_path / "events.csv")
        book.run("all-events", "states", "events", *boxes, "--all")
        book.run("explain", "states", "explain", boxes[0], "--at", 2.7)
        book.run("steady", "states", "infer", boxes[0], "--steady")


def test_rules_of_ones_own(golden, tmp_path):
    (tmp_path / "words.txt").write_text(OWN_WORDS, encoding="utf-8")
    (tmp_path / "own.rules").write_text(OWN_RULES, encoding="utf-8")
    (tmp_path / "own.events").write_text(OWN_EVENTS, encoding="utf-8")
    rows = ["frame,time,id,label,score,x1,y1,x2,y2"]
    for frame in range(40):
        shift = 6 * max(frame - 20, 0)
        rows.append(f"{frame},{frame / 10},0,cup,1.0,{20 + shift},40,{40 + shift},60")
        rows.append(f"{frame},{frame / 10},1,plate,1.0,20,100,50,110")
    (tmp_path / "play.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    labels = 'video,start,end,fact\nplay,2.0,4.0,"moves(cup)"\n'
    (tmp_path / "labels.csv").write_text(labels, encoding="utf-8")
    written = ("--rules", "own.rules", "--vocabulary", "words.txt")
    cost = ("--transition-cost", 1)
    with golden("states-own", tmp_path) as book:
        plot = ("--plot", "time.png", "-o", "facts.json")
        book.run("infer", "states", "infer", "play.csv", *written, *cost, *plot)
        book.file("facts.json", tmp_path / "facts.json")
        events = ("--events", "own.events")
        book.run("events", "states", "events", "play.csv", *written, *cost, *events)
        book.run("explain", "states", "explain", "play.csv", "--at", 3, *written, *cost)
        book.run("weights", "states", "learn", "play.csv", "--labels", "labels.csv", *written)
        book.folder("model", tmp_path / "states-model")
        book.run("rules", "states", "rules")
