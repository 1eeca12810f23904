"""``teach``, ``name`` and ``attributes``: words for pictures, and which attribute each names."""

import shlex
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.cli.options import verb
from wordsight.cli.output import Output
from wordsight.workflows.name import NameResult
from wordsight.workflows.name import name as name_pictures
from wordsight.workflows.teach import DEFAULT_TAUGHT, AttributesResult, TeachResult
from wordsight.workflows.teach import attributes as show_attributes
from wordsight.workflows.teach import teach as teach_words
from wordsight.workflows.units import clock, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordsight.attributes import Naming
    from wordsight.attributes.grouping.attribute_count import CountScore
    from wordsight.attributes.recall.videos import NamedDetection

__all__ = ["attributes", "name", "teach"]


@verb(teach_words)
def teach(output: Output, result: TeachResult) -> None:
    """Teach words by pictures: one word each; which attribute it names is learned."""
    learner = result.learner
    output.line(
        f"{count(len(learner.texts_), 'lesson')}, {count(len(learner.words_), 'word')}, "
        f"{count(learner.num_attributes_, 'attribute')}; kept in {result.taught}."
    )
    _render_attributes(output, result.to_json())


@verb(name_pictures)
def name(output: Output, result: NameResult) -> None:
    """Say all words for pictures, a part of one, or the things in a video."""
    if result.naming is not None:
        _render_naming(output, result.naming)
    elif result.pictures:
        # Pictures of one folder need no path, which a narrow table would break into lines.
        names = [Path(picture).name for picture, _ in result.pictures]
        unique = len(set(names)) == len(names)
        rows = [
            (short if unique else picture, _answers(naming))
            for short, (picture, naming) in zip(names, result.pictures, strict=True)
        ]
        output.table(["picture", "words (confidence)"], rows)
    else:
        _render_things(output, result.things)


@verb(show_attributes)
def attributes(output: Output, result: AttributesResult) -> None:
    """Show which words belong to which attribute, and what each looks at."""
    _render_attributes(output, result.to_json())
    if result.compared:
        _render_counts(output, result.learner.counts_)
    if result.question is None:
        return
    picture, question = result.question
    first, *_ = question.words
    place = "" if result.taught == DEFAULT_TAUGHT else f" -t {shlex.quote(str(result.taught))}"
    answer = f"wordsight teach {shlex.quote(str(picture))} --word WORD"
    if question.attribute is None:
        output.line(f"Teach next: {picture}, which was called {first}. What else is it?")
    else:
        either = ", ".join(question.words)
        output.line(f"Teach next: {picture}. Which is it: {either}, or another such word?")
        answer += f" --like {shlex.quote(first)}"
    heard = {word.name for word in result.learner.words_ if not word.spelled}
    if heard & set(question.words):
        output.line("Words with a number were only heard: play them by attributes --play FOLDER.")
    output.line(f"Answer with: {answer} --add{place}")


def _render_attributes(output: Output, summary: dict[str, Any]) -> None:
    rows = [
        (
            group["attribute"] + 1,
            ", ".join(_word(word) for word in group["words"]),
            ", ".join(group["looks_at"]),
        )
        for group in summary["attributes"]
    ]
    output.table(["attribute", "words (lessons)", "looks at"], rows)


def _render_counts(output: Output, counts: "Sequence[CountScore]") -> None:
    if not counts:
        output.line("The number of attributes was given, so no numbers were compared.")
        return
    columns = ["attributes", "log likelihood left out", "description length", "AIC", "BIC"]
    names = ("held_out", "description_length", "aic", "bic")
    rows = []
    for one in counts:
        values = (float(getattr(one, name)) for name in names)
        # Of few lessons none are left out.
        rows.append((one.num_attributes, *(v if isfinite(v) else "none" for v in values)))
    output.table(columns, rows)
    output.line(
        "Taken is the smallest number whose likelihood of lessons left out is within a standard "
        "error of the best (of few lessons, the least description length)."
    )


def _word(word: dict[str, Any]) -> str:
    over = f", over {' '.join(word['covers'])}" if "covers" in word else ""
    return f"{word['word']} ({word['lessons']}{over})"


def _render_naming(output: Output, naming: "Naming") -> None:
    output.line(naming.text)
    rows = [
        (
            answer.attribute + 1,
            ", ".join([answer.word, *(word for word, _ in answer.above)])
            if answer.known
            else f"none; nearest is {answer.word}",
            answer.confidence if answer.known else "",  # among words none of which fits
            ", ".join(f"{word} {share:.2f}" for word, share in answer.others[:2]),
        )
        for answer in naming.attributes
    ]
    output.table(["attribute", "word", "confidence", "else"], rows)


def _answers(naming: "Naming") -> str:
    return ", ".join(
        f"{one.word} ({one.confidence:.2f})" if one.known else f"none; nearest is {one.word}"
        for one in naming.attributes
    )


def _render_things(output: Output, things: "Sequence[NamedDetection]") -> None:
    if not things:
        output.line("No box shows enough pixels.")
        return
    rows = [
        (
            clock(one.time),
            one.identity,
            one.label,
            ", ".join(f"{v:.0f}" for v in one.box),
            one.naming.text,
        )
        for one in things
    ]
    output.table(["time", "thing", "label", "box", "words"], rows)
