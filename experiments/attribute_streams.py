"""Learning as it goes, on real photos and speech: one lesson at a time, and asking for lessons.

Run with ``python -m experiments.attribute_streams --images DIR --speech DIR [--seeds N] [--json]``.
``stream``: spoken lessons one at a time after a first batch, each answered by naming its picture;
how long both take (describing picture and recording included; all threads of the process are
counted by ``processor_ms``), and what is named rightly by then (``one_by_one``), after
settling (``settled``) and by learning from all at once. ``asking``: from four written lessons on,
further ones are drawn at random, or the learner asks for them: it chooses a picture among those
kept for training, whose words it does not know, and the teacher says what it asks for; how many
lessons it takes until 95 % of colours and digits of other photos are named rightly; the share of
those at random, with a 95 % interval (resampled draws), is ``asked_share``. ``phrases``:
recordings of a colour and a digit are joined without a pause, and those that are split are counted
(``phrases``); so are single recordings that should not be, of words that were taught (``known``)
and of two digits that were not (``new``).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.attribute_scores import evaluate
from experiments.cards import Cards, shared_words
from experiments.data.cards import Photos, Recordings, read_photos, read_recordings
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.attributes import (
    RECOMMENDED,
    AttributeLearner,
    Lessons,
    Sound,
    Utterance,
    join_sounds,
)
from wordsight.attributes.grouping.words import split_phrases
from wordsight.attributes.questions import choose_question

__all__ = ["main", "measure"]

PAIRS, FIRST = 200, 150
RECORDINGS, NEW_DIGITS = 60, 2
RESAMPLED = 10_000
BEGIN, MOST = 4, 240
ENOUGH = 0.95


def measure(
    images: Path, speech: Path, *, seeds: int = 3, first: int = 0, parts: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Run the parts over seeds and gather the report."""
    photos, spoken, _, _ = shared_words(read_photos(images), read_recordings(speech))
    cards = Cards.describe(photos, None, spoken, RECOMMENDED)
    results: dict[str, Any] = {"seeds": seeds, "first_seed": first}
    for part, run in PARTS.items():
        if part in parts or not parts:
            results[part] = rows = []
            for seed in range(first, first + seeds):
                rows.append(run(cards, photos, spoken, seed))
                say(f"{part}: {rows[-1]}")
    if "asking" in results:
        results["asked_share"] = _asked_share(results["asking"])
    return results


def _stream(cards: Cards, photos: Photos, spoken: Recordings, seed: int) -> dict[str, Any]:
    train, test, random = cards.split(seed, unseen=False)
    pictures, recordings, meant = [], [], []
    for attribute, kind in enumerate("cd"):
        for photo in random.choice(train, PAIRS):
            right = (spoken.kinds == kind) & (spoken.words == cards.truth[photo, attribute])
            pictures.append(photo)
            recordings.append(random.choice(np.flatnonzero(right)))
            meant.append(attribute)
    order = random.permutation(len(pictures))
    shown, heard, attributes = (np.array(one)[order] for one in (pictures, recordings, meant))
    images = [photos.images[n] for n in shown]
    sounds = [spoken.sounds[n] for n in heard]
    kinds = [kind[test] for kind in cards.test_kinds]

    def rate(learner: AttributeLearner) -> float:
        learned = len(learner.texts_)  # lessons that are waiting are known to recall alone
        said, meant = spoken.words[heard[:learned]], attributes[:learned]
        return round(evaluate(learner, kinds, cards.test_truth[test], said, meant).rate, 4)

    learner = AttributeLearner(RECOMMENDED, several=False, random_state=seed)
    learner.fit(images[:FIRST], sounds[:FIRST])
    teaching, naming, start = [], [], process_time()
    for image, sound in zip(images[FIRST:], sounds[FIRST:], strict=True):
        teaching.append(_seconds(lambda: learner.teach_one(image, sound)))  # noqa: B023
        naming.append(_seconds(lambda: learner.name(image)))  # noqa: B023
    used = process_time() - start
    one_by_one = rate(learner)
    settled = rate(learner.settle())
    at_once = AttributeLearner(RECOMMENDED, several=False, random_state=seed).fit(images, sounds)
    return {
        "seed": seed,
        "teach_ms": _milliseconds(np.median(teaching)),
        "teach_ms_max": _milliseconds(np.max(teaching)),
        "name_ms": _milliseconds(np.median(naming)),
        "name_ms_max": _milliseconds(np.max(naming)),
        "processor_ms": _milliseconds(used / len(teaching)),
        "one_by_one": one_by_one,
        "settled": settled,
        "at_once": rate(at_once),
    }


def _seconds(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _milliseconds(seconds: Any) -> float:
    return round(1000 * float(seconds), 1)


def _asking(cards: Cards, photos: Photos, spoken: Recordings, seed: int) -> dict[str, Any]:
    asked = _lessons_needed(cards, seed, asks=True)
    drawn = _lessons_needed(cards, seed, asks=False)
    return {"seed": seed, "asked": asked, "drawn": drawn}


def _asked_share(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what share of the lessons at random is needed, with an interval over draws."""
    needed = np.array([[row["asked"], row["drawn"]] for row in rows], dtype=np.float64)
    chosen = np.random.default_rng(0).integers(len(rows), size=(RESAMPLED, len(rows)))
    asked, drawn = needed[chosen].sum(axis=1).T
    low, high = np.quantile(asked / drawn, (0.025, 0.975))
    return {
        "asked": round(float(needed[:, 0].mean()), 1),
        "drawn": round(float(needed[:, 1].mean()), 1),
        "share": round(float(needed[:, 0].sum() / needed[:, 1].sum()), 4),
        "interval": [round(float(low), 4), round(float(high), 4)],
    }


def _lessons_needed(cards: Cards, seed: int, *, asks: bool) -> int:
    """Return the number of lessons until enough is named rightly; ``MOST`` if it never is."""
    train, test, random = cards.split(seed, unseen=False)
    shown = random.choice(train, BEGIN).tolist()
    meant = (np.arange(BEGIN) % 2).tolist()
    learner = AttributeLearner(RECOMMENDED, num_attributes=2, random_state=seed)
    learner.fit_lessons(_written(cards, shown, meant))
    kinds = [kind[test] for kind in cards.test_kinds]
    while len(shown) < MOST:
        like = None
        if asks:
            question = choose_question(learner, [kind[train] for kind in cards.kinds])
            photo, shows_colour = train[question.picture], question.words[0] in cards.truth[:, 0]
            # "Red, and what else?" is answered by the digit, "seven or nine?" too.
            attribute = int(shows_colour == (question.attribute is None))
            like = None if question.attribute is None else question.words[0]
        else:
            photo, attribute = random.choice(train), int(random.integers(2))
        shown.append(int(photo))
        meant.append(attribute)
        learner.teach_lessons(_written(cards, shown[-1:], meant[-1:], like))
        said = cards.truth[shown, meant]
        found = evaluate(
            learner, kinds, cards.test_truth[test], said, np.array(meant, dtype=np.intp)
        )
        if found.rate >= ENOUGH:
            break
    return len(shown)


def _written(cards: Cards, shown: list[int], meant: list[int], like: str | None = None) -> Lessons:
    texts: NDArray[np.str_] = cards.truth[shown, meant]
    return Lessons(
        tuple(kind[shown] for kind in cards.kinds),
        tuple(str(text) for text in texts),
        np.zeros((len(shown), 0)),
        (None,) * len(shown),
        likes=(like,) * len(shown),
    )


def _phrases(cards: Cards, photos: Photos, spoken: Recordings, seed: int) -> dict[str, Any]:
    train, _, random = cards.split(seed, unseen=False)
    new = random.choice(np.unique(cards.truth[:, 1]), NEW_DIGITS, replace=False)
    pictures, sounds = [], []
    for attribute in range(2):
        for photo in random.choice(train, FIRST):
            word = cards.truth[photo, attribute]
            if word not in new:
                pictures.append(photos.images[photo])
                sounds.append(spoken.sounds[random.choice(np.flatnonzero(spoken.words == word))])
    learner = AttributeLearner(RECOMMENDED, random_state=seed).fit(pictures, sounds)

    def recordings(wanted: NDArray[np.bool_]) -> list[Sound]:
        return [spoken.sounds[n] for n in random.choice(np.flatnonzero(wanted), RECORDINGS)]

    fresh = np.isin(spoken.words, new)
    pairs = zip(
        recordings(spoken.kinds == "c"), recordings((spoken.kinds == "d") & ~fresh), strict=True
    )
    asked = {
        "phrases": [
            join_sounds(two[:: random.choice((1, -1))], pause=0.0) for two in map(list, pairs)
        ],
        "known": recordings(~fresh),
        "new": recordings(fresh),
    }
    return {"seed": seed} | {
        kind: round(float(np.mean([len(one) > 1 for one in _split(learner, said)])), 4)
        for kind, said in asked.items()
    }


def _split(learner: AttributeLearner, said: list[Sound]) -> list[list[Utterance]]:
    """Return the parts of each recording."""
    return [one if isinstance(one, list) else [one] for one in split_phrases(learner, said)]


PARTS = {"stream": _stream, "asking": _asking, "phrases": _phrases}


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.attribute_streams", __doc__ or "")
    parser.add_argument("--images", type=Path, required=True, metavar="DIR", help="photos")
    parser.add_argument("--speech", type=Path, required=True, metavar="DIR", help="recordings")
    parser.add_argument("--seeds", type=int, default=3, help="how many draws (3)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=(), help="all")
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error("at least 1 seed is needed")
    results = measure(
        options.images,
        options.speech,
        seeds=options.seeds,
        first=options.first_seed,
        parts=tuple(options.parts),
    )
    rows = [row for part in PARTS for row in results.get(part, [])]
    keys = dict.fromkeys(key for row in rows for key in row if key != "seed")
    print_report(
        results,
        as_json=options.json,
        title=f"Learning as it goes, {results['seeds']} draws {results.get('asked_share', '')}",
        columns=[
            Column("seed", "seed", "d"),
            *(Column(key, key.replace("_", " "), ".3g") for key in keys),
        ],
        rows=rows,
    )


if __name__ == "__main__":
    run_main(main)
