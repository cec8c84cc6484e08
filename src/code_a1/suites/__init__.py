"""Suites of a test policy outside of training: pooled, validated, tried on mutants, written to files."""

from code_a1.suites.pool import TestPool, open_sandbox, sample_pools, written_source

__all__ = ["TestPool", "open_sandbox", "sample_pools", "written_source"]
