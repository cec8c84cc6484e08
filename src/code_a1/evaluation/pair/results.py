"""What was found out about one task, with everything that choices are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from code_a1.evaluation.pair.choosing import Behaviour


@dataclass(frozen=True, slots=True)
class PairResult:
    """One task. A task that was `left_out` has the reason and no programs.

    `programs` are the N samples in order, None where an answer holds none; `right` says what the benchmark's own tests
    say, None where a failure of ours kept them from it. `suites` are places in `tests`, one row per suite, in the order
    written; suite i was written against program i, or from the description alone.
    """

    bench: str
    task_id: str
    left_out: str = ""
    programs: tuple[str | None, ...] = ()
    right: tuple[bool | None, ...] = ()
    tests: tuple[str, ...] = ()
    suites: tuple[tuple[int, ...], ...] = ()
    behaviours: tuple[Behaviour, ...] = ()
    completions: tuple[str, ...] = ()
    """The coder's answers."""
    test_completions: tuple[str, ...] = ()
    """The tester's."""

    @property
    def scored(self) -> bool:
        """Whether the task counts."""
        return bool(self.programs) and None not in self.right


def to_row(result: PairResult) -> dict[str, Any]:
    """As one line of `results.jsonl`."""
    row = asdict(result)
    row["behaviours"] = [b | {"passed": sorted(b["passed"])} for b in row["behaviours"]]
    return row


def from_row(row: Mapping[str, Any]) -> PairResult:
    """Read back what `to_row` wrote. Raises KeyError, TypeError or ValueError where it did not."""
    fields = dict(row)
    behaviours = tuple(
        Behaviour(frozenset(b["passed"]), tuple(b["outputs"]), b["loaded"]) for b in fields.pop("behaviours")
    )
    suites = tuple(tuple(suite) for suite in fields.pop("suites"))
    for key in ("programs", "right", "tests", "completions", "test_completions"):
        fields[key] = tuple(fields[key])
    return PairResult(behaviours=behaviours, suites=suites, **fields)
