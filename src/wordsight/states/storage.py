"""A state model on disk: a folder of ``model.json``, ``rules.txt`` and ``card.md``; no pickle.

Rules are kept as the text people read and edit; the folder is written beside its place and renamed
when complete, so that a crash leaves the old one or the new one.
"""

import json
import os
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wordsight.errors import FormatError
from wordsight.files import TEMPORARY_MARK, write_text
from wordsight.states.inference import Inference
from wordsight.states.rule_text import parse_rules
from wordsight.states.rules import Rule, format_rules
from wordsight.states.sequence import SearchSettings
from wordsight.states.vocabulary import Feature, Predicate, Recipe, Vocabulary

if TYPE_CHECKING:
    from wordsight.states.model import StateModel

__all__ = ["load_model", "save_model"]

_KIND, _VERSION = "StateModel", 1

Model = TypeVar("Model", bound="StateModel")


def save_model(
    model: "StateModel", path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a model to a folder.

    Args:
        model: The model.
        path: The folder to make.
        overwrite: Whether a model that is there may be replaced; anything else never is.

    Raises:
        FileExistsError: If something is there that may not be replaced.
    """
    target = Path(path)
    if target.exists() and not (overwrite and _is_model(target)):
        raise FileExistsError(
            f"{target} exists already; choose another name, remove it, or allow overwriting."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}{TEMPORARY_MARK}", dir=target.parent))
    try:
        text = json.dumps(_described(model), indent=1, ensure_ascii=False, allow_nan=False)
        write_text(folder / "model.json", text + "\n")
        write_text(folder / "rules.txt", format_rules(model.rules_))
        write_text(folder / "card.md", _card(model))
        folder.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        folder.rename(target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def load_model(kind: type[Model], path: str | os.PathLike[str]) -> Model:
    """Read a model that :func:`save_model` wrote.

    Raises:
        FormatError: If the folder is missing, damaged or from a newer version.
    """
    folder = Path(path)
    described = _read(folder)
    try:
        rules = parse_rules((folder / "rules.txt").read_text(encoding="utf-8"))
        return _restored(kind, described, rules)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{folder} is damaged: {error}") from error


def _is_model(target: Path) -> bool:
    try:
        _read(target)
    except FormatError:
        return False
    return True


def _read(folder: Path) -> dict[str, Any]:
    path = folder / "model.json"
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(
            f"{folder} is not a state model: {path.name} cannot be read ({error}). Expected a "
            "folder that Wordsight wrote."
        ) from None
    if not isinstance(described, dict) or described.get("kind") != _KIND:
        raise FormatError(f"{path} does not describe a state model.")
    version = described.get("version")
    if not isinstance(version, int) or version > _VERSION:
        raise FormatError(
            f"{folder} was written by a newer Wordsight (version {version}, this one reads up to "
            f"{_VERSION}); update Wordsight to read it."
        )
    return described


def _described(model: "StateModel") -> dict[str, Any]:
    return {
        "kind": _KIND,
        "version": _VERSION,
        "transition_cost": model.transition_cost_,
        "predicates": [asdict(predicate) for predicate in model.vocabulary_.predicates],
        "features": [asdict(feature) for feature in model.vocabulary_.features],
        "inference": asdict(model.inference),
        "random_state": model.random_state,
        "notes": model.notes_,
    }


def _restored(kind: type[Model], described: dict[str, Any], rules: tuple[Rule, ...]) -> Model:
    vocabulary = Vocabulary(
        tuple(Predicate(p["name"], tuple(p["types"])) for p in described["predicates"]),
        tuple(map(_feature, described["features"])),
    )
    inference = dict(described["inference"])
    inference["search"] = SearchSettings(**inference["search"])
    model = kind(
        rules,
        float(described["transition_cost"]),
        vocabulary,
        inference=Inference(**inference),
        random_state=int(described["random_state"]),
    )
    model.notes_ = dict(described["notes"])
    return model


def _feature(values: dict[str, Any]) -> Feature:
    recipe = values["recipe"]
    return Feature(
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
