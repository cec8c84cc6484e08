"""Measurements of a run's policies on what they do not train on; the trainer takes them every `eval_every` steps.

A measurement is a `Bench`. `HeldOut` is the one that needs nothing but a file of problems; others join it in
`open_benches`.
"""

from code_a1.evaluation.base import Bench, Players, evaluate
from code_a1.evaluation.heldout import HeldOut
from code_a1.evaluation.open import open_benches

__all__ = ["Bench", "HeldOut", "Players", "evaluate", "open_benches"]
