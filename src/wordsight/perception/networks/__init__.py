"""Networks of detectors that are fetched when asked for: a catalogue, fetching, conversion to ONNX.

The weights themselves do not come with Wordsight. An entry of the catalogue says where they are
published, under which licence and with which hash.
"""

from wordsight.perception.networks.catalog import (
    NetworkEntry,
    fetch_network,
    find_network,
    installed_network,
    network_catalog,
    network_path,
    with_parts,
)

__all__ = [
    "NetworkEntry",
    "fetch_network",
    "find_network",
    "installed_network",
    "network_catalog",
    "network_path",
    "with_parts",
]
