from collections import Counter

from experiments.composition import (
    MODIFIERS,
    VERBS,
    Question,
    asked,
    heard,
    never_together,
    summarise,
)
from wordsight.worlds import street


def test_half_of_the_pairs_are_never_heard_and_every_word_is() -> None:
    held = Counter((v, m) for v in VERBS for m in MODIFIERS if never_together(v, m))
    assert len(held) == len(VERBS) * len(MODIFIERS) // 2
    assert {verb for verb, _ in held} == set(VERBS)
    assert {modifier for _, modifier in held} == set(MODIFIERS)
    for film in street(9, 0):
        for sentence in heard(film):
            entries = {word.entry for word in sentence.words}
            verb = next(entry for entry in entries if entry in VERBS)
            assert not any(never_together(verb, m) for m in entries if m in MODIFIERS)
            assert film.truth.holds(sentence)


def test_what_is_asked_extends_the_sentence_without_its_modifier() -> None:
    verb, modifier, full, core = next(one for one in asked() if one[1] == "to-the-left-of")
    assert {verb, modifier} <= {word.entry for word in full.words}
    assert core.num_participants == 2
    assert {word.entry for word in core.words} < {word.entry for word in full.words}


def test_a_choice_is_right_where_the_true_one_has_the_higher_score() -> None:
    found = summarise(
        [
            Question("adverb", True, True, 0.9, 0.5, ("a",)),
            Question("adverb", True, False, 0.4, 0.5, ("a",)),
            Question("adverb", True, False, 0.8, 0.5, ("b",)),
            Question("adverb", True, True, 0.1, 0.5, ("b",)),
        ]
    )
    assert found["choice"] == 0.5
    assert found["verb_alone"] == 0.5
    assert found["choices"] == 2
