"""False sentences that compete with the true ones of a clip: in training, and in forced choice.

Of a video that is described clip by clip, the descriptions say together which things there are.
What might be said of one of its clips is then everything the library ever says, about these things:
all verbs compete, whatever the number of their arguments. A video that is described as a whole
gives no such hint; there a sentence competes with those that differ from it in one word.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, permutations

import numpy as np

from wordsight.language import LanguageError, Lexicon, PartOfSpeech, near_misses
from wordsight.language.realisation import sentence_of
from wordsight.records import Clip, Sentence, Word

__all__ = ["ForcedChoice", "ask", "described_by_clip", "rivals_of"]

MOST_RIVALS = 120
"""False sentences of a clip at most; more are drawn from at random."""

_MOST_WEIGHED = 20_000  # sentences to draw from; only long sentences with many nouns have more

_Pattern = tuple[Word, ...]


@dataclass(frozen=True)
class ForcedChoice:
    """A clip and the sentences to choose among.

    Attributes:
        clip: The clip.
        candidates: The sentences, one of them true.
        truth: Which one.
    """

    clip: Clip
    candidates: tuple[Sentence, ...]
    truth: int

    @property
    def true(self) -> Sentence:
        """The sentence that is true."""
        return self.candidates[self.truth]


def ask(clip: Clip, true: Sequence[Sentence], rivals: Sequence[Sentence]) -> Iterator[ForcedChoice]:
    """Yield one choice for each true sentence of a clip that has a rival.

    The other true sentences are no rivals; candidates are in alphabetical order, so that their
    order says nothing of their truth.
    """
    meanings = {sentence.words for sentence in true}
    false = {rival.words: rival for rival in rivals if rival.words not in meanings}
    for sentence in {one.words: one for one in true}.values():
        candidates = sorted((sentence, *false.values()), key=lambda one: (one.text, str(one.words)))
        if false:
            yield ForcedChoice(clip, tuple(candidates), candidates.index(sentence))


def described_by_clip(clips: Sequence[Clip]) -> set[str]:
    """Return the videos of which several parts are described."""
    parts = defaultdict(set)
    for clip in clips:
        parts[clip.video_id].add((clip.start, clip.end))
    return {video for video, times in parts.items() if len(times) > 1}


def rivals_of(
    clips: Sequence[Clip],
    sentences: Sequence[Sequence[Sentence]],
    lexicon: Lexicon,
    *,
    most: int = MOST_RIVALS,
    max_near_misses: int = 40,
    random_state: int = 0,
) -> list[list[Sentence]]:
    """Return the false sentences that compete with the true ones of each clip.

    Args:
        clips: All clips of a library.
        sentences: Per clip its true sentences.
        lexicon: The grammar.
        most: At most this many rivals where a video is described clip by clip.
        max_near_misses: The same where it is described as a whole.
        random_state: Seed of what is drawn where there are more.
    """
    rng = np.random.default_rng(random_state)
    things: dict[str, set[str]] = defaultdict(set)
    for clip, true in zip(clips, sentences, strict=True):
        things[clip.video_id] |= {noun for one in true for noun in _nouns(one, lexicon).values()}
    several = described_by_clip(clips)
    patterns = _Patterns(sentences, lexicon)
    by_things: dict[frozenset[str], list[Sentence]] = {}
    found: list[list[Sentence]] = []
    for clip, true in zip(clips, sentences, strict=True):
        if clip.video_id in several:
            key = frozenset(things[clip.video_id])
            if key not in by_things:
                by_things[key] = patterns.about(key, most, rng)
            found.append(by_things[key])
        else:
            misses = {m.words: m for one in true for m in near_misses(one, lexicon)}
            found.append(_drawn(list(misses.values()), max_near_misses, rng))
    return found


class _Patterns:
    """Sentences without their nouns, and which nouns are subjects and which are not."""

    def __init__(self, sentences: Sequence[Sequence[Sentence]], lexicon: Lexicon):
        self._lexicon = lexicon
        self._patterns: dict[_Pattern, int] = {}
        self._subjects: set[str] = set()
        self._others: set[str] = set()
        for sentence in (one for several in sentences for one in several):
            for participant, noun in _nouns(sentence, lexicon).items():
                (self._others if participant else self._subjects).add(noun)
            bare = tuple(w for w in sentence.words if not _is_noun(w, lexicon))
            self._patterns.setdefault(bare, sentence.num_participants)

    def about(self, things: frozenset[str], most: int, rng: np.random.Generator) -> list[Sentence]:
        """Return the sentences about some things, at most so many."""
        meanings = list(islice(self._meanings(sorted(things)), _MOST_WEIGHED))
        found = []
        for words in _drawn(meanings, most, rng):
            try:
                found.append(sentence_of(words, self._lexicon))
            except LanguageError:
                continue  # no unambiguous sentence has this meaning
        return found

    def _meanings(self, things: Sequence[str]) -> Iterator[tuple[Word, ...]]:
        for bare, participants in self._patterns.items():
            for nouns in permutations(things, participants):
                if nouns[0] in self._subjects and self._others.issuperset(nouns[1:]):
                    yield (*bare, *(Word(noun, (p,)) for p, noun in enumerate(nouns)))


def _drawn(found: list, most: int, rng: np.random.Generator) -> list:  # type: ignore[type-arg]
    if len(found) <= most:
        return found
    return [found[place] for place in np.sort(rng.choice(len(found), most, replace=False))]


def _nouns(sentence: Sentence, lexicon: Lexicon) -> dict[int, str]:
    """Return the noun of each participant that has one."""
    return {w.participants[0]: w.entry for w in sentence.words if _is_noun(w, lexicon)}


def _is_noun(word: Word, lexicon: Lexicon) -> bool:
    return lexicon[word.entry].part is PartOfSpeech.NOUN
