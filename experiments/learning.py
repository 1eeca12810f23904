"""Learning words as ``wordsight learn`` does, from clips that are in no library."""

from collections.abc import Sequence

from wordsight.language import Lexicon
from wordsight.meaning import LearnedLexicon, WordLearner
from wordsight.meaning.tasks.rivals import described_by_clip, rivals_of
from wordsight.records import Clip, Sentence
from wordsight.workflows.learn import LearnRequest, training_settings

__all__ = ["learn_words"]


def learn_words(
    clips: Sequence[Clip],
    sentences: Sequence[Sequence[Sentence]],
    lexicon: Lexicon,
    *,
    cut: bool,
    quick: bool = False,
    seed: int = 0,
) -> LearnedLexicon:
    """Learn words with the defaults of the command.

    Args:
        clips: The clips.
        sentences: Per clip what is said of it.
        lexicon: The grammar.
        cut: Whether clips are cut to their events.
        quick: As ``--quick``.
        seed: As ``--seed``.
    """
    request = LearnRequest(words=None, quick=quick, seed=seed)
    settings = training_settings(request, None, cut=cut)
    rivals = rivals_of(list(clips), list(map(list, sentences)), lexicon, random_state=seed)
    given = rivals if described_by_clip(list(clips)) else None
    learner = WordLearner(settings, threads=request.threads)
    return learner.fit(clips, sentences, lexicon=lexicon, candidates=given).lexicon_
