"""Sentences in other languages: function words by table, everything else by use."""

import pytest

from wordsight.language import LanguageError, PartOfSpeech, infer_lexicon, read_query
from wordsight.language.glosses import GLOSSES, add_segmenter, language_of
from wordsight.language.tokens import tokens_of
from wordsight.worlds import street
from wordsight.worlds.checks import WorldError
from wordsight.worlds.street.words import translated

SAID = {
    "german": (
        [
            "Die Frau hob die Tasse auf.",
            "Ein Mann stellte den Teller ab.",
            "Sie hob die Tasse auf.",
        ],
        "frau(p0) hob-auf(p0,p1) tasse(p1)",
    ),
    "dutch": (
        ["De vrouw pakt de tas op.", "De man zet de stoel neer.", "Een man pakt de stoel op."],
        "vrouw(p0) pakt-op(p0,p1) tas(p1)",
    ),
    "spanish": (
        ["La mujer se acercó a la taza.", "El hombre dejó el plato.", "Un hombre dejó la taza."],
        "mujer(p0) acercó-to(p0,p1) taza(p1)",
    ),
    "french": (
        ["Une femme prend l'assiette.", "L'homme pose la tasse.", "La femme a pris une tasse."],
        "femme(p0) prend(p0,p1) assiette(p1)",
    ),
    "italian": (
        ["La donna prende la tazza.", "L'uomo posa il piatto.", "Un uomo prende il piatto."],
        "donna(p0) prende(p0,p1) tazza(p1)",
    ),
    "portuguese": (
        ["A mulher pega a xícara.", "O homem põe o prato no chão.", "Um homem pega o prato."],
        "mulher(p0) pega(p0,p1) xícara(p1)",
    ),
}


@pytest.mark.parametrize("language", SAID)
def test_words_are_inferred_from_use(language):
    texts, meaning = SAID[language]
    assert language_of([token for text in texts for token in tokens_of(text)]) == language
    found = infer_lexicon(texts)
    assert found.unread == ()
    assert [one.meaning for one in found.sentences[0]] == [meaning]
    asked = read_query(texts[0], found.lexicon).statements[0].sentence
    assert asked.meaning == meaning


def test_every_language_that_is_promised_has_a_table():
    assert set(GLOSSES) == set(SAID)
    for table in GLOSSES.values():
        phrases = [phrase for row in table.values() for phrase in row.split(",")]
        assert len(phrases) == len(set(phrases)) and len(phrases) > 60


def test_questions_are_asked_in_the_language_of_the_words():
    lexicon = infer_lexicon(SAID["german"][0]).lexicon
    query = read_query("Wer hob die Tasse auf?", lexicon)
    assert query.question == "who"
    assert query.statements[0].sentence.meaning == "hob-auf(p0,p1) tasse(p1)"


def test_capital_letters_show_the_nouns_of_german():
    texts = [
        "Der Mann stellt die rote Kiste auf den Tisch.",
        "Die Frau trägt eine rote Kiste zum Tisch.",
        "Der Hund läuft schnell durch den Garten.",
        "Ein Kind läuft schnell zur Tür.",
        "Die Frau nimmt die Kiste und geht weg.",
    ]
    found = infer_lexicon(texts)
    assert found.unread == ()
    nouns = {"mann", "kiste", "tisch", "frau", "hund", "garten", "kind", "tür"}
    assert named(found, PartOfSpeech.NOUN) == nouns
    assert named(found, PartOfSpeech.ADJECTIVE) == {"rote"}
    assert named(found, PartOfSpeech.ADVERB) == {"schnell"}
    small = infer_lexicon([text.lower() for text in texts])  # articles show what is no adverb
    assert nouns - {"tür"} <= named(small, PartOfSpeech.NOUN)
    assert "rote" not in named(small, PartOfSpeech.NOUN)


def named(found, part):
    return {entry.name for entry in found.lexicon if entry.part is part}


@pytest.mark.parametrize(
    ("adjective", "nouns", "texts"),
    [
        (
            "roja",
            {"hombre", "mujer", "caja", "mesa", "puerta", "pelota"},
            [
                "El hombre pone la caja roja sobre la mesa.",
                "Una mujer lleva la caja roja hacia la puerta.",
                "La mujer pone la pelota sobre la caja.",
            ],
        ),
        (
            "rouge",
            {"homme", "femme", "boîte", "table", "porte", "ballon"},
            [
                "L'homme met la boîte rouge sur la table.",
                "Une femme porte la boîte rouge vers la porte.",
                "La femme met le ballon sur la boîte.",
            ],
        ),
        (
            "rode",
            {"man", "vrouw", "doos", "tafel", "deur", "bal"},
            [
                "De man zet de rode doos op de tafel.",
                "Een vrouw draagt de rode doos naar de deur.",
                "De vrouw zet de bal op de doos.",
            ],
        ),
    ],
)
def test_adjectives_stand_before_or_after_what_they_say_more_of(adjective, nouns, texts):
    found = infer_lexicon(texts)
    assert found.unread == ()
    assert named(found, PartOfSpeech.NOUN) == nouns
    assert named(found, PartOfSpeech.ADJECTIVE) == {adjective}
    (said,) = found.sentences[0]
    (colour,) = [word for word in said.words if word.entry == adjective]
    assert [word.entry for word in said.words if word.participants == colour.participants][1] in (
        ["caja", "boîte", "doos"]
    )


def test_marks_before_a_question_change_nothing():
    lexicon = infer_lexicon(SAID["spanish"][0]).lexicon
    query = read_query("¿Quién dejó el plato?", lexicon)
    assert query.question == "who"
    assert query.statements[0].sentence.meaning == "dejó(p0,p1) plato(p1)"


@pytest.mark.parametrize(
    "text", ["A man on a bike", "woman take plate", "He is in no hurry", "The person put it down."]
)
def test_english_stays_english(text):
    assert language_of(tokens_of(text)) is None


def test_a_language_without_a_table_is_read_by_the_order_of_its_words():
    texts = ["Kvinnan lyfter koppen.", "Mannen lyfter lådan.", "Kvinnan öppnar lådan."]
    texts += ["Mannen sköljer koppen."]  # a noun that is said once stays unknown
    meanings = [one.meaning for said in infer_lexicon(texts).sentences for one in said]
    assert meanings[1] == "mannen(p0) lyfter(p0,p1) lådan(p1)"
    assert meanings[2] == "kvinnan(p0) öppnar(p0,p1) lådan(p1)"


def test_a_segmenter_cuts_what_has_no_spaces(monkeypatch):
    monkeypatch.setattr("wordsight.language.glosses._segmenters", [])
    texts = ["女人拿起杯子", "男人拿起盒子", "女人打开盒子", "男人打开杯子"]
    assert all(len(one.words) < 3 for said in infer_lexicon(texts).sentences for one in said)
    add_segmenter(lambda text: [text[i : i + 2] for i in range(0, len(text), 2)])
    meanings = [one.meaning for said in infer_lexicon(texts).sentences for one in said]
    assert meanings[0] == "女人(p0) 拿起(p0,p1) 杯子(p1)"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Man in red jacket crosses street", None),
        ("Woman in white coat opens fridge door", None),
        ("a man in a van at the door", None),
        ("the man in the bakpack", None),
        ("Wer geht weg?", "german"),
        ("Die Hand nimmt den Ball", "german"),
        ("La mujer come", "spanish"),
        ("la donna prende la tazza", "italian"),
        ("De hond rent weg", "dutch"),
        ("Un chat dort", "french"),
        ("O homem", "portuguese"),
    ],
)
def test_one_sentence_is_enough_to_tell_its_language(text, language):
    assert language_of(tokens_of(text)) == language


def test_a_learned_language_is_expected_of_queries():
    text = "A mulher pega a bola"  # of which English has every function word
    assert language_of(tokens_of(text)) is None
    lexicon = infer_lexicon(SAID["portuguese"][0]).lexicon
    assert read_query("A mulher pega a xícara.", lexicon).sentence().meaning == (
        "mulher(p0) pega(p0,p1) xícara(p1)"
    )
    assert language_of(tokens_of(text), foreign={"mulher", "xícara", "pega"}) == "portuguese"


@pytest.mark.parametrize("language", ["german", "spanish"])
def test_the_street_says_the_same_in_another_language(language):
    english = [text for film in street(24, 1) for text in film.sentences]
    other = [translated(text, language) for text in english]
    assert next(street(1, 1, language=language)).sentences[0] == other[0]

    def shapes(texts):
        found = infer_lexicon(texts)
        assert found.unread == ()
        rows = [[sorted(w.participants for w in one.words) for one in s] for s in found.sentences]
        return rows, sorted((entry.part, entry.arity) for entry in found.lexicon)

    assert shapes(other) == shapes(english)


def test_a_language_the_street_does_not_speak_is_refused():
    with pytest.raises(WorldError, match="english, german, spanish"):
        street(1, 0, language="latin")


def test_what_cannot_be_read_is_refused_in_english():
    lexicon = infer_lexicon(SAID["german"][0]).lexicon
    with pytest.raises(LanguageError, match="no meaning is known for"):
        read_query("Die Frau isst den Apfel.", lexicon)
