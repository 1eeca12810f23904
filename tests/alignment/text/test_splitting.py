"""Steps and sentences come out of texts however people write them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.alignment.text import split_sentences, split_steps
from wordsight.worlds.workbench.steps import KINDS, kinds_for, write_protocol
from wordsight.worlds.workbench.things import THINGS

RECIPE = """# Pancakes

**Ingredients:**

- 2 eggs
- 250 ml milk

## Method
1. Whisk the *eggs* with the [milk](page.html).
   Add the flour
   slowly, e.g. with a sieve.
   - Do not stop.
2. **Heat** the pan.
"""
CASES = [
    # a protocol whose steps say so, further sentences indented
    (
        "Step Label it\n  Write on a label.\n\nStep Mix.\n",
        [["Label it", "Write on a label."], ["Mix."]],
    ),
    # numbered steps that also say "Step"
    ("Step 1: Cut.\nStep 2: Eat.", [["Cut."], ["Eat."]]),
    # numbers with points, several sentences each
    ("1. Cut it. Dry it.\n2. Eat it.", [["Cut it.", "Dry it."], ["Eat it."]]),
    # numbers in brackets, letters below them
    (
        "1) Cut:\n  a) the bread\n  b) the egg\n2) Eat.",
        [["Cut:", "the bread", "the egg"], ["Eat."]],
    ),
    # bullets, nested ones belong to the one above
    ("- take cup\n  - by the handle\n- drink", [["take cup", "by the handle"], ["drink"]]),
    # check boxes
    ("- [ ] open\n- [x] close", [["open"], ["close"]]),
    # headings with paragraphs
    ("## Base\nMix it. Bake it.\n## Top\nPour it.", [["Mix it.", "Bake it."], ["Pour it."]]),
    # paragraphs
    ("Mix it. Bake it.\n\nPour it.", [["Mix it.", "Bake it."], ["Pour it."]]),
    # one line per step
    ("Take the cup.\nFill it.\nDrink.", [["Take the cup."], ["Fill it."], ["Drink."]]),
    # everything on one line
    ("Take the cup. Fill it.", [["Take the cup."], ["Fill it."]]),
    # a recipe: title and ingredients are no steps, wrapped lines are joined, marks go
    (
        RECIPE,
        [
            [
                "Whisk the eggs with the milk.",
                "Add the flour slowly, e.g. with a sieve.",
                "Do not stop.",
            ],
            ["Heat the pan."],
        ],
    ),
    # Windows line ends and a byte order mark
    ("\ufeff1. Cut.\r\n2. Eat.\r\n", [["Cut."], ["Eat."]]),
    # nothing to do
    ("", []),
    ("\n \n---\n", []),
]


@pytest.mark.parametrize(("text", "steps"), CASES)
def test_steps_and_sentences(text, steps):
    assert split_steps(text) == steps


@pytest.mark.parametrize(
    ("line", "sentences"),
    [
        ("Add ca. 5.5 mL of water. Mix.", ["Add ca. 5.5 mL of water.", "Mix."]),  # abbreviation
        ("Store at b1.300. Then rest.", ["Store at b1.300.", "Then rest."]),  # a shelf mark
        ("Dispense it. (?)", ["Dispense it."]),  # a doubt of the author
        ('Write "A. B." on it.', ['Write "A. B." on it.']),  # initials
    ],
)
def test_sentences_of_a_line(line, sentences):
    assert split_sentences(line) == sentences


def test_protocols_of_the_workbench_come_back_whole():
    kinds = kinds_for(tuple(KINDS), tuple(THINGS))
    rng = np.random.default_rng(3)
    for _ in range(10):
        protocol = write_protocol(15, kinds, tuple(THINGS), rng)
        written = [[sentence.text for sentence in step.sentences] for step in protocol.steps]
        assert split_steps(protocol.text()) == written


@pytest.mark.slow
@given(st.text(max_size=200))
def test_any_text_gives_steps_of_sentences_with_words(text):
    for step in split_steps(text):
        assert step
        assert all(sentence.strip() for sentence in step)
