"""Steps that clean and put away."""

from wordsight.worlds.workbench.protocol import Sentence
from wordsight.worlds.workbench.story import Story, kind_of_step

__all__ = ["dry", "finish", "prepare", "tidy"]


@kind_of_step("prepare", needs=("towel", "marker"), when="first")
def prepare(story: Story) -> list[Sentence]:
    """Get the vessel ready."""
    vessel = story.vessel
    sentences = [
        Sentence(
            f"Wipe the dust off the {vessel} with the towel.",
            "wipe",
            {"towel": "towel", "thing": vessel},
        ),
        Sentence(f"Place the {vessel} in the middle of the bench.", "fetch", {"thing": vessel}),
    ]
    if story.chance(0.6):
        text = f'Write the date and "{story.product}" on the {vessel} with the marker.'
        sentences.append(Sentence(text, "write", {"marker": "marker", "thing": vessel}))
    return sentences


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
    return [
        Sentence(
            f"Dry off the {vessel} with the towel.", "wipe", {"towel": "towel", "thing": vessel}
        ),
        Sentence(
            f"Place the {vessel} at the back of the bench and store the {story.product} at 4 C.",
            "store",
            {"thing": vessel},
        ),
    ]


@kind_of_step("tidy", needs=("towel", "spoon"), when="last")
def tidy(story: Story) -> list[Sentence]:
    """Clean the tools and put the product away."""
    vessel = story.vessel
    return [
        Sentence("Clean the spoon with the towel.", "wipe", {"towel": "towel", "thing": "spoon"}),
        Sentence(
            f"Put the {vessel} back and keep the {story.product} in the fridge.",
            "store",
            {"thing": vessel},
        ),
    ]
