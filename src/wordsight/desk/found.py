"""What a search found, with every kind of evidence for it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wordsight.meaning import Hit
    from wordsight.retrieval.joint import JointHit, JointQuery
    from wordsight.retrieval.text import TextQuery

__all__ = ["Found", "from_joint", "from_meaning", "why"]

_LEVELS = ("shot", "scene", "video")
_SHOWN = 3  # words and regions per line of the table


@dataclass(frozen=True)
class Found:
    """A moment that was found, and every kind of evidence for it.

    Attributes:
        video_id: Which video.
        start: When it starts, in seconds.
        end: When it has ended, in seconds.
        score: By which it ranks.
        by: What counted: ``said``, ``picture``, ``meaning``.
        holds: Whether the sentence is said to be true of it; ``None`` where nobody judged.
        shot: Id of the shot, as in run files.
        said: What is said there.
        key_time: The frame that stands for it, in seconds.
        text: Evidence of what is said, per word of the query.
        visual: Evidence of what it looks like, per sample of the picture.
        evidence: Per word of the sentence, how well its meaning fits per frame.
        terms: What each word of the query says.
        regions: What each part of the picture says.
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


def from_joint(hit: "JointHit", query: "JointQuery", said: str) -> Found:
    """Tell of a shot found by words or pictures."""
    by = []
    if hit.text:
        by.append("said")
    if hit.visual is not None:
        by.append("picture")
    return Found(
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
        _terms(hit, query.text),
        tuple(
            {"place": r.place, "box": r.box, "evidence": round(r.evidence, 4)} for r in hit.regions
        ),
    )


def from_meaning(
    hit: "Hit", shot: "JointHit | None", query: "TextQuery | None", said: str
) -> Found:
    """Tell of a moment found by what words mean, with what is said in its shot."""
    heard = bool(shot is not None and shot.text)
    return Found(
        hit.video_id,
        hit.start,
        hit.end,
        hit.score,
        ("meaning", "said") if heard else ("meaning",),
        hit.holds,
        shot.document.id if shot is not None else None,
        said,
        (hit.start + hit.end) / 2,
        shot.text if shot is not None else None,
        None,
        hit.evidence,
        _terms(shot, query),
    )


def why(each: Found) -> str:
    """Say in a few words what speaks for a moment."""
    parts = []
    if each.evidence:
        parts.append(", ".join(f"{word} {value:+.2f}" for word, value in each.evidence))
    heard = [term for term in each.terms if term["evidence"] > 0]
    if heard:
        parts.append("said: " + ", ".join(_heard(heard)))
    if each.regions:
        best = [r for r in each.regions if r["evidence"] > 0][:_SHOWN] or each.regions[:1]
        looks = ", ".join(f"{r['place']} {r['evidence']:+.2f}" for r in best)
        parts.append(f"looks {each.visual or 0.0:+.2f}: {looks}")
    elif each.visual is not None:
        parts.append(f"looks {each.visual:+.2f}")
    return "; ".join(parts) or "nothing speaks for it"


def _terms(hit: "JointHit | None", query: "TextQuery | None") -> tuple[dict[str, Any], ...]:
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
        for each in hit.terms
    )


def _heard(terms: Iterable[dict[str, Any]]) -> list[str]:
    told = []
    for term in list(terms)[:_SHOWN]:
        # The lowest level that has the word tells where it was said.
        where = next((name for name, number in term["counts"].items() if number), "")
        place = f" (in its {where})" if where and where != "shot" else ""
        told.append(f"{term['word']} {term['evidence']:+.2f}{place}")
    return told
