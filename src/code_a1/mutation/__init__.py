"""Mutation testing: mutants of a reference by the operators of cosmic-ray, run in the sandbox. See docs/mutation.md.

mutants = make_mutants(problem.reference_solution, problem.entry_point, limit=50, seed=0)
[matrix] = run_mutants(sandbox, [Subject(problem, mutants, tests)])
matrix.score().value
"""

from code_a1.mutation.kills import (
    KillMatrix,
    MutantStatus,
    MutationScore,
    Subject,
    mutant_limits,
    run_mutants,
)
from code_a1.mutation.minimise import minimise
from code_a1.mutation.mutants import Mutant, make_mutants
from code_a1.mutation.operators import require_operators

__all__ = [
    "KillMatrix",
    "Mutant",
    "MutantStatus",
    "MutationScore",
    "Subject",
    "make_mutants",
    "minimise",
    "mutant_limits",
    "require_operators",
    "run_mutants",
]
