"""The work of `code-a1 lab study`."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import as_file, files
from pathlib import Path

import click

from code_a1.config import Config
from code_a1.config_file import load_config
from code_a1.errors import ConfigError
from code_a1.lab.repeats import Control
from code_a1.lab.study.arms import ARMS, BY_NAME, MAIN_ARMS, Arm
from code_a1.lab.study.claims import CLAIMS
from code_a1.lab.study.figures import draw_findings
from code_a1.lab.study.running import Study, Task, run_study, tasks_of
from code_a1.lab.study.tables import Outcomes, findings, study_report

QUICK = (
    "steps=4", "eval_every=4", "problems.limit=24", "evaluation.problems.limit=20", "rollout.problems_per_step=4",
    "rollout.candidates_per_problem=4",
)  # fmt: skip
"""What `--quick` lays upon the configuration: the whole path in minutes, and no verdict."""
QUICK_ARMS = ("co-evolve", "golden-weak", "self-play-white-box", "supervised", "exported-suites")


def study(
    output: Path,
    *,
    config: Path | None,
    overrides: Sequence[str],
    only: str,
    seeds: int,
    jobs: int,
    control: Control,
    plan: bool,
    quick: bool,
    as_json: bool,
) -> None:
    """Run what is missing, then write and print the report; or, with `plan`, say what would be run."""
    if quick:
        overrides, seeds, control = (*QUICK, *overrides), seeds or 1, Control(4, control.learning_rate)
    arms = chosen_arms(only or ("quick" if quick else ""))
    work = Study(_read_config(config, overrides), control, output)
    tasks = tasks_of(arms, seeds)
    if plan:
        click.echo(plan_text(work, tasks, jobs))
        return
    run_study(work, tasks, jobs=jobs, on_done=lambda text: click.echo(text, err=True))
    outcomes: Outcomes = {task: outcome for task in tasks if (outcome := work.outcome(task)) is not None}
    found = findings(outcomes)
    report = study_report(work, outcomes, draw_findings(work, found, outcomes, output / "figures"))
    path = output / "study.md"
    path.write_text(report, encoding="utf-8")
    click.echo(report.partition("## Arms")[0].rstrip())
    click.echo(f"\nreport: {path}")
    if as_json:
        rows = [{"claim": f.claim.name, "answer": f.answer, "seeds": f.seeds, "values": f.values} for f in found]
        click.echo(json.dumps({"claims": rows, "outcomes": [asdict(outcome) for outcome in outcomes.values()]}))


def chosen_arms(only: str) -> list[Arm]:
    """The arms that are asked for by their names, by claims' names, or as `main` or `quick`; all of them for nothing.

    Raises ConfigError for a name that is none of these.
    """
    if not only:
        return list(ARMS)
    by_claim = {claim.name: claim.arms for claim in CLAIMS}
    groups = {"main": MAIN_ARMS, "quick": QUICK_ARMS}
    names: dict[str, None] = {}
    for name in (part.strip() for part in only.split(",")):
        # an arm's name first: two claims are named like the arm that they are about
        asked = (name,) if name in BY_NAME else groups.get(name) or by_claim.get(name)
        if not asked:
            known = ", ".join([*groups, *BY_NAME, *(claim for claim in by_claim if claim not in BY_NAME)])
            raise ConfigError(f"--only {name!r}: neither an arm nor a claim; known are {known}")
        names |= dict.fromkeys(asked)
    return [arm for arm in ARMS if arm.name in names]


def plan_text(work: Study, tasks: Sequence[Task], jobs: int) -> str:
    """What would be run, and what it would cost by the runs that are there."""
    done = [outcome for task in tasks if (outcome := work.outcome(task)) is not None]
    left = [task for task in tasks if work.outcome(task) is None]
    lines = []
    for name in dict.fromkeys(task.arm for task in tasks):
        own = [task for task in tasks if task.arm == name]
        missing = sum(task in left for task in own)
        lines.append(f"{name:24} {len(own)} seeds, {len(own) - missing} done, {missing} to run")
    trained = [outcome for outcome in done if outcome.seconds]
    lines.append(f"{len(tasks)} runs, {len(left)} to run, {jobs} at a time")
    if trained:
        seconds = statistics.fmean(outcome.seconds for outcome in trained)
        hours = statistics.fmean(outcome.cpu_s for outcome in trained) * len(left) / 3600
        lines.append(
            f"by the {len(trained)} that are done: {seconds:.0f} s of training each, without measuring: "
            f"{seconds * len(left) / jobs / 60:.0f} minutes and {hours:.1f} core-hours more"
        )
    else:
        lines.append("what a run costs is not known yet: --plan says so once one is done")
    return "\n".join(lines)


def _read_config(path: Path | None, overrides: Sequence[str]) -> Config:
    if path is not None:
        return load_config(path, overrides)
    with as_file(files("code_a1.lab.study") / "study.toml") as packaged:
        return load_config(packaged, overrides)
