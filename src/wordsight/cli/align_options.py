"""The options of ``wordsight align``, spelled once."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AlignerOption",
    "BoxesOption",
    "BurnOption",
    "ConstraintOption",
    "ForceFlag",
    "FormatsOption",
    "MistakesFlag",
    "OthersOption",
    "ParsesOption",
    "PlotOption",
    "RateOption",
    "ResultOption",
    "SaveOption",
    "SeenOption",
    "TextArgument",
    "VideoArgument",
]

VideoArgument = Annotated[
    str,
    typer.Argument(
        metavar="VIDEO",
        help="A video file, a folder of videos of the same text, a file of touched things "
        "(ID start end thing,thing), or how ids of videos in the library begin.",
    ),
]
TextArgument = Annotated[
    Path,
    typer.Argument(metavar="TEXT", help="The instructions: plain text, Markdown, subtitles."),
]
ResultOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write .srt .vtt .tsv .json .eaf or .txt; a name without an ending is a folder.",
    ),
]
FormatsOption = Annotated[
    list[str] | None,
    typer.Option("--format", "-f", help="srt, vtt, tsv, json, eaf, audacity, or all."),
]
PlotOption = Annotated[
    Path | None, typer.Option(metavar="PNG", help="Draw a timeline with probabilities.")
]
BurnOption = Annotated[
    Path | None, typer.Option(metavar="MP4", help="Write the video with each line drawn in.")
]
ConstraintOption = Annotated[
    list[str] | None,
    typer.Option(metavar="LINE=TIME", help='What you know: "7=3:20" or "s2=1:00-1:30".'),
]
OthersOption = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="VIDEO", help="Another video of the same text to learn from."),
]
SeenOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="What is touched when, instead of looking at the video."),
]
BoxesOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Boxes of the video (MOT, COCO, CVAT, CSV).")
]
ParsesOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A bracketed parse for each line.")
]
AlignerOption = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Use a saved aligner as it is.")
]
MistakesFlag = Annotated[
    bool, typer.Option("--mistakes", help="Expect skipped, repeated and swapped steps.")
]
SaveOption = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Keep the aligner and its dictionary.")
]
RateOption = Annotated[float, typer.Option(min=0.5, help="Frames to look at per second.")]
ForceFlag = Annotated[
    bool, typer.Option("--force", help="Replace files that exist.", show_default=False)
]
