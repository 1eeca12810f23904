"""The studio's sample: the films and words of the demo, and a workbench to align a text with."""

from pathlib import Path

from wordsight.cli.demo import CLIPS
from wordsight.cli.demo_street import Street
from wordsight.cli.output import Output
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon
from wordsight.studio.jobs import JobStore
from wordsight.studio.tasks import TASKS
from wordsight.studio.tasks.learn import LEXICON
from wordsight.worlds import workbench

__all__ = ["demo_library"]


def demo_library(output: Output, folder: Path = Path("demo"), clips: int = CLIPS) -> Path:
    """Make the sample library, or find it again.

    Words that ``wordsight demo`` has learned are taken over; otherwise the studio learns them in
    its first job. A text is aligned with the film of the workbench in another.

    Args:
        output: Draws the bars.
        folder: Where ``wordsight demo`` works too.
        clips: How many films of the street.

    Returns:
        The library.
    """
    library = Street.make(output, folder, clips).library
    store = JobStore(library / "studio" / "jobs.sqlite")
    begun = {job.kind for job in store.list(limit=1000)}
    if "align" not in begun:
        video, text = _bench(library, folder / "workbench.mp4")
        asked = {"video": video, "text": text, "name": "00000000d340", "pins": [], "others": []}
        store.add("align", TASKS["align"].title, asked)
    words, kept = folder / "lexicon", library / "studio" / LEXICON
    if words.exists() and not kept.exists():
        LearnedLexicon.load(words).save(kept)
    elif not kept.exists() and "learn" not in begun:
        how = {"restarts": 2, "quick": True, "seed": 0, "grammar": "street"}
        store.add("learn", TASKS["learn"].title, how)
    if "index" not in begun:
        store.add("index", TASKS["index"].title, {})
    return library


def _bench(place: Path, path: Path) -> tuple[str, str]:
    """Add a film of a workbench; return its id and the instructions that were followed."""
    films = workbench(1, 3, noise=0.0, steps=3, videos_per_protocol=1, frame_rate=10.0)
    film = next(iter(films))
    if not path.exists():
        film.write(path)
    with Library.open(place) as library:
        library.add(path, detector="rendered", workers=1)
        number = next(video.id for video in library.videos() if video.name == path.name)
    return number, "\n".join(f"{n}. {text}" for n, text in enumerate(film.sentences, start=1))
