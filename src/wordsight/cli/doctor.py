"""``wordsight doctor``: what is installed, what is missing, and how to get it."""

import platform
import re
import sys
from dataclasses import dataclass
from importlib import metadata

import typer

from wordsight import __version__
from wordsight.cli.options import speaking
from wordsight.cli.output import Output

__all__ = ["doctor"]

_REQUIREMENT = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)[^;]*(?:;.*extra\s*==\s*['\"](?P<extra>\w+))?"
)


@dataclass(frozen=True)
class InstalledPackage:
    """A package Wordsight can use.

    Attributes:
        package: Its name.
        extra: The extra it belongs to, or ``None`` if it is always needed.
        version: The version installed, or ``None``.
    """

    package: str
    extra: str | None
    version: str | None


@speaking
def doctor(output: Output) -> None:
    """Report what is installed and which extras are missing."""
    parts = _parts()
    missing = [part.package for part in parts if part.extra is None and part.version is None]
    encoders = _encoders()
    report = {
        "wordsight": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "core": {part.package: part.version for part in parts if part.extra is None},
        "extras": {
            extra: {part.package: part.version for part in parts if part.extra == extra}
            for extra in sorted({part.extra for part in parts if part.extra})
        },
        "detectors": _detectors(),
        "h264_encoder": encoders,
        "ok": not missing and encoders,
    }
    output.result(report, lambda out: _render(out, parts, report))
    if not report["ok"]:
        raise typer.Exit(1)


def _parts() -> list[InstalledPackage]:
    parts = []
    for requirement in metadata.requires("wordsight") or []:
        found = _REQUIREMENT.match(requirement)
        if found:
            parts.append(InstalledPackage(found["name"], found["extra"], _version(found["name"])))
    return parts


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _detectors() -> dict[str, str]:
    try:
        from wordsight.perception import available_detectors
    except ImportError:  # a core package is missing; the table above says which
        return {}
    return available_detectors()


def _encoders() -> bool:
    try:
        import av
    except ImportError:
        return False
    return "libx264" in av.codecs_available or "h264" in av.codecs_available


def _render(output: Output, parts: list[InstalledPackage], report: dict[str, object]) -> None:
    output.line(f"Wordsight {__version__}, Python {platform.python_version()} ({sys.executable})")
    rows = [
        (part.package, part.extra or "always", part.version or "missing")
        for part in sorted(parts, key=lambda part: (part.extra is not None, part.extra or ""))
    ]
    output.table(["package", "needed for", "installed"], rows)
    incomplete = sorted({p.extra for p in parts if p.extra and p.version is None})
    for extra in incomplete:
        output.line(f"For [{extra}]:  pip install 'wordsight[{extra}]'")
    output.line(f"Detectors: {', '.join(_detectors()) or 'none'}")
    output.line(f"H.264 writing: {'yes' if report['h264_encoder'] else 'no'}")
    output.line(
        "All is well." if report["ok"] else "Something needed is missing: pip install wordsight"
    )
