"""What was taught, on one page for people."""

from typing import TYPE_CHECKING

from wordsight.attributes.discriminant import Discriminant
from wordsight.attributes.picture_features import picture_features
from wordsight.attributes.recall import DiscriminantRecall, Recall

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = ["card", "looks_at"]


def card(learner: "AttributeLearner") -> str:
    """Return the card of a learner as Markdown."""
    settings = learner.settings
    lines = [
        "# Taught attributes",
        "",
        f"{len(learner.texts_)} lessons, {len(learner.words_)} words, "
        f"{learner.num_attributes_} attributes; method: {settings.method}, recall: "
        f"{settings.recall}.",
        "",
        "| attribute | looks at | words (times taught) |",
        "|---|---|---|",
    ]
    for number, (words, recall) in enumerate(
        zip(learner.attributes(), learner.recalls_, strict=False)
    ):
        said = ", ".join(f"{word.name} ({word.count})" for word in words)
        lines.append(f"| {number + 1} | {', '.join(looks_at(learner, recall))} | {said} |")
    lines += _counts(learner)
    lines += [
        "",
        "Answers hold for pictures like those that were shown; a picture unlike all of them gets",
        "no word. Confidence was calibrated on lessons that were left out in turn.",
    ]
    return "\n".join(lines) + "\n"


def _counts(learner: "AttributeLearner") -> list[str]:
    """Say how the number of attributes was found, where it was not given."""
    counts = learner.counts_
    if not counts:
        return []
    return [
        "",
        "The number of attributes is the smallest whose held-out likelihood is within a standard",
        "error of the best; the description length, which must be small, is there to compare.",
        "",
        "| attributes | log likelihood per lesson left out | description length, nats |",
        "|---|---|---|",
        *(
            f"| {one.num_attributes} | {one.held_out:.3f} | {one.description_length:.1f} |"
            for one in counts
        ),
    ]


def looks_at(learner: "AttributeLearner", recall: Recall) -> list[str]:
    """Return the names of the kinds of picture features an attribute is told by."""
    names = [feature.name for feature in picture_features(learner.settings.pictures)]
    if not isinstance(recall, DiscriminantRecall):
        return names
    model: Discriminant = recall.model
    used = set(model.columns.tolist())
    parts = zip(names, learner.space_.parts, strict=True)
    return [name for name, part in parts if used & set(range(part.start, part.stop))]
