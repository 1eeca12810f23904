"""Steps that label vessels with marker and tape."""

from wordsight.worlds.workbench.protocol import ProtocolSentence, Story, kind_of_step

__all__ = ["label", "tape_shut"]


@kind_of_step("label", needs=("marker", "tape"), when="first")
def label(story: Story) -> list[ProtocolSentence]:
    """Write the product's name on the vessel, and perhaps tape it."""
    vessel = story.vessel
    pen = {"marker": "marker", "thing": vessel}
    text = story.choose(
        (
            f'Write "{story.product}" on the {vessel} with the marker.',
            f'Label the {vessel} with the marker: "{story.product}" and the date.',
        )
    )
    sentences = [ProtocolSentence(text, "write", pen)]
    if story.chance(0.6):
        text = f"Stick a piece of tape on the {vessel} to protect the label."
        sentences.append(ProtocolSentence(text, "stick", {"tape": "tape", "thing": vessel}))
    if story.chance(0.4):
        text = f"Place the {vessel} in the middle of the bench."
        sentences.append(ProtocolSentence(text, "fetch", {"thing": vessel}))
    return sentences


@kind_of_step("tape shut", needs=("tape", "dish"), weight=0.7)
def tape_shut(story: Story) -> list[ProtocolSentence]:
    """Close the dish with tape."""
    hours = story.amount("minutes")
    first = ProtocolSentence(
        "Tear off a strip of tape and stick it around the petri dish.",
        "stick",
        {"tape": "tape", "thing": "dish"},
    )
    if story.chance(0.5):
        return [first]
    text = f"Put the petri dish aside and incubate it for {hours} at room temperature."
    return [first, ProtocolSentence(text, "store", {"thing": "dish"})]
