"""Speed and memory beside peers, as ratios in one run; ``python -m benchmarks`` runs them all."""
