"""Mode `sft`: a supervised warm start of the test policy, as a run of its own beside the RL loop.

Sample suites on every problem, keep the calls that run on the reference, put the reference's answers in, prefer tests
that kill mutants, and learn to write the result: negative log-likelihood of the answers alone, prompts masked.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

from code_a1.checkpoint import save_checkpoint
from code_a1.config import Config
from code_a1.engines import PolicyEngine, open_policies, update
from code_a1.errors import ProblemError
from code_a1.interrupt import Interrupt
from code_a1.judge import Judge
from code_a1.mistake_book import MistakeBook
from code_a1.mutation import require_operators
from code_a1.problems import Benchmark, Dropped, decontaminate, load_problems
from code_a1.records import Problem, Prompt, Sample
from code_a1.reference_check import check_references
from code_a1.report.view import View
from code_a1.run_dir import RunDir
from code_a1.sandbox import Sandbox
from code_a1.seeds import derive_seed
from code_a1.sft.examples import Example, make_examples
from code_a1.sft.measure import pool_metrics
from code_a1.suites import TestPool, sample_pools

Metrics = dict[str, float]

EXAMPLES = "examples.jsonl"
"""In the run folder: every prompt with its answer."""


def warm_start(config: Config, view: View | None = None, policy: PolicyEngine | None = None) -> RunDir:
    """Train the test policy as configured; return the run's folder, with the policy under `checkpoints/…/test`.

    `policy` is the test policy where the caller has opened it (and will close it). With `evaluation.problems` the
    policy is measured on them before the first step and after the last. SIGINT ends the run after the current step,
    with what was learned saved.

    Raises:
        ProblemError: no problem to train on, or none whose suites came to an example.
        MissingExtra: cosmic-ray, or what the engine needs, is not installed.
        CodeA1Error: as its message says.
    """
    view = view or View()
    with ExitStack() as stack:
        require_operators()
        config = RunDir.reserve(config)
        interrupt = stack.enter_context(Interrupt())
        sandbox = stack.enter_context(Sandbox.of(config.sandbox))
        judge = Judge(sandbox)
        problems, held_out, dropped = _problems(config, judge, view)
        if policy is None:
            view.phase("loading models", None)
            policy = open_policies({"test": config.test_policy}, seed=config.seed, engine=config.engine)["test"]
            stack.callback(policy.close)
        run_dir = RunDir.create(config)
        stack.callback(run_dir.unlock)
        run_dir.log_event("started", problems=len(problems), held_out=len(held_out), mode="sft")
        for item in dropped:
            run_dir.log_event("problem-left-out", problem_id=item.problem_id, reason=item.reason)

        def pools_of(chosen: Sequence[Problem], use: str) -> list[TestPool]:
            sizes = config.rollout
            if use == "evaluation":
                wanted = config.evaluation
                sizes = sizes.model_copy(
                    update={"suites_per_candidate": wanted.suites_per_problem, "temperature": wanted.temperature}
                )
            seed = derive_seed(config.seed, "sft", use)
            mutants = config.sft.mutants_per_problem
            return sample_pools(policy, judge, sandbox, chosen, sizes, mutants=mutants, seed=seed, view=view)

        def measure() -> Metrics:
            return pool_metrics(pools_of(held_out, "evaluation"), "eval") if held_out else {}

        before = measure()
        pools = pools_of(problems, "samples")
        examples = [
            example for pool in pools for example in make_examples(pool, config.rollout, config.sft.suites_per_prompt)
        ]
        with (run_dir.path / EXAMPLES).open("w", encoding="utf-8", errors="surrogatepass") as lines:
            lines.writelines(json.dumps(_row(example)) + "\n" for example in examples)
        run_dir.log_metrics(0, before | pool_metrics(pools, "sampled") | _example_metrics(examples))
        if not examples:
            raise ProblemError(
                f"none of {sum(len(pool.sampled) for pool in pools)} tests sampled on {len(pools)} problems can be "
                "learned from: sample more (rollout.suites_per_candidate), begin the answers for the model "
                "(rollout.begin_answers = true), or start from a stronger model"
            )
        _learn(config, policy, examples, run_dir, view, interrupt, measure)
        return run_dir


def _learn(
    config: Config,
    policy: PolicyEngine,
    examples: Sequence[Example],
    run_dir: RunDir,
    view: View,
    interrupt: Interrupt,
    measure: Callable[[], Metrics],
) -> None:
    """Take the steps, save, measure. What is saved first cannot be lost to a measurement that fails."""
    samples = _samples(policy, examples)
    if not samples:
        raise ProblemError(
            f"none of {len(examples)} examples fits into the model's window of {policy.context_window} tokens: lower "
            "rollout.tests_per_suite, or leave out the problems with the longest statements"
        )
    batches = _batches(samples, config.sft.prompts_per_step, derive_seed(config.seed, "sft"))
    step = 0
    metrics: Metrics = {}
    while step < config.steps and not interrupt.requested:
        view.phase("learning", None)
        started = time.monotonic()
        settings = config.test_policy.optimizer
        learned = update(policy, next(batches), settings, None, step=step, steps=config.steps, seed=config.seed)
        metrics = {f"test/{name}": value for name, value in (learned | dict(policy.metrics())).items()}
        metrics["time/step_s"] = time.monotonic() - started
        step += 1
        if step < config.steps:
            run_dir.log_metrics(step, metrics)
        view.message(f"step {step}/{config.steps} · loss {learned['loss']:.3f} · {metrics['time/step_s']:.1f} s")
    if step:
        view.phase("saving", None)
        save_checkpoint(
            run_dir.checkpoint_path(step), step=step, policies={"test": policy}, book=MistakeBook(), sampler={}
        )
        run_dir.log_event("checkpoint", step=step)
    if interrupt.requested:
        view.message(f"Interrupted after {step} of {config.steps} steps; what was learned is saved.")
        run_dir.log_event("interrupted", step=step)
        return
    run_dir.log_metrics(step, metrics | measure())
    run_dir.log_event("finished", step=step)


def _problems(
    config: Config, judge: Judge, view: View
) -> tuple[Sequence[Problem], Sequence[Problem], Sequence[Dropped]]:
    """Problems to train on, problems to measure on, and what was left out of either; no problem is in both."""
    view.phase("loading problems", None)
    found = load_problems(config.problems)
    held_out: Sequence[Problem] = ()
    dropped = list(found.dropped)
    if config.evaluation.problems is not None:
        view.phase("checking references", None)
        checked = check_references(judge, load_problems(config.evaluation.problems).problems, on_progress=view.advance)
        held_out = checked.problems
        dropped += checked.dropped
    problems, leaked = decontaminate(found.problems, [Benchmark.of("the held-out problems", held_out)])
    dropped += leaked
    if config.problems.validate_references and problems:
        checked = check_references(judge, problems, on_progress=view.advance)
        problems = checked.problems
        dropped += checked.dropped
    if not problems:
        raise ProblemError(f"{found.source}: no problem is left to train on; the first: {dropped[0].reason}")
    return problems, held_out, dropped


def _samples(policy: PolicyEngine, examples: Sequence[Example]) -> list[list[Sample]]:
    """Examples as tokens, those of one prompt together; what the model's window does not hold is left out."""
    groups: dict[Prompt, list[Sample]] = {}
    for example in examples:
        completion = policy.completion_of(example.prompt, example.answer)
        if len(completion.prompt_tokens) + len(completion.tokens) <= policy.context_window:
            group = groups.setdefault(example.prompt, [])
            group.append(Sample(f"{example.problem_id}/{len(groups)}", completion, 1.0))
    return list(groups.values())


def _batches(groups: Sequence[list[Sample]], size: int, seed: int) -> Iterator[list[Sample]]:
    """Batches of `size` groups without end: every group once, in another order each time, none twice in one batch."""
    rng = random.Random(seed)  # noqa: S311 - a seeded shuffle, not cryptography
    while True:
        order = rng.sample(groups, len(groups))
        for start in range(0, len(order), size):
            yield [sample for group in order[start : start + size] for sample in group]


def _example_metrics(examples: Sequence[Example]) -> Metrics:
    return {
        "examples": len(examples),
        "examples/tests": sum(len(e.tests) for e in examples),
        "examples/kill_shown": sum(e.kills_shown for e in examples),
    }


def _row(example: Example) -> dict[str, object]:
    return {
        "problem_id": example.problem_id,
        "prompt": [{"role": m.role, "content": m.content} for m in example.prompt],
        "answer": example.answer,
        "kills_shown": example.kills_shown,
    }
