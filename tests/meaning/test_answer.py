"""Questions, denials and orders, judged by words written by hand on films whose truth is known."""

import time
from dataclasses import replace

import pytest

from experiments.questions import joined, pooled
from wordsight.language import Entry, PartOfSpeech
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.meaning.tasks.answer import answer, find, joined_moments, probability, sum_up
from wordsight.meaning.tasks.results import SentenceHit
from wordsight.worlds import street


@pytest.fixture(scope="module")
def film():
    films = list(street(8))
    return joined([films[5], films[7]])  # picks up the backpack; puts it down elsewhere


@pytest.fixture(scope="module")
def words(film):
    written = hand_lexicon(film.clip.detections.label_names)
    return replace(written, threshold=-2.0)  # nothing was learned, so no threshold was either


def asked(words, film, text):
    query = words.query(text)
    hits = find(words, film.clip, query)
    true = [hit for hit in hits if hit.holds]
    return true, sum_up(words, query, hits, answer(words, film.clip, query, true))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Did anyone pick up the backpack?", "yes"),
        ("Is anyone carrying a trash can?", "no"),
        ("Who picked up the backpack?", "person"),
        ("What did the man pick up?", "backpack"),
        ("How many people picked up a backpack?", "1"),
        ("How many people picked up a chair?", "0"),
    ],
)
def test_questions(words, film, text, expected):
    found = asked(words, film, text)[1]
    assert found.text == expected
    assert 0.0 <= found.probability < 1.0  # never quite sure


def test_who_comes_with_the_moment_and_the_boxes(words, film):
    hits, found = asked(words, film, "Who picked up the backpack?")
    best = found.participants[0]
    assert (best.start, best.end) == (hits[0].start, hits[0].end)
    assert len(best.times) == len(best.boxes) > 0
    assert best.start <= best.times[0] <= best.times[-1] <= best.end


def test_events_in_an_order(words, film):
    there, _ = asked(words, film, "The person picked up the backpack and then put it down.")
    assert there and there[0].holds and there[0].end - there[0].start > 3.0
    assert not asked(words, film, "The person put the backpack down before picking it up.")[0]


def test_and_goes_on_with_what_the_subject_does_next(words, film):
    assert asked(words, film, "The person picked up the backpack and put it down.")[0]
    assert not asked(words, film, "The person put the backpack down and picked it up.")[0]
    said = "A person put down the backpack and a person picked up the backpack."
    assert asked(words, film, said)[0]  # two who are named have no order


def hit(start, end, score=-0.5, holds=True):
    return SentenceHit("film", start, end, score, "", holds, ())


def test_events_that_lie_closest_together_belong_together(words):
    query = words.query("The person picked up the backpack and then put it down.")
    # The surest are the first of one and the last of the other, a minute apart.
    ups = [hit(0.0, 2.0, -0.1), hit(30.0, 32.0), hit(60.0, 62.0)]
    downs = [hit(64.0, 66.0, -0.1), hit(4.0, 6.0), hit(35.0, 37.0)]
    found = joined_moments(query, query.statements, [ups, downs])
    assert sorted((one.start, one.end) for one in found) == [(0.0, 6.0), (30.0, 37.0), (60.0, 66.0)]
    # What is judged false takes nothing away from what is true.
    unsure = [hit(3.0, 3.5, -9.0, holds=False), *downs]
    found = joined_moments(query, query.statements, [ups[:1], unsure])
    assert (0.0, 6.0) in [(one.start, one.end) for one in found if one.holds]


def test_eight_events_are_put_in_order_at_once(words):
    query = words.query("The person picked up the backpack and then put it down.")
    statements = [query.statements[0], *[query.statements[1]] * 7]
    moments = [hit(float(n), n + 0.5) for n in range(16)]
    start = time.process_time()
    found = joined_moments(query, statements, [moments] * 8)
    assert {round(one.end - one.start, 1) for one in found} == {7.5}
    assert time.process_time() - start < 5.0


def test_denials_filter(words, film):
    assert not asked(words, film, "Nobody picked up the backpack.")[0]
    never, _ = asked(words, film, "The person did not pick up the chair.")
    assert [(hit.start, hit.end) for hit in never] == [(film.clip.start, film.clip.end)]


def test_one_half_at_the_threshold(words):
    assert probability(words, words.threshold) == pytest.approx(0.5)


def test_two_people_are_not_one_person_twice(words, film):
    one, _ = asked(words, film, "A person picked up the backpack.")
    two, _ = asked(words, film, "Two people picked up the backpack.")
    assert one and not two


def test_who_is_not_named_by_the_noun_of_another(words, film):
    _, found = asked(words, film, "Who picked up the backpack?")
    assert {one.name for one in found.participants} == {"person"}


def test_who_is_someone_that_can_act(words, film):
    with_hands = words.lexicon.extended([Entry("hand", PartOfSpeech.NOUN)])
    open_words = replace(words, lexicon=with_hands)
    said = "Someone picked up the chair."
    meaning = open_words.query(said).statements[0].sentence.meaning
    assert meaning == "picked-up(p0,p1) chair(p1)"
    assert words.query(said).statements[0].sentence.meaning == f"person(p0) {meaning}"
    # It is the backpack that was picked up, which is no one.
    _, found = asked(open_words, film, "Who was picked up?")
    assert {one.name for one in found.participants} == {"person"}


def test_draws_count_by_their_questions():
    draws = [
        {"who": {"accuracy": 1.0, "blind": 0.5, "questions": 1}},
        {"who": {"accuracy": 0.6, "blind": 0.1, "questions": 3}},
        {},
    ]
    assert pooled(draws) == {"who": {"accuracy": 0.7, "blind": 0.2, "questions": 4}}
