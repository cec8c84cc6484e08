"""The loop, and nothing else: open what a run needs, take steps, save.

A step reads top to bottom: problems, candidates, suites, judgements, rewards, book, both updates. What differs between
modes is in `code_a1.modes`; where the policies live is in `code_a1.engines`.
"""

from __future__ import annotations

import time
from contextlib import ExitStack

from code_a1.config import Config
from code_a1.diversity import diversity_metrics
from code_a1.engines import update
from code_a1.errors import TrainingError
from code_a1.evaluation import evaluate
from code_a1.metrics import completion_metrics, judgement_metrics, solved_shares
from code_a1.records import Judgement, SuiteGroup
from code_a1.recovery import everything_saved, judged_soundly, restore, save, watch
from code_a1.report.rollout_rows import rollout_rows
from code_a1.report.view import View
from code_a1.resume import find_run
from code_a1.rewards import CodeRewards, TestRewards, score
from code_a1.rollout import rollout_candidates, stream_suites
from code_a1.run import Policies, Run, open_run
from code_a1.run_dir import RunDir
from code_a1.samples import batches
from code_a1.seeds import derive_seed


def train(
    config: Config, view: View | None = None, policies: Policies | None = None, *, resume: bool = False
) -> RunDir:
    """Train as configured and return the run's folder, with a checkpoint of what learned after the last step.

    `policies` are the code policy and the test policy where the caller has opened them (and will close them), such as
    two `ScriptedEngine`s; a mode with one model uses the first. Otherwise they are opened as the configuration says.
    With `resume`, a run in the folder that the configuration names goes on from its last whole checkpoint.

    SIGINT and SIGTERM end the run soon with everything completed so far saved; a second SIGINT ends it at once.

    Raises:
        CodeA1Error: as its message says. A run that fails after its start keeps what was logged and saved.
    """
    with ExitStack() as stack:
        resumed = find_run(config) if resume else None
        if resumed is not None:
            stack.callback(resumed.run_dir.unlock)
        run = open_run(config, view or View(), stack, policies, resumed)
        with everything_saved(run):
            if resumed is not None:
                restore(run, resumed)
            if run.step == 0 and config.eval_every and config.evaluation.at_start:
                run.run_dir.log_metrics(0, measure(run))  # what every later measurement is compared with
            if run.pending is not None:
                finish_step(run, run.pending)
            while run.step < config.steps:
                run.position = run.sampler.state_dict()
                metrics = take_step(run)
                finish_step(run, metrics)
            run.run_dir.log_event("finished", step=run.step)
        return run.run_dir


def take_step(run: Run) -> dict[str, float]:
    """One step; who attacks, who judges and who learns is the mode's affair.

    Returns the step's metrics. Raises Interrupted before anything is learned if asked to stop.
    """
    config, sizes, players = run.config, run.config.rollout, run.players
    run.seconds = {}
    started = time.monotonic()
    problems = run.sampler.next_batch()
    known = run.known_tests(problems)

    with run.phase("candidates", len(problems) * sizes.candidates_per_problem):
        code_groups = rollout_candidates(
            players["code"],
            problems,
            sizes,
            seed=derive_seed(config.seed, run.step, "candidates"),
            on_progress=run.advance,
        )
        code_groups = run.opponents.join(players["code"], code_groups, known, step=run.step)
    if all(group.prompt_too_long for group in code_groups):
        raise TrainingError(
            f"step {run.step + 1}: every prompt is over the limit; raise rollout.max_code_prompt_tokens "
            f"({sizes.max_code_prompt_tokens}) or use a model with a larger window than "
            f"{players['code'].context_window} tokens"
        )

    ran, failed = run.judge.programs_run, run.judge.sandbox_errors
    attacks: dict[int, list[SuiteGroup]] = {}
    with run.judge.begin(code_groups, known) as judging:  # while suites are still being written
        with run.phase("suites", None):
            for position, written in stream_suites(
                players.get("test"),
                code_groups,
                sizes,
                seed=derive_seed(config.seed, run.step, "suites"),
                on_progress=run.advance,
            ):
                attacks[position] = written
                judging.add(position, written)
        with run.phase("judging", None):
            judgements = judging.judgements(run.view.advance)
    suite_groups = [attack for _, written in sorted(attacks.items()) for attack in written]
    ran, failed = run.judge.programs_run - ran, run.judge.sandbox_errors - failed
    judgements = judged_soundly(
        run, judgements, ran, failed, lambda: run.judge(code_groups, suite_groups, known, run.view.advance)
    )
    code_rewards, test_rewards = score(judgements, config.rewards, sizes.tests_per_suite)
    diversity = diversity_metrics(judgements, run.book)

    with run.phase("learning", None):
        run.learning = True
        change = run.book.update(judgements, run.step + 1) if run.remembers else None
        learned = learn(run, judgements, code_rewards, test_rewards)
        run.sampler.record(solved_shares(judgements))

    run.run_dir.log_rollouts(run.step + 1, rollout_rows(judgements, code_rewards, test_rewards))
    metrics = judgement_metrics(judgements, code_rewards, test_rewards) | completion_metrics(code_groups, suite_groups)
    metrics |= diversity | learned | run.sampler.metrics()
    metrics |= {f"time/{name}_s": seconds for name, seconds in run.seconds.items()}
    if change is not None:
        metrics |= {"book/added": change.added, "book/removed": change.removed, "book/evicted": change.evicted}
    candidates = sum(len(group.candidates) for group in code_groups)
    return metrics | {
        "book/size": len(run.book),
        "judge/sandbox_errors": failed,
        "time/programs": ran,
        "judge/candidates_per_s": candidates / max(judging.busy_s, 1e-9),
        "time/step_s": time.monotonic() - started,
        "epoch": run.sampler.epoch,
    }


def learn(
    run: Run, judgements: list[Judgement], code_rewards: CodeRewards, test_rewards: TestRewards
) -> dict[str, float]:
    """Update every policy that learns, each once, from all the kinds of samples that are its own.

    Returns the metrics of each update, prefixed with the policy's role, and the groups of each kind of samples.
    """
    config = run.config
    metrics: dict[str, float] = {}
    for role, kinds in batches(run.mode, judgements, code_rewards, test_rewards, config.selection).items():
        settings = config.code_policy if role == "code" else config.test_policy
        policy = run.policies[role]
        updated = update(
            policy,
            [sample for batch in kinds.values() for sample in batch.samples],
            settings.optimizer,
            settings.loss,
            step=run.step,
            steps=config.steps,
            seed=derive_seed(config.seed, role, "minibatches"),
        )
        metrics |= {f"{role}/{key}": value for key, value in updated.items()}
        for kind, batch in kinds.items():
            metrics |= {f"{kind}/groups": batch.groups, f"{kind}/groups_without_spread": batch.without_spread}
    for role, policy in run.policies.items():
        metrics |= {f"{role}/{key}": value for key, value in policy.metrics().items()}
    return metrics


def finish_step(run: Run, metrics: dict[str, float]) -> None:
    """Count a step that was taken; show, measure, log, watch and save as is due."""
    if run.pending is None:
        run.step += 1
        run.position = run.sampler.state_dict()
        run.pending, run.learning = metrics, False
        run.view.step(run.step, run.config.steps, metrics)
    if due(run.config.eval_every, run):
        metrics = metrics | measure(run)
    run.run_dir.log_metrics(run.step, metrics)
    run.history.append(metrics)
    run.pending = None
    if due(run.config.save_every or run.config.steps, run):
        save(run)
    watch(run)


def due(every: int, run: Run) -> bool:
    """Whether something that is done every so many steps is due now; the last step is never left out. 0: never."""
    return bool(every) and (run.step % every == 0 or run.step == run.config.steps)


def measure(run: Run) -> dict[str, float]:
    """What the benches say about the policies as they are."""
    run.view.phase("evaluating", None)
    start = time.monotonic()
    metrics = evaluate(run.benches, run.players, run.advance)
    run.view.evaluation(run.step, metrics)
    for policy in run.policies.values():
        policy.metrics()  # what was sampled here is not the next step's
    return metrics | {"time/evaluating_s": time.monotonic() - start}
