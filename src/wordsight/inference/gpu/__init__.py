"""The lattice on an accelerator: torch for every shape, one fused kernel for the commonest.

Torch is imported when something here is first run; it comes with the extra ``gpu``.
"""

from wordsight.inference.gpu.device import DeviceWarning, find_device
from wordsight.inference.gpu.lattice_gpu import expected_counts_on, log_scores_on

__all__ = ["DeviceWarning", "expected_counts_on", "find_device", "log_scores_on"]
