"""`LibraryReader`: reading a library; :class:`wordsight.library.Library` adds what changes it."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import LibraryError
from wordsight.library.catalog import queries
from wordsight.library.catalog.database import Database
from wordsight.library.catalog.entries import (
    CODEBOOK,
    DETECTIONS,
    THUMBNAIL,
    ArtefactEntry,
    Failure,
    FilmPictures,
    SentenceEntry,
    VideoDetails,
    VideoEntry,
)
from wordsight.library.catalog.transactions import keep
from wordsight.library.files.bucket import Mirror, shown_url
from wordsight.library.files.remote_store import RemoteStore
from wordsight.library.files.store import ArtefactStore
from wordsight.records import Clip, Detections, Sentence, Shot

if TYPE_CHECKING:
    from wordsight.perception import Codebook

__all__ = ["Codebooks", "DetectionReader", "LibraryReader"]


DETECTOR = "regions"
"""The detector whose regions have an appearance but no class."""

UNLABELLED = ("region",)
"""The labels of regions that are not distinguished yet."""

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
        how: dict[str, Any] = {"suffix": ".npz", "settings": {"detector": DETECTOR}}
        stage = partial(self._store.stage, CODEBOOK, book.save, **how)
        return keep(self._database, self._store, stage)

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
        """Return what a detector saw in a video, the one that looked last if none is named.

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


class LibraryReader:
    """Answers what is in a library.

    Args:
        database: The catalogue.
        store: The library's files.
    """

    def __init__(self, database: Database, store: ArtefactStore):
        self._database = database
        self._store = store
        self._seeing = DetectionReader(database, store)

    @property
    def location(self) -> str:
        """Where the library is, for people; never with a password."""
        return str(self._database.location)

    @property
    def folder(self) -> Path:
        """Where its files are, or copies of them if they are in a bucket."""
        return self._store.folder

    def check_writable(self) -> None:
        """Make sure that the library can be written to.

        Raises:
            LibraryError: If it cannot.
        """
        self._database.check_writable()

    @property
    def artefacts_at(self) -> str:
        """Where its files are, for people: a folder, or the address of a bucket."""
        return shown_url(self._store.url) if self._store.url else str(self._store.folder)

    def mirror(
        self,
        name: str,
        heads: Sequence[str],
        leave: Sequence[str] = (),
        chosen: Sequence[str] = (),
    ) -> Mirror | None:
        """Return what brings a folder of this name to others and back; ``None`` without a bucket.

        Args:
            name: Name of a folder inside :attr:`folder`.
            heads: Names of the files in it that change; all others are written once.
            leave: Names of files that stay here.
            chosen: Those of the heads that people decide on: see :class:`Mirror`.
        """
        if not isinstance(self._store, RemoteStore):
            return None
        return Mirror(self._store.bucket, name, self.folder / name, heads, leave, chosen)

    @property
    def revision(self) -> tuple[int, ...] | None:
        """What differs after every change of the catalogue; ``None`` where only a query can tell.

        It costs no more than looking at two files, so that what was read can be kept until then.
        """
        file = self._database.location.file
        if file is None:
            return None
        seen = []
        for path in (file, file.with_name(f"{file.name}-wal")):
            with suppress(OSError):  # there is no log where nothing was written yet
                about = path.stat()
                seen += [about.st_mtime_ns, about.st_size]
        return tuple(seen)

    @property
    def read_only(self) -> bool:
        """Whether it can only be read."""
        return self._database.read_only

    def videos(
        self,
        text: str | None = None,
        *,
        said: bool | None = None,
        order: str = "name",
        descending: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[VideoEntry]:
        """List videos.

        Args:
            text: Only those with this text in their name or in a sentence said of them.
            said: Only those of which something is said, or nothing.
            order: ``name``, ``added`` or ``duration``.
            descending: Whether the last of that order comes first.
            limit: At most so many.
            offset: After leaving out so many.
        """
        if order not in queries.ORDERS:
            raise LibraryError(
                f"videos can be ordered by {', '.join(queries.ORDERS)}, got {order}."
            )
        with self._database.read() as connection:
            how: dict[str, Any] = {"said": said, "order": order, "descending": descending}
            rows = queries.videos(connection, text=text, limit=limit, offset=offset, **how)
        return [self._placed(*row) for row in rows]

    def count(self, text: str | None = None, *, said: bool | None = None) -> int:
        """Return how many videos there are, or how many :meth:`videos` finds."""
        with self._database.read() as connection:
            return queries.count_videos(connection, text, said)

    def sentences_by_video(self, ids: Sequence[str]) -> dict[str, list[SentenceEntry]]:
        """Return what is said of each of some videos by time, where anything is."""
        found: dict[str, list[SentenceEntry]] = {}
        with self._database.read() as connection:
            for one in queries.sentences(connection, ids):
                found.setdefault(one.video_id, []).append(one)
        return found

    def resolve(self, name: str) -> str:
        """Return the id of the video that ``name`` means, if it means one.

        Args:
            name: An id or the beginning of one, or the file it was added from, by path or name.

        Raises:
            LibraryError: If there is none, or several.
        """
        with self._database.read() as connection:
            found = queries.matching_ids(connection, name) if name else []
            found = found or queries.ids_of_file(connection, name)
        if name in found or len(found) == 1:
            return name if name in found else found[0]
        if found:
            raise LibraryError(f"{name!r} may be {', '.join(found)}; give more of the id.")
        raise LibraryError(f"there is no video {name!r} in {self.location}; list them to see ids.")

    def video(self, video_id: str) -> VideoEntry:
        """Return the entry of one video, by its id or whatever :meth:`resolve` takes for it."""
        full = self.resolve(video_id)
        with self._database.read() as connection:
            rows = queries.videos(connection, ids=[full])
        if not rows:
            raise LibraryError(f"{full} has just been removed by another process.")
        entry, own_copy = rows[0]
        if own_copy is not None:  # a caller that asks for one video may open it
            self._store.path_of(own_copy)
        return self._placed(entry, own_copy)

    def show(self, video_id: str) -> VideoDetails:
        """Return everything the catalogue knows of one video."""
        video = self.video(video_id)
        with self._database.read() as connection:
            shots = queries.shots(connection, video.id)
            return VideoDetails(
                video,
                tuple(queries.sentences(connection, [video.id])),
                tuple(shot for shot, _ in shots),
                tuple(scene for _, scene in shots),
                tuple(queries.artefacts(connection, video_id=video.id)),
            )

    def sentences(self, video_id: str | None = None) -> list[SentenceEntry]:
        """Return what is said of one video, or of all, by video and time."""
        ids = None if video_id is None else [self.resolve(video_id)]
        with self._database.read() as connection:
            return list(queries.sentences(connection, ids))

    def shots(self, video_id: str) -> list[Shot]:
        """Return the shots of a video in order."""
        full = self.resolve(video_id)
        with self._database.read() as connection:
            return [shot for shot, _ in queries.shots(connection, full)]

    def failures(self) -> list[Failure]:
        """Return what could not be added and has not been added since."""
        with self._database.read() as connection:
            return queries.failures(connection)

    def detections(self, video_id: str, *, detector: str | None = None) -> Detections:
        """Return what was seen in a video.

        Args:
            video_id: The video.
            detector: By which detector; the one that looked last if left out.

        Returns:
            The detections; regions are labelled with the library's appearance codebook.
        """
        return self._seeing.detections(self.resolve(video_id), detector)

    def clip(self, video_id: str, start: float, end: float, *, detector: str | None = None) -> Clip:
        """Return what was seen in a video between two times in seconds."""
        full = self.resolve(video_id)
        cut = Clip.cut(full, self._seeing.detections(full, detector), start, end)
        return replace(cut, pictures=FilmPictures(self.video(full).path))

    def pairs(self, *, detector: str | None = None) -> Iterator[tuple[Clip, Sentence]]:
        """Yield each sentence with the clip it is said of: its time span, or the whole video.

        Videos come one after the other; the detections of one at a time are in memory.
        """
        return self._seeing.pairs(detector)

    def artefacts(
        self, kind: str | None = None, *, video_id: str | None = None
    ) -> list[ArtefactEntry]:
        """Return artefacts of a kind and of a video, oldest first; of all if left out."""
        with self._database.read() as connection:
            return queries.artefacts(connection, kind=kind, video_id=video_id)

    def path_of(self, artefact: ArtefactEntry) -> Path:
        """Return where an artefact is."""
        return self._store.path_of(artefact.path)

    def thumbnail(self, video_id: str) -> Path:
        """Return the path of a small JPEG picture of a video."""
        full = self.resolve(video_id)
        for entry in self.artefacts(THUMBNAIL, video_id=full):
            return self.path_of(entry)
        raise LibraryError(f"{full} has no thumbnail; add it again with force.")

    def _placed(self, entry: VideoEntry, own_copy: str | None) -> VideoEntry:
        if own_copy is None:
            return entry
        return replace(entry, path=str(self._store.local_path(own_copy)))

    def __len__(self) -> int:
        return self.count()

    def __contains__(self, video_id: object) -> bool:
        if not isinstance(video_id, str):
            return False
        with self._database.read() as connection:
            return bool(queries.videos(connection, ids=[video_id]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.location!r})"
