"""The work on one video of an index, complete in itself so that it can be done anywhere."""

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.documents_part import DocumentsPart
from wordsight.retrieval.segments import Part, PartData
from wordsight.retrieval.video_documents import Details, video_sources
from wordsight.retrieval.visual.part import source_samples
from wordsight.retrieval.visual.settings import VisualSettings

__all__ = ["Built", "VideoJob", "build_video", "sample_video"]


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

    Raises:
        VideoError: If it cannot be read.
    """
    sources = list(video_sources(job.details, job.visual))
    parts = (DocumentsPart({job.video_id: job.fingerprint}), *job.parts)
    return Built({part.name: part.build(sources) for part in parts}, len(sources))


def sample_video(job: tuple[Details, VisualSettings, int]) -> list[NDArray[Any]]:
    """Return the samples ``(N, n)`` of the first shots of a video, so many at most."""
    details, settings, most = job
    sources = islice(video_sources(details, settings), most)
    return [np.asarray(source_samples(source, settings).values) for source in sources]
