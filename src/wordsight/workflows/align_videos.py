"""Where ``align`` takes observations from, and to which of them the text belongs.

Observations come from files of touched things, from boxes, from videos and from a library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import WordsightError
from wordsight.files import VIDEO_SUFFIXES
from wordsight.workflows.detect import detector_options
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.units import count

if TYPE_CHECKING:
    from wordsight.alignment import Belonging, Instructions, LineSpan, Observed
    from wordsight.alignment.models.encoding import Pair
    from wordsight.library import Library, VideoEntry
    from wordsight.meaning import LearnedLexicon
    from wordsight.records import Detections, Sentence
    from wordsight.workflows.align import AlignRequest

__all__ = [
    "AlignedVideo",
    "accepted_videos",
    "judge_videos",
    "known_pairs",
    "labelled_pairs",
    "observe_videos",
    "sentence_fits",
    "usable_videos",
    "with_fits",
]

_INTERVAL_SUFFIXES = {".txt", ".tsv"}
# Chosen on subject 1 of CAD-120, with words learned from the other subjects.
_WINDOW, _WINDOW_STEP, _FIT = 1.5, 0.5, 0.3  # seconds, seconds, weight of what words say


@dataclass(frozen=True)
class AlignedVideo:
    """A video with what was observed in it.

    Attributes:
        observed: The observations.
        path: The video file, if there is one.
        source: The file the observations came from, if they did.
        wanted: Whether its alignment was asked for, or it only helps to learn.
        seen: The boxes it was observed through, if it was.
    """

    observed: "Observed"
    path: Path | None
    source: Path | None = None
    wanted: bool = True
    seen: "Detections | None" = None


def observe_videos(request: "AlignRequest", reporter: RecordingReporter) -> list[AlignedVideo]:
    """Observe the videos asked for, and the others.

    Raises:
        WordsightError: If a name is neither a file nor in the library, or a detector is unknown,
            needed or not.
    """
    from wordsight.perception.detectors.registry import detector_names, require_detector

    for name in detector_names(request.detector):
        require_detector(name)
    others = _named_videos(request, request.others, False, reporter)
    if request.seen is not None or request.boxes is not None:
        return [_given(request), *others]
    return _with_own_names([*_named_videos(request, [request.video], True, reporter), *others])


def known_pairs(request: "AlignRequest", reporter: RecordingReporter) -> list["Pair"]:
    """Observe the videos that have texts of their own.

    Raises:
        WordsightError: If a pair is not written as VIDEO=TEXT, or a file of it is missing.
    """
    from wordsight.alignment.text import read_instructions

    pairs = []
    for written in request.known:
        video, sign, text = written.rpartition("=")
        if not sign or not video or not Path(text).is_file():
            raise WordsightError(
                f"--known {written}: expected VIDEO=TEXT, a video and the file of its text."
            )
        instructions = read_instructions(Path(text))
        for one in _named_videos(request, [video], False, reporter):
            if one.observed.chunks:
                pairs.append((instructions, one.observed))
    return pairs


def labelled_pairs(
    request: "AlignRequest", taken: Sequence[str], reporter: RecordingReporter
) -> tuple[list["Pair"], dict[str, list["LineSpan"]]]:
    """Observe the videos whose lines have known times.

    Args:
        request: What was asked for.
        taken: Ids of the videos to align; they are not learned from twice.
        reporter: Where progress is shown.

    Returns:
        The videos with their sentences as texts, in order of time, and by video when they happen.

    Raises:
        WordsightError: If a file cannot be read, or no sentence in it has a start and an end.
    """
    from wordsight.alignment import Instructions, Line, LineSpan
    from wordsight.alignment.text import nouns_and_verbs
    from wordsight.library.ingest.sources import gather

    pairs: list[Pair] = []
    labels: dict[str, list[LineSpan]] = {}
    sources, failures = gather(request.labelled) if request.labelled else ([], [])
    if failures:
        raise WordsightError(f"--labelled: {failures[0].path}: {failures[0].message}")
    for source in sources:
        said = [s for s in source.sentences if s.start is not None and s.end is not None]
        name = source.path.stem
        if not said or name in taken or name in labels:
            continue
        said.sort(key=lambda one: (one.start, one.end))
        lines = [Line(s.text, n, *nouns_and_verbs(s.text)) for n, s in enumerate(said)]
        if source.boxes is not None:
            video = _with_boxes(source.path, source.boxes, False)
        else:
            (video,) = _detected(request, [source.path], False, reporter)
        if video.observed.chunks:
            pairs.append((Instructions(name, tuple(lines)), video.observed))
            labels[name] = [
                LineSpan(n, float(s.start or 0.0), float(s.end or 0.0), 1.0)
                for n, s in enumerate(said)
            ]
    if request.labelled and not labels:
        names = ", ".join(map(str, request.labelled))
        raise WordsightError(
            f"--labelled {names}: no other video there has sentences with a start and an end; "
            'expected rows such as {"file_name": "a.mp4", "text": "...", "start": 1, "end": 2}.'
        )
    return pairs, labels


def _named_videos(
    request: "AlignRequest", names: Sequence[str], wanted: bool, reporter: RecordingReporter
) -> list[AlignedVideo]:
    videos: list[AlignedVideo] = []
    loose: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.suffix.lower() in VIDEO_SUFFIXES)
            if not inside:
                raise WordsightError(f"{path} holds no video; name a video file.")
            loose += inside
        elif path.is_file() and path.suffix.lower() in _INTERVAL_SUFFIXES:
            videos.append(_from_intervals(path, None, wanted))
        elif path.exists():
            loose.append(path)
        else:
            videos += _from_library(name, request.library, wanted)
    return videos + _detected(request, loose, wanted, reporter)


def _given(request: "AlignRequest") -> AlignedVideo:
    """Return the one video with the file that says what is seen in it."""
    path = Path(request.video)
    if not path.is_file():
        try:
            (video,) = _from_library(request.video, request.library, True)
        except (ValueError, WordsightError):
            raise WordsightError(
                f"{request.video} is no video file; --seen and --boxes belong to one."
            ) from None
        if request.seen is None or video.path is None:
            raise WordsightError("--boxes belongs to a video file; name the file itself.")
        return _from_intervals(request.seen, None, True, like=video)
    if request.seen is not None:
        return _from_intervals(request.seen, path, True)
    assert request.boxes is not None
    return _with_boxes(path, request.boxes, True)


def _with_boxes(path: Path, source: Path, wanted: bool) -> AlignedVideo:
    from wordsight.alignment.observe import DetectedThings
    from wordsight.perception import read_boxes
    from wordsight.video import VideoReader

    with VideoReader(path) as reader:
        size = (reader.info.width, reader.info.height)
        boxes = read_boxes(source, times=reader.times, frame_size=size)
        duration = reader.info.start_time + reader.info.duration
    observed = DetectedThings(path.stem, boxes, duration=duration).observe()
    return AlignedVideo(observed, path, source, wanted, boxes)


def _from_intervals(
    source: Path, video: Path | None, wanted: bool, *, like: AlignedVideo | None = None
) -> AlignedVideo:
    from wordsight.alignment.observe import IntervalFile

    name, duration = None, None
    if like is not None:
        name, duration, video = like.observed.video_id, like.observed.duration, like.path
    elif video is not None:
        from wordsight.video import VideoReader

        with VideoReader(video) as reader:
            name, duration = video.stem, reader.info.start_time + reader.info.duration
    return AlignedVideo(IntervalFile(source, name, duration).observe(), video, source, wanted)


def _detected(
    request: "AlignRequest", paths: Sequence[Path], wanted: bool, reporter: RecordingReporter
) -> list[AlignedVideo]:
    if not paths:
        return []
    from wordsight.alignment.observe import DetectedThings
    from wordsight.alignment.observe.detections import detect_videos, hand_mask

    options = detector_options(
        request.detector,
        request.detector_model,
        request.detector_labels,
        request.option,
        model_option="--detector-model",
    )
    with reporter.progress("Detecting") as progress:
        detections = detect_videos(
            paths,
            detector=request.detector,
            options=options,
            rate=request.rate,
            progress=progress,
        )
    if not any(hand_mask(one).any() for one in detections):
        reporter.note(
            f"The detector {request.detector} found no hand, so only what moves counts. One that "
            "knows hands and your things does far better (--detector onnx, --boxes)."
        )
    return [
        AlignedVideo(DetectedThings(path.stem, one).observe(), path, None, wanted, one)
        for path, one in zip(paths, detections, strict=True)
    ]


def _from_library(name: str, place: str, wanted: bool) -> list[AlignedVideo]:
    from wordsight.errors import LibraryError
    from wordsight.library import Library

    try:
        library = Library.open(place)
    except LibraryError as error:
        raise WordsightError(
            f"there is no file {name}, and no library to look it up in ({error})"
        ) from error
    with library:
        entries = [v for v in library.videos() if v.id.startswith(name) or v.name.startswith(name)]
        if not entries:
            raise WordsightError(
                f"{name} is neither a file nor the beginning of a video's id in {place}; "
                "`wordsight list` shows them."
            )
        return [_library_video(library, entry, wanted) for entry in entries]


def _library_video(library: "Library", entry: "VideoEntry", wanted: bool) -> AlignedVideo:
    from wordsight.alignment.observe import DetectedThings

    detections = library.detections(entry.id)
    start = float(detections.times[0]) if len(detections) else 0.0
    source = DetectedThings(entry.id, detections, duration=start + entry.duration)
    return AlignedVideo(source.observe(), Path(entry.path), None, wanted, detections)


def _with_own_names(videos: Sequence[AlignedVideo]) -> list[AlignedVideo]:
    """Number videos of the same name, so that none overwrites another's results."""
    taken: dict[str, int] = {}
    named = []
    for video in videos:
        name = video.observed.video_id
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            video = replace(
                video, observed=replace(video.observed, video_id=f"{name}-{taken[name]}")
            )
        named.append(video)
    return named


def usable_videos(
    videos: Sequence[AlignedVideo], instructions: "Instructions", reporter: RecordingReporter
) -> list[AlignedVideo]:
    """Leave out videos in which nothing is touched, unless it is the only one asked for."""
    if any(one.wanted and one.observed.chunks for one in videos):
        for one in videos:
            if not one.observed.chunks:
                reporter.warn(f"{one.observed.video_id}: nothing is touched in it; left out.")
        videos = [one for one in videos if one.observed.chunks]
    for one in videos:
        chunks, lines = len(one.observed.chunks), len(instructions.lines)
        if 0 < chunks < lines:
            reporter.warn(
                f"{one.observed.video_id}: {count(lines, 'line')} of text but only "
                f"{count(chunks, 'chunk')} of video in which something is touched; do not rely on "
                "the times."
            )
    return list(videos)


def with_fits(
    videos: Sequence[AlignedVideo],
    instructions: "Instructions",
    words: Path | None,
    reporter: RecordingReporter,
) -> list[AlignedVideo]:
    """Say where in the videos lines fit by learned words, if there are any.

    Raises:
        WordsightError: If there are no such words, or they cannot read any line.
    """
    from wordsight.workflows.lexicon import load_lexicon

    if words is None:
        return list(videos)
    lexicon = load_lexicon(words)
    sentences = _readable(lexicon, [line.text for line in instructions.lines])
    if not sentences:
        raise WordsightError(
            f"the words in {words} can read no line of {instructions.name}; expected sentences "
            f'such as "{lexicon.example}".'
        )
    lines = {line.text for line in instructions.lines}
    reporter.note(f"{len(sentences)} of {count(len(lines), 'line')} can be read by {words}.")
    with reporter.progress("Reading lines") as progress:
        found = []
        for done, one in enumerate(videos, start=1):
            if one.seen is not None and one.observed.chunks:
                fits = sentence_fits(lexicon, one.seen, sentences, one.observed)
                one = replace(one, observed=replace(one.observed, fits=fits))
            found.append(one)
            progress(done, len(videos), one.observed.video_id)
    return found


def _readable(lexicon: "LearnedLexicon", texts: Sequence[str]) -> dict[str, "Sentence"]:
    """Return the sentences among some texts whose words all have a meaning."""
    sentences = {}
    for text in texts:
        try:
            sentences[text] = lexicon.sentence(text)
        except WordsightError:
            continue
    return sentences


def sentence_fits(
    lexicon: "LearnedLexicon",
    seen: "Detections",
    sentences: Mapping[str, "Sentence"],
    observed: "Observed",
) -> dict[str, NDArray[np.float64]]:
    """Return by sentence how much better than the others it fits each chunk, in nats.

    Each chunk has the mean of the windows around it, those whose middle is near counting most.
    """
    from wordsight.perception import tracked_clip
    from wordsight.records import Clip

    last = float(seen.times[-1])
    film = Clip(observed.video_id, float(seen.times[0]), np.nextafter(last, np.inf), seen)
    film = tracked_clip(film, for_words=True)
    middles = observed.times.mean(axis=1)
    total, weights = np.zeros((len(middles), len(sentences))), np.full(len(middles), 1e-9)
    for start in np.arange(film.start, max(last - _WINDOW_STEP, film.start + 1e-6), _WINDOW_STEP):
        window = lexicon.observe(film.part(float(start), min(float(start) + _WINDOW, film.end)))
        if not window.num_frames or not window.view.present.any():
            continue
        scores = lexicon.preferences(window, list(sentences.values()), timed=False)
        ratios = scores - np.logaddexp.reduce(scores) + np.log(len(scores))
        near = np.clip(1.0 - abs(start + _WINDOW / 2 - middles) / (_WINDOW / 2), 0.0, None)
        total += near[:, None] * ratios
        weights += near
    return dict(zip(sentences, _FIT * (total / weights[:, None]).T, strict=True))


def judge_videos(
    instructions: "Instructions",
    videos: Sequence[AlignedVideo],
    known: Sequence["Pair"],
    reporter: RecordingReporter,
) -> dict[str, "Belonging"]:
    """Return by video whether the text belongs to it."""
    from wordsight.alignment import judge_belonging

    pairs = [(instructions, one.observed) for one in videos]
    with reporter.progress("Comparing text and video") as progress:
        verdicts = judge_belonging(pairs, known, progress=progress)
    return {verdict.video_id: verdict for verdict in verdicts}


def accepted_videos(
    videos: Sequence[AlignedVideo],
    belonging: dict[str, "Belonging"],
    instructions: "Instructions",
    reporter: RecordingReporter,
) -> list[AlignedVideo]:
    """Leave out the videos to which the text does not belong.

    Raises:
        WordsightError: If it belongs to none of those asked for.
    """
    refused = [v for v in belonging.values() if v.verdict == "does not belong"]
    names = {verdict.video_id for verdict in refused}
    kept = [one for one in videos if one.observed.video_id not in names]
    if not any(one.wanted for one in kept):
        first = next(v for v in videos if v.wanted).observed.video_id
        raise WordsightError(
            f"{instructions.name} does not seem to belong to {first}: {belonging[first].reason} "
            "Check that text and video are of the same procedure, or align them all the same with "
            "--force."
        )
    for verdict in refused:
        reporter.warn(
            f"{verdict.video_id} is left out, since the text does not seem to belong to it: "
            f"{verdict.reason}"
        )
    return kept
