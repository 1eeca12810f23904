"""``align`` and ``dictionary``: written instructions timed against silent video."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wordsight.cli import align_options as given
from wordsight.cli.options import (
    DEFAULT_LIBRARY,
    DetectorOption,
    LabelsOption,
    LibraryOption,
    ModelOption,
    SettingOption,
    detector_options,
    speaking,
)
from wordsight.cli.output import Output
from wordsight.errors import WordsightError
from wordsight.workflows.units import clock, count
from wordsight.workflows.workflow import refuse_existing

if TYPE_CHECKING:
    from wordsight.alignment import Aligner, Alignment, Constraint, Instructions
    from wordsight.alignment.tasks import AlignmentResult
    from wordsight.cli.align_sources import AlignmentVideo

__all__ = ["align", "dictionary"]

TEXT_SUFFIXES = {".txt", ".md", ".markdown", ".rst", ".srt", ".vtt", ".jsonl"}
VIDEO_LIKE = {".mp4", ".mov", ".avi", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg", ".wmv"}
_UNSURE = 0.5  # confidence below which a line is marked


@speaking
def align(
    output: Output,
    video: given.VideoArgument,
    text: given.TextArgument,
    result: given.ResultOption = None,
    formats: given.FormatsOption = None,
    plot: given.PlotOption = None,
    burn: given.BurnOption = None,
    constraint: given.ConstraintOption = None,
    others: given.OthersOption = None,
    mistakes: given.MistakesFlag = False,
    seen: given.SeenOption = None,
    boxes: given.BoxesOption = None,
    parses: given.ParsesOption = None,
    aligner: given.AlignerOption = None,
    save: given.SaveOption = None,
    detector: DetectorOption = "regions",
    model: ModelOption = None,
    labels: LabelsOption = None,
    option: SettingOption = None,
    rate: given.RateOption = 6.0,
    library: LibraryOption = DEFAULT_LIBRARY,
    force: given.ForceFlag = False,
) -> None:
    """Find when each line of written instructions happens in a silent video."""
    from wordsight.alignment.text import read_instructions
    from wordsight.alignment.text.constraint_text import parse_constraints
    from wordsight.cli.align_sources import ObserveSettings, gather_films

    _check_swapped(video, text)
    instructions = read_instructions(text, parses=parses)
    pins = parse_constraints(constraint or [], instructions)
    watching = ObserveSettings(
        detector, detector_options(detector, model, labels, option), rate, seen, boxes
    )
    films = gather_films(video, others or [], watching, library, output)
    films = _usable(films, instructions, output)
    wanted = [film for film in films if film.wanted]
    if pins and len(wanted) > 1:
        raise WordsightError(
            f"--constraint speaks of one video, but {video} stands for {len(wanted)}; align them "
            "one by one, the others given with --with."
        )
    targets = _Targets(wanted, text, result, formats, plot, burn, force)
    refuse_existing(save, force=force)
    timed = _timed(output, instructions, films, pins, aligner, mistakes)
    asked = [a for a, film in zip(timed.alignments, films, strict=True) if film.wanted]
    written = targets.write(asked, instructions, output)
    if save is not None:
        timed.aligner.save(save, overwrite=force)
        written.append(save)
    _show(output, asked, timed, written)


@speaking
def dictionary(
    output: Output,
    aligner: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="An aligner kept with align --save.")
    ],
    word: Annotated[
        str | None, typer.Argument(metavar="WORD", help="One noun; all if left out.")
    ] = None,
    top: Annotated[int, typer.Option("-k", min=1, help="How many things per noun.")] = 3,
) -> None:
    """Open the dictionary an aligner learned: which noun names which thing."""
    learned = _load(aligner).dictionary_
    if word is not None and word.lower() not in learned:
        raise WordsightError(
            f"the dictionary has no {word!r}; it has {', '.join(sorted(learned)) or 'no word'}."
        )
    nouns = sorted(learned) if word is None else [word.lower()]
    best = {noun: _strongest(learned[noun], top) for noun in nouns}

    def render(out: Output) -> None:
        rows = [
            (noun, ", ".join(f"{thing} {share:.2f}" for thing, share in found.items()) or "–")
            for noun, found in best.items()
        ]
        out.table(["noun", "things it names"], rows)

    output.result(best, render)


def _timed(
    output: Output,
    instructions: "Instructions",
    films: Sequence["AlignmentVideo"],
    pins: Sequence["Constraint"],
    aligner: Path | None,
    mistakes: bool,
) -> "AlignmentResult":
    from wordsight.alignment.tasks import align_together

    learned = None if aligner is None else _load(aligner)
    pinned = next(film.observed.video_id for film in films if film.wanted)
    with output.progress("Aligning") as progress:
        progress(0, None, "Aligning")
        return align_together(
            instructions,
            [film.observed for film in films],
            constraints={pinned: pins},
            aligner=learned,
            fit=learned is None,
            mistakes=mistakes,
            progress=progress,
        )


class _Targets:
    """The files to write, checked before any work is done."""

    def __init__(
        self,
        films: Sequence["AlignmentVideo"],
        text: Path,
        result: Path | None,
        formats: list[str] | None,
        plot: Path | None,
        burn: Path | None,
        force: bool,
    ) -> None:
        from wordsight.alignment.export import check_writable, export_paths

        self._films = films
        self._several = len(films) > 1
        # A name without an ending is that of a folder, as it must be for several videos, unless
        # formats say which endings it gets.
        plain = result is not None and (result.is_dir() or not result.suffix)
        self._in_folder = self._several or (plain and not formats)
        self._result = result
        self._formats = ["vtt"] if self._in_folder and not formats else formats
        self._plot, self._burn, self._force = plot, burn, force
        if result is None and formats:
            raise WordsightError("--format needs --output FILE, to know where to write to.")
        if burn is not None and any(film.path is None for film in films):
            raise WordsightError(
                "--burn needs the video file itself, not a file of touched things."
            )
        self._protected = [text, *(film.path for film in films if film.path is not None)]
        self._protected += [film.source for film in films if film.source is not None]
        for film in films:
            drawn = (self._place(plot, film, ".png"), self._place(burn, film, ".mp4"))
            paths = [path for path in drawn if path is not None]
            if result is not None:
                paths += export_paths(self._base(result, film), self._formats)
            check_writable(paths, protected=self._protected, overwrite=force)

    def write(
        self, alignments: Sequence["Alignment"], instructions: "Instructions", output: Output
    ) -> list[Path]:
        """Write everything that was asked for."""
        from wordsight.alignment.export import write_alignment
        from wordsight.alignment.export.timeline import draw_timeline

        written: list[Path] = []
        for film, found in zip(self._films, alignments, strict=True):
            if self._result is not None:
                written += write_alignment(
                    self._base(self._result, film),
                    found,
                    instructions,
                    self._formats,
                    video=film.path,
                    protected=self._protected,
                    overwrite=self._force,
                )
            picture = self._place(self._plot, film, ".png")
            if picture is not None:
                draw_timeline(picture, found, instructions, overwrite=self._force)
                written.append(picture)
            copy = self._place(self._burn, film, ".mp4")
            if copy is not None and film.path is not None:
                _burn_in(film.path, copy, found, instructions, self._force, output)
                written.append(copy)
        return written

    def _base(self, result: Path, film: "AlignmentVideo") -> Path:
        return result / film.observed.video_id if self._in_folder else result

    def _place(self, path: Path | None, film: "AlignmentVideo", ending: str) -> Path | None:
        if path is None or not self._several:
            return path
        return path / f"{film.observed.video_id}{ending}"


def _usable(
    films: Sequence["AlignmentVideo"], instructions: "Instructions", output: Output
) -> list["AlignmentVideo"]:
    """Leave out videos in which nothing was seen, unless it is the only one asked for."""
    empty = [film for film in films if not film.observed.chunks]
    if any(film.wanted and film.observed.chunks for film in films):
        for film in empty:
            output.warn(f"{film.observed.video_id}: nothing was seen to be touched; left out.")
        films = [film for film in films if film.observed.chunks]
    for film in films:
        chunks, lines = len(film.observed.chunks), len(instructions.lines)
        if 0 < chunks < lines:
            output.warn(
                f"{film.observed.video_id}: {count(lines, 'line')} of text but only "
                f"{count(chunks, 'chunk')} of video in which something is touched; do not rely on "
                "the times."
            )
    return list(films)


def _burn_in(
    video: Path,
    copy: Path,
    alignment: "Alignment",
    instructions: "Instructions",
    force: bool,
    output: Output,
) -> None:
    from wordsight.alignment.export import line_rows
    from wordsight.language.captions import Caption
    from wordsight.video import render_overlay

    rows = line_rows(alignment, instructions)
    captions = [Caption(row.start, row.end, f"{row.line}. {row.text}") for row in rows]
    with output.progress("Drawing") as progress:
        render_overlay(video, copy, captions=captions, overwrite=force, progress=progress)


def _check_swapped(video: str, text: Path) -> None:
    if Path(video).suffix.lower() in TEXT_SUFFIXES and text.suffix.lower() in VIDEO_LIKE:
        raise WordsightError(f"the video comes first: wordsight align {text} {video}")


def _load(folder: Path) -> "Aligner":
    from wordsight.alignment.storage import load_aligner

    if not folder.exists():
        raise WordsightError(
            f"there is no aligner at {folder}; keep one with `wordsight align ... --save {folder}`."
        )
    return load_aligner(folder)


def _strongest(found: dict[str, float], top: int) -> dict[str, float]:
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:top]
    return {thing: round(share, 4) for thing, share in ranked if share >= 0.005}


def _show(
    output: Output, alignments: Sequence["Alignment"], timed: "AlignmentResult", written: list[Path]
) -> None:
    from wordsight.alignment.export import as_json

    values: list[dict[str, Any]] = [as_json(one, timed.instructions) for one in alignments]
    for value in values:
        value["files"] = [str(path) for path in written]

    def render(out: Output) -> None:
        for value in values:
            _render_lines(out, value)
        for path in written:
            out.note(f"Wrote {path}")

    output.result(values[0] if len(values) == 1 else values, render)


def _render_lines(output: Output, value: dict[str, Any]) -> None:
    rows = []
    for line in value["lines"]:
        spans = line["spans"] or [None]
        for span in spans:
            when = ("–", "–") if span is None else (clock(span["start"]), clock(span["end"]))
            sure = line.get("confidence", 0.0) if span is None else span["confidence"]
            note = "did not happen" if span is None else "unsure" if sure < _UNSURE else ""
            rows.append((line["line"], line["step"], *when, f"{sure:.2f}", note, line["text"]))
    found = sum(line["happened"] for line in value["lines"])
    output.line(f"{value['video']}: {found} of {count(len(value['lines']), 'line')} found")
    output.table(["line", "step", "from", "to", "sure", "", "text"], rows)
