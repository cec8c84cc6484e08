"""The reward of a program without an opponent: the share of its problem's own tests that it passes.

Shared by the bridges to other trainers. Every answer runs in the sandbox; nothing that it prints, raises, patches or
exits with can raise its reward (docs/sandbox.md).
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from code_a1.config import ProblemsConfig, SandboxConfig
from code_a1.errors import ProblemError, SandboxError
from code_a1.fixed_tests import own_tests
from code_a1.judge import Judge
from code_a1.problems import Dropped, load_problems
from code_a1.prompts import parse_code
from code_a1.records import Candidate, CodeGroup, Completion, JudgedCandidate, Problem, TestCase, Verdict
from code_a1.reference_check import check_references
from code_a1.sandbox import Sandbox

NO_COMPLETION = Completion("", (), (), (), "stop")


@dataclass(slots=True)
class _Open:
    """What one process needs to judge."""

    pid: int
    sandbox: Sandbox
    judge: Judge

    def close(self) -> None:
        """End the processes, unless this is a fork of the process that they belong to."""
        if self.pid == os.getpid():
            self.sandbox.close()


class PassRate:
    """Scores answers by problem id: the share of the problem's tests that the program in the answer passes, 0 to 1.

    `all_or_nothing` gives 1 for a program that passes all of them and else 0. An answer without a program, or with one
    that does not load, gets 0. The sandbox opens at the first use, in whichever process that is, and may be used by
    several threads at a time.

    `problems` are records, or a source as in `problems.path` of a configuration; more can be added later. A problem
    whose reference solution does not hold on its own tests, or that has none, would teach noise: it is left out, and
    `dropped` says why.

    Raises:
        ProblemError: the source cannot be read, or no problem is left.
        SandboxUnavailable: this machine offers less isolation than `config.allow_tier`.
    """

    def __init__(
        self,
        problems: Iterable[Problem] | str = (),
        *,
        all_or_nothing: bool = False,
        config: SandboxConfig | None = None,
    ) -> None:
        self.config = config or SandboxConfig()
        self.all_or_nothing = all_or_nothing
        self._problems: dict[str, Problem] = {}
        self._tests: dict[str, tuple[TestCase, ...]] = {}
        self.dropped: list[Dropped] = []
        self._open: _Open | None = None
        self._lock = threading.Lock()
        if isinstance(problems, str):
            problems = load_problems(ProblemsConfig(path=problems)).problems
        self.add(problems)
        if self.dropped and not self._problems:
            first = self.dropped[0]
            raise ProblemError(f"no problem can be judged by its own tests; first {first.problem_id!r}: {first.reason}")

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems that can be scored."""
        return tuple(self._problems.values())

    def add(self, problems: Iterable[Problem]) -> None:
        """Check the references of more problems, and take in those that hold. Known ones cost nothing.

        Raises ProblemError for an id that belongs to another problem already.
        """
        with self._lock:
            refused = {dropped.problem_id for dropped in self.dropped}
            new = []
            for problem in problems:
                known = self._problems.get(problem.problem_id)
                if known is not None and known != problem:
                    raise ProblemError(f"problem {problem.problem_id!r} is known already, with other contents")
                if known is None and problem.problem_id not in refused:
                    new.append(problem)
            if not new:
                return
            checked = check_references(self._opened().judge, new)
            found, without = own_tests(checked.problems, checked.tests)
            self.dropped += [*checked.dropped, *without]
            self._tests |= found
            self._problems |= {p.problem_id: p for p in new if p.problem_id in found}

    def score(self, problem_ids: Sequence[str], answers: Sequence[str]) -> list[float | None]:
        """One reward per answer; None where the sandbox failed, which says nothing about the answer.

        Raises:
            ProblemError: an unknown problem id.
            SandboxError: more than `config.max_sandbox_error_share` of the answers could not be judged.
        """
        by_problem: dict[str, list[int]] = {}
        for position, problem_id in enumerate(problem_ids):
            if problem_id not in self._problems:
                raise ProblemError(self._unknown(problem_id))
            by_problem.setdefault(problem_id, []).append(position)
        groups = [
            CodeGroup(
                self._problems[problem_id],
                tuple(Candidate(problem_id, p, parse_code(answers[p]), NO_COMPLETION) for p in positions),
            )
            for problem_id, positions in by_problem.items()
        ]
        with self._lock:
            judge = self._opened().judge
        judgements = judge(groups, (), {i: self._tests[i] for i in by_problem})
        rewards: list[float | None] = [None] * len(answers)
        for judgement in judgements:
            for judged in judgement.candidates:
                rewards[judged.candidate.index] = self._reward(judged)
        failed = rewards.count(None)
        if failed > self.config.max_sandbox_error_share * len(answers):
            raise SandboxError(
                f"{failed} of {len(answers)} answers could not be judged, through no fault of their own (limit "
                f"max_sandbox_error_share = {self.config.max_sandbox_error_share}); `code-a1 doctor` says what the "
                "sandbox lacks"
            )
        return rewards

    def close(self) -> None:
        """End the sandbox's processes. It opens again at the next use."""
        with self._lock:
            opened, self._open = self._open, None
        if opened is not None:
            opened.close()

    def _unknown(self, problem_id: str) -> str:
        for dropped in self.dropped:
            if dropped.problem_id == problem_id:
                return f"problem {problem_id!r} cannot be judged: {dropped.reason}"
        return f"problem {problem_id!r} is unknown; this reward was given {len(self._problems)} problems"

    def _reward(self, judged: JudgedCandidate) -> float | None:
        if judged.masked:
            return None
        passed = sum(verdict is Verdict.PASS for verdict in judged.replayed)
        if self.all_or_nothing:
            return float(passed == len(judged.replayed))
        return passed / len(judged.replayed)

    def _opened(self) -> _Open:
        """The sandbox of this process: one that was opened before a fork is the parent's."""
        if self._open is None or self._open.pid != os.getpid():
            sandbox = Sandbox.of(self.config)
            self._open = _Open(os.getpid(), sandbox, Judge(sandbox))
            weakref.finalize(self, self._open.close)
        return self._open


def without_gaps(problem_ids: Sequence[str], rewards: Sequence[float | None]) -> list[float | None]:
    """Give an answer that could not be judged the mean of its problem's others: then its advantage is 0.

    None stays where no answer to the problem could be judged.
    """
    known: dict[str, list[float]] = {}
    for problem_id, reward in zip(problem_ids, rewards, strict=True):
        if reward is not None:
            known.setdefault(problem_id, []).append(reward)
    return [
        reward if reward is not None else fmean(known[problem_id]) if problem_id in known else None
        for problem_id, reward in zip(problem_ids, rewards, strict=True)
    ]
