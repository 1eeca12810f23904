"""Steps that weigh powders on the scale."""

from wordsight.worlds.workbench.protocol import ProtocolSentence, Story, kind_of_step

__all__ = ["weigh", "weigh_directly"]


@kind_of_step("weigh", needs=("dish", "scale", "spoon", "jar"), weight=1.6)
def weigh(story: Story) -> list[ProtocolSentence]:
    """Weigh powder in the dish and add it to the vessel."""
    powder, amount = story.new_powder(), story.amount("g")
    scoop = {"spoon": "spoon", "source": "jar", "target": "dish"}
    sentences = [
        ProtocolSentence(
            "Place the petri dish on the scale.", "set on", {"thing": "dish", "device": "scale"}
        ),
        ProtocolSentence(
            story.choose(("Zero the scale.", "Press the button to tare the scale.")),
            "press",
            {"device": "scale"},
        ),
        ProtocolSentence(
            f"Using the spoon, measure {amount} of {powder} from the jar into the petri dish.",
            "scoop",
            scoop,
        ),
    ]
    text = story.choose(
        (
            f"Add the {powder} in the petri dish to the {story.vessel}.",
            f"Tip the {powder} from the petri dish into the {story.vessel}.",
        )
    )
    tip = {"source": "dish", "target": story.vessel}
    return [*sentences, ProtocolSentence(text, "pour", tip)]


@kind_of_step("weigh directly", needs=("scale", "spoon", "jar"), weight=0.8)
def weigh_directly(story: Story) -> list[ProtocolSentence]:
    """Weigh powder straight into the beaker."""
    powder, amount = story.new_powder(), story.amount("mg")
    on = {"thing": "beaker", "device": "scale"}
    scoop = {"spoon": "spoon", "source": "jar", "target": "beaker"}
    return [
        ProtocolSentence("Set the beaker on the scale.", "set on", on),
        ProtocolSentence("Wait for the display and zero the scale.", "press", {"device": "scale"}),
        ProtocolSentence(
            f"Add {amount} of {powder} from the jar to the beaker with the spoon.", "scoop", scoop
        ),
        ProtocolSentence("Take the beaker off the scale.", "take off", {"thing": "beaker"}),
    ]
