"""A run that is open: everything that a step touches, and how it comes about."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from code_a1.book_file import read_book
from code_a1.config import Config
from code_a1.engines import PolicyEngine, open_policies
from code_a1.errors import ConfigError, ProblemError
from code_a1.evaluation import Bench, open_benches
from code_a1.fixed_tests import KnownTests, exported_suites, own_tests
from code_a1.interrupt import Interrupt
from code_a1.judge import Judge
from code_a1.mistake_book import MistakeBook
from code_a1.modes import Mode, Role, mode_of
from code_a1.opponents import Opponents
from code_a1.problems import Benchmark, Dropped, ProblemSampler, decontaminate, load_problems
from code_a1.problems.curriculum import Curriculum
from code_a1.records import Problem, TestCase
from code_a1.reference_check import check_references
from code_a1.report.view import View
from code_a1.resume import Resumed
from code_a1.run_dir import RunDir
from code_a1.sandbox import Sandbox
from code_a1.seeds import derive_seed
from code_a1.watchdogs import Row, rows_needed

Policies = tuple[PolicyEngine, PolicyEngine]
"""The code policy and the test policy."""


@dataclass(slots=True)
class Run:
    """Everything that a step touches."""

    config: Config
    mode: Mode
    run_dir: RunDir
    sampler: ProblemSampler
    policies: dict[str, PolicyEngine]
    judge: Judge
    book: MistakeBook
    fixed_tests: KnownTests | None
    """The tests that judge in every step alike, by problem; None where the Mistake Book's do."""
    opponents: Opponents
    benches: tuple[Bench, ...]
    view: View
    interrupt: Interrupt
    step: int = 0
    """Steps completed."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall-clock seconds of each phase of the current step."""
    position: Mapping[str, Any] = field(default_factory=dict)
    """Where the sampler was after the last whole step."""
    pending: dict[str, float] | None = None
    """Metrics of the last whole step while they are not logged yet: it is still being measured."""
    learning: bool = False
    """Whether a step has begun to change policies and book, so that what they hold belongs to no step."""
    history: deque[Row] = field(default_factory=deque)
    """Metrics of the last steps, as far back as watchdogs look."""

    @property
    def players(self) -> dict[Role, PolicyEngine]:
        """The policy that plays each role; one may play both, and a role may be played by none."""
        attacker = self.mode.attacker
        return {"code": self.policies["code"]} | ({} if attacker is None else {"test": self.policies[attacker]})

    @property
    def remembers(self) -> bool:
        """Whether new failures enter the Mistake Book; tests that never change need no remembering."""
        return self.fixed_tests is None and self.config.mistake_book.enabled

    def known_tests(self, problems: Sequence[Problem]) -> dict[str, tuple[TestCase, ...]]:
        """The tests that every candidate of a problem is run on, whoever attacks it."""
        if self.fixed_tests is not None:
            return {p.problem_id: self.fixed_tests[p.problem_id] for p in problems}
        count = self.config.mistake_book.replayed_tests or self.config.rollout.tests_per_suite
        return self.book.replay(problems, count)  # of a book that never remembers: nothing

    @contextmanager
    def phase(self, name: str, total: int | None = None) -> Iterator[None]:
        """Time a phase of the step and show it; a pending interrupt ends the run before the phase begins."""
        self.interrupt.check()
        self.view.phase(name, total)
        start = time.monotonic()
        yield
        self.seconds[name] = time.monotonic() - start

    def advance(self, amount: int) -> None:
        """Show progress in a phase that nothing is lost by leaving; a pending interrupt does so at once."""
        self.view.advance(amount)
        self.interrupt.check()


@dataclass(frozen=True, slots=True)
class Pool:
    """The problems of a run, with the tests that hold on their references, and what was left out."""

    problems: tuple[Problem, ...]
    own_tests: KnownTests
    """The problems' own tests, where they were checked."""
    fixed_tests: KnownTests | None
    dropped: tuple[Dropped, ...]


def open_run(
    config: Config, view: View, stack: ExitStack, policies: Policies | None = None, resumed: Resumed | None = None
) -> Run:
    """Open problems, sandbox and policies; the run folder is made last, so that bad input leaves nothing behind.

    Of a `resumed` run the folder is taken, and nothing in it changed yet.
    """
    mode = mode_of(config)
    if mode.supervised:
        raise ConfigError(
            f"mode {mode.name!r} learns from no rewards and has a loop of its own: code_a1.sft.warm_start"
        )
    config = resumed.config if resumed else RunDir.reserve(config)
    interrupt = stack.enter_context(Interrupt())
    sandbox = stack.enter_context(Sandbox.of(config.sandbox))
    judge = Judge(sandbox)
    view.phase("loading problems", None)
    benches, held_out = open_benches(config, judge, sandbox)
    pool = _open_pool(config, mode, judge, view, held_out)
    opponents = Opponents(config, sandbox, pool.own_tests, lambda: _code_checkpoints(run_dir, config.save_every))
    playing = _open_policies(config, mode, view, stack, policies)
    remembered = _remembered(config, pool) if resumed is None or resumed.step == 0 else None
    run_dir = resumed.run_dir if resumed else RunDir.create(config)
    stack.callback(run_dir.unlock)
    book = MistakeBook(config.mistake_book.max_tests_per_problem, run_dir.book_path)
    stack.callback(book.close)
    if remembered is not None:
        book.clear()  # of a run that was stopped before its first checkpoint
        book.add(remembered)
    _log_start(run_dir, pool, view, sandbox_tier=sandbox.tier.name, mode=mode.name)
    return Run(
        config,
        mode,
        run_dir,
        ProblemSampler(
            pool.problems,
            config.rollout.problems_per_step,
            derive_seed(config.seed, "problems"),
            Curriculum(config.curriculum) if config.curriculum.enabled else None,
        ),
        playing,
        judge,
        book,
        pool.fixed_tests,
        opponents,
        benches,
        view,
        interrupt,
        history=deque(maxlen=rows_needed(config.watchdogs)),
    )


def _log_start(run_dir: RunDir, pool: Pool, view: View, **details: str) -> None:
    run_dir.log_event("started", problems=len(pool.problems), **details)
    for item in pool.dropped:
        run_dir.log_event("problem-left-out", problem_id=item.problem_id, reason=item.reason)
    if pool.dropped:
        total = len(pool.problems) + len(pool.dropped)
        view.message(f"{len(pool.dropped)} of {total} problems left out; events.jsonl says why.")


def _remembered(config: Config, pool: Pool) -> Iterator[tuple[str, TestCase, int]]:
    """The tests of the book that the run begins with."""
    source = config.mistake_book.start_from
    if source is None:
        return iter(())
    if not Path(source).exists():
        raise ConfigError(f"mistake_book.start_from = {source!r}: there is no such run folder or exported book")
    return read_book(Path(source), {problem.problem_id for problem in pool.problems})


def _open_pool(config: Config, mode: Mode, judge: Judge, view: View, held_out: Sequence[Benchmark]) -> Pool:
    """Load problems, keep the held-out ones away, and run what has to be run on their references."""
    found = load_problems(config.problems.model_copy(update={"limit": 0}))
    problems, leaked = decontaminate(found.problems, held_out)
    problems = problems[: config.problems.limit or None]
    dropped = [*found.dropped, *leaked]
    own: KnownTests = {}
    fixed: KnownTests | None = None
    if problems and (config.problems.validate_references or mode.known_tests != "book" or config.opponents.mutants):
        view.phase("checking references", None)
        checked = check_references(judge, problems, on_progress=view.advance)
        problems, own = checked.problems, checked.tests
        dropped += checked.dropped
    if problems and mode.known_tests != "book":
        fixed, without = (
            exported_suites(config.problems.suites, problems, judge)
            if config.problems.suites is not None
            else own_tests(problems, own)
        )
        known = frozenset(fixed)
        problems = tuple(p for p in problems if p.problem_id in known)
        dropped += without
    if not problems:
        raise ProblemError(
            f"{found.source}: no problem is left to train on; the first was left out for: {dropped[0].reason}. "
            "`code-a1 problems validate` lists them all"
        )
    return Pool(problems, own, fixed, tuple(dropped))


def _open_policies(
    config: Config, mode: Mode, view: View, stack: ExitStack, given: Policies | None
) -> dict[str, PolicyEngine]:
    """The policies that the mode samples from, by role; those that were given stay the caller's to close."""
    if given is not None:
        return {role: policy for role, policy in zip(("code", "test"), given, strict=True) if role in mode.policies}
    view.phase("loading models", None)
    settings = {"code": config.code_policy, "test": config.test_policy}
    opened = open_policies(
        {role: settings[role] for role in mode.policies},
        seed=config.seed,
        engine=config.engine,
        frozen=set(mode.policies) - set(mode.learns),
    )
    for policy in opened.values():
        stack.callback(policy.close)
    return opened


def _code_checkpoints(run_dir: RunDir, save_every: int) -> list[Path]:
    """The code policies that the run has saved on its way, earliest first.

    Those that an interrupt left in between do not count: a run goes on as if it had never been interrupted.
    """
    return [
        path / "code"
        for step, path in run_dir.checkpoints().items()
        if step % save_every == 0 and (path / "code").is_dir()
    ]
