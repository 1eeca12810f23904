"""Which verbs of sentences as people write them are found, beside a tagger that installs offline.

Run with ``python -m benchmarks.reading [--skip N] [--json]``. The sentences are those of
``tests/language/as_written.txt``, each with what must be understood. A sentence counts if the verbs
of its events, in their base forms, are exactly those. ``reader`` is Wordsight's own; ``textblob``
the tagger of TextBlob (``pip install textblob``), the one found whose wheel holds what it needs;
its verbs are all words that it tags so, without auxiliaries and verbs such as "start". Wordsight's
reader was mended on these sentences, so its own figure is no measure of it.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.report import Column, print_report, report_parser, run_main
from wordsight.errors import LanguageError, WordsightError
from wordsight.language.english.reading import read_events
from wordsight.language.english.words import LIGHT_VERBS, base_form

__all__ = ["main", "measure"]

CORPUS = Path(__file__).parents[1] / "tests" / "language" / "as_written.txt"
_EVENT = re.compile(r"(?:^|\) |\? )(?:(?:and|then|while|before|after) )?(?:not )?([^ (?]+)[^(?]*\(")
_HELPING = frozenset(["be", "have", "do", "get", *LIGHT_VERBS])


def read_verbs(text: str) -> set[str]:
    """Return the verbs that Wordsight's reader finds."""
    try:
        events = read_events(text).events
    except LanguageError:
        return set()
    return {base_form(event.verb, "V") for event in events if event.verb} - {"be"}


def tagged_verbs(text: str) -> set[str]:
    """Return the verbs that TextBlob's tagger finds."""
    try:
        from textblob.en import parse  # type: ignore[import-not-found]
    except ImportError:
        raise WordsightError("textblob is missing; install it by: pip install textblob.") from None
    words = [word.split("/") for word in str(parse(text, lemmata=False)).split()]
    found = {base_form(w[0].lower(), "V") for w in words if len(w) > 1 and w[1][:2] == "VB"}
    return found - _HELPING


def measure(skip: int) -> dict[str, Any]:
    """Count the sentences, from the one after ``skip`` others, whose verbs are found."""
    lines = CORPUS.read_text(encoding="utf-8").splitlines()[skip:]
    rows = [line.split(" => ") for line in lines]
    readers: dict[str, Callable[[str], set[str]]]
    readers = {"reader": read_verbs, "textblob": tagged_verbs}
    result: dict[str, Any] = {"sentences": len(rows)}
    for name, verbs_of in readers.items():
        right = sum(verbs_of(text) == set(_EVENT.findall(said)) - {"be"} for text, said in rows)
        result[name] = round(right / max(1, len(rows)), 4)
    return result


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    parser = report_parser("benchmarks.reading", __doc__ or "")
    parser.add_argument("--skip", type=int, default=0, help="sentences to leave out at the top")
    options = parser.parse_args(arguments)
    result = measure(options.skip)
    print_report(
        result,
        as_json=options.json,
        title=f"Verbs of {result['sentences']} sentences",
        columns=[Column("row", "", justify="left"), Column("right", "all verbs right", ".3f")],
        rows=[{"row": name, "right": result[name]} for name in ("reader", "textblob")],
    )


if __name__ == "__main__":
    run_main(main)
