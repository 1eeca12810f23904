"""Run every benchmark that needs no data of yours, one after the other: ``python -m benchmarks``.

Name some to run only those: ``python -m benchmarks startup ingest``.
"""

import argparse
import subprocess
import sys

BENCHMARKS = (
    "startup",
    "ingest",
    "memory",
    "shots",
    "regions",
    "detectors",
    "worlds",
    "lattice",
    "lattice_limits",
    "states",
    "retrieval",
    "text_search",
    "attributes",
    "alignment",
    "studio",
    "live",
)


def main() -> None:
    """Run the benchmarks named, or all, each in a fresh process; exit with 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    names = parser.parse_args().names or BENCHMARKS
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    failed = []
    for name in names:
        print(f"\n== {name} ==", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
