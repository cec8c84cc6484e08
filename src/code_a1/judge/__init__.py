"""Validity on the reference, verdicts on candidates: `Judge`. Deterministic: same input, same verdicts."""

from code_a1.judge.judge import Judge
from code_a1.judge.reference import ReferenceSolution

__all__ = ["Judge", "ReferenceSolution"]
