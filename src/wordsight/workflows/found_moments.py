"""What a search found, with every kind of evidence for it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.workflows.units import clock, verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wordsight.library.catalog.entries import SentenceEntry
    from wordsight.meaning import SentenceHit
    from wordsight.retrieval.joint import JointHit, JointQuery, JointSearch
    from wordsight.retrieval.text import TextQuery
    from wordsight.retrieval.visual import Samples, VisualSettings

__all__ = [
    "FoundMoment",
    "NamedTerms",
    "at_caption",
    "at_picture",
    "evidence_text",
    "from_joint",
    "from_meaning",
]

_LEVELS = ("shot", "scene", "video")
_ALIKE = 0.7  # correlation of pixels from which a sighting is worth a word
_SHOWN = 3  # words and regions per line of the table
_SHORT_SHOT = 6.0  # seconds of a shot that is a moment as it is
_AROUND = 1.0  # seconds around the best frame that belong to its stretch in any case
_LOOKS = 60  # frames of a shot that are compared with a picture
_COMPARED = 200  # samples of the picture
_WIDTH = 0.3  # of the density around a sample, in standard deviations


@dataclass(frozen=True)
class FoundMoment:
    """A moment that was found, and every kind of evidence for it.

    Attributes:
        video_id: Which video.
        start: When it starts, in seconds.
        end: When it has ended, in seconds.
        score: By which it ranks.
        by: What counted: ``said``, ``named`` (a taught word for a thing in it), ``picture``,
            ``meaning``.
        holds: Whether the sentence is said to be true of it; ``None`` where it was not judged.
        verdict: The same as ``likely``, ``unsure`` or ``not likely``.
        shot: Id of the shot, as in run files.
        said: What is said there.
        key_time: The frame that stands for it, in seconds.
        text: Evidence of what is said, per word of the query.
        visual: Evidence of what it looks like, per sample of the picture.
        evidence: Per word of the sentence, how well its meaning fits per frame.
        terms: What each word of the query says.
        regions: What each part of the picture says.
        sighting: Where in it the picture fits best: the time, the box in pixels, and how alike
            the pixels are; ``None`` where it was not looked for.
        lost_mass: Share of the sentence's explanations left out at most, as they did not fit.
        looks: What blocks alone and a network alone say, in an index that has both.
        judged: Start and end of the stretch that a sentence was judged in, with some time around
            the moment; ``None`` where none was.
    """

    video_id: str
    start: float
    end: float
    score: float
    by: tuple[str, ...]
    holds: bool | None = None
    shot: str | None = None
    said: str = ""
    key_time: float | None = None
    text: float | None = None
    visual: float | None = None
    evidence: tuple[tuple[str, float], ...] = ()
    terms: tuple[dict[str, Any], ...] = field(default=())
    regions: tuple[dict[str, Any], ...] = field(default=())
    sighting: dict[str, Any] | None = None
    lost_mass: float = 0.0
    judged: tuple[float, float] | None = None
    verdict: str | None = None
    looks: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class NamedTerms:
    """Taught words for what is seen, by the terms of an index.

    Attributes:
        shot: Per term the confidence of every thing in the shot that it names.
        video: The same of all shots of the video.
    """

    shot: Mapping[str, Sequence[float]] = field(default_factory=dict)
    video: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def of(self, term: str) -> dict[str, Any]:
        """Tell of one term: confidences in the shot, and how many things it names in the video."""
        return {
            "named": list(self.shot.get(term, ())),
            "named_in_video": len(self.video.get(term, ())),
        }


def from_joint(
    hit: "JointHit", query: "JointQuery", said: str, named: NamedTerms | None = None
) -> FoundMoment:
    """Tell of a shot found by words or pictures.

    Args:
        hit: The shot.
        query: What was asked for.
        said: What is said in it.
        named: Taught words for what is seen in it and in its video.
    """
    terms = _terms(hit, query.text, named)
    by = _heard_or_named(terms) if hit.text else []
    if hit.visual is not None:
        by.append("picture")
    return FoundMoment(
        hit.document.video_id,
        hit.document.start,
        hit.document.end,
        hit.score,
        tuple(by),
        None,
        hit.document.id,
        said,
        hit.document.key_time,
        hit.text,
        hit.visual,
        (),
        terms,
        tuple(
            {"place": r.place, "box": r.box, "evidence": round(r.evidence, 4)} for r in hit.regions
        ),
        _sighting(hit),
        looks=hit.looks,
    )


def _sighting(hit: "JointHit") -> dict[str, Any] | None:
    seen = hit.sighting
    if seen is None:
        return None
    box = [round(value, 1) for value in seen.box]
    return {"time": round(seen.time, 3), "box": box, "likeness": round(seen.likeness, 4)}


def from_meaning(
    hit: "SentenceHit",
    shot: "JointHit | None",
    query: "TextQuery | None",
    said: str,
    named: NamedTerms | None = None,
    *,
    threshold: float = 0.0,
) -> FoundMoment:
    """Tell of a moment found by what words mean, with what is said and seen in its shot."""
    terms = _terms(shot, query, named)
    heard = _heard_or_named(terms) if shot is not None and shot.text else []
    return FoundMoment(
        hit.video_id,
        hit.start,
        hit.end,
        hit.score,
        ("meaning", *heard),
        hit.holds,
        shot.document.id if shot is not None else None,
        said,
        (hit.start + hit.end) / 2,
        shot.text if shot is not None else None,
        None,
        hit.evidence,
        terms,
        lost_mass=hit.lost_mass,
        judged=hit.judged,
        verdict=verdict(hit.holds, hit.score, threshold),
    )


def at_caption(
    moment: FoundMoment,
    captions: Iterable["SentenceEntry"],
    weights: Mapping[str, float],
    terms: Callable[[str], Iterable[str]],
) -> FoundMoment:
    """Cut a moment that was found by what is said to the caption that says most of it.

    Args:
        moment: The shot; itself the answer where no caption with times has a word of the query.
        captions: What is said of its video.
        weights: The terms of the query with their weights.
        terms: Splits a text into terms.
    """
    best, most = None, 0.0
    for caption in captions:
        if caption.start is None or caption.end is None:
            continue
        if min(caption.end, moment.end) <= max(caption.start, moment.start):
            continue
        value = sum(weights.get(term, 0.0) for term in set(terms(caption.text)))
        if value > most:
            best, most = (caption.start, caption.end), value
    if best is None:
        return moment
    return replace(moment, start=best[0], end=best[1], key_time=(best[0] + best[1]) / 2)


def at_picture(
    moment: FoundMoment, path: str, wanted: "Samples", search: "JointSearch"
) -> FoundMoment:
    """Cut a long shot that was found by a picture to the stretch that looks most like it.

    Args:
        moment: The shot; itself the answer where it is short, or its video cannot be read.
        path: The video.
        wanted: Samples of the picture.
        search: The index that it was found in.
    """
    import numpy as np

    if moment.end - moment.start <= _SHORT_SHOT:
        return moment
    try:
        times, looks = _looks(path, moment.start, moment.end, search.index.visual.settings)
    except (WordsightError, OSError):
        return moment
    if not times:
        return moment
    chosen = wanted.values[:: max(1, len(wanted) // _COMPARED)]
    likeness = np.array([_likeness(chosen, look) for look in looks])
    best = int(likeness.argmax())
    # Frames that are nearer to the best one than to the usual one.
    near = likeness >= (likeness[best] + np.median(likeness)) / 2
    near |= np.abs(np.array(times) - times[best]) <= _AROUND
    first, last = best, best
    while first and near[first - 1]:
        first -= 1
    while last + 1 < len(times) and near[last + 1]:
        last += 1
    end = times[last + 1] if last + 1 < len(times) else moment.end
    return replace(moment, start=times[first], end=end, key_time=times[best])


@lru_cache(maxsize=16)
def _looks(
    path: str, start: float, end: float, settings: "VisualSettings"
) -> "tuple[list[float], list[NDArray[np.float32]]]":
    """Return the times of a shot's frames, some evenly spaced ones, and their samples."""
    import numpy as np

    from wordsight.video import VideoReader

    features = settings.features()
    times, looks = [], []
    with VideoReader(path) as reader:
        for frame in reader.frames(start, end, rate=min(2.0, _LOOKS / (end - start))):
            times.append(frame.time)
            looks.append(features.samples(frame.image).values.astype(np.float32))
    return times, looks


def _likeness(wanted: "NDArray[np.float64]", look: "NDArray[np.float32]") -> float:
    """Return the mean log density of samples of a picture around those of a frame."""
    import numpy as np

    known = np.isfinite(wanted).all(axis=0) & np.isfinite(look).all(axis=0)
    width = _WIDTH * look[:, known].std(axis=0) + 1e-6
    one, other = wanted[:, known] / width, look[:, known] / width
    squares = (one**2).sum(axis=1)[:, None] - 2 * one @ other.T + (other**2).sum(axis=1)
    return float(np.logaddexp.reduce(-0.5 * squares, axis=1).mean())


def evidence_text(each: FoundMoment) -> str:
    """Say in a few words what speaks for a moment."""
    parts = []
    if each.evidence:
        parts.append(", ".join(f"{word} {value:+.2f}" for word, value in each.evidence))
    counted = [term for term in each.terms if term["evidence"] > 0]
    heard = [term for term in counted if _was_said(term)]
    if heard:
        parts.append("said: " + ", ".join(_heard(heard)))
    named = [term for term in counted if _was_named(term)]
    if named:
        parts.append("named: " + ", ".join(_named(named)))
    if each.regions:
        best = [r for r in each.regions if r["evidence"] > 0][:_SHOWN] or each.regions[:1]
        looks = ", ".join(f"{r['place']} {r['evidence']:+.2f}" for r in best)
        parts.append(f"looks {each.visual or 0.0:+.2f}: {looks}")
    elif each.visual is not None:
        parts.append(f"looks {each.visual:+.2f}")
    parts += [f"by {name} {value:+.2f}" for name, value in each.looks]
    if each.sighting is not None and each.sighting["likeness"] >= _ALIKE:
        at = clock(each.sighting["time"])
        parts.append(f"seen at {at} (alike {each.sighting['likeness']:.2f})")
    if not parts and any(map(_was_said, each.terms)):
        words = [term["word"] for term in each.terms if _was_said(term)]
        return f"said: {', '.join(words[:_SHOWN])}, as usual as everywhere"
    return "; ".join(parts) or "nothing speaks for it"


def _terms(
    hit: "JointHit | None", query: "TextQuery | None", named: NamedTerms | None
) -> tuple[dict[str, Any], ...]:
    if hit is None or query is None:
        return ()
    return tuple(
        {
            "term": each.term,
            "word": query.words.get(each.term, each.term),
            "evidence": round(each.evidence, 4),
            "counts": dict(zip(_LEVELS, each.counts, strict=False)),
            "known": each.share > 0,
        }
        | ({} if named is None else named.of(each.term))
        for each in hit.terms
    )


def _was_said(term: Mapping[str, Any]) -> bool:
    """Return whether it was said: not every count of it is a thing that it names."""
    return bool(max(term["counts"].values(), default=0) > term.get("named_in_video", 0))


def _was_named(term: Mapping[str, Any]) -> bool:
    """Tell whether it counts as a taught word for something seen, here or in the same video."""
    return bool(term.get("named") or (term.get("named_in_video") and not _was_said(term)))


def _heard_or_named(terms: Iterable[Mapping[str, Any]]) -> list[str]:
    counted = [term for term in terms if term["evidence"] > 0]
    named = any(_was_named(term) for term in counted)
    heard = any(_was_said(term) for term in counted)
    # What is said counts also where every word of it speaks against the shot.
    return (["said"] if heard or not named else []) + (["named"] if named else [])


def _named(terms: Iterable[Mapping[str, Any]]) -> list[str]:
    texts = []
    for term in list(terms)[:_SHOWN]:
        sure = f"{max(term['named']):.2f} sure" if term.get("named") else f"in its {_where(term)}"
        texts.append(f"{term['word']} {term['evidence']:+.2f} ({sure})")
    return texts


def _heard(terms: Iterable[Mapping[str, Any]]) -> list[str]:
    texts = []
    for term in list(terms)[:_SHOWN]:
        where = _where(term)
        place = f" (in its {where})" if where and where != "shot" else ""
        texts.append(f"{term['word']} {term['evidence']:+.2f}{place}")
    return texts


def _where(term: Mapping[str, Any]) -> str:
    """Return the lowest level that has a word: that is where it was said or seen."""
    return next((name for name, number in term["counts"].items() if number), "")
