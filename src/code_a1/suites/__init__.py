"""Suites of a test policy outside of training: pooled, validated, tried on mutants, written to files."""

from code_a1.suites.pool import TestPool, sample_pools, written_source

__all__ = ["TestPool", "sample_pools", "written_source"]
