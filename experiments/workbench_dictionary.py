"""Which noun names which thing: dictionaries learned from silent films of a rendered bench.

Run with ``python -m experiments.workbench_dictionary [--groups 8] [--seed 5000] [--json]``. Each
group is six films, two of each of three protocols of eight steps, learned together without labels.
Observed is what the hands truly touch; no film is rendered. Things bear the names that the texts
call them by, which no model looks at; dictionaries are scored against them as in ``wetlab``.

The settings of the default's links were chosen on groups of seeds 500 to 904; others are fresh.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.wetlab import matching
from experiments.workbench_films import make_takes, observed_through
from wordsight.alignment.models import HMM2, HSMM, AlignmentModel, Ensemble

__all__ = ["main", "measure"]

_FILMS = 6  # of a group, two per protocol
_MEASURES = ("precision", "recall", "f1")


def measure(groups: int, *, steps: int = 8, random_state: int = 5000) -> dict[str, Any]:
    """Learn a dictionary from each group with every model.

    Args:
        groups: How many groups of films.
        steps: Steps of each protocol.
        random_state: Seed of the first group; the next ones follow.

    Returns:
        By model, precision, recall and F1 as means over groups, and F1 of each group.
    """
    rows: dict[str, list[dict[str, float]]] = {}
    for seed in range(random_state, random_state + groups):
        takes = make_takes(_FILMS, 0.0, steps=steps, random_state=seed)
        seen = observed_through("touches", takes)
        pairs = [(take.instructions, one) for take, one in zip(takes, seen, strict=True)]
        models: dict[str, AlignmentModel] = {
            "hmm2": HMM2(),
            "hsmm_single": HSMM(),
            "default": Ensemble(),
        }
        for name, model in models.items():
            model.fit(pairs)
            found = matching(model.vocabulary_, getattr(model, "links_", model.table_))
            rows.setdefault(name, []).append(found)
            say(f"films of seed {seed}, {name}: F1 {found['f1']:.3f}")
    return {
        name: {one: float(np.mean([row[one] for row in found])) for one in _MEASURES}
        | {"f1_by_group": [row["f1"] for row in found]}
        for name, found in rows.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or one JSON object."""
    parser = report_parser("experiments.workbench_dictionary", __doc__ or "")
    parser.add_argument("--groups", type=int, default=8, help="groups of six films")
    parser.add_argument("--steps", type=int, default=8, help="steps of each protocol")
    parser.add_argument("--seed", type=int, default=5000, help="seed of the first group")
    options = parser.parse_args(arguments)
    results = measure(options.groups, steps=options.steps, random_state=options.seed)
    print_report(
        results,
        as_json=options.json,
        title="Workbench: names of things, mean over groups of films",
        columns=[Column("model", "model", justify="left")]
        + [Column(name, name, ".3f") for name in _MEASURES],
        rows=[{"model": name} | found for name, found in results.items()],
    )


if __name__ == "__main__":
    run_main(main)
