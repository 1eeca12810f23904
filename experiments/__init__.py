"""One file per paper or data set: each prints the published table beside ours.

Every experiment is a module run as ``python -m experiments.NAME --data DIR [--json]``. It prints
one JSON object on standard output with ``--json`` and a readable table without; what goes on
meanwhile is told on standard error.
"""
