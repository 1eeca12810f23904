"""`WordLearner`: learns what words mean from clips described with sentences."""

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from statistics import median
from typing import Any

from wordsight.engine import Engine
from wordsight.inference import Limits, current_limits
from wordsight.language import Lexicon, infer_lexicon, parse
from wordsight.meaning.checks import (
    require_instance,
    require_integer,
    require_lexicon,
    require_pairs,
    require_sentence,
)
from wordsight.meaning.errors import MeaningError, MeaningWarning
from wordsight.meaning.features import get_feature_set, learn_vocabulary, observe
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.tasks.long_videos import USUAL_CLIP
from wordsight.meaning.training.checkpoint import (
    fingerprint,
    load_checkpoint,
    prepare_checkpoint_path,
    save_checkpoint,
)
from wordsight.meaning.training.corpus import Corpus, background_distributions, build_corpus
from wordsight.meaning.training.leave_one_out import (
    LeaveOneOut,
    is_same_clip,
    leave_one_out,
)
from wordsight.meaning.training.settings import TrainingSettings, settings_text
from wordsight.meaning.training.trainer import Trainer
from wordsight.meaning.training.truth import fit_belief, fit_threshold
from wordsight.progress import Progress
from wordsight.records import Clip, Sentence

__all__ = ["WordLearner"]

SentenceLike = str | Sentence


class WordLearner:
    r"""Learns word meanings from clips and sentences, without knowing who is who in the clip.

    Every word is a small hidden Markov model over features of its arguments. The likelihood of a
    clip under a sentence sums over all choices of one track per participant and all state
    sequences of all words, each state weighed by the ratio of its distribution to the corpus's:

    .. math:: L = \sum_{j} P(j)\prod_l\sum_{q_l}\prod_t a_{q^{t-1}q^t}
        \prod_n\frac{b_{q^t,n}(x^t_n(j))}{b_{0,n}(x^t_n(j))}

    EM raises it from several starts; the best start is the one that prefers the true sentences
    among false ones; scales per verb are calibrated; gradient steps on the posterior of the true
    sentence sharpen everything (Yu & Siskind, ACL 2013 and AAAI 2015, and beyond).

    Args:
        settings: Everything about training; see :class:`TrainingSettings`.
        threads: How many clips to work on at once; the result does not depend on it.
        engine: Who does the E-step: processes or a cluster, with the same result; see
            :func:`wordsight.engine.create_engine`.
        device: Where lattices of the E-step are computed, such as ``cuda``, in single precision.
        changes: Single settings that differ from ``settings``, by name.

    Attributes:
        lexicon_: The learned lexicon, after :meth:`fit`.
        calibrated_: The lexicon before discriminative training.
        apart_: What each clip changed in the learned lexicon, to judge training clips fairly.
        calibrated_apart_: The same for the lexicon before discriminative training.
        histories_: Per restart of EM the objective after every iteration.
        sharpened_: The objective after every epoch of discriminative training.
        inferred_: What was inferred about words where no lexicon was given, else None.

    Examples:
        >>> learner = WordLearner(restarts=1, discriminative=None)
        >>> learner.settings.restarts
        1
    """

    def __init__(
        self,
        settings: TrainingSettings | None = None,
        *,
        threads: int = 1,
        engine: Engine | None = None,
        device: str | None = None,
        **changes: Any,
    ) -> None:
        known = {field.name for field in fields(TrainingSettings)}
        wrong = sorted(set(changes) - known)
        if wrong:
            raise MeaningError(
                f"there is no setting {', '.join(wrong)}; known are {', '.join(sorted(known))}."
            )
        if settings is not None:
            require_instance("settings", settings, TrainingSettings)
        require_integer("threads", threads, least=1)
        self.settings = replace(settings or TrainingSettings(), **changes)
        self.threads = threads
        self.engine = engine
        self.device = device

    def fit(
        self,
        clips: Sequence[Clip],
        sentences: Sequence[SentenceLike | Sequence[SentenceLike]],
        *,
        lexicon: Lexicon | None = None,
        candidates: Sequence[Sequence[SentenceLike]] | None = None,
        progress: Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> "WordLearner":
        """Learn from clips and what is said of them.

        Args:
            clips: The clips. One that is given several times, once for each of its sentences, is
                one example: it is left out as a whole where clips are judged by words learned
                without them.
            sentences: Per clip one true sentence, or several.
            lexicon: How words combine; inferred from the sentences if not given.
            candidates: Per clip the sentences that might have been said, for telling restarts
                apart, calibration and discriminative training; near misses if not given.
            progress: Told about every step.
            checkpoint: A file in which the state is kept while training, so that a training that
                was killed goes on where it was; removed in the end. Its folder is made if needed.

        Returns:
            The learner itself.

        Raises:
            MeaningError: If there is nothing to learn from, clips and sentences do not match, or
                the checkpoint cannot be written.
            LanguageError: If a sentence cannot be read with the given lexicon.
        """
        if checkpoint is not None:
            checkpoint = prepare_checkpoint_path(checkpoint)
        clips, said = require_pairs(clips, sentences)
        require_lexicon(lexicon)
        if candidates is not None and len(candidates) != len(clips):
            raise MeaningError(
                f"{len(clips)} clips came with {len(candidates)} lists of candidates; give one "
                "list for every clip."
            )
        clips, said, candidates = _merged(clips, said, candidates)
        known = self._words(said, lexicon)
        corpus, blank = self._prepared(clips, said, candidates, known)
        training = Trainer(
            corpus,
            blank,
            self.settings,
            threads=self.threads,
            engine=self.engine,
            device=self.device,
        )
        try:
            self._run(training, progress, checkpoint)
        finally:
            training.close()
        self.histories_ = training.state.histories
        self.sharpened_ = training.state.sharpened
        self.calibrated_apart_ = self._believed(training.calibrated, corpus)
        self.apart_ = self.calibrated_apart_
        if training.result() is not training.calibrated:
            self.apart_ = self._believed(training.result(), corpus)
        threshold = fit_threshold(self.apart_, corpus, threads=self.threads)
        self.calibrated_ = self.calibrated_apart_.lexicon
        notes = self._notes(corpus, training)
        self.lexicon_ = replace(self.apart_.lexicon, threshold=threshold, notes=notes)
        self.apart_ = replace(self.apart_, lexicon=self.lexicon_)
        if checkpoint is not None:
            Path(checkpoint).unlink(missing_ok=True)
        return self

    def _words(self, said: list[list[SentenceLike]], lexicon: Lexicon | None) -> Lexicon:
        self.inferred_ = None
        if lexicon is not None:
            return lexicon
        self.inferred_ = infer_lexicon([one for several in said for one in several])
        for text, why in self.inferred_.unread[:3]:
            what = f"cannot read {text!r}: {why.splitlines()[0]}"
            warnings.warn(what, MeaningWarning, stacklevel=3)
        return self.inferred_.lexicon

    def _prepared(
        self,
        clips: Sequence[Clip],
        said: list[list[SentenceLike]],
        candidates: Sequence[Sequence[SentenceLike]] | None,
        lexicon: Lexicon,
    ) -> tuple[Corpus, LearnedLexicon]:
        chosen, look = self.settings, self.settings.looking
        unread = {text for text, _ in self.inferred_.unread} if self.inferred_ else set()
        read = [_read((s for s in one if str(s) not in unread), lexicon) for one in said]
        rivals = None if candidates is None else [_read(row, lexicon) for row in candidates]
        views = [look.view(clip) for clip in clips]
        features = get_feature_set(chosen.features).with_phases(chosen.phases)
        vocabulary = learn_vocabulary(
            views, features, clusters=chosen.clusters, trembling=chosen.trembling
        )
        seen = [observe(view, vocabulary) for view in views]
        corpus = build_corpus(
            seen,
            read,
            lexicon,
            candidates=rivals,
            most_candidates=chosen.most_candidates,
            habits=chosen.habits,
            random_state=chosen.random_state,
        )
        uniform = chosen.background == "uniform"
        background = background_distributions(
            [example.seen for example in corpus.examples], vocabulary, uniform=uniform
        )
        blank = LearnedLexicon(
            lexicon, {}, features, vocabulary, background, look, states_count=uniform
        )
        return corpus, blank

    def _run(
        self,
        training: Trainer,
        progress: Progress | None,
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        mark = fingerprint(training.corpus, self.settings) if checkpoint is not None else ""
        if checkpoint is not None and current_limits() != Limits():
            mark += f" {current_limits()}"  # what was begun with less is not gone on with
        if checkpoint is not None:
            load_checkpoint(checkpoint, training, mark)
        while not training.done:
            what = training.step()
            if checkpoint is not None:
                save_checkpoint(checkpoint, training, mark)
            if progress is not None:
                progress(training.steps_done, training.num_steps, what)

    def _believed(self, found: LearnedLexicon, corpus: Corpus) -> LeaveOneOut:
        """Learn when sentences are true, each clip being judged by words that do not know it."""
        chosen = self.settings
        apart = leave_one_out(
            found, corpus, chosen.smoothing, noise=chosen.noise, threads=self.threads
        )
        if not chosen.believed:
            return apart
        belief = fit_belief(apart, corpus, threads=self.threads, random_state=chosen.random_state)
        return replace(apart, lexicon=replace(found, belief=belief))

    def _notes(self, corpus: Corpus, training: Trainer) -> dict[str, object]:
        best = training.state.best
        return {
            "clips": len(corpus.examples),
            USUAL_CLIP: round(median(example.seen.duration for example in corpus.examples), 2),
            "pairs": corpus.num_pairs,
            "settings": settings_text(self.settings),
            "chosen_restart": best[0] + 1 if best else 0,
            "objective": best[1] if best else 0.0,
        }


def _read(texts: Iterable[SentenceLike], lexicon: Lexicon) -> list[Sentence]:
    return [
        text if isinstance(text, Sentence) and text.words else parse(str(text), lexicon)
        for text in map(require_sentence, texts)
    ]


def _merged(
    clips: Sequence[Clip],
    sentences: list[list[SentenceLike]],
    candidates: Sequence[Sequence[SentenceLike]] | None,
) -> tuple[list[Clip], list[list[SentenceLike]], list[list[SentenceLike]] | None]:
    """Merge the entries of a clip that is given several times, in order of first mention."""
    groups: list[list[int]] = []
    by_time: dict[tuple[str, float, float], list[list[int]]] = {}
    for number, clip in enumerate(clips):
        same_time = by_time.setdefault((clip.video_id, clip.start, clip.end), [])
        group = next((g for g in same_time if is_same_clip(clips[g[0]], clip)), None)
        if group is None:
            group = []
            same_time.append(group)
            groups.append(group)
        group.append(number)

    def gathered(rows: Sequence[Sequence[SentenceLike]]) -> list[list[SentenceLike]]:
        return [[one for number in group for one in rows[number]] for group in groups]

    rivals = None if candidates is None else gathered(candidates)
    return [clips[group[0]] for group in groups], gathered(sentences), rivals
