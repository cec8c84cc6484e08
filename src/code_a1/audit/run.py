"""Read a run's rollouts for the signs of `code_a1.audit.signs`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from code_a1.audit.programs import cases_by_heart, knows, literal_arguments
from code_a1.audit.signs import Sign, all_signs
from code_a1.audit.suites import calls_in, restates, suite_key, trivial
from code_a1.config_file import load_config
from code_a1.diversity import statement_calls
from code_a1.problems import load_problems
from code_a1.records import Problem, Validity
from code_a1.run_dir import RunDir

Row = Mapping[str, Any]
"""One candidate with its suites, as `rollout_rows` writes it."""

_USABLE = {str(kind) for kind in Validity if kind.usable}


def audit_run(run: RunDir, steps: Sequence[int] = (), examples: int = 2) -> list[Sign]:
    """Every sign, counted over the rollouts of `steps` (none: of all).

    Raises ProblemError or ConfigError where the run's problems, whose statements are needed, cannot be read any more.
    """
    problems = {p.problem_id: p for p in load_problems(load_config(run.config_path).problems).problems}
    signs = all_signs(examples)
    seen: dict[bytes, tuple[str, str]] = {}
    for step in steps or [row["step"] for row in run.metrics() if row["step"] > 0]:
        for row in run.rollouts(step):
            if (problem := problems.get(row["problem_id"])) is not None:
                _audit_program(signs, row, problem)
                for suite in row["suites"]:
                    _audit_suite(signs, row, suite, problem, seen)
    return list(signs.values())


def _audit_program(signs: Mapping[str, Sign], row: Row, problem: Problem) -> None:
    """Opponents are left out: nobody was paid for writing them."""
    code, name = row["code"], problem.entry_point
    if not code or row.get("origin", "policy") != "policy":
        return
    names, cases = cases_by_heart(code, name)
    stated = statement_calls(problem.statement, name)
    in_statement = any(knows(cases, a) for call in stated for a in literal_arguments(call, name, names))
    tests = [t["test"] for t in row["replayed"]] + [t["test"] for s in row["suites"] for t in s["tests"]]
    in_tests = bool(cases) and any(knows(cases, a) for test in tests for a in literal_arguments(test, name, names))
    place = _place(row)
    signs["statement-answers"].count(in_statement, place, code)
    signs["special-cases"].count(in_tests and not in_statement, place, code)


def _audit_suite(
    signs: Mapping[str, Sign], row: Row, suite: Row, problem: Problem, seen: dict[bytes, tuple[str, str]]
) -> None:
    name, code, place = problem.entry_point, row["code"] or "", _place(row)
    sources = [t["test"] for t in suite["tests"]]
    if not sources:
        return
    own = row.get("origin", "policy") == "policy"
    signs["restated-candidate"].count(
        own and restates(suite["completion"], sources, code, name), place, "\n".join(sources)
    )
    stated = statement_calls(problem.statement, name)
    for test in suite["tests"]:
        signs["repeated-tests"].count(test["validity"] == Validity.DUPLICATE, place, test["test"])
        if test["validity"] in _USABLE and (calls := calls_in(test["test"], name)):
            signs["example-tests"].count(not stated.isdisjoint(calls), place, test["test"])
            signs["trivial-tests"].count(trivial(calls, name), place, test["test"])
    key = hashlib.blake2b(suite_key(sources, name).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    where = (row["problem_id"], code)
    first = seen.setdefault(key, where)
    signs["same-suites"].count(first != where, place, "\n".join(sources))


def _place(row: Row) -> str:
    return f"step {row['step']}, {row['problem_id']}, candidate {row['candidate']}"
