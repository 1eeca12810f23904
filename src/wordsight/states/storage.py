"""Saving and loading of state models; the rules are kept as editable text."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wordsight.records.model_folder import ModelFolder
from wordsight.states.rules.rule import Rule, format_rules, parse_rules
from wordsight.states.rules.vocabulary import ObjectFeature, Predicate, Recipe, StateVocabulary
from wordsight.states.search.inference import InferenceSettings
from wordsight.states.search.segments import SegmentSearchSettings

if TYPE_CHECKING:
    from wordsight.states.model import StateModel

__all__ = ["load_model", "save_model"]

# 2: notes may require that tracks are stabilised; version 1 would ignore that.
_FOLDER = ModelFolder("StateModel", 2, "a state model", "restore it or learn again")

Model = TypeVar("Model", bound="StateModel")


def save_model(
    model: "StateModel", path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a model to a folder.

    Args:
        model: The model.
        path: The folder to create.
        overwrite: Whether an existing model may be replaced; other folders are never replaced.

    Raises:
        FileExistsError: If the folder exists and may not be replaced.
    """
    _FOLDER.write(
        path,
        _described(model),
        texts={"rules.txt": format_rules(model.rules_), "card.md": _card(model)},
        overwrite=overwrite,
    )


def load_model(kind: type[Model], path: str | os.PathLike[str]) -> Model:
    """Read a model that :func:`save_model` wrote.

    Raises:
        FormatError: If the folder is missing, damaged or from a newer version.
    """
    described, _ = _FOLDER.read(path)
    with _FOLDER.restoring(path):
        rules = parse_rules((Path(path) / "rules.txt").read_text(encoding="utf-8"))
        return _restored(kind, described, rules)


def _described(model: "StateModel") -> dict[str, Any]:
    return {
        "transition_cost": model.transition_cost_,
        "predicates": [asdict(predicate) for predicate in model.vocabulary_.predicates],
        "features": [asdict(feature) for feature in model.vocabulary_.features],
        "inference": asdict(model.inference),
        "random_state": model.random_state,
        "notes": model.notes_,
    }


def _restored(kind: type[Model], described: dict[str, Any], rules: tuple[Rule, ...]) -> Model:
    vocabulary = StateVocabulary(
        tuple(Predicate(p["name"], tuple(p["types"])) for p in described["predicates"]),
        tuple(map(_feature, described["features"])),
    )
    inference = dict(described["inference"])
    inference["search"] = SegmentSearchSettings(**inference["search"])
    model = kind(
        rules,
        float(described["transition_cost"]),
        vocabulary,
        inference=InferenceSettings(**inference),
        random_state=int(described["random_state"]),
    )
    model.notes_ = dict(described["notes"])
    return model


def _feature(values: dict[str, Any]) -> ObjectFeature:
    recipe = values["recipe"]
    return ObjectFeature(
        values["name"],
        tuple(values["types"]),
        bool(values["causal"]),
        None if recipe is None else Recipe(**recipe),
        values["meaning"],
    )


def _card(model: "StateModel") -> str:
    hard = [rule for rule in model.rules_ if rule.hard]
    soft = sorted((r for r in model.rules_ if not r.hard), key=lambda rule: -rule.weight)
    lines = ["# A state model", "", "Made by Wordsight. It says which facts hold when:", ""]
    lines += [f"- {p.name}({', '.join(p.types)})" for p in model.vocabulary_.predicates]
    lines += [
        "",
        f"Every change of state costs {model.transition_cost_:g}. There are {len(model.rules_)} "
        "rules, all in rules.txt. A rule costs its weight at every moment at which it is broken.",
        "",
        "## Rules that always hold",
        "",
        *[f"    {rule}" for rule in hard],
        "",
        "## The strongest rules",
        "",
        *[f"    {rule}" for rule in soft[:20]],
        "",
        "## Limits",
        "",
        "Thresholds are in pixels and seconds of the videos it was learned from; another camera or",
        "another distance may need learning anew.",
    ]
    return "\n".join(lines) + "\n"
