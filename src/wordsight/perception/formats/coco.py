"""COCO JSON: images, annotations with boxes, categories.

The frame number of an image is its ``frame_id`` or ``frame_index``, else the number at the end of
its ``file_name``, else its index in the list. ``track_id`` and ``score`` of annotations and
``time`` (seconds) of images are extensions that other tools ignore.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from wordsight.errors import FormatError
from wordsight.perception.formats.table import NO_ID, BoxCollector, BoxTable
from wordsight.perception.formats.text import decimal_of, minus, parse_decimal, plus, text_of

__all__ = ["CocoVideo", "read_coco", "read_coco_videos", "write_coco", "write_coco_videos"]


@dataclass(frozen=True, eq=False)
class CocoVideo:
    """One of the videos of a COCO file.

    Attributes:
        boxes: Its boxes.
        entry: Its entry under ``videos``: ``id``, ``name`` and whatever else is known of it.
    """

    boxes: BoxTable
    entry: Mapping[str, Any]


_TRAILING_NUMBER = re.compile(r"(\d{1,12})\D*$")


def read_coco(
    text: str,
    path: Path,
    *,
    label_names: Sequence[str] | None = None,
    first_frame: int | None = None,
    video: int | str | None = None,
) -> BoxTable:
    """Read the text of a COCO file.

    Args:
        text: Content of the file.
        path: The file, for messages.
        label_names: The classes; by default those in the file, in its order.
        first_frame: Number of the first frame, 0 by default.
        video: Id or name of the video, if the file has several.
    """
    content = _parse(text, path.name)
    every = _images(content, path.name)
    images = _of_video(content, path.name, every, video)
    annotations = list(_entries(content, "annotations", path.name))
    return _one_video(content, path, every, images, annotations, label_names, first_frame or 0)


def read_coco_videos(text: str, path: Path) -> list[CocoVideo]:
    """Read all videos of a COCO file, each with its entry; arguments as in :func:`read_coco`."""
    content = _parse(text, path.name)
    every = _images(content, path.name)
    parts: dict[Any, tuple[dict[Any, Any], list[Any]]] = {}
    for key, image in every.items():
        parts.setdefault(_key(image, "video_id"), ({}, []))[0][key] = image
    for number, annotation in enumerate(_entries(content, "annotations", path.name)):
        of = every.get(_key(annotation, "image_id"))
        if of is None:
            raise FormatError(f"{path.name}, annotations[{number}]: its image is not in the file.")
        parts[_key(of, "video_id")][1].append(annotation)
    entries = {_key(one, "id"): one for one in _entries(content, "videos", path.name)}
    for key in entries:
        parts.setdefault(key, ({}, []))
    return [
        CocoVideo(
            _one_video(content, path, images, images, annotations, None, 0), entries.get(key, {})
        )
        for key, (images, annotations) in parts.items()
    ]


def _one_video(
    content: Mapping[str, Any],
    path: Path,
    every: dict[Any, Mapping[str, Any]],
    images: dict[Any, Mapping[str, Any]],
    annotations: Iterable[Mapping[str, Any]],
    label_names: Sequence[str] | None,
    first_frame: int,
) -> BoxTable:
    names = _categories(content, path.name)
    collector = BoxCollector(
        path.name, tuple(names.values()) if label_names is None else label_names
    )
    frames = _frame_numbers(images, first_frame, collector)
    for index, annotation in enumerate(annotations):
        where = f"annotations[{index}]"
        image = _known(annotation, "image_id", every, where, collector)
        if image not in images:
            continue  # of another video
        label = names[_known(annotation, "category_id", names, where, collector)]
        collector.add(
            where,
            frames[image],
            _box(annotation, where, collector),
            score=float(_number(annotation.get("score", 1), where, collector)),
            label=label,
            track_id=_track_id(annotation, where, collector),
        )
    return _table(collector, images, frames)


def write_coco(table: BoxTable) -> Iterator[str]:
    """Yield the pieces of a COCO file, one image or annotation per line."""
    return write_coco_videos([CocoVideo(table, {"id": 1, "name": "video"})])


def write_coco_videos(videos: Sequence[CocoVideo]) -> Iterator[str]:
    """Yield the pieces of a COCO file of several videos; their entries need an ``id``."""
    labels = dict.fromkeys(name for video in videos for name in video.boxes.label_names)
    numbers = {name: number for number, name in enumerate(labels, start=1)}
    categories = [
        json.dumps({"id": number, "name": name}, ensure_ascii=False)
        for name, number in numbers.items()
    ]
    entries = ", ".join(json.dumps(video.entry, ensure_ascii=False) for video in videos)
    yield f'{{\n"videos": [{entries}],\n"categories": '
    yield from _listed(categories)
    yield ',\n"images": '
    yield from _listed(image for video, ids in _image_ids(videos) for image in _frames(video, ids))
    yield ',\n"annotations": '
    yield from _listed(_annotations(videos, numbers))
    yield "\n}\n"


def _image_ids(videos: Sequence[CocoVideo]) -> Iterator[tuple[CocoVideo, int]]:
    """Yield each video with the number that its frames' numbers are added to for ids."""
    before = 1
    for video in videos:
        yield video, before
        covered = video.boxes.covered
        assert covered is not None
        before += int(covered[-1]) + 1 if len(covered) else 0


def _frames(video: CocoVideo, first: int) -> Iterator[str]:
    table, number = video.boxes, json.dumps(video.entry["id"])
    assert table.covered is not None and table.times is not None and table.frame_size is not None
    width, height = table.frame_size
    folder = f"{video.entry['wordsight_id']}/" if "wordsight_id" in video.entry else ""
    for frame, time in zip(table.covered.tolist(), table.times.tolist(), strict=True):
        name = json.dumps(f"{folder}frame_{frame:06d}.png", ensure_ascii=False)
        yield (
            f'{{"id": {first + frame}, "file_name": {name}, '
            f'"video_id": {number}, "frame_id": {frame}, "time": {time!r}, "width": {width}, '
            f'"height": {height}}}'
        )


def _annotations(videos: Sequence[CocoVideo], numbers: Mapping[str, int]) -> Iterator[str]:
    written = 0
    for video, first in _image_ids(videos):
        table = video.boxes
        columns = (table.frames, table.ids, table.boxes, table.scores, table.labels)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for frame, identity, box, score, label in rows:
            written += 1
            left, top, right, bottom = (decimal_of(side) for side in box)
            width, height = minus(right, left), minus(bottom, top)
            sides = ", ".join(text_of(side) for side in (left, top, width, height))
            area = float(width) * float(height)
            track = "" if identity == NO_ID else f', "track_id": {identity}'
            category = numbers[table.label_names[label]]
            yield (
                f'{{"id": {written}, "image_id": {first + frame}, "category_id": {category}, '
                f'"bbox": [{sides}], "area": {area!r}, "iscrowd": 0, "score": {score!r}{track}}}'
            )


def _listed(items: Iterable[str]) -> Iterator[str]:
    mark = "["
    for item in items:
        yield f"{mark}\n{item}"
        mark = ","
    yield "[]" if mark == "[" else "\n]"


def _parse(text: str, name: str) -> Mapping[str, Any]:
    def refuse(constant: str) -> None:
        raise FormatError(f"{name} contains {constant}, which is not valid JSON; remove it.")

    try:
        content = json.loads(text, parse_float=Decimal, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{name}, line {error.lineno}: not JSON ({error.msg}); the file is damaged or cut off."
        ) from None
    except (RecursionError, ValueError) as error:
        raise FormatError(f"{name} is not a usable JSON file ({error}).") from None
    if not isinstance(content, dict) or not isinstance(content.get("images"), list):
        raise FormatError(
            f"{name} is JSON but not COCO: expected an object with images, annotations and "
            "categories."
        )
    return content


def _entries(content: Mapping[str, Any], key: str, name: str) -> Iterator[Mapping[str, Any]]:
    entries = content.get(key, [])
    if not isinstance(entries, list):
        raise FormatError(f"{name}: {key} must be a list, got {type(entries).__name__}.")
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise FormatError(f"{name}: {key}[{index}] must be an object, got {entry!r:.40}.")
        yield entry


def _categories(content: Mapping[str, Any], name: str) -> dict[Any, str]:
    names: dict[Any, str] = {}
    for index, category in enumerate(_entries(content, "categories", name)):
        identity, label = category.get("id"), category.get("name")
        if not isinstance(identity, int | str) or not isinstance(label, str) or not label:
            raise FormatError(f"{name}: categories[{index}] needs an id and a name.")
        if identity in names or label in names.values():
            raise FormatError(f"{name}: categories[{index}] is repeated ({identity}, {label}).")
        names[identity] = label
    return names


def _images(content: Mapping[str, Any], name: str) -> dict[Any, Mapping[str, Any]]:
    """Return the images by their id."""
    images: dict[Any, Mapping[str, Any]] = {}
    for index, image in enumerate(_entries(content, "images", name)):
        identity = image.get("id")
        if not isinstance(identity, int | str):
            raise FormatError(f"{name}: images[{index}] has no id; give every image one.")
        if identity in images:
            raise FormatError(f"{name}: images[{index}] repeats the id {identity!r}.")
        images[identity] = image
    return images


def _of_video(
    content: Mapping[str, Any],
    name: str,
    images: dict[Any, Mapping[str, Any]],
    video: int | str | None,
) -> dict[Any, Mapping[str, Any]]:
    """Return the images of one video."""
    videos = {_key(entry, "id"): entry.get("name") for entry in _entries(content, "videos", name)}
    present = list(dict.fromkeys(_key(image, "video_id") for image in images.values()))
    if video is None and len(present) > 1:
        listed = ", ".join(str(videos.get(v) or v) for v in present[:8])
        raise FormatError(f"{name} has {len(present)} videos; choose one of: {listed}.")
    if video is None:
        return images
    wanted = [v for v in present if video in (v, videos.get(v), str(v))]
    if not wanted:
        raise FormatError(f"{name} has no video {video!r}; it has {present[:8]}.")
    return {key: image for key, image in images.items() if _key(image, "video_id") in wanted}


def _key(entry: Mapping[str, Any], name: str) -> int | str | None:
    """Return an integer or text value, None for other types."""
    value = entry.get(name)
    return value if isinstance(value, int | str) else None


def _frame_numbers(
    images: dict[Any, Mapping[str, Any]], first_frame: int, collector: BoxCollector
) -> dict[Any, int]:
    """Return the frame number of each image, all from the same source."""
    named = [_TRAILING_NUMBER.search(str(i.get("file_name", ""))) for i in images.values()]
    for key in ("frame_id", "frame_index"):
        if images and all(key in image for image in images.values()):
            numbers = [image[key] for image in images.values()]
            break
    else:
        in_names = [int(match.group(1)) for match in named if match]
        complete = len(set(in_names)) == len(images)
        numbers = in_names if complete else [first_frame + n for n in range(len(images))]
    frames: dict[Any, int] = {}
    for index, (identity, number) in enumerate(zip(images, numbers, strict=True)):
        where = f"images[{index}]"
        if not isinstance(number, int) or isinstance(number, bool):
            raise collector.error(where, f"the frame must be a whole number, got {number!r}.")
        collector.check_frame(where, number - first_frame)
        frames[identity] = number - first_frame
    if len(set(frames.values())) < len(frames):
        raise collector.error("images", "two images have the same frame; is video_id missing?")
    return frames


def _known(
    annotation: Mapping[str, Any],
    key: str,
    known: Mapping[Any, Any],
    where: str,
    collector: BoxCollector,
) -> Any:
    value = annotation.get(key)
    if value is None:
        raise collector.error(where, f"{key} is missing; every annotation needs one.")
    if not isinstance(value, int | str) or value not in known:
        raise collector.error(where, f"{key} is {value!r:.40}, which is not in the file.")
    return value


def _box(
    annotation: Mapping[str, Any], where: str, collector: BoxCollector
) -> tuple[float, float, float, float]:
    sides = annotation.get("bbox")
    if not isinstance(sides, list) or len(sides) != 4:
        raise collector.error(where, f"bbox must be [left, top, width, height], got {sides!r:.60}.")
    left, top, width, height = (_number(side, where, collector) for side in sides)
    return float(left), float(top), float(plus(left, width)), float(plus(top, height))


def _number(value: object, where: str, collector: BoxCollector) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise collector.error(where, f"expected a number, got {value!r:.40}.")
    try:
        return parse_decimal(str(value))
    except ValueError as error:
        raise collector.error(where, f"{error}.") from None


def _track_id(annotation: Mapping[str, Any], where: str, collector: BoxCollector) -> int:
    extra = annotation.get("attributes")
    nested = extra.get("track_id") if isinstance(extra, dict) else None
    identity = annotation.get("track_id", annotation.get("instance_id", nested))
    if identity is None:
        return NO_ID
    if not isinstance(identity, int) or isinstance(identity, bool):
        raise collector.error(where, f"track_id must be a whole number, got {identity!r:.40}.")
    return identity


def _table(
    collector: BoxCollector, images: dict[Any, Mapping[str, Any]], frames: dict[Any, int]
) -> BoxTable:
    order = sorted(images, key=lambda identity: frames[identity])
    stamps = [images[identity].get("time") for identity in order]
    times = [float(stamp) for stamp in stamps if isinstance(stamp, int | Decimal)]
    return collector.table(
        frame_size=_shared_size(images.values()),
        covered=[frames[identity] for identity in order],
        times=times if times and len(times) == len(stamps) else None,
    )


def _shared_size(images: Iterable[Mapping[str, Any]]) -> tuple[int, int] | None:
    sizes = {(_key(image, "width"), _key(image, "height")) for image in images}
    if len(sizes) != 1:
        return None
    width, height = sizes.pop()
    if isinstance(width, int) and isinstance(height, int) and min(width, height) > 0:
        return width, height
    return None
