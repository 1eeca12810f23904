"""What was seen in the videos of a library, in the words of its appearance codebook."""

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import LibraryError
from wordsight.library.catalog import queries
from wordsight.library.catalog.database import Database
from wordsight.library.catalog.entries import CODEBOOK, DETECTIONS, ArtefactEntry
from wordsight.library.catalog.transactions import keep
from wordsight.library.files.store import ArtefactStore
from wordsight.records import Clip, Detections, Sentence

if TYPE_CHECKING:
    from wordsight.perception import Codebook

__all__ = ["Codebooks", "DetectionReader"]


# The library's vocabulary of region appearances: learned from all its videos, kept like a file.
#
# Detections are stored as they were seen; the codebook is applied when they are read, so that a
# better one, learned from more videos, serves at once and everywhere. The first one is learned when
# it is first needed, since by then there is more to learn from than after the first video.

DETECTOR = "regions"
"""The detector whose regions have an appearance but no class."""

UNLABELLED = ("region",)
"""The labels of regions that nothing has told apart yet."""

_MAX_VIDEOS = 500
_MAX_REGIONS = 20_000  # more make no better codebook, see wordsight.perception.Codebook


class Codebooks:
    """Learns, keeps and applies the codebook of a library.

    Args:
        database: The catalogue.
        store: The library's files.
    """

    def __init__(self, database: Database, store: ArtefactStore):
        self._database, self._store = database, store
        self._read: tuple[str | None, Codebook] | None = None

    def label(self, detections: Detections) -> Detections:
        """Return regions labelled by their look; other detections come back as they are."""
        if detections.label_names != UNLABELLED or not detections.mask.any():
            return detections
        return self._current().label(detections)

    def _current(self) -> "Codebook":
        # Not needed to list videos, and the room is slow to import.
        from wordsight.perception import Codebook

        entry = self._entry()
        if entry is None and not self._database.read_only:
            entry = self.fit()
        path = None if entry is None else entry.path
        if self._read is None or self._read[0] != path:
            # What cannot be kept, in a library that is read-only, is learned for this session.
            book = (
                Codebook().fit(self._sample(0))
                if entry is None
                else Codebook.load(self._store.path_of(entry.path))
            )
            self._read = (path, book)
        return self._read[1]

    def fit(self, *, random_state: int = 0, **options: Any) -> ArtefactEntry:
        """Learn a codebook from the regions of all videos, and put it in the place of the last.

        Args:
            random_state: Seed; the same videos and seed give the same codebook.
            **options: Passed to :class:`wordsight.perception.Codebook`.

        Raises:
            LibraryError: If no region has been seen in any video.
        """
        from wordsight.perception import Codebook

        regions = self._sample(random_state)
        if not len(regions):
            raise LibraryError(
                "there is no region to learn a codebook from; add videos with the detector "
                f"{DETECTOR} first."
            )
        book = Codebook(**options, random_state=random_state).fit(regions)
        # The options are inside the file; the slot is one, because one codebook is in use.
        settings = {"detector": DETECTOR}
        return keep(
            self._database, self._store, CODEBOOK, book.save, suffix=".npz", settings=settings
        )

    def _entry(self) -> ArtefactEntry | None:
        with self._database.read() as connection:
            found = queries.artefacts(connection, kind=CODEBOOK, of_library=True)
        return found[-1] if found else None

    def _sample(self, random_state: int) -> NDArray[np.float32]:
        """Draw up to a fixed number of ``(N, D)`` appearances, evenly from the videos."""
        with self._database.read() as connection:
            entries = queries.artefacts(connection, kind=DETECTIONS)
        seen = [entry for entry in entries if entry.settings.get("detector") == DETECTOR]
        # Sorted by name and not by when they came, so that the order of adding does not matter.
        seen.sort(key=lambda entry: entry.path)
        chance = np.random.default_rng(random_state)
        if len(seen) > _MAX_VIDEOS:
            seen = [seen[n] for n in np.sort(chance.choice(len(seen), _MAX_VIDEOS, replace=False))]
        parts = [self._regions_of(entry, -(-_MAX_REGIONS // len(seen)), chance) for entry in seen]
        parts = [part for part in parts if len(part)]
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)

    def _regions_of(
        self, entry: ArtefactEntry, most: int, chance: np.random.Generator
    ) -> NDArray[np.float32]:
        detections = Detections.load(self._store.path_of(entry.path))
        if detections.appearance is None:
            return np.zeros((0, 0), np.float32)
        regions = detections.appearance[detections.mask]
        if len(regions) > most:
            regions = regions[np.sort(chance.choice(len(regions), most, replace=False))]
        return regions


class DetectionReader:
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
            said = list(queries.sentences(connection))
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
            entries = queries.artefacts(connection, kind=DETECTIONS, video_id=video_id)
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
