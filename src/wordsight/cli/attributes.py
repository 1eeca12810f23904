"""``teach``, ``name`` and ``attributes``: words for pictures, and which attribute each names."""

from typing import TYPE_CHECKING, Any

from wordsight.cli.options import DEFAULT_LIBRARY, LibraryOption, command
from wordsight.cli.output import Output
from wordsight.workflows.name import NameRequest
from wordsight.workflows.name import name as name_pictures
from wordsight.workflows.teach import AttributesRequest, TeachRequest
from wordsight.workflows.teach import attributes as show_attributes
from wordsight.workflows.teach import teach as teach_words
from wordsight.workflows.units import clock, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordsight.attributes import Naming
    from wordsight.attributes.recall.videos import NamedDetection

__all__ = ["attributes", "name", "teach"]


@command(TeachRequest)
def teach(output: Output, request: TeachRequest) -> None:
    """Teach words by pictures: one word each; which attribute it names is learned."""
    result = teach_words(request, progress=output)
    learner = result.learner

    def render(out: Output) -> None:
        out.line(
            f"{count(len(learner.texts_), 'lesson')}, {count(len(learner.words_), 'word')}, "
            f"{count(learner.num_attributes_, 'attribute')}; kept in {result.taught}."
        )
        _render_attributes(out, result.to_json())

    output.result(result, render)


@command(NameRequest)
def name(output: Output, request: NameRequest, library: LibraryOption = DEFAULT_LIBRARY) -> None:
    """Say all words for a picture, a part of one, or the things in a video."""
    result = name_pictures(request.model_copy(update={"library": library}), progress=output)
    for path in result.files:
        output.note(f"Spoken: {path}")
    naming = result.naming
    if naming is None:
        output.result(result, lambda out: _render_things(out, result.things))
    else:
        output.result(result, lambda out: _render_naming(out, naming))


@command(AttributesRequest)
def attributes(output: Output, request: AttributesRequest) -> None:
    """Show which words belong to which attribute, and what each looks at."""
    result = show_attributes(request, progress=output)
    if result.figure is not None:
        output.note(f"Figure: {result.figure}")
    output.result(result, lambda out: _render_attributes(out, result.to_json()))


def _render_attributes(output: Output, summary: dict[str, Any]) -> None:
    rows = [
        (
            group["attribute"] + 1,
            ", ".join(f"{word['word']} ({word['lessons']})" for word in group["words"]),
            ", ".join(group["looks_at"]),
        )
        for group in summary["attributes"]
    ]
    output.table(["attribute", "words (lessons)", "looks at"], rows)


def _render_naming(output: Output, naming: "Naming") -> None:
    output.line(naming.text)
    rows = [
        (
            answer.attribute + 1,
            answer.word if answer.known else f"none; nearest is {answer.word}",
            answer.confidence if answer.known else "",  # among words none of which fits
            ", ".join(f"{word} {share:.2f}" for word, share in answer.others[:2]),
        )
        for answer in naming.attributes
    ]
    output.table(["attribute", "word", "confidence", "else"], rows)


def _render_things(output: Output, things: "Sequence[NamedDetection]") -> None:
    if not things:
        output.line("No box shows enough pixels.")
        return
    rows = [
        (clock(one.time), one.identity, ", ".join(f"{v:.0f}" for v in one.box), one.naming.text)
        for one in things
    ]
    output.table(["time", "thing", "box", "words"], rows)
