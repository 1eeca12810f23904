"""The lattice and the mixtures on an accelerator.

Torch for every shape of lattice, one fused kernel for the commonest; mixtures fitted and scored in
batches. Torch is imported when something here is first run; it comes with the extra ``gpu``.
"""

from wordsight.inference.gpu.device import DeviceWarning, find_device
from wordsight.inference.gpu.lattice_run import expected_counts_on, log_scores_on
from wordsight.inference.gpu.mixtures import DeviceMixtures, fit_mixtures_on, mixtures_on

__all__ = [
    "DeviceMixtures",
    "DeviceWarning",
    "expected_counts_on",
    "find_device",
    "fit_mixtures_on",
    "log_scores_on",
    "mixtures_on",
]
