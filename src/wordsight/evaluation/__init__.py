"""One small file per measure; numpy only."""

from wordsight.evaluation.classification import (
    Decisions,
    RocCurve,
    best_threshold,
    blind_f1,
    chance_f1,
    decisions,
    roc_curve,
)
from wordsight.evaluation.forced_choice import (
    FrequencyGuesser,
    chance_accuracy,
    choice_accuracy,
    choices,
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
from wordsight.evaluation.sequences import compressed, edit_distance, sequence_error

__all__ = [
    "RANKING_MEASURES",
    "Decisions",
    "FrequencyGuesser",
    "JudgedRanking",
    "Measure",
    "RankingScores",
    "RocCurve",
    "best_threshold",
    "blind_f1",
    "chance_accuracy",
    "chance_f1",
    "choice_accuracy",
    "choices",
    "compressed",
    "decisions",
    "edit_distance",
    "evaluate_run",
    "judge",
    "parse_measure",
    "roc_curve",
    "sequence_error",
]
