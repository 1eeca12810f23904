"""Words learned from captions as people write them: CAD-120, leaving one subject out.

Run with ``python -m experiments.captions --data DIR --captions DIR2 [--test DIR3 --test-captions
DIR4] [--json]``. DIR is the folder of the CAD-120 data, DIR2 holds ``segments.jsonl``: subject,
activity, video, first and last frame, sentence ("woman pick up box from the table"). Words are
inferred and learned by the functions and defaults of ``wordsight learn``. A caption of the subject
left out then has to be chosen among all that were written of the same video and mean something
else.

``read``: the share of sentences that are read. ``junk`` counts inferred nouns with a word that the
dictionary has neither as noun nor as adjective, and verbs that it does not have as verbs. Per
setting (``detections`` of a Faster R-CNN, or annotated ``tracks``): ``accuracy``, ``blind`` (how
often each meaning is said in training), ``chance``, and ``clips``.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.data.cad120 import FRAME_RATE, has_detections, load_seen
from experiments.learning import learn_words
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.errors import WordsightError
from wordsight.evaluation.forced_choice import FrequencyGuesser, chance_accuracy, choice_accuracy
from wordsight.language import Entry, Lexicon, PartOfSpeech, infer_lexicon
from wordsight.language.english.words import is_known
from wordsight.meaning import LearnedLexicon
from wordsight.records import Clip, Sentence
from wordsight.workflows.lexicon import readable_grammar
from wordsight.workflows.reporter import RecordingReporter

__all__ = ["main", "measure"]

SETTINGS = ("detections", "tracks")


@dataclass(frozen=True)
class Caption:
    """One caption with what is seen during it."""

    subject: str
    text: str
    clip: Clip


def load_captions(data: Path, captions: Path, setting: str) -> list[Caption]:
    """Read the captions whose videos were seen in a setting."""
    path = captions / "segments.jsonl"
    if not path.exists():
        raise WordsightError(f"{path} is missing; --captions must name the folder that holds it.")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    seen, _ = load_seen(data, setting, named=True, videos={row["video"] for row in rows})
    found = []
    for row in rows:
        if row["video"] in seen:
            start, end = (row["start"] - 1) / FRAME_RATE, row["end"] / FRAME_RATE
            clip = Clip.cut(row["video"], seen[row["video"]], start, end)
            found.append(Caption(str(row["subject"]), row["sentence"], clip))
    if not found:
        raise WordsightError(f"no caption of {path} is about a video with {setting} in {data}.")
    return found


def measure(
    data: Path, captions: Path, test: tuple[Path, Path] | None, settings: Sequence[str], quick: bool
) -> dict[str, Any]:
    """Run the experiment.

    Args:
        data: Folder of the data to learn from.
        captions: Folder of its captions.
        test: Folders of data and captions to test on; otherwise one subject after the other is
            left out.
        settings: Which of ``detections`` and ``tracks``.
        quick: Whether to leave out training against false sentences.
    """
    every = load_captions(data, captions, "tracks")
    held_out = load_captions(*test, "tracks") if test is not None else []
    result = _language([caption.text for caption in (*every, *held_out)])
    for setting in settings:
        train = load_captions(data, captions, setting)
        asked = train if test is None else load_captions(*test, setting)
        subjects = sorted({caption.subject for caption in asked})
        folds = []
        for subject in subjects if test is None else [None]:
            known = [c for c in train if subject is None or c.subject != subject]
            new = [c for c in asked if subject is None or c.subject == subject]
            folds.append(_fold(known, new, quick))
            say(f"{setting}, {subject or 'held out'}: {folds[-1]}")
        clips = sum(fold["clips"] for fold in folds)
        result[setting] = {
            name: round(sum(fold[name] * fold["clips"] for fold in folds) / max(1, clips), 4)
            for name in ("accuracy", "blind", "chance")
        } | {"clips": clips}
    return result


def _language(texts: list[str]) -> dict[str, Any]:
    inferred = infer_lexicon(texts)
    unread = {text for text, _ in inferred.unread}
    junk = [entry.name for entry in inferred.lexicon if _is_junk(entry)]
    if junk:
        say(f"not in the dictionary: {', '.join(junk)}")
    read = sum(text not in unread for text in texts) / max(1, len(texts))
    return {"read": round(read, 4), "sentences": len(texts), "junk": len(junk)}


def _is_junk(entry: Entry) -> bool:
    words = entry.spellings[0].replace("-", " ").split()
    if entry.part is PartOfSpeech.VERB:
        return not is_known(words[0], "V")
    if entry.part is PartOfSpeech.NOUN:
        return not all(is_known(word, "N") or is_known(word, "J") for word in words)
    return False


def _fold(train: list[Caption], test: list[Caption], quick: bool) -> dict[str, float]:
    """Learn from captions and choose among those of each test video."""
    reporter = RecordingReporter()
    videos = [caption.clip.video_id for caption in train]
    lexicon, sentences = readable_grammar(None, [[c.text] for c in train], reporter, videos=videos)
    learned = learn_words([c.clip for c in train], sentences, lexicon, cut=True, quick=quick)
    # Words that training never had are taken for those that mean about the same, or stay silent.
    wider = infer_lexicon([c.text for c in test], lexicon, synonyms=True)
    learned = _with_lexicon(learned, wider.lexicon)
    said = wider.sentences
    rows, blind, truth = [], [], []
    guesser = _guesser(train, sentences)
    for number, caption in enumerate(test):
        rivals = _rivals(test, said, number)
        if not said[number]:
            rows.append(np.array([0.0, 1.0]))  # cannot be read: cannot be right
            blind.append(np.array([0.0, 1.0]))
            truth.append(0)
            continue
        observation = learned.observe(caption.clip)
        rows.append(
            np.array([float(np.mean(learned.preferences(observation, list(s)))) for s in rivals])
        )
        blind.append(guesser.scores([_meaning(s) for s in rivals]))
        truth.append([_meaning(s) for s in rivals].index(_meaning(said[number])))
    return {
        "accuracy": choice_accuracy(rows, truth),
        "blind": choice_accuracy(blind, truth),
        "chance": chance_accuracy([len(row) for row in rows]),
        "clips": len(test),
    }


def _with_lexicon(learned: LearnedLexicon, wider: Lexicon) -> LearnedLexicon:
    return replace(learned, lexicon=wider).with_silent(entry.name for entry in wider)


def _meaning(said: Sequence[Sentence]) -> str:
    return "; ".join(sentence.meaning for sentence in said)


def _rivals(
    captions: list[Caption], said: Sequence[Sequence[Sentence]], number: int
) -> list[Sequence[Sentence]]:
    """Return what was written of a caption's video, every meaning once."""
    video = captions[number].clip.video_id
    found = {
        _meaning(sentences): sentences
        for caption, sentences in zip(captions, said, strict=True)
        if caption.clip.video_id == video and sentences
    }
    return list(found.values())


def _guesser(train: list[Caption], said: Sequence[Sequence[Sentence]]) -> FrequencyGuesser[str]:
    rows = [[_meaning(s) for s in _rivals(train, said, n)] for n in range(len(train)) if said[n]]
    own = [_meaning(s) for s in said if s]
    truth = [row.index(meaning) for row, meaning in zip(rows, own, strict=True)]
    return FrequencyGuesser[str]().fit(rows, truth)


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.captions", __doc__ or "", "folder of the CAD-120 data")
    parser.add_argument("--captions", type=Path, required=True, help="folder of segments.jsonl")
    parser.add_argument("--test", type=Path, help="folder of held-out data")
    parser.add_argument("--test-captions", type=Path, help="folder of its captions")
    parser.add_argument("--setting", choices=(*SETTINGS, "both"), default="both")
    parser.add_argument("--quick", action="store_true", help="as `wordsight learn --quick`")
    options = parser.parse_args(arguments)
    if (options.test is None) != (options.test_captions is None):
        raise WordsightError("--test and --test-captions go together.")
    folders = [options.data] + ([options.test] if options.test else [])
    settings = SETTINGS if options.setting == "both" else (options.setting,)
    if not all(map(has_detections, folders)):
        say("detections are left out: rcnn_detections.csv.gz is missing")
        settings = tuple(s for s in settings if s != "detections")
    test = None if options.test is None else (options.test, options.test_captions)
    result = measure(options.data, options.captions, test, settings, options.quick)
    names = ("accuracy", "blind", "chance", "clips")
    print_report(
        result,
        as_json=options.json,
        title=f"Captions of CAD-120: {result['read']:.1%} read, {result['junk']} junk words",
        columns=[Column("row", "", justify="left"), *(Column(s, s, ".3f") for s in settings)],
        rows=[{"row": name} | {s: result[s][name] for s in settings} for name in names],
    )


if __name__ == "__main__":
    run_main(main)
