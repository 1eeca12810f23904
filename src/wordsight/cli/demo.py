"""``demo``: the main job from beginning to end on videos made on the spot."""

from math import exp
from pathlib import Path

from wordsight.cli.options import verb
from wordsight.cli.output import Output
from wordsight.workflows.demo import DemoResult
from wordsight.workflows.demo import demo as make_demo
from wordsight.workflows.units import clock

__all__ = ["demo"]


@verb(make_demo)
def demo(output: Output, result: DemoResult) -> None:
    """Make videos with sentences, learn the words, and find moments in new videos."""
    street, table, folder = result.street, result.table, result.sheet.parent
    known, unseen = (len(street.part(unseen=which)[0]) for which in (False, True))
    output.line(
        f"Learned {result.num_words} words in {known} videos of two places; judged "
        f"{table['sentences']} sentences about {unseen} videos of a third:"
    )
    output.table(["", "F1"], [(name, float(table["f1"][name])) for name in table["f1"]])
    output.line("Found there:")
    rows = [
        (
            text if number == 0 else "",
            street.names[hit.video_id],
            clock(hit.start),
            clock(hit.end),
            f"{exp(min(hit.score, 0.0)):.2f}",
            "yes" if holds else "no",
        )
        for text, hits in result.found.items()
        for number, (hit, holds) in enumerate(hits)
    ]
    output.table(["sentence", "video", "from", "to", "probability", "true"], rows)
    output.line(f"Play {result.overlay}: who is who in {result.best.text!r}.")
    output.line(f"Look at {result.sheet}: a picture of every video.")
    output.line(f"Go on with: wordsight lexicon picked-up --library {street.library}")
    output.line(f"        or: wordsight list --library {street.library}")
    opened = "--demo" if folder == Path("demo") else f"--library {street.library}"
    output.line(f"In the browser, at http://127.0.0.1:8321/: wordsight studio {opened}")
