"""Steps with the pipette and the test tube."""

from wordsight.worlds.workbench.protocol import ProtocolSentence, Story, kind_of_step

__all__ = ["aliquot", "mix_tube"]


@kind_of_step("aliquot", needs=("pipette", "bottle", "tube", "rack"), weight=1.3)
def aliquot(story: Story) -> list[ProtocolSentence]:
    """Transfer a small volume with the pipette."""
    amount, liquid = story.amount("uL"), story.liquid
    sentences = [
        ProtocolSentence(f"Set the pipette to {amount}.", "adjust", {"tool": "pipette"}),
    ]
    if story.chance(0.6):
        text = f"Transfer {amount} of {liquid} from the bottle to the test tube with the pipette."
        things = {"pipette": "pipette", "source": "bottle", "target": "tube"}
    else:
        text = f"Pipette {amount} from the test tube into the {story.vessel}, avoiding bubbles."
        things = {"pipette": "pipette", "source": "tube", "target": story.vessel}
    return [*sentences, ProtocolSentence(text, "transfer", things)]


@kind_of_step("mix tube", needs=("tube", "rack"), weight=0.9)
def mix_tube(story: Story) -> list[ProtocolSentence]:
    """Shake the test tube, or pour it out."""
    seconds = story.amount("seconds")
    if story.chance(0.5):
        text = f"Take the test tube out of the rack and shake it for {seconds}."
        return [ProtocolSentence(text, "shake", {"vessel": "tube"})]
    return [
        ProtocolSentence(
            f"Shake the test tube for {seconds} until the pellet is gone.",
            "shake",
            {"vessel": "tube"},
        ),
        ProtocolSentence(
            f"Pour the test tube into the {story.vessel} and return it to the rack.",
            "pour",
            {"source": "tube", "target": story.vessel},
        ),
    ]
