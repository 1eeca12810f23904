"""Steps that bring the product from one vessel into another, or into the dish."""

from wordsight.worlds.workbench.protocol import ProtocolSentence, Story, kind_of_step

__all__ = ["decant", "plate"]


@kind_of_step("decant", needs=("funnel",), weight=1.0)
def decant(story: Story) -> list[ProtocolSentence]:
    """Pour from the beaker into the flask through the funnel."""
    through = {"source": "beaker", "funnel": "funnel", "target": "flask"}
    sentences = [
        ProtocolSentence(
            "Set the funnel on the flask.", "set on", {"thing": "funnel", "device": "flask"}
        ),
        ProtocolSentence(
            "Pour the solution from the beaker through the funnel into the flask.",
            "pour through",
            through,
        ),
        ProtocolSentence("Take the funnel off and put it back.", "take off", {"thing": "funnel"}),
    ]
    story.vessel = "flask"
    return sentences


@kind_of_step("plate", needs=("dish",), weight=1.0)
def plate(story: Story) -> list[ProtocolSentence]:
    """Pour into the dish and spread it."""
    amount = story.amount("mL")
    sentences = [
        ProtocolSentence(
            f"Pour {amount} of the medium from the {story.vessel} into the petri dish.",
            "pour",
            {"source": story.vessel, "target": "dish"},
        )
    ]
    if story.chance(0.6):
        text = "Swirl the petri dish to spread the medium, without bubbles."
        sentences.append(ProtocolSentence(text, "swirl", {"vessel": "dish"}))
    if story.chance(0.4):
        text = f"Put the petri dish aside for {story.amount('minutes')} to set."
        sentences.append(ProtocolSentence(text, "store", {"thing": "dish"}))
    return sentences
