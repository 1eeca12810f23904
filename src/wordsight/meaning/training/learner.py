"""`WordLearner`: learns what words mean from clips described with sentences."""

import os
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from statistics import median
from typing import Any

from wordsight.engine import Engine
from wordsight.errors import MeaningError, MeaningWarning
from wordsight.inference import Limits, current_limits
from wordsight.language import Lexicon, PartOfSpeech, infer_lexicon, read_sentences
from wordsight.meaning.checks import (
    SentenceLike,
    require_instance,
    require_integer,
    require_lexicon,
    require_pairs,
    require_sentence,
)
from wordsight.meaning.features import get_feature_set, learn_vocabulary, observe
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.model.noun_looks import (
    NounLooks,
    followed_regions,
    has_only_looks,
    track_looks,
)
from wordsight.meaning.tasks.event import CUT_CLIPS, TYPICAL_CLIP
from wordsight.meaning.training.checkpoint import (
    fingerprint,
    load_checkpoint,
    prepare_checkpoint_path,
    save_checkpoint,
)
from wordsight.meaning.training.corpus import Corpus, background_distributions, build_corpus
from wordsight.meaning.training.leave_one_out import LeaveOneOut, is_same_clip, leave_one_out
from wordsight.meaning.training.naming import contrasted_labels, noun_labels, unseen_nouns
from wordsight.meaning.training.noun_looks import learn_noun_looks
from wordsight.meaning.training.settings import TrainingSettings, settings_text
from wordsight.meaning.training.trainer import Trainer
from wordsight.meaning.training.truth import fit_belief, fit_threshold
from wordsight.progress import Progress
from wordsight.records import BODY_PARTS, Clip, Sentence

__all__ = ["WordLearner", "prepare_training"]


class WordLearner:
    r"""Learns word meanings from clips and sentences, without given assignments of participants.

    Every word is a small hidden Markov model over features of its arguments. The likelihood of a
    clip under a sentence sums over all assignments j of one track to each participant and over all
    state sequences of all words, with the ratio of each state's distribution to the background:

    .. math:: L = \sum_{j} P(j)\prod_l\sum_{q_l}\prod_t a_{q^{t-1}q^t}
        \prod_n\frac{b_{q^t,n}(x^t_n(j))}{b_{0,n}(x^t_n(j))}

    EM maximises it from several starts; the best start is the one that prefers the true sentences
    among false ones; scales per verb are calibrated; gradient steps on the posterior of the true
    sentence refine all parameters (Yu & Siskind, ACL 2013 and AAAI 2015, and beyond).

    Args:
        settings: Settings of training; see :class:`TrainingSettings`.
        threads: Number of clips to work on at once; the result does not depend on it.
        engine: Engine of the E-step, processes or a cluster, with the same result; see
            :func:`wordsight.engine.create_engine`.
        device: Device for the lattices of the E-step, such as ``cuda``, in single precision.
        changes: Single settings that differ from ``settings``, by name.

    Attributes:
        lexicon_: The learned lexicon, after :meth:`fit`.
        calibrated_: The lexicon before discriminative training.
        held_out_: The learned lexicon without each training clip, to judge these clips.
        calibrated_held_out_: The same for the lexicon before discriminative training.
        histories_: Per restart of EM the objective after every iteration.
        discriminative_history_: The objective after every epoch of discriminative training.
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
        keep_checkpoint: bool = False,
    ) -> "WordLearner":
        """Learn from clips and their sentences.

        Args:
            clips: The clips. One that is given several times, once for each of its sentences, is
                one example: it is left out as a whole where clips are judged by words learned
                without them.
            sentences: Per clip one true sentence, or several.
            lexicon: The grammar; inferred from the sentences if not given.
            candidates: Per clip the sentences to choose among, for comparing restarts, calibration
                and discriminative training; near misses if not given.
            progress: Called after every step.
            checkpoint: A file that holds the state while training, so that a training that was
                interrupted resumes; removed in the end. Its folder is created if needed.
            keep_checkpoint: Whether it stays, for a caller that has more to do and may be
                interrupted, too.

        Returns:
            The learner itself.

        Raises:
            MeaningError: If there is nothing to learn from, clips and sentences do not match, or
                the checkpoint cannot be written.
            LanguageError: If a sentence cannot be parsed with the given lexicon.
        """
        path = None if checkpoint is None else prepare_checkpoint_path(checkpoint)
        clips, texts = require_pairs(clips, sentences)
        require_lexicon(lexicon)
        if candidates is not None and len(candidates) != len(clips):
            raise MeaningError(
                f"{len(clips)} clips came with {len(candidates)} lists of candidates; give one "
                "list for every clip."
            )
        clips, texts, candidates = _merged(clips, texts, candidates)
        grammar = self._grammar(texts, lexicon)
        unread = {text for text, _ in self.inferred_.unread} if self.inferred_ else set()
        corpus, blank = prepare_training(
            clips, texts, grammar, self.settings, candidates=candidates, unread=unread
        )
        trainer = Trainer(
            corpus,
            blank,
            self.settings,
            threads=self.threads,
            engine=self.engine,
            device=self.device,
        )
        try:
            self._run(trainer, progress, path)
        finally:
            trainer.close()
        self.histories_ = trainer.state.histories
        self.discriminative_history_ = trainer.state.discriminative_history
        self.calibrated_held_out_ = self._held_out(trainer.calibrated, corpus)
        self.held_out_ = self.calibrated_held_out_
        if trainer.result is not trainer.calibrated:
            self.held_out_ = self._held_out(trainer.result, corpus)
        threshold = fit_threshold(self.held_out_, corpus, threads=self.threads)
        self.calibrated_ = self.calibrated_held_out_.lexicon
        notes = self._notes(corpus, trainer)
        self.lexicon_ = replace(self.held_out_.lexicon, threshold=threshold, notes=notes)
        self.held_out_ = replace(self.held_out_, lexicon=self.lexicon_)
        if path is not None and not keep_checkpoint:
            path.unlink(missing_ok=True)
        return self

    def _grammar(self, texts: list[list[SentenceLike]], lexicon: Lexicon | None) -> Lexicon:
        self.inferred_ = None
        if lexicon is not None:
            return lexicon
        self.inferred_ = infer_lexicon([one for several in texts for one in several])
        for text, reason in self.inferred_.unread[:3]:
            message = f"cannot read {text[:80]!r}: {reason.splitlines()[0]}"
            warnings.warn(message, MeaningWarning, stacklevel=3)
        return self.inferred_.lexicon

    def _run(self, trainer: Trainer, progress: Progress | None, checkpoint: Path | None) -> None:
        mark = fingerprint(trainer.corpus, self.settings) if checkpoint is not None else ""
        if checkpoint is not None and current_limits() != Limits():
            mark += f" {current_limits()}"  # training under other limits is not resumed
        if checkpoint is not None:
            load_checkpoint(checkpoint, trainer, mark)
        while not trainer.done:
            step = trainer.step()
            if checkpoint is not None:
                save_checkpoint(checkpoint, trainer, mark)
            if progress is not None:
                progress(trainer.steps_done, trainer.num_steps, step)

    def _held_out(self, lexicon: LearnedLexicon, corpus: Corpus) -> LeaveOneOut:
        """Return a lexicon without each clip, with the belief fitted on them."""
        chosen = self.settings
        held_out = leave_one_out(
            lexicon, corpus, chosen.smoothing, noise=chosen.noise, threads=self.threads
        )
        if not chosen.belief:
            return held_out
        seed = chosen.random_state
        belief = fit_belief(held_out, corpus, threads=self.threads, random_state=seed)
        return replace(held_out, lexicon=replace(lexicon, belief=belief))

    def _notes(self, corpus: Corpus, trainer: Trainer) -> dict[str, object]:
        best = trainer.state.best
        durations = [example.observation.duration for example in corpus.examples]
        cut = {CUT_CLIPS: True} if self.settings.cut else {}
        tried = "; ".join(map(str, trainer.state.senses)) or "no verb has enough clips"
        senses = {"second_senses": tried} if self.settings.senses else {}
        return (
            cut
            | senses
            | {
                "clips": len(corpus.examples),
                TYPICAL_CLIP: round(median(durations), 2),
                "pairs": corpus.num_pairs,
                "settings": settings_text(self.settings),
                "chosen_restart": best[0] + 1 if best else 0,
                "objective": best[1] if best else 0.0,
            }
        )


def prepare_training(
    clips: Sequence[Clip],
    sentences: Sequence[Sequence[SentenceLike]],
    lexicon: Lexicon,
    settings: TrainingSettings,
    *,
    candidates: Sequence[Sequence[SentenceLike]] | None = None,
    unread: Collection[str] = (),
) -> tuple[Corpus, LearnedLexicon]:
    """Parse sentences, learn bins and measure clips.

    Args:
        clips: The clips.
        sentences: Per clip its true sentences.
        lexicon: The grammar.
        settings: Settings of training.
        candidates: Per clip the sentences to choose among; near misses if not given.
        unread: Sentences to leave out, because they cannot be parsed.

    Returns:
        The corpus, and a lexicon without words.
    """
    parsed = [
        _parsed((s for s in several if str(s) not in unread), lexicon) for several in sentences
    ]
    rivals = None if candidates is None else [_parsed(row, lexicon) for row in candidates]
    looks = learn_from_clips(clips, parsed, lexicon, settings) if settings.looks else None
    if looks is not None:
        clips = [looks.named(clip) for clip in clips]
    nouns = [entry.name for entry in lexicon.of_part(PartOfSpeech.NOUN)]
    looking = settings.view_settings
    by_class = bool(settings.class_names) and looks is None
    if by_class and (parts := tuple(part for part in BODY_PARTS if part in nouns)):
        looking = replace(looking, parts=parts)
    views = [looking.view(clip) for clip in clips]
    features = get_feature_set(settings.features).with_phases(settings.phases)
    features = features.with_weights(settings.weights)
    vocabulary = learn_vocabulary(
        views, features, clusters=settings.clusters, jitter=settings.jitter
    )
    named = noun_labels(nouns, views, vocabulary.labels) if by_class else {}
    corpus = build_corpus(
        [observe(view, vocabulary) for view in views],
        parsed,
        lexicon,
        candidates=rivals,
        max_candidates=settings.max_candidates,
        role_priors=settings.role_priors,
        random_state=settings.random_state,
        noun_labels=named,
    )
    mentioned = [{word.entry for one in said for word in one.words} for said in parsed]
    missed = unseen_nouns(named, views, mentioned, vocabulary.labels)
    others = contrasted_labels(nouns, views, mentioned, vocabulary.labels) if by_class else {}
    corpus = replace(corpus, unseen_nouns=frozenset(missed), noun_labels={**others, **named})
    uniform = settings.background == "uniform"
    observations = [example.observation for example in corpus.examples]
    background = background_distributions(observations, vocabulary, uniform=uniform)
    blank = LearnedLexicon(
        lexicon,
        {},
        features,
        vocabulary,
        background,
        looking,
        add_log_states=uniform,
        noun_looks=looks,
    )
    return corpus, blank


def learn_from_clips(
    clips: Sequence[Clip],
    sentences: Sequence[Sequence[Sentence]],
    lexicon: Lexicon,
    settings: TrainingSettings,
) -> NounLooks | None:
    """Learn what nouns look like if the boxes of all clips have an appearance but no classes."""
    if not clips or not all(map(has_only_looks, clips)):
        return None
    tracks = [track_looks(followed_regions(clip)) for clip in clips]
    widths = sorted({looks.rows.shape[1] for looks in tracks})
    if len(widths) > 1:
        raise MeaningError(
            f"the looks of these clips have {' and '.join(map(str, widths))} numbers, because they "
            "were detected by different versions; add the videos again to detect all alike."
        )
    return learn_noun_looks(tracks, sentences, lexicon, random_state=settings.random_state)


def _parsed(texts: Iterable[SentenceLike], lexicon: Lexicon) -> list[Sentence]:
    found: list[Sentence] = []
    for text in map(require_sentence, texts):
        if isinstance(text, Sentence) and text.words:
            found.append(text)
        else:
            found += read_sentences(text.text if isinstance(text, Sentence) else text, lexicon)
    return found


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
