"""The street in other languages: words learned from German and Spanish sentences beside English.

Run with ``python -m experiments.street_languages [--clips 61] [--seed 0] [--quick] [--json]``.
Words are inferred and learned by the functions of ``wordsight learn``, without a lexicon, from the
films of two places with true boxes as tracks; the films of the third place are judged. Every true
sentence has to be preferred to those that differ from it in one word and are not said of the film.

Per language: ``read``, the share of sentences that are read; ``accuracy``; ``chance``; and the
number of ``choices``. The same films and meanings are said in every language.
"""

from typing import Any

from experiments.learning import learn_words
from experiments.questions import named_clip, split_places
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.evaluation.forced_choice import chance_accuracy, choice_accuracy
from wordsight.language import infer_lexicon, near_misses
from wordsight.worlds import street
from wordsight.worlds.street.words import LANGUAGES, translated

__all__ = ["main", "measure"]


def measure(clips: int, seed: int, quick: bool) -> dict[str, Any]:
    """Run the experiment; see the options."""
    films = list(street(clips, seed))
    known, new = split_places(films)
    result = {}
    for language in LANGUAGES:
        said = {film.name: [translated(s, language) for s in film.sentences] for film in films}
        texts = [text for film in films for text in said[film.name]]
        inferred = infer_lexicon(texts)
        lexicon, read = inferred.lexicon, dict(zip(texts, inferred.sentences, strict=True))
        sentences = [[one for text in said[film.name] for one in read[text]] for film in known]
        learned = learn_words(
            [named_clip(film) for film in known],
            sentences,
            lexicon,
            cut=False,
            quick=quick,
            seed=seed,
        ).with_silent(entry.name for entry in lexicon)
        rows = []
        for film in new:
            observation = learned.observe(named_clip(film))
            true = [one for text in said[film.name] for one in read[text]]
            for one in true:
                meanings = {sentence.words for sentence in true}
                false = [m for m in near_misses(one, lexicon) if m.words not in meanings]
                rows.append(learned.preferences(observation, [one, *false], timed=False))
        result[language] = {
            "read": round(1.0 - len(inferred.unread) / len(set(texts)), 4),
            "accuracy": round(choice_accuracy(rows, [0] * len(rows)), 4),
            "chance": round(chance_accuracy([len(row) for row in rows]), 4),
            "choices": len(rows),
        }
        say(f"{language}: {result[language]}, words {', '.join(e.name for e in lexicon)}")
    return result


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.street_languages", __doc__ or "")
    parser.add_argument("--clips", type=int, default=61, help="number of films")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="as `wordsight learn --quick`")
    options = parser.parse_args(arguments)
    result = measure(options.clips, options.seed, options.quick)
    print_report(
        result,
        as_json=options.json,
        title="The street in other languages",
        columns=[
            Column("language", "", justify="left"),
            *(Column(name, name, ".3f") for name in ("read", "accuracy", "chance")),
            Column("choices", "choices", "d"),
        ],
        rows=[{"language": language} | row for language, row in result.items()],
    )


if __name__ == "__main__":
    run_main(main)
