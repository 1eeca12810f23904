"""Steps that stir, shake and swirl."""

from wordsight.worlds.workbench.protocol import ProtocolSentence, Story, kind_of_step

__all__ = ["shake", "stir", "stir_by_machine"]


@kind_of_step("stir", needs=("spoon", "towel"), weight=1.2)
def stir(story: Story) -> list[ProtocolSentence]:
    """Stir with the spoon."""
    vessel, seconds = story.vessel, story.amount("seconds")
    text = story.choose(
        (
            f"Stir the solution in the {vessel} with the spoon for {seconds}.",
            f"Mix with the spoon in the {vessel} until the {story.powder} has dissolved.",
        )
    )
    sentences = [ProtocolSentence(text, "stir", {"tool": "spoon", "vessel": vessel})]
    if story.chance(0.4):
        text = "Wipe the spoon clean with the towel."
        sentences.append(ProtocolSentence(text, "wipe", {"towel": "towel", "thing": "spoon"}))
    return sentences


@kind_of_step("stir by machine", needs=("stirrer",), weight=1.0)
def stir_by_machine(story: Story) -> list[ProtocolSentence]:
    """Let the stirrer mix."""
    vessel = story.vessel
    return [
        ProtocolSentence(
            f"Place the {vessel} on the stirrer.", "set on", {"thing": vessel, "device": "stirrer"}
        ),
        ProtocolSentence(
            f"Turn on the stirrer at {story.amount('rpm')}.", "press", {"device": "stirrer"}
        ),
        ProtocolSentence(
            f"After {story.amount('minutes')}, when no powder is left, take the {vessel} off the "
            "stirrer.",
            "take off",
            {"thing": vessel},
        ),
    ]


@kind_of_step("shake", needs=("bottle",), weight=1.0)
def shake(story: Story) -> list[ProtocolSentence]:
    """Shake the bottle, or swirl the vessel."""
    if story.chance(0.4):
        text = f"Put a cap on the bottle and shake it to mix the {story.liquid} with the water."
        return [ProtocolSentence(text, "shake", {"vessel": "bottle"})]
    text = f"Swirl the {story.vessel} gently until the solution is clear."
    return [ProtocolSentence(text, "swirl", {"vessel": story.vessel})]
