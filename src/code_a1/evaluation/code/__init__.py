"""Measured quality of a code policy: benchmarks, pass@k with intervals, folders of results. See docs/evaluation.md."""
