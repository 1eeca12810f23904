"""Steps that clean and put away."""

from wordsight.worlds.workbench.protocol import Sentence
from wordsight.worlds.workbench.story import Story, kind_of_step

__all__ = ["dry", "finish"]


@kind_of_step("dry", needs=("towel",), weight=0.9)
def dry(story: Story) -> list[Sentence]:
    """Dry the outside of a vessel."""
    vessel = story.choose((story.vessel, "bottle", story.vessel))
    text = story.choose(
        (
            f"Dry off the {vessel} with the towel.",
            f"Wipe any drops off the outside of the {vessel} with the towel.",
        )
    )
    return [Sentence(text, "wipe", {"towel": "towel", "thing": vessel})]


@kind_of_step("finish", needs=("towel",), when="last")
def finish(story: Story) -> list[Sentence]:
    """Dry the product's vessel and put it away."""
    vessel = story.vessel
    sentences = [
        Sentence(
            f"Dry off the {vessel} with the towel.", "wipe", {"towel": "towel", "thing": vessel}
        ),
        Sentence(
            f"Place the {vessel} at the back of the bench and store the {story.product} at 4 C.",
            "store",
            {"thing": vessel},
        ),
    ]
    return sentences
