"""What was seen in the videos of a library, in the words of its appearance codebook."""

from collections.abc import Iterator
from itertools import groupby

from wordsight.errors import LibraryError
from wordsight.library import lookup
from wordsight.library.codebooks import Codebooks
from wordsight.library.database import Database
from wordsight.library.entries import ArtefactEntry
from wordsight.library.kinds import DETECTIONS
from wordsight.library.store import ArtefactStore
from wordsight.records import Clip, Detections, Sentence

__all__ = ["Seeing"]


class Seeing:
    """Reads detections and pairs them with sentences.

    Args:
        database: The catalogue.
        store: The library's files.
    """

    def __init__(self, database: Database, store: ArtefactStore):
        self._database, self._store = database, store
        self.codebooks = Codebooks(database, store)

    def detections(self, video_id: str, detector: str | None) -> Detections:
        """Return what a detector saw in a video, the one that looked last if not told which.

        Raises:
            LibraryError: If none, or not that one, has looked at it.
        """
        path = self._store.path_of(self._entry(video_id, detector).path)
        return self.codebooks.label(Detections.load(path))

    def pairs(self, detector: str | None) -> Iterator[tuple[Clip, Sentence]]:
        """Yield each sentence with its clip, one video after the other."""
        with self._database.read() as connection:
            said = list(lookup.sentences(connection))
        for video_id, sentences in groupby(said, key=lambda sentence: sentence.video_id):
            seen = self.detections(video_id, detector)
            for sentence in sentences:
                if sentence.start is None or sentence.end is None:
                    clip = Clip(video_id, *_span(seen), seen)
                else:
                    clip = Clip.cut(video_id, seen, sentence.start, sentence.end)
                yield clip, Sentence(sentence.text)

    def _entry(self, video_id: str, detector: str | None) -> ArtefactEntry:
        with self._database.read() as connection:
            entries = lookup.artefacts(connection, kind=DETECTIONS, video_id=video_id)
        fitting = [e for e in entries if detector in (None, e.settings.get("detector"))]
        if fitting:
            return fitting[-1]
        looked = ", ".join(sorted({str(e.settings.get("detector")) for e in entries}))
        raise LibraryError(
            f"{detector or 'no detector'} has not looked at {video_id}"
            f"{f' ({looked} has)' if looked else ''}; add the video again with that detector."
        )


def _span(seen: Detections) -> tuple[float, float]:
    if not len(seen):
        return 0.0, 0.0
    # A clip ends after its last frame; that one lasts as long as the one before it.
    times = seen.times
    last = times[-1] - times[-2] if len(times) > 1 else 1.0
    return float(times[0]), float(times[-1] + last)
