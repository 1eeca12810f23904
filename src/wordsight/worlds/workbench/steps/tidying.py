"""Steps that clean and put away."""

from wordsight.worlds.workbench.protocol import ProtocolSentence, Story, kind_of_step

__all__ = ["dry", "finish", "prepare", "tidy"]


@kind_of_step("prepare", needs=("towel", "marker"), when="first")
def prepare(story: Story) -> list[ProtocolSentence]:
    """Get the vessel ready."""
    vessel = story.vessel
    sentences = [
        ProtocolSentence(
            f"Wipe the dust off the {vessel} with the towel.",
            "wipe",
            {"towel": "towel", "thing": vessel},
        ),
        ProtocolSentence(
            f"Place the {vessel} in the middle of the bench.", "fetch", {"thing": vessel}
        ),
    ]
    if story.chance(0.6):
        text = f'Write the date and "{story.product}" on the {vessel} with the marker.'
        sentences.append(ProtocolSentence(text, "write", {"marker": "marker", "thing": vessel}))
    return sentences


@kind_of_step("dry", needs=("towel",), weight=0.9)
def dry(story: Story) -> list[ProtocolSentence]:
    """Dry the outside of a vessel."""
    vessel = story.choose((story.vessel, "bottle", story.vessel))
    text = story.choose(
        (
            f"Dry off the {vessel} with the towel.",
            f"Wipe any drops off the outside of the {vessel} with the towel.",
        )
    )
    return [ProtocolSentence(text, "wipe", {"towel": "towel", "thing": vessel})]


@kind_of_step("finish", needs=("towel",), when="last")
def finish(story: Story) -> list[ProtocolSentence]:
    """Dry the product's vessel and put it away."""
    vessel = story.vessel
    return [
        ProtocolSentence(
            f"Dry off the {vessel} with the towel.", "wipe", {"towel": "towel", "thing": vessel}
        ),
        ProtocolSentence(
            f"Place the {vessel} at the back of the bench and store the {story.product} at 4 C.",
            "store",
            {"thing": vessel},
        ),
    ]


@kind_of_step("tidy", needs=("towel", "spoon"), when="last")
def tidy(story: Story) -> list[ProtocolSentence]:
    """Clean the tools and put the product away."""
    vessel = story.vessel
    return [
        ProtocolSentence(
            "Clean the spoon with the towel.", "wipe", {"towel": "towel", "thing": "spoon"}
        ),
        ProtocolSentence(
            f"Put the {vessel} back and keep the {story.product} in the fridge.",
            "store",
            {"thing": vessel},
        ),
    ]
