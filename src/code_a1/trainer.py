"""The loop, and nothing else: open what a run needs, take steps, save.

A step reads top to bottom: problems, candidates, suites, judgements, rewards, book, both updates. What differs between
modes is in `code_a1.modes`; where the policies live is in `code_a1.engines`.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import FrameType, TracebackType

from code_a1.checkpoint import save_checkpoint
from code_a1.config import Config
from code_a1.engines import PolicyEngine, open_policies, update
from code_a1.errors import ProblemError, SandboxError, TrainingError
from code_a1.judge import Judge
from code_a1.metrics import completion_metrics, judgement_metrics
from code_a1.mistake_book import MistakeBook
from code_a1.modes import MODES, CoEvolve, ReferenceTests
from code_a1.problems import ProblemSampler, load_problems
from code_a1.records import Judgement
from code_a1.reference_check import check_references
from code_a1.report.rollout_rows import rollout_rows
from code_a1.report.view import View
from code_a1.rewards import CodeRewards, TestRewards, score
from code_a1.rollout import rollout_candidates
from code_a1.run_dir import RunDir
from code_a1.sandbox import Sandbox
from code_a1.sandbox.programs import Limits
from code_a1.seeds import derive_seed

Policies = tuple[PolicyEngine, PolicyEngine]
"""The code policy and the test policy."""


@dataclass(slots=True)
class Run:
    """Everything that a step touches."""

    config: Config
    mode: CoEvolve
    run_dir: RunDir
    sampler: ProblemSampler
    policies: dict[str, PolicyEngine]
    judge: Judge
    book: MistakeBook
    reference_tests: ReferenceTests
    view: View
    interrupt: Interrupt
    step: int = 0
    """Steps completed."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall-clock seconds of each phase of the current step."""

    @contextmanager
    def phase(self, name: str, total: int | None = None) -> Iterator[None]:
        """Time a phase of the step and show it; a pending interrupt ends the run before the phase begins."""
        if self.interrupt.requested:
            raise Interrupted
        self.view.phase(name, total)
        start = time.monotonic()
        yield
        self.seconds[name] = time.monotonic() - start


def train(config: Config, view: View | None = None, policies: Policies | None = None) -> RunDir:
    """Train as configured and return the run's folder, with a checkpoint of both policies after the last step.

    `policies` are the code policy and the test policy where the caller has opened them (and will close them), such as
    two `ScriptedEngine`s; otherwise they are opened as the configuration says.

    SIGINT ends the run after the current phase with everything completed so far saved; a second one ends it at once.

    Raises:
        CodeA1Error: as its message says. A run that fails after its start keeps what was logged and saved.
    """
    with ExitStack() as stack:
        run = open_run(config, view or View(), stack, policies)
        while run.step < config.steps:
            sampler_before = run.sampler.state_dict()
            try:
                metrics = take_step(run)
            except (Interrupted, SandboxError) as stop:
                # Nothing was learned in this step yet: what is saved is the state after the last whole one.
                save(run, sampler_before)
                run.run_dir.log_event(
                    "interrupted" if isinstance(stop, Interrupted) else "sandbox-outage", step=run.step
                )
                if isinstance(stop, SandboxError):
                    raise
                run.view.message(f"Interrupted after {run.step} of {config.steps} steps; everything done is saved.")
                break
            run.step += 1
            run.run_dir.log_metrics(run.step, metrics)
            run.view.step(run.step, config.steps, metrics)
            if run.step == config.steps or (config.save_every and run.step % config.save_every == 0):
                save(run, run.sampler.state_dict())
        else:
            run.run_dir.log_event("finished", step=run.step)
        return run.run_dir


def take_step(run: Run) -> dict[str, float]:
    """One step of adversarial co-evolution. Returns its metrics; raises Interrupted between phases if asked to stop."""
    config, mode, sizes = run.config, run.mode, run.config.rollout
    run.seconds = {}
    started = time.monotonic()
    problems = run.sampler.next_batch()

    with run.phase("candidates", len(problems) * sizes.candidates_per_problem):
        code_groups = rollout_candidates(
            run.policies["code"],
            problems,
            sizes,
            seed=derive_seed(config.seed, run.step, "candidates"),
            on_progress=run.view.advance,
        )
    if all(group.prompt_too_long for group in code_groups):
        raise TrainingError(
            f"step {run.step + 1}: every prompt is over the limit; raise rollout.max_code_prompt_tokens "
            f"({sizes.max_code_prompt_tokens}) or use a model with a larger window than "
            f"{run.policies['code'].context_window} tokens"
        )

    with run.phase("suites", None):
        suite_groups = mode.attack(
            run.policies["test"],
            code_groups,
            config,
            seed=derive_seed(config.seed, run.step, "suites"),
            on_progress=run.view.advance,
        )

    with run.phase("judging", None):
        ran, failed = run.judge.programs_run, run.judge.sandbox_errors
        known = mode.known_tests(problems, run.book, run.reference_tests, config)
        judgements = run.judge(code_groups, suite_groups, known, run.view.advance)
        ran, failed = run.judge.programs_run - ran, run.judge.sandbox_errors - failed
    _check_outage(run, ran, failed)
    code_rewards, test_rewards = score(judgements, config.rewards, sizes.tests_per_suite)

    with run.phase("learning", None):
        change = run.book.update(judgements) if mode.remembers(config) else None
        learned = learn(run, judgements, code_rewards, test_rewards)

    run.run_dir.log_rollouts(run.step + 1, rollout_rows(judgements, code_rewards, test_rewards))
    metrics = judgement_metrics(judgements, code_rewards, test_rewards) | completion_metrics(code_groups, suite_groups)
    metrics |= learned | {f"time/{name}_s": seconds for name, seconds in run.seconds.items()}
    if change is not None:
        metrics |= {"book/added": change.added, "book/removed": change.removed, "book/evicted": change.evicted}
    candidates = sum(len(group.candidates) for group in code_groups)
    return metrics | {
        "book/size": len(run.book),
        "judge/programs": ran,
        "judge/sandbox_errors": failed,
        "judge/candidates_per_s": candidates / max(run.seconds["judging"], 1e-9),
        "time/step_s": time.monotonic() - started,
        "epoch": run.sampler.epoch,
    }


def learn(
    run: Run, judgements: list[Judgement], code_rewards: CodeRewards, test_rewards: TestRewards
) -> dict[str, float]:
    """Update every policy that this mode trains. Returns the metrics, prefixed with the policy's role."""
    config = run.config
    metrics: dict[str, float] = {}
    for role, batch in run.mode.batches(judgements, code_rewards, test_rewards, config).items():
        settings = config.code_policy if role == "code" else config.test_policy
        policy = run.policies[role]
        updated = update(
            policy,
            batch.samples,
            settings.optimizer,
            settings.loss,
            step=run.step,
            steps=config.steps,
            seed=derive_seed(config.seed, role, "minibatches"),
        )
        updated |= {"groups": batch.groups, "groups_without_spread": batch.without_spread, **policy.metrics()}
        metrics |= {f"{role}/{key}": value for key, value in updated.items()}
    return metrics


def open_run(config: Config, view: View, stack: ExitStack, policies: Policies | None = None) -> Run:
    """Open problems, sandbox and policies; the run folder is made last, so that bad input leaves nothing behind."""
    config = RunDir.reserve(config)
    mode = MODES[config.mode]
    interrupt = stack.enter_context(Interrupt())
    view.phase("loading problems", None)
    found = load_problems(config.problems)
    limits = config.sandbox
    sandbox = stack.enter_context(
        Sandbox(
            Limits(
                cpu_s_per_call=limits.cpu_s_per_test,
                wall_s_per_call=limits.wall_s_per_test,
                memory_mb=limits.memory_mb,
            ),
            workers=limits.workers,
            allow_tier=limits.allow_tier,
        )
    )
    judge = Judge(sandbox)
    problems, reference_tests, dropped = found.problems, {}, list(found.dropped)
    if config.problems.validate_references or mode.needs_reference_tests:
        view.phase("checking references", None)
        checked = check_references(
            judge, found.problems, needs_tests=mode.needs_reference_tests, on_progress=view.advance
        )
        problems, reference_tests = checked.problems, checked.tests
        dropped += checked.dropped
    if not problems:
        raise ProblemError(
            f"{found.source}: no problem is left to train on; the first was left out for: {dropped[0].reason}. "
            "`code-a1 problems validate` lists them all"
        )
    if policies is None:
        view.phase("loading models", None)
        policies = open_policies(config.code_policy, config.test_policy, seed=config.seed, engine=config.engine)
        for policy in policies:
            stack.callback(policy.close)
    run_dir = RunDir.create(config)
    run_dir.log_event("started", problems=len(problems), sandbox_tier=sandbox.tier.name, mode=mode.name)
    for item in dropped:
        run_dir.log_event("problem-left-out", problem_id=item.problem_id, reason=item.reason)
    if dropped:
        view.message(f"{len(dropped)} of {len(problems) + len(dropped)} problems left out; events.jsonl says why.")
    return Run(
        config,
        mode,
        run_dir,
        ProblemSampler(problems, config.rollout.problems_per_step, derive_seed(config.seed, "problems")),
        dict(zip(("code", "test"), policies, strict=True)),
        judge,
        MistakeBook(config.mistake_book.max_tests_per_problem),
        reference_tests,
        view,
        interrupt,
    )


def save(run: Run, sampler: Mapping[str, object]) -> None:
    """Write a checkpoint of the state after the last whole step, unless there is none yet or it is written already."""
    path = run.run_dir.checkpoint_path(run.step)
    if run.step == 0 or path.exists():
        return
    run.view.phase("saving", None)
    roles = ["code", "test"] if run.mode.uses_test_policy else ["code"]
    policies = {role: run.policies[role] for role in roles}
    save_checkpoint(path, step=run.step, policies=policies, book=run.book, sampler=sampler)
    run.run_dir.log_event("checkpoint", step=run.step)


def _check_outage(run: Run, ran: int, failed: int) -> None:
    limit = run.config.sandbox.max_sandbox_error_share
    if ran and failed / ran > limit:
        raise SandboxError(
            f"step {run.step + 1}: {failed} of {ran} programs failed through no fault of their own (limit "
            f"sandbox.max_sandbox_error_share = {limit}); the step was not learned from. `code-a1 doctor` says what "
            "the sandbox lacks"
        )


class Interrupted(Exception):
    """The user asked the run to stop."""


class Interrupt:
    """Turns SIGINT into a request to stop after the current phase; the second SIGINT is a KeyboardInterrupt again."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: object = None

    def __enter__(self) -> Interrupt:
        # signal handlers can be set in the main thread only; elsewhere the caller has its own way to stop
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)  # type: ignore[arg-type]
            self._previous = None

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
