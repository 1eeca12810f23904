"""``align``: when each line of written instructions happens in a silent video."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.files import VIDEO_SUFFIXES
from wordsight.workflows.align_videos import (
    AlignedVideo,
    accepted_videos,
    judge_videos,
    known_pairs,
    labelled_pairs,
    observe_videos,
    usable_videos,
    with_fits,
)
from wordsight.workflows.detect import (
    detector_labels_setting,
    detector_model_setting,
    detector_options_setting,
    detector_setting,
)
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, refuse_existing, workflow

if TYPE_CHECKING:
    from wordsight.alignment import (
        Alignment,
        AlignmentModel,
        Belonging,
        ComparedModel,
        Instructions,
    )

__all__ = [
    "ALIGNMENT_MODELS",
    "AlignRequest",
    "AlignResult",
    "AlignSettings",
    "DictionaryRequest",
    "DictionaryResult",
    "align",
    "dictionary",
]

ALIGNMENT_MODELS = (
    *("Ensemble", "HSMM", "MotionHSMM", "LCRF", "HMM1", "HMM2", "LHMM1", "LHMM2"),
    *("LatentPerceptron", "LatentSVM", "DropDTW"),
)
"""Names of the alignment models, the default first; known here without importing any of them."""

_TEXT_SUFFIXES = {".txt", ".md", ".markdown", ".rst", ".srt", ".vtt", ".jsonl"}


class AlignSettings(Request):
    """How instructions are aligned, wherever the text and the result are kept."""

    mistakes: bool = setting(
        False,
        "Expect skipped, repeated and swapped steps.",
        label="Steps may be skipped, repeated or swapped",
    )
    model: str | None = setting(
        None,
        f"The alignment model: {', '.join(ALIGNMENT_MODELS)}.",
        metavar="NAME",
        default_text=ALIGNMENT_MODELS[0],
    )


class AlignRequest(AlignSettings):
    """Which video, which text, what is known, and what to write."""

    video: str = argument(
        "A video file, a folder of videos of the same text, a file of touched things "
        "(ID start end thing,thing), or how ids of videos in the library begin.",
        metavar="VIDEO",
    )
    text: str = argument(
        "The instructions: a file (plain text, Markdown, subtitles), or in Python also the text "
        "itself if it has more than one line.",
        metavar="TEXT",
    )
    output: Path | None = setting(
        None,
        "Write .srt .vtt .tsv .json .eaf or .txt; a name without an ending is a folder.",
        "--output",
        "-o",
        metavar="FILE",
    )
    formats: tuple[str, ...] = setting(
        (), "srt, vtt, tsv, json, eaf, audacity, or all.", "--format", "-f"
    )
    plot: Path | None = setting(None, "Draw a timeline with probabilities.", metavar="PNG")
    burn: Path | None = setting(None, "Write the video with each line drawn in.", metavar="MP4")
    constraint: tuple[str, ...] = setting(
        (), 'What is known: "7=3:20" or "s2=1:00-1:30".', metavar="LINE=TIME"
    )
    others: tuple[str, ...] = setting(
        (), "Another video of the same text to learn from.", "--with", metavar="VIDEO"
    )
    known: tuple[str, ...] = setting(
        (),
        "A video with a text of its own, VIDEO=TEXT: to learn from, and to judge whether this text "
        "belongs to this video.",
        metavar="VIDEO=TEXT",
    )
    labelled: tuple[Path, ...] = setting(
        (),
        "Videos with the times of their lines to learn from: a metadata.jsonl with start and end, "
        "or a video or folder with subtitles beside.",
        metavar="FILE",
    )
    words: Path | None = setting(
        None,
        "Words of `wordsight learn`, which say where in the video lines fit that they can read.",
        metavar="FOLDER",
    )
    seen: Path | None = setting(
        None, "What is touched when, instead of detecting it in the video.", metavar="FILE"
    )
    boxes: Path | None = setting(None, "Boxes of the video (MOT, COCO, CVAT, CSV).", metavar="FILE")
    parses: Path | None = setting(None, "A bracketed parse for each line.", metavar="FILE")
    compare: bool = setting(
        False, "Align with every model as well, and show when each of them starts the steps."
    )
    aligner: Path | None = setting(None, "Use a saved aligner as it is.", metavar="FOLDER")
    save: Path | None = setting(None, "Save the aligner and its dictionary.", metavar="FOLDER")
    detector: str = detector_setting()
    detector_model: Path | None = detector_model_setting()
    detector_labels: Path | None = detector_labels_setting()
    option: tuple[str, ...] = detector_options_setting()
    rate: float = setting(6.0, "Frames per second that the detector looks at.", ge=0.5)
    library: str = setting(
        "wordsight-library",
        "The library in which names that are no files are looked up.",
        hidden=True,
    )
    force: bool = setting(
        False, "Replace files that exist, and align a text that does not seem to belong."
    )


@dataclass(frozen=True, eq=False)
class AlignResult(Result):
    """A text timed against its videos.

    Attributes:
        instructions: The text.
        alignments: One per video that was asked for and is not refused.
        belonging: Whether the text belongs to each of these videos.
        aligner: The model, with its dictionary.
        files: What was written.
        compared: What every model makes of these videos, where that was asked for.
    """

    instructions: "Instructions"
    alignments: tuple["Alignment", ...]
    belonging: tuple["Belonging", ...]
    aligner: "AlignmentModel"
    files: tuple[Path, ...]
    compared: tuple["ComparedModel", ...] = ()

    def _repr_html_(self) -> str:
        """Show the timeline of each video, in notebooks."""
        texts = [line.text for line in self.instructions.lines]
        return "".join(one._repr_html_(texts) for one in self.alignments)

    def to_json(self) -> Any:
        """Return what ``wordsight align --json`` prints: one value, or a list for several."""
        from wordsight.alignment.export import as_json as alignment_json
        from wordsight.alignment.export import belonging_json

        files = {"files": [str(path) for path in self.files]}
        values = [
            alignment_json(one, self.instructions)
            | {"belongs": belonging_json(verdict)}
            | self._comparison(one.video_id)
            | files
            for one, verdict in zip(self.alignments, self.belonging, strict=True)
        ]
        return as_json(values[0] if len(values) == 1 else values)

    def _comparison(self, video_id: str) -> dict[str, Any]:
        rows = [asdict(row) for row in self.compared if row.video_id == video_id]
        return {"compared": rows} if rows else {}


@workflow(AlignRequest)
def align(request: AlignRequest, *, reporter: RecordingReporter) -> AlignResult:
    """Find when each line of written instructions happens in a silent video."""
    from wordsight.alignment import align_together, compare_models
    from wordsight.alignment.constraints import parse_constraints

    instructions, text = _instructions(request)
    pins = parse_constraints(request.constraint, instructions)
    model = _model(request)
    videos = usable_videos(observe_videos(request, reporter), instructions, reporter)
    videos = with_fits(videos, instructions, request.words, reporter)
    wanted = [one for one in videos if one.wanted]
    if pins and len(wanted) > 1:
        raise WordsightError(
            f"--constraint is for one video, but {request.video} stands for {len(wanted)}; "
            "align them one by one, the others given with --with."
        )
    files = _Files(request, wanted, text)
    refuse_existing(request.save, force=request.force)
    taught, labels = labelled_pairs(request, [one.observed.video_id for one in videos], reporter)
    known = [*known_pairs(request, reporter), *taught]
    belonging = judge_videos(instructions, videos, known, reporter)
    if not request.force and not pins:
        videos = accepted_videos(videos, belonging, instructions, reporter)
        files = _Files(request, [one for one in videos if one.wanted], text)
    with reporter.progress("Aligning") as progress:
        timed = align_together(
            instructions,
            [one.observed for one in videos],
            constraints={wanted[0].observed.video_id: pins},
            aligner=model,
            fit=request.aligner is None,
            mistakes=request.mistakes,
            known=known,
            labels=labels,
            belonging=belonging,
            progress=progress,
        )
    compared: tuple[ComparedModel, ...] = ()
    if request.compare:
        with reporter.progress("Comparing models") as progress:
            every = [one.observed for one in videos]
            compared = compare_models(instructions, every, known=known, progress=progress)
    asked = [a for a, one in zip(timed.alignments, videos, strict=True) if one.wanted]
    written = files.write(asked, instructions, reporter)
    if request.save is not None:
        timed.aligner.save(request.save, overwrite=request.force)
        written.append(request.save)
    return AlignResult(
        instructions,
        tuple(asked),
        tuple(belonging[one.video_id] for one in asked),
        timed.aligner,
        tuple(written),
        compared,
    )


class DictionaryRequest(Request):
    """Which aligner, and which of its nouns."""

    aligner: Path = argument("An aligner kept with align --save.", metavar="FOLDER")
    word: str | None = argument("One noun; all if left out.", metavar="WORD", default=None)
    top: int = setting(3, "How many things per noun.", "-k", ge=1)


@dataclass(frozen=True)
class DictionaryResult(Result):
    """The nouns of an aligner.

    Attributes:
        things: Per noun the things it names, the most probable first.
    """

    things: dict[str, dict[str, float]]


@workflow(DictionaryRequest)
def dictionary(request: DictionaryRequest, *, reporter: RecordingReporter) -> DictionaryResult:
    """Return which noun names which thing, as an aligner learned it."""
    learned = _load_aligner(request.aligner).dictionary_
    word = request.word.lower() if request.word is not None else None
    if word is not None and word not in learned:
        raise WordsightError(
            f"the dictionary has no {request.word!r}; it has "
            f"{', '.join(sorted(learned)) or 'no word'}."
        )
    nouns = sorted(learned) if word is None else [word]
    return DictionaryResult({noun: _strongest(learned[noun], request.top) for noun in nouns})


def _strongest(things: dict[str, float], top: int) -> dict[str, float]:
    ranked = sorted(things.items(), key=lambda item: (-item[1], item[0]))[:top]
    return {thing: round(share, 4) for thing, share in ranked if share >= 0.005}


def _instructions(request: AlignRequest) -> tuple["Instructions", Path | None]:
    """Return the text and the file it came from, if it did."""
    from wordsight.alignment.text import instructions_from_text, read_instructions

    if "\n" in request.text:
        parses = None
        if request.parses is not None:
            parses = [p for p in request.parses.read_text("utf-8").splitlines() if p.strip()]
        return instructions_from_text(request.text, parses=parses), None
    text = Path(request.text)
    video = Path(request.video)
    if video.suffix.lower() in _TEXT_SUFFIXES and text.suffix.lower() in VIDEO_SUFFIXES:
        raise WordsightError(f"the video comes first: wordsight align {text} {video}")
    return read_instructions(text, parses=request.parses), text


def _model(request: AlignRequest) -> "AlignmentModel | None":
    """Return the saved aligner or a new model of the name that was given."""
    from wordsight.alignment.models import HSMM, Ensemble, model_by_name

    if request.model is not None and request.model.lower().endswith(".onnx"):
        raise WordsightError(
            "--model names an alignment model such as LCRF; the network of the onnx detector is "
            f"given by --detector-model {request.model}"
        )
    if request.aligner is not None:
        if request.model is not None or request.labelled:
            option = "--model" if request.model is not None else "--labelled"
            raise WordsightError(f"--aligner is used as it was learned; leave {option} out.")
        return _load_aligner(request.aligner)
    if request.model is None:
        return None
    if request.mistakes:
        raise WordsightError("--mistakes uses a model of its own; leave --model out.")
    model = model_by_name(request.model)
    if request.labelled and not issubclass(model, HSMM | Ensemble):
        raise WordsightError(
            f"{model.__name__} does not learn from --labelled; use Ensemble, HSMM or MotionHSMM."
        )
    return model()


def _load_aligner(folder: Path) -> "AlignmentModel":
    from wordsight.alignment.storage import load_aligner

    if not folder.exists():
        raise WordsightError(
            f"there is no aligner at {folder}; keep one with `wordsight align ... --save {folder}`."
        )
    return load_aligner(folder)


# --- what is written ----------------------------------------------------------------------------


class _Files:
    """The files to write, checked before any work is done."""

    def __init__(
        self, request: AlignRequest, videos: Sequence[AlignedVideo], text: Path | None
    ) -> None:
        from wordsight.alignment.export import check_writable, export_paths

        self._request, self._videos = request, videos
        output = request.output
        self._several = len(videos) > 1
        # A name without an ending is that of a folder, as it must be for several videos, unless
        # formats say which endings it gets.
        plain = output is not None and (output.is_dir() or not output.suffix)
        self._in_folder = self._several or (plain and not request.formats)
        self._formats = list(request.formats) or (["vtt"] if self._in_folder else None)
        if output is None and request.formats:
            raise WordsightError("--format needs --output FILE, to know where to write to.")
        if request.burn is not None and any(one.path is None for one in videos):
            raise WordsightError(
                "--burn needs the video file itself, not a file of touched things."
            )
        sources = [text, *(one.path for one in videos), *(one.source for one in videos)]
        self._protected = [path for path in sources if path is not None]
        for one in videos:
            drawn = (self._place(request.plot, one, ".png"), self._place(request.burn, one, ".mp4"))
            paths = [path for path in drawn if path is not None]
            if output is not None:
                paths += export_paths(self._base(output, one), self._formats)
            check_writable(paths, protected=self._protected, overwrite=request.force)

    def write(
        self,
        alignments: Sequence["Alignment"],
        instructions: "Instructions",
        reporter: RecordingReporter,
    ) -> list[Path]:
        """Write everything that was asked for; returns the files."""
        from wordsight.alignment.export import write_alignment
        from wordsight.alignment.export.timeline import draw_timeline

        request, written = self._request, []
        for video, alignment in zip(self._videos, alignments, strict=True):
            if request.output is not None:
                written += write_alignment(
                    self._base(request.output, video),
                    alignment,
                    instructions,
                    self._formats,
                    video=video.path,
                    protected=self._protected,
                    overwrite=request.force,
                )
            picture = self._place(request.plot, video, ".png")
            if picture is not None:
                draw_timeline(picture, alignment, instructions, overwrite=request.force)
                written.append(picture)
            copy = self._place(request.burn, video, ".mp4")
            if copy is not None and video.path is not None:
                self._burn(video.path, copy, alignment, instructions, reporter)
                written.append(copy)
        return written

    def _burn(
        self,
        video: Path,
        copy: Path,
        alignment: "Alignment",
        instructions: "Instructions",
        reporter: RecordingReporter,
    ) -> None:
        from wordsight.alignment.export import line_rows
        from wordsight.language.captions import Caption
        from wordsight.video import render_overlay

        rows = line_rows(alignment, instructions)
        captions = [Caption(row.start, row.end, f"{row.line}. {row.text}") for row in rows]
        with reporter.progress("Drawing") as progress:
            render_overlay(
                video, copy, captions=captions, overwrite=self._request.force, progress=progress
            )

    def _base(self, output: Path, video: AlignedVideo) -> Path:
        return output / video.observed.video_id if self._in_folder else output

    def _place(self, path: Path | None, video: AlignedVideo, ending: str) -> Path | None:
        if path is None or not self._several:
            return path
        return path / f"{video.observed.video_id}{ending}"
