"""Detectors as workflows take them: a name, and the options of that detector."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import field_validator

from wordsight.errors import WordsightError
from wordsight.workflows.reporter import Reporter
from wordsight.workflows.settings import Request, setting

__all__ = [
    "FIRST_LOOK",
    "DetectorSettings",
    "default_detector",
    "detector_labels_setting",
    "detector_model_setting",
    "detector_options",
    "detector_options_setting",
    "detector_setting",
    "report_first_look",
]

FIRST_LOOK = "regions"
"""The detector that needs nothing to be fetched."""


def default_detector() -> str:
    """Return the detector that is used unless one is named: ``objects`` where it was fetched."""
    from wordsight.perception.networks import installed_network

    return FIRST_LOOK if installed_network("objects") is None else "objects"


def report_first_look(detector: str, reporter: Reporter) -> None:
    """Say once what the detector that needs nothing is good for, and how to get more."""
    if detector == FIRST_LOOK and default_detector() == FIRST_LOOK:
        reporter.note(
            "The detector regions is a first look: it finds what moves or stands out, without "
            "names. `wordsight detectors get objects` fetches one that knows 80 kinds of things."
        )


def detector_setting() -> Any:
    """Declare the setting that chooses a detector."""
    return setting(
        default_detector,
        "The detector that finds things; `wordsight detectors list` shows them.",
        "--detector",
        "-d",
        default_text="objects if it was fetched, else regions",
    )


def detector_model_setting(*flags: str) -> Any:
    """Declare the setting that names the network of the onnx detector."""
    return setting(None, "The model of the onnx detector.", *flags, metavar="FILE")


def detector_labels_setting(*flags: str) -> Any:
    """Declare the setting that names the classes of that network."""
    return setting(None, "Names of the onnx model's classes.", *flags, metavar="FILE")


def detector_options_setting() -> Any:
    """Declare the setting for any other option of the detector."""
    return setting((), "Any other option of the detector.", "--option", metavar="NAME=VALUE")


class DetectorSettings(Request):
    """Which detector looks at videos, and with which options."""

    detector: str = detector_setting()
    model: Path | None = detector_model_setting()
    labels: Path | None = detector_labels_setting()
    options: tuple[str, ...] = detector_options_setting()

    @field_validator("options", mode="before")
    @classmethod
    def _written(cls, value: Any) -> Any:
        """Take options by name as well."""
        if isinstance(value, Mapping):
            return tuple(f"{name}={json.dumps(one)}" for name, one in value.items())
        return value

    def detector_options(self) -> dict[str, Any]:
        """Return the options by name, the files of a model among them."""
        return detector_options(self.detector, self.model, self.labels, self.options)


def detector_options(
    detector: str,
    model: Path | None,
    labels: Path | None,
    settings: Sequence[str],
    *,
    model_option: str = "--model",
) -> dict[str, Any]:
    """Return the options of a detector.

    Raises:
        WordsightError: If a setting is not NAME=VALUE, or the onnx detector has no model.
    """
    options: dict[str, Any] = {}
    for one in settings:
        name, equals, value = one.partition("=")
        if not (name and equals):
            raise WordsightError(f"--option takes NAME=VALUE, got {one!r}.")
        options[name.replace("-", "_")] = _value(value)
    # As text: the library writes options as JSON and passes them to worker processes.
    paths = {"model": model, "labels": labels}
    options |= {name: str(path) for name, path in paths.items() if path is not None}
    if detector == "onnx" and "model" not in options:
        raise WordsightError(f"the onnx detector needs a model: {model_option} FILE.onnx")
    return options


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
