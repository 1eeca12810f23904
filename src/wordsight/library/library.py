"""`Library`: a collection of videos and everything known about them, safe on disk."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from wordsight.closing import Closing
from wordsight.engine import Engine, Processes, Serial
from wordsight.errors import LibraryError
from wordsight.language.captions import Caption
from wordsight.library.catalog.entries import AddReport, ArtefactEntry, VerifyReport
from wordsight.library.catalog.opening import create_library, open_library
from wordsight.library.catalog.queries import (
    NewSentence,
    change_sentence,
    insert_sentences,
    replace_sentences,
)
from wordsight.library.catalog.transactions import (
    keep,
    remove_artefact,
    remove_orphans,
    remove_videos,
)
from wordsight.library.files.verify import verify_library
from wordsight.library.ingest.sources import gather
from wordsight.library.reader import LibraryReader
from wordsight.progress import Progress

__all__ = ["Library"]


class Library(LibraryReader, Closing):
    """A collection of videos: a folder, or a database server with a folder beside it.

    Made with :meth:`create` or :meth:`open`, to be closed or used in a ``with`` block. Several
    processes, and several threads of one, may use a library at once.

    Examples:
        >>> import tempfile
        >>> with Library.create(tempfile.mkdtemp()) as library:
        ...     len(library), library.verify().clean
        (0, True)
    """

    @classmethod
    def create(
        cls, where: str | os.PathLike[str], *, artefacts: str | os.PathLike[str] | None = None
    ) -> Self:
        """Make an empty library.

        Args:
            where: A new or empty folder, or ``postgresql://user@host/database``, or
                ``sqlite:///file``.
            artefacts: Folder for the files, or the address of a bucket such as
                ``s3://bucket/folder``; needed with a server; remembered in the catalogue.

        Raises:
            LibraryError: If there is one already or it cannot be made.
        """
        return cls(*create_library(where, artefacts))

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str],
        *,
        artefacts: str | os.PathLike[str] | None = None,
        create: bool = False,
    ) -> Self:
        """Open a library, bringing one of an older version up to date.

        One that cannot be written to can still be read.

        Args:
            where: As for :meth:`create`.
            artefacts: Where its files are now, if that changed.
            create: Whether to make one if there is none.

        Raises:
            LibraryError: If there is none, it is damaged, newer than this program or out of reach.
        """
        return cls(*open_library(where, artefacts, create))

    def close(self) -> None:
        """Close the connection to the catalogue."""
        self._database.close()

    def add(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        sentences: Iterable[str | Caption] = (),
        boxes: str | os.PathLike[str] | Mapping[str, str] | None = None,
        detector: str = "regions",
        options: Mapping[str, Any] | None = None,
        rate: float | None = 10.0,
        fps: float | None = None,
        size: tuple[int, int] | None = None,
        copy: bool = False,
        force: bool = False,
        workers: int | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> AddReport:
        """Add videos, what is said of them, and what a detector sees in them.

        Each video appears in the library at once with all of it, or not at all. What is there
        already is skipped, so an interrupted run is completed by running it again. A failure is
        reported and everything else is added.

        Args:
            paths: Video files, or files of boxes alone; folders, looked through with all inside;
                ``metadata.jsonl`` files in the layout of Hugging Face's VideoFolder
                (``file_name``, ``text``, optional ``start`` and ``end`` in seconds). Subtitles
                (``.srt``, ``.vtt``) and boxes (``.boxes.csv`` and others) beside a video with the
                same name belong to it.
            sentences: Said of the one video that ``paths`` stands for.
            boxes: File with the boxes of that video, or a file per video; takes the place of the
                detector.
            detector: Which detector looks at videos without boxes.
            options: Options of the detector.
            rate: How many frames a second it looks at, at most; ``None`` for all.
            fps: Frames per second of files of boxes without a video; by default those in the file.
            size: Width and height of the same; by default those in the file.
            copy: Whether to copy the videos into the library instead of noting where they are.
            force: Whether to do it again for videos that are there.
            workers: How many processes; ``None`` for one per core. 1 means this very process,
                which saves starting another but dies with a video that crashes its decoder.
            engine: Who looks at the videos, in the place of ``workers``; on a cluster videos and
                library must be at the same places for all.
            progress: Called with how many of the videos are done, in fractions.

        Raises:
            LibraryError: If the library cannot be written to, or sentences are given for several
                videos.
        """
        # These bring decoders and OpenCV along; reading alone does not need them.
        from wordsight.library.ingest.add import AddRun
        from wordsight.library.ingest.scan import Planner

        self._database.check_writable()
        given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        sources, failures = gather(given, sentences=sentences, boxes=boxes)
        planner = Planner(
            self._database,
            self._store,
            detector=detector,
            options=options or {},
            rate=rate,
            copy=copy,
            force=force,
            fps=fps,
            size=size,
        )
        who = engine or (Serial() if workers == 1 else Processes(workers))
        self._check_reach(who)
        adding = AddRun(self._database, self._store, planner, who)
        return adding.run(sources, failures, progress)

    def _check_reach(self, engine: Engine) -> None:
        if (self._store.url or "").startswith("memory://") and not isinstance(engine, Serial):
            raise LibraryError(
                "files in memory:// are seen by this process alone, which must do the work itself: "
                "one worker, or the engine serial."
            )

    def remove(self, ids: str | Iterable[str]) -> tuple[str, ...]:
        """Take videos out, with all that was made for them; source files are left alone.

        Args:
            ids: Ids, or unambiguous beginnings of ids.

        Returns:
            The ids of the videos that were removed.
        """
        given = [ids] if isinstance(ids, str) else list(ids)
        full = tuple(dict.fromkeys(self.resolve(name) for name in given))
        remove_videos(self._database, self._store, full)
        return full

    def say(
        self, video_id: str, text: str, start: float | None = None, end: float | None = None
    ) -> int:
        """Add a sentence to what is said of a video; return how many were new."""
        said = _sentence(text, start, end)
        full = self.resolve(video_id)
        with self._database.write() as connection:
            return insert_sentences(connection, full, [said])

    def correct_sentence(
        self, number: int, text: str | None, start: float | None = None, end: float | None = None
    ) -> None:
        """Put another text in the place of a sentence, or take it out.

        Args:
            number: Its number, as :meth:`sentences` has it.
            text: What is said; ``None`` takes the sentence out.
            start: From when on, in seconds; ``None`` if of the whole video.
            end: Until when.

        Raises:
            LibraryError: If there is no such sentence.
        """
        said = None if text is None else _sentence(text, start, end)
        with self._database.write() as connection:
            if not change_sentence(connection, number, said):
                raise LibraryError(f"there is no sentence {number}; it may have been removed.")

    def set_sentences(self, video_id: str, sentences: Iterable[NewSentence]) -> tuple[int, int]:
        """Let exactly these sentences be said of a video; those that are there stay as they are.

        Returns:
            How many were added, and how many removed.
        """
        full = self.resolve(video_id)
        with self._database.write() as connection:
            return replace_sentences(connection, full, list(sentences))

    def verify(self, *, hashes: bool = True, progress: Progress | None = None) -> VerifyReport:
        """Check that everything the catalogue promises is there, unchanged to the byte.

        Also clears away what interrupted work left unfinished, unless someone is at it.

        Args:
            hashes: Whether to read every file; otherwise presence and size are checked.
            progress: Called after each file.
        """
        return verify_library(self._database, self._store, hashes=hashes, progress=progress)

    def sweep(self) -> tuple[str, ...]:
        """Delete the orphans :meth:`verify` lists, except copies of videos; return which."""
        return tuple(remove_orphans(self._database, self._store))

    def fit_codebook(self, *, random_state: int = 0, **options: Any) -> ArtefactEntry:
        """Learn the vocabulary of region appearances afresh from all videos.

        The first one is learned when detections are first asked for; a collection that has grown
        since deserves another.

        Args:
            random_state: Seed; the same videos and seed give the same codebook.
            **options: Passed to :class:`wordsight.perception.regions.codebook.Codebook`.
        """
        return self._seeing.codebooks.fit(random_state=random_state, **options)

    def put_artefact(
        self,
        kind: str,
        write: Callable[[Path], None],
        *,
        suffix: str,
        settings: Mapping[str, Any],
        video_id: str | None = None,
    ) -> ArtefactEntry:
        """Keep something made from the library: a learned model, an index, features of a video.

        It takes the place of one of the same kind, settings and video.

        Args:
            kind: A lower-case word.
            write: Called with a path to write a file to, or to make a folder of files at.
            suffix: Suffix of the path; ``""`` for a folder.
            settings: What it was made with, and its name if it has one, as JSON can hold it.
            video_id: Of which video; ``None`` if of the whole library.
        """
        owner = None if video_id is None else self.resolve(video_id)
        how: dict[str, Any] = {"suffix": suffix, "settings": settings, "video_id": owner}
        return keep(self._database, self._store, lambda: self._store.stage(kind, write, **how))

    def remove_artefact(self, artefact: ArtefactEntry) -> None:
        """Take an artefact out of the library and delete its files."""
        remove_artefact(self._database, self._store, artefact.id)


def _sentence(text: str, start: float | None, end: float | None) -> NewSentence:
    said = Caption(start, end, text)  # says what is wrong with it
    return NewSentence(" ".join(said.text.split()), said.start, said.end, "studio")
