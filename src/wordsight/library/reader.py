"""The questions one can ask a library; :class:`wordsight.library.Library` adds what changes it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from wordsight.errors import LibraryError
from wordsight.library.catalog import queries
from wordsight.library.catalog.database import Database
from wordsight.library.catalog.entries import (
    THUMBNAIL,
    ArtefactEntry,
    Failure,
    SentenceEntry,
    VideoDetails,
    VideoEntry,
)
from wordsight.library.detections import DetectionReader
from wordsight.library.files.bucket import Mirror, shown_url
from wordsight.library.files.remote_store import RemoteStore
from wordsight.library.files.store import ArtefactStore
from wordsight.records import Clip, Detections, Sentence, Shot

__all__ = ["LibraryReader"]


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
    def read_only(self) -> bool:
        """Whether it can only be read."""
        return self._database.read_only

    def videos(
        self,
        text: str | None = None,
        *,
        order: str = "name",
        limit: int | None = None,
        offset: int = 0,
    ) -> list[VideoEntry]:
        """List videos.

        Args:
            text: Only those with this text in their name or in a sentence said of them.
            order: ``name``, ``added`` or ``duration``.
            limit: At most so many.
            offset: After leaving out so many.
        """
        if order not in queries.ORDERS:
            raise LibraryError(
                f"videos can be ordered by {', '.join(queries.ORDERS)}, got {order}."
            )
        with self._database.read() as connection:
            rows = queries.videos(connection, text=text, order=order, limit=limit, offset=offset)
        return [self._placed(*row) for row in rows]

    def count(self, text: str | None = None) -> int:
        """Return how many videos there are, or how many :meth:`videos` finds for a text."""
        with self._database.read() as connection:
            return queries.count_videos(connection, text)

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
        if own_copy is not None:  # whoever asks for one video may want to open it
            self._store.path_of(own_copy)
        return self._placed(entry, own_copy)

    def show(self, video_id: str) -> VideoDetails:
        """Return everything the catalogue knows of one video."""
        video = self.video(video_id)
        with self._database.read() as connection:
            shots = queries.shots(connection, video.id)
            return VideoDetails(
                video,
                tuple(queries.sentences(connection, video.id)),
                tuple(shot for shot, _ in shots),
                tuple(scene for _, scene in shots),
                tuple(queries.artefacts(connection, video_id=video.id)),
            )

    def sentences(self, video_id: str | None = None) -> list[SentenceEntry]:
        """Return what is said of one video, or of all, by video and time."""
        full = None if video_id is None else self.resolve(video_id)
        with self._database.read() as connection:
            return list(queries.sentences(connection, full))

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
        return Clip.cut(full, self._seeing.detections(full, detector), start, end)

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
