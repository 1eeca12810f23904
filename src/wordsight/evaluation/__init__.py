"""One small file per measure; numpy only."""

from wordsight.evaluation.classification import (
    Decisions,
    RocCurve,
    best_threshold,
    blind_f1,
    blind_f1_of_counts,
    chance_f1,
    decisions,
    roc_curve,
    separating_threshold,
)
from wordsight.evaluation.forced_choice import (
    Estimate,
    FrequencyGuesser,
    chance_accuracy,
    choice_accuracy,
    choice_credit,
    choices,
    estimate_difference,
    estimate_mean,
    estimate_ratio,
)
from wordsight.evaluation.ranking import (
    RANKING_MEASURES,
    JudgedRanking,
    Measure,
    RankingScores,
    evaluate_run,
    judge,
    parse_measure,
)
from wordsight.evaluation.segmentation import StepScores, score_steps

__all__ = [
    "RANKING_MEASURES",
    "Decisions",
    "Estimate",
    "FrequencyGuesser",
    "JudgedRanking",
    "Measure",
    "RankingScores",
    "RocCurve",
    "StepScores",
    "best_threshold",
    "blind_f1",
    "blind_f1_of_counts",
    "chance_accuracy",
    "chance_f1",
    "choice_accuracy",
    "choice_credit",
    "choices",
    "decisions",
    "estimate_difference",
    "estimate_mean",
    "estimate_ratio",
    "evaluate_run",
    "judge",
    "parse_measure",
    "roc_curve",
    "score_steps",
    "separating_threshold",
]
