"""Small pictures and documents that several tests share."""

import numpy as np

from wordsight.retrieval import (
    Document,
    DocumentSource,
    Index,
    IndexWriter,
    VisualPart,
    VisualSettings,
)
from wordsight.retrieval.visual import FeatureScale

# A scale of its own keeps tests from depending on which picture came first.
SETTINGS = VisualSettings(
    num_components=3,
    longest=64,
    scale=FeatureScale(
        np.array([800.0] + [0.0] * 11 + [0.5, 0.5]),
        np.array([400.0] + [1.0] * 9 + [120.0, 120.0, 0.29, 0.29]),
    ),
)


def picture(seed, height=48, width=64):
    """A picture of a few coloured rectangles, another one for every seed."""
    random = np.random.default_rng(seed)
    image = np.full((height, width, 3), random.integers(0, 256, 3), dtype=np.uint8)
    for _ in range(4):
        top, left = random.integers(0, height - 8), random.integers(0, width - 8)
        bottom, right = top + random.integers(8, height), left + random.integers(8, width)
        image[top:bottom, left:right] = random.integers(0, 256, 3)
    return image


def sources(video_id, shots, seed=0):
    """Documents of a made-up video, one picture each."""
    return [
        DocumentSource(
            Document(f"{video_id}:{n:04d}", video_id, float(n), n + 1.0, n + 0.5, n // 2),
            (f"words of {n}",),
            (f"all of {video_id}",),
            (picture([seed, n, *video_id.encode()]),),
            (n + 0.5,),
        )
        for n in range(shots)
    ]


def writing(folder, settings=SETTINGS, **options):
    """Open an index for writing, with pictures only."""
    return IndexWriter(folder, [VisualPart(settings)], {"visual": settings.to_json()}, **options)


def make_index(folder, videos, settings=SETTINGS):
    """Make an index of ``{video: number of shots}``."""
    with writing(folder, settings) as writer:
        for name, shots in videos.items():
            writer.add(name, f"mark of {name}", sources(name, shots))
    return Index(folder)


def ranking(index, image):
    """Return the ids of all documents, the likeliest first, and their scores."""
    values = index.visual.features.samples(image).values
    hits = index.visual.search(values, max(1, len(index)))
    return [hit.document.id for hit in hits], np.array([hit.score for hit in hits])
