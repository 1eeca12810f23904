"""Steps that measure liquids and add them."""

from wordsight.worlds.workbench.protocol import ProtocolSentence, Story, kind_of_step

__all__ = ["add_liquid", "measure", "rinse"]


@kind_of_step("add liquid", needs=("bottle",), weight=1.2)
def add_liquid(story: Story) -> list[ProtocolSentence]:
    """Pour from the bottle into the vessel."""
    amount, liquid, vessel = story.amount("mL"), story.new_liquid(), story.vessel
    fetch = {"thing": vessel}
    pour = {"source": "bottle", "target": vessel}
    if story.chance(0.5):
        return [
            ProtocolSentence(
                f"Add {amount} of {liquid} to the {vessel} from the bottle.", "pour", pour
            )
        ]
    return [
        ProtocolSentence(f"Prepare the {vessel} for {amount} of {liquid}.", "fetch", fetch),
        ProtocolSentence("Use the bottle near the sink and pour slowly.", "pour", pour),
    ]


@kind_of_step("measure", needs=("bottle", "cylinder"), weight=1.4)
def measure(story: Story) -> list[ProtocolSentence]:
    """Measure liquid in the cylinder and pour it into the vessel."""
    amount, liquid, vessel = story.amount("mL"), story.new_liquid(), story.vessel
    sentences = [
        ProtocolSentence(
            f"Measure {amount} of {liquid} from the bottle into the cylinder.",
            "pour",
            {"source": "bottle", "target": "cylinder"},
        )
    ]
    if story.chance(0.4):
        text = "Lift the cylinder to eye level and check the volume at the meniscus."
        sentences.append(ProtocolSentence(text, "swirl", {"vessel": "cylinder"}))
    text = story.choose(
        (
            f"Pour the {liquid} from the cylinder into the {vessel}.",
            f"Empty the cylinder into the {vessel} until the volume is {amount}.",
        )
    )
    return [*sentences, ProtocolSentence(text, "pour", {"source": "cylinder", "target": vessel})]


@kind_of_step("rinse", needs=("bottle", "towel"), weight=0.8)
def rinse(story: Story) -> list[ProtocolSentence]:
    """Rinse the other vessel with water and dry it."""
    vessel, amount = story.other_vessel(), story.amount("mL")
    return [
        ProtocolSentence(
            f"Rinse the {vessel} with {amount} of {story.liquid} from the bottle.",
            "pour",
            {"source": "bottle", "target": vessel},
        ),
        ProtocolSentence(f"Swirl the {vessel} to wet its walls.", "swirl", {"vessel": vessel}),
        ProtocolSentence(
            f"Dry off the {vessel} with the towel.", "wipe", {"towel": "towel", "thing": vessel}
        ),
    ]
