"""The smallest suites that still find what a larger one finds."""

from __future__ import annotations

from collections.abc import Sequence


def minimise(kills: Sequence[frozenset[int]], *, extra: int = 0) -> list[int]:
    """Which tests to keep, as positions in their order: greedy set cover of the mutants that all tests kill together.

    Each round takes the test that kills most mutants not yet killed, the earlier one of two; that is within a factor of
    ln(mutants) + 1 of the smallest cover (Chvátal 1979). `extra` further tests are kept, those that kill most mutants
    first: mutants are not all the faults that there are.
    """
    left: set[int] = set().union(*kills)
    kept: set[int] = set()
    while left:
        best = max(range(len(kills)), key=lambda t: len(kills[t] & left))
        kept.add(best)
        left -= kills[best]
    others = sorted((t for t in range(len(kills)) if t not in kept), key=lambda t: -len(kills[t]))
    return sorted(kept | set(others[:extra]))
