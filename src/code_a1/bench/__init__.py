"""Benchmarks: ratios within one run on one machine, never times asserted in a test."""
