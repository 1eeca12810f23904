"""``index``: the search index of a library, with what learned words say of its shots."""

import hashlib
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wordsight.errors import LibraryError, WordsightError
from wordsight.files import write_text
from wordsight.workflows.compute import device_setting, engine_setting, usable_device, using_engine
from wordsight.workflows.index_words import (
    NAMED,
    NamedShots,
    forget_words,
    index_analyser,
    name_shots,
    remember_words,
)
from wordsight.workflows.lexicon import lexicon_setting, library_words
from wordsight.workflows.reporter import RecordingReporter, Reporter
from wordsight.workflows.settings import Request, setting
from wordsight.workflows.units import count
from wordsight.workflows.workflow import Result, as_json, workflow

if TYPE_CHECKING:
    from wordsight.engine import Engine
    from wordsight.library import Library, VideoDetails, VideoEntry
    from wordsight.library.files.bucket import Mirror
    from wordsight.meaning import LearnedLexicon
    from wordsight.progress import Progress
    from wordsight.retrieval import BuildReport, Index, VisualSettings

__all__ = [
    "IndexRequest",
    "IndexResult",
    "IndexSettings",
    "describe_shots",
    "index",
    "index_folder",
    "index_setting",
    "index_stamp",
    "is_current",
    "open_index",
    "update_index",
]

FOLDER = "search-index"
_STAMP = "library-stamp.json"
_DESCRIPTIONS = "descriptions.json"
# What changes in an index, the manifest last; all else is written once under a name of its own.
_LEARNED = ("text-shares.json", "joint-weight.json", "visual-smoothing.json")
_HEADS = (_DESCRIPTIONS, NAMED, *_LEARNED, _STAMP, "index.json")
_CHOSEN = (_DESCRIPTIONS, NAMED)
_LEAVE = ("lock",)
_TRIES = 8  # against others who index into the same bucket


def index_setting() -> Any:
    """Declare the setting that names the folder of an index."""
    return setting(
        None, "Folder of the index.", metavar="FOLDER", default_text="inside the library"
    )


class IndexSettings(Request):
    """What an index holds, wherever words are kept."""

    describe: bool = setting(
        False,
        "Also index what learned words say of every shot.",
        label="Describe every shot in learned words",
    )
    language: str | None = setting(
        None,
        "Language of the words, for their endings: english, german, …, or none.",
        label="Language (indexes everything again)",
    )
    models: Literal["static", "dynamic"] | None = setting(
        None,
        "What models of a new index describe: the key frame of a shot, or the second around it.",
        label="Picture models (indexes everything again)",
        default_text="static, or as they are",
        titles={"static": "of the key frame", "dynamic": "of a second around it"},
    )
    components: int | None = setting(
        None,
        "Gaussians per shot in a new index; 0 lets BIC choose their number.",
        label="Gaussians per shot, which build a new index; 0 to choose",
        default_text="8, or as they are",
        ge=0,
        le=64,
    )
    restarts: int | None = setting(
        None,
        "Starts of EM per shot in a new index; the likeliest model is kept.",
        label="Starts per shot, which build a new index",
        default_text="1, or as they are",
        ge=1,
        le=50,
    )
    engine: str | None = engine_setting()
    device: str | None = device_setting()

    @property
    def visual(self) -> "VisualSettings | None":
        """The settings of visual models, if any was given; an index keeps those it has."""
        from wordsight.retrieval import VisualSettings

        if self.models is None and self.components is None and self.restarts is None:
            return None
        usual = VisualSettings()
        return VisualSettings(
            num_components=usual.num_components if self.components is None else self.components,
            restarts=usual.restarts if self.restarts is None else self.restarts,
            dynamic=self.models == "dynamic",
        )


class IndexRequest(IndexSettings):
    """What an index holds, and where it is."""

    attributes: Path | None = setting(
        None,
        "Also name the things in every shot by words of `wordsight teach`; kept until `none`.",
        metavar="FOLDER|none",
    )
    resident: bool = setting(
        False,
        "Have the shards of a new index stay on the disks of the workers that make them; needs "
        "the --engine of a Dask cluster, also to search.",
    )
    embedding: Path | None = setting(
        None,
        "An ONNX network of pictures that describes the shots of a new index as well, beside "
        "blocks of pixels; it must stay where it is.",
        metavar="ONNX",
    )
    words: Path | None = lexicon_setting()
    index: Path | None = index_setting()

    @property
    def visual(self) -> "VisualSettings | None":
        """The settings of visual models, with the network."""
        from wordsight.retrieval import VisualSettings
        from wordsight.retrieval.visual.embedding import EmbeddingFile

        if self.embedding is None:
            return super().visual
        settings = super().visual or VisualSettings()
        return replace(settings, embedding=EmbeddingFile.of(self.embedding))


@dataclass(frozen=True)
class IndexResult(Result):
    """What was indexed.

    Attributes:
        folder: Where the index is.
        report: Which videos were added, removed, left as they were, or failed.
    """

    folder: Path
    report: "BuildReport"

    @property
    def ok(self) -> bool:
        """Whether no video failed."""
        return not self.report.failed

    def to_json(self) -> Any:
        """Return what ``wordsight index --json`` prints."""
        return as_json({"index": self.folder, **vars(self.report)})


@workflow(IndexRequest)
def index(library: "Library", request: IndexRequest, *, reporter: RecordingReporter) -> IndexResult:
    """Make or update the search index of a library."""
    from wordsight.workflows.teach import load_taught

    folder = index_folder(library, request.index)
    if request.describe:
        lexicon, _ = library_words(library, request.words, reporter)
        with reporter.progress("Describing") as progress:
            number = describe_shots(library, folder, lexicon, progress)
        reporter.note(f"Wrote {count(number, 'description')}.")
    if request.attributes is not None:
        if str(request.attributes) == "none":
            if forget_words(folder):
                reporter.note("Things in shots are named no longer.")
        elif remember_words(folder, load_taught(request.attributes)):
            reporter.note(f"Naming the things in every shot by the words of {request.attributes}.")
    device = usable_device(request.device, reporter)
    with (
        using_engine(request.engine, reporter) as engine,
        reporter.progress("Indexing") as progress,
    ):
        report = update_index(
            library,
            folder,
            language=request.language,
            visual=request.visual,
            progress=progress,
            engine=engine,
            device=device,
            resident=request.resident,
        )
    for video_id, reason in report.failed:
        reporter.warn(f"{video_id}: {reason}")
    return IndexResult(folder, report)


@dataclass(frozen=True)
class _Collection:
    """A library whose shots also have what learned words say of them, and taught words name."""

    library: "Library"
    descriptions: dict[str, list[tuple[float, float, str]]]
    named: NamedShots | None = None

    def videos(self) -> "Sequence[VideoEntry]":
        return self.library.videos()

    def show(self, video_id: str) -> "VideoDetails":
        from wordsight.library import SentenceEntry

        details = self.library.show(video_id)
        said = tuple(
            SentenceEntry(video_id, start, end, text, "describe", -1)
            for start, end, text in self.descriptions.get(video_id, [])
        )
        # Last, so that what was not said can be left out of what is shown.
        named = self.named.sentences(video_id) if self.named is not None else ()
        return replace(details, sentences=details.sentences + said + named)


def index_folder(library: "Library", folder: Path | None) -> Path:
    """Return where the index of a library is, unless another place is named."""
    return folder if folder is not None else library.folder / FOLDER


def open_index(
    library: "Library",
    folder: Path,
    reporter: Reporter,
    *,
    language: str | None = None,
    engine: "Engine | None" = None,
    device: str | None = None,
) -> "Index":
    """Open the index, building or updating it first where the library has changed.

    With a device, pictures are modelled and looked for there.

    Raises:
        WordsightError: If the library is empty, or the index cannot be written.
    """
    from wordsight.retrieval import Index
    from wordsight.retrieval.index.resident import is_resident
    from wordsight.retrieval.index.resident_search import ResidentIndex

    if not len(library):
        raise LibraryError(
            f"there is no video in {library.location}; add some with: wordsight add PATH"
        )
    _pull(library, folder)

    def opened() -> Index:
        if engine is not None and is_resident(folder):
            return ResidentIndex(folder, engine)
        return Index(folder, device=device)

    if not is_current(library, folder) or getattr(opened(), "stale", False):
        with reporter.progress("Indexing") as progress:
            report = update_index(
                library,
                folder,
                language=language,
                progress=progress,
                engine=engine,
                device=device,
                anew=False,
            )
        for video_id, reason in report.failed:
            reporter.warn(f"{video_id} cannot be searched: {reason}")
    return opened()


def index_stamp(folder: Path) -> tuple[int, ...]:
    """Return what changes when an index does: the times of the files that are written last."""
    from wordsight.retrieval.index.segments import MANIFEST

    kept = (folder / name for name in (MANIFEST, _STAMP))
    return tuple(path.stat().st_mtime_ns for path in kept if path.exists())


def is_current(library: "Library", folder: Path) -> bool:
    """Tell whether an index knows the library as it is now."""
    return bool(_stamp(library) == _read(folder / _STAMP))


def update_index(
    library: "Library",
    folder: Path,
    *,
    language: str | None = None,
    visual: "VisualSettings | None" = None,
    progress: "Progress | None" = None,
    engine: "Engine | None" = None,
    device: str | None = None,
    resident: bool = False,
    anew: bool = True,
) -> "BuildReport":
    """Bring an index up to date: only videos that are new or changed are looked at.

    Args:
        library: The library.
        folder: Where the index is or will be.
        language: Of the words, in a new index; ``none`` leaves them unstemmed.
        visual: Settings of the models of pictures, in a new index.
        progress: Called after each video.
        engine: Who looks at the videos; this process if left out.
        device: Where mixtures are fitted, such as ``cuda``; the processor if left out.
        resident: Whether the shards of a new index stay with the workers of ``engine``.
        anew: Whether videos whose shards are gone with their workers are indexed again elsewhere.
    """
    from wordsight.library import ChangedMeanwhileError
    from wordsight.retrieval.index.resident import writer_of

    mirror = _pull(library, folder)
    for attempt in range(_TRIES):
        writer = writer_of(folder, engine, resident=resident, anew=anew)
        report = _built(library, folder, language, visual, progress, engine, device, writer)
        if mirror is None:
            break
        try:
            mirror.push()
            break
        except ChangedMeanwhileError:
            if attempt == _TRIES - 1:
                raise
            time.sleep(random.uniform(0.0, 0.1 * 2**attempt))  # so that not both come again at once
            mirror.pull()
    return report


def _built(
    library: "Library",
    folder: Path,
    language: str | None,
    visual: "VisualSettings | None",
    progress: "Progress | None",
    engine: "Engine | None",
    device: str | None,
    writer: Any,
) -> "BuildReport":
    """Bring the index on this machine up to date."""
    from wordsight.retrieval import build_index
    from wordsight.retrieval.text import TEXT, TextPart

    analyser = index_analyser(folder, language)
    stamp = _stamp(library)  # before looking: what is added meanwhile is looked at next time
    named = name_shots(library, folder, progress)
    try:
        report = build_index(
            folder,
            _Collection(library, _read(folder / _DESCRIPTIONS) or {}, named),
            visual=visual,
            parts=[TextPart(analyser)],
            settings={TEXT: analyser.to_json()},
            progress=progress,
            engine=engine,
            device=device,
            writer=writer,
        )
    except PermissionError as error:
        raise WordsightError(
            f"the index in {folder} cannot be written; name another place with --index FOLDER."
        ) from error
    write_text(folder / _STAMP, json.dumps(stamp) + "\n")
    return report


def _pull(library: "Library", folder: Path) -> "Mirror | None":
    """Fetch what others did to the index of a library whose files are in a bucket."""
    if folder != library.folder / FOLDER:
        return None
    mirror = library.mirror(FOLDER, _HEADS, _LEAVE, _CHOSEN)
    if mirror is not None:
        mirror.pull()
    return mirror


def describe_shots(
    library: "Library", folder: Path, learned: "LearnedLexicon", progress: "Progress"
) -> int:
    """Write down what learned words say of every shot, to be searched like captions.

    Only sentences that are said to be true are kept; returns how many there are.
    """
    from wordsight.meaning import describe_moments
    from wordsight.records import Clip
    from wordsight.workflows.clips import followed

    _pull(library, folder)
    found: dict[str, list[tuple[float, float, str]]] = {}
    videos = library.videos()
    for done, video in enumerate(videos, start=1):
        seen = library.detections(video.id)
        for shot in library.shots(video.id):
            clip = Clip.cut(video.id, seen, shot.start, shot.end)
            if clip.mask.any():
                # Linked first, as everywhere else where words are read: surer, and far quicker.
                described = describe_moments(learned, followed(clip), top=3)
                rows = ((shot.start, shot.end, each.text) for each in described)
                found.setdefault(video.id, []).extend(rows)
        progress(done, len(videos), video.id)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / _DESCRIPTIONS, json.dumps(found, ensure_ascii=False) + "\n")
    (folder / _STAMP).unlink(missing_ok=True)
    return sum(map(len, found.values()))


def _stamp(library: "Library") -> str:
    """Return what changes when the library does, at the price of one query."""
    known = [
        [v.id, v.sha256, v.path, v.num_sentences, v.num_shots, v.added_at.isoformat()]
        for v in library.videos()
    ]
    return hashlib.sha256(json.dumps(known).encode("utf-8", "replace")).hexdigest()


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # made again
