"""Looking for the videos where a word is surest and least sure."""

from collections.abc import Mapping
from typing import Any

from wordsight.studio.jobs.learn import LEXICON
from wordsight.studio.jobs.task import JobContext

__all__ = ["find_examples"]

_MOST_SENTENCES = 100


def find_examples(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Find where a word that is said of a video fits best and worst.

    Args:
        arguments: ``entry``, ``top``; ``stamp`` only tells lexicons apart.
        workplace: Where to work.
    """
    import numpy as np

    from wordsight.errors import WordsightError
    from wordsight.library import Library
    from wordsight.meaning import LearnedLexicon, best_moment
    from wordsight.workflows.annotator import load_annotator
    from wordsight.workflows.clips import clip_between

    words, entry = LearnedLexicon.load(workplace.folder / LEXICON), arguments["entry"]
    namer = load_annotator(workplace.folder / LEXICON)
    found: list[dict[str, Any]] = []
    with Library.open(workplace.library) as library:
        names = {video.id: video.name for video in library.videos()}
        said = [s for s in library.sentences() if entry.replace("-", " ") in _plain(s.text)]
        said = said[:_MOST_SENTENCES]
        for done, sentence in enumerate(said, start=1):
            try:
                when = (sentence.start, sentence.end)
                clip = clip_between(library, sentence.video_id, *when, namer)
                told = words.explain(best_moment(words, clip, sentence.text), sentence.text)
            except WordsightError:
                continue  # a sentence the lexicon cannot read is no example of anything
            fits = [word.fit for word in told.words if word.word.split("(")[0] == entry]
            if fits:
                fit = float(np.nan_to_num(max(fits)))
                row = {"video_id": sentence.video_id, "name": names[sentence.video_id]}
                found.append(row | {"sentence": sentence.text, "fit": fit})
            workplace.progress(done, len(said), sentence.text)
    found.sort(key=lambda one: -one["fit"])
    top = int(arguments["top"])
    return {"surest": found[:top], "least": found[::-1][:top]}


def _plain(text: str) -> str:
    return text.lower().replace("-", " ")
