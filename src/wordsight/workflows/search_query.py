"""From what is typed to what is looked for: words, pictures, regions, and "like this moment"."""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wordsight.library import Library
    from wordsight.retrieval.joint import JointQuery, JointSearch
    from wordsight.retrieval.text import TextQuery
    from wordsight.retrieval.visual import Samples

__all__ = [
    "SearchQuery",
    "joint_query",
    "parse_moment",
    "parse_region",
    "read_queries",
    "read_topics",
]


@dataclass(frozen=True)
class SearchQuery:
    """What a search was asked for.

    Attributes:
        text: Words.
        images: Example pictures.
        region: Left, top, width and height in pixels of the one picture, or of the moment's frame
            where there is no picture.
        like: A video and a time in seconds.
        expand: Whether the words of the best shots join the query.
    """

    text: str | None = None
    images: tuple[Path, ...] = ()
    region: tuple[float, float, float, float] | None = None
    like: tuple[str, float] | None = None
    expand: bool = False

    def __post_init__(self) -> None:
        if self.text is not None and not self.text.strip():
            raise WordsightError('the query is empty; write some words, such as "a red cup".')
        if not (self.text or self.images or self.like):
            raise WordsightError(
                "say what to look for: words, a picture (--image FILE) or a moment (--like "
                "VIDEO@TIME)."
            )
        of = len(self.images) or int(self.like is not None)
        if self.region is not None and of != 1:
            raise WordsightError(
                f"a region is part of one picture, but there are {of}; give one picture or one "
                "moment."
            )


def joint_query(asked: SearchQuery, search: "JointSearch", library: "Library") -> "JointQuery":
    """Turn what was asked into terms and samples.

    Raises:
        WordsightError: If a picture cannot be read or there is no such moment.
    """
    from wordsight.retrieval.joint import JointQuery
    from wordsight.retrieval.text import TextQuery, more_like_this
    from wordsight.retrieval.visual.stills import SoughtPicture
    from wordsight.video import VideoReader
    from wordsight.video.images import read_image

    pictures = [read_image(path) for path in asked.images]
    text = search.text.query(asked.text) if asked.text else None
    exclude: frozenset[int] = frozenset()
    if asked.like is not None:
        video, time = library.resolve(asked.like[0]), asked.like[1]
        position = _position(search, video, time)
        exclude = frozenset({position})
        with VideoReader(library.video(video).path) as reader:
            pictures.append(reader.frame_at(time).image)
        if text is None and asked.region is None:
            similar = more_like_this(search.text.model, position)
            text = TextQuery(similar.weights, similar.text) if similar else None
    if asked.expand and text:
        text = _expanded(search, text)
    samples = _samples(search, pictures, asked.region) if pictures else None
    part = SoughtPicture.of(pictures[0], asked.region) if len(pictures) == 1 else None
    return JointQuery(text, samples, exclude, part)


def parse_region(text: str | None) -> tuple[float, float, float, float] | None:
    """Read ``x,y,w,h``.

    Raises:
        WordsightError: If it is not four numbers with a size above 0.
    """
    if text is None:
        return None
    try:
        x, y, width, height = (float(value) for value in text.split(","))
    except ValueError:
        raise WordsightError(
            f"a region is x,y,width,height in pixels, such as 40,20,100,80; got {text!r}."
        ) from None
    if not (all(map(math.isfinite, (x, y, width, height))) and width > 0 and height > 0):
        raise WordsightError(
            f"a region needs finite numbers, and a width and a height above 0, got {text!r}."
        )
    return x, y, width, height


def parse_moment(text: str | None) -> tuple[str, float] | None:
    """Read ``VIDEO@TIME``, the time in seconds or as 1:02.5.

    Raises:
        WordsightError: If it is not that.
    """
    if text is None:
        return None
    video, at, time = text.rpartition("@")
    if not (video and at and re.fullmatch(r"(?:\d+:){0,2}\d+(?:\.\d*)?", time)):
        raise WordsightError(
            f"a moment is VIDEO@TIME, such as street-003@12.5 or street-003@1:02; got {text!r}."
        )
    seconds = 0.0
    for part in time.split(":"):
        seconds = 60 * seconds + float(part)
    return video, seconds


def read_queries(path: Path) -> dict[str, str]:
    """Read a file of queries: on each line an id, a space or tab, and the words.

    Raises:
        WordsightError: If it cannot be read or a line has no words.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WordsightError(f"{path} cannot be read as text ({error}).") from error
    queries: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        name, *words = line.split(maxsplit=1)
        if not words or name in queries:
            fault = "no words" if not words else f"the id {name} again"
            raise WordsightError(f"{path}, line {number}: expected an id and words, got {fault}.")
        queries[name] = words[0]
    if not queries:
        raise WordsightError(f"{path} holds no query; expected lines: id words.")
    return queries


def read_topics(path: Path) -> dict[str, SearchQuery]:
    """Read topics of words and pictures: on each line a JSON object.

    ``id`` names the topic; ``text``, ``image`` (a file or several, beside the topics), ``region``
    (x, y, width, height) and ``like`` (VIDEO@TIME) say what is looked for, at least one of them.

    Raises:
        WordsightError: If the file or a line of it cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WordsightError(f"{path} cannot be read as text ({error}).") from error
    topics: dict[str, SearchQuery] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            name, topic = _topic(json.loads(line), path.parent)
            if name in topics:
                raise WordsightError(f"the id {name} again.")
        except (WordsightError, ValueError) as error:
            raise WordsightError(f"{path}, line {number}: {error}") from None
        topics[name] = topic
    if not topics:
        raise WordsightError(f'{path} holds no topic; expected lines: {{"id": "1", "text": "..."}}')
    return topics


def _topic(values: Any, folder: Path) -> tuple[str, SearchQuery]:
    known = {"id", "text", "image", "region", "like"}
    if not isinstance(values, dict) or not values.keys() <= known or "id" not in values:
        raise WordsightError(
            f"expected an object with id and some of text, image, region and like, got {values!r}."
        )
    name = str(values["id"])
    if not name or any(character.isspace() for character in name):
        raise WordsightError(f"expected an id without spaces, got {name!r}.")
    images, region = values.get("image") or [], values.get("region")
    images = images if isinstance(images, list) else [images]
    if isinstance(region, list):
        region = ",".join(map(str, region))
    text, like = values.get("text"), values.get("like")
    if not all(one is None or isinstance(one, str) for one in (text, region, like, *images)):
        raise WordsightError(f"text, image, region and like must be strings, got {values!r}.")
    files = tuple(folder / one for one in images)
    return name, SearchQuery(text, files, parse_region(region), parse_moment(like))


def _samples(
    search: "JointSearch",
    pictures: "list[NDArray[np.uint8]]",
    region: tuple[float, float, float, float] | None,
) -> "Samples":
    import numpy as np

    from wordsight.retrieval.visual import Samples
    from wordsight.retrieval.visual.features import picture_query, picture_samples

    features = search.index.visual.features
    values = picture_query(features, pictures, region)
    if len(pictures) > 1:  # which part of which picture would be too much to tell
        return Samples(values, np.zeros((len(values), 4)))
    return Samples(values, picture_samples(features, pictures[0], region).boxes)


def _position(search: "JointSearch", video: str, time: float) -> int:
    shots = search.index.shots_of(video)
    for position, document in shots:
        if document.start <= time < document.end:
            return position
    if not shots:
        raise WordsightError(f"{video} is not among the {len(search.index)} shots of the index.")
    end = max(document.end for _, document in shots)
    raise WordsightError(f"{video} ends at {end:g} s; there is nothing at {time:g} s.")


def _expanded(search: "JointSearch", text: "TextQuery") -> "TextQuery":
    from wordsight.retrieval.text import RelevanceFeedback

    return RelevanceFeedback().expand(search.text.model, text)
