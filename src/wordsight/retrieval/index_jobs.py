"""The work on one video of an index, complete in itself so that it can be done anywhere."""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.documents import Source
from wordsight.retrieval.documents_part import DocumentsPart
from wordsight.retrieval.segments import Part, PartData
from wordsight.retrieval.video_documents import Details, video_sources
from wordsight.retrieval.visual.part import source_samples
from wordsight.retrieval.visual.settings import VisualSettings

__all__ = ["Built", "VideoJob", "build_video", "sample_video"]

_SHOTS_AT_ONCE = 32


@dataclass(frozen=True)
class VideoJob:
    """What is to be done for one video.

    Attributes:
        details: What the collection knows of it.
        fingerprint: What tells later whether it changed.
        visual: How its shots are modelled.
        parts: What its documents get.
    """

    details: Details
    fingerprint: str
    visual: VisualSettings
    parts: tuple[Part, ...]

    @property
    def video_id(self) -> str:
        """Which video it is."""
        return self.details.video.id


@dataclass(frozen=True)
class Built:
    """The documents of a video, ready to be written.

    Attributes:
        parts: By name, the parts of its segment.
        count: How many documents there are.
    """

    parts: dict[str, PartData]
    count: int


def build_video(job: VideoJob) -> Built:
    """Look at the shots of a video and make all parts of their documents.

    Pictures of a few dozen shots at a time are in memory, however long the video is.

    Raises:
        VideoError: If it cannot be read.
    """
    documents = DocumentsPart({job.video_id: job.fingerprint})
    seeing = [part for part in job.parts if part.piecewise]
    pieces: dict[str, list[PartData]] = {part.name: [] for part in seeing}
    kept: list[Source] = []
    sources = video_sources(job.details, job.visual)
    while some := list(islice(sources, _SHOTS_AT_ONCE)):
        for part in seeing:
            pieces[part.name].append(part.build(some))
        kept += [replace(source, frames=(), times=()) for source in some]
    others = (documents, *(part for part in job.parts if not part.piecewise))
    made = {part.name: part.build(kept) for part in others}
    made |= {name: _joined(each) for name, each in pieces.items() if each}
    return Built(made, len(kept))


def _joined(pieces: list[PartData]) -> PartData:
    names = pieces[0].arrays
    return PartData({name: np.concatenate([p.arrays[name] for p in pieces]) for name in names})


def sample_video(job: tuple[Details, VisualSettings, int]) -> list[NDArray[Any]]:
    """Return the samples ``(N, n)`` of the first shots of a video, so many at most."""
    details, settings, most = job
    sources = islice(video_sources(details, settings), most)
    return [np.asarray(source_samples(source, settings).values) for source in sources]
