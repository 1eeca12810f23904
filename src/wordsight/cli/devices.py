"""The option that says on which device to compute, the same for every command that can."""

from typing import Annotated

import typer

from wordsight.cli.output import Output

__all__ = ["DeviceOption", "device_of"]

DeviceOption = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="cuda",
        help="Compute what looks like what there; the processor does it where no device is.",
        show_default=False,
    ),
]


def device_of(output: Output, name: str | None) -> str | None:
    """Return the device's name if it is there; otherwise say why not, and return nothing."""
    if name is None:
        return None
    import warnings

    from wordsight.inference.gpu import DeviceWarning, find_device

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DeviceWarning)
        found = find_device(name)
    for warning in told:
        output.warn(str(warning.message))
    return None if found is None else name
