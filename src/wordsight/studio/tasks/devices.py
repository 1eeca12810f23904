"""The device a job computes on, and what to say where it is not there."""

import warnings

__all__ = ["device_at_hand"]


def device_at_hand(name: str | None) -> tuple[str | None, list[str]]:
    """Look for a device.

    Returns:
        Its name if it is there, else ``None``, which means the processor; and why, for people.
    """
    if name is None:
        return None, []
    from wordsight.inference.gpu import DeviceWarning, find_device

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DeviceWarning)
        found = find_device(name)
    return (None if found is None else name), [str(one.message) for one in told]
