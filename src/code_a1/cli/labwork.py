"""The work of `code-a1 lab …`."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from code_a1.lab.files import Tests, write_bugs, write_lab_problems
from code_a1.lab.problems import LabProblem, Split, generate

if TYPE_CHECKING:
    from code_a1.engines.base import Metrics
    from code_a1.engines.local.engine import LocalEngine
    from code_a1.lab.pretrain import Recipe
    from code_a1.lab.rates import Rates

EVERY = 500
"""Problems between two lines of progress."""


def write_generated(
    count: int, output: str, *, seed: int, split: str, tests: str, bugs: str | None, as_json: bool
) -> None:
    """Generate problems, write the files, and say what is in them."""
    made: list[LabProblem] = []
    for problem in generate(count, seed=seed, split=None if split == "all" else cast("Split", split)):
        made.append(problem)
        if len(made) % EVERY == 0:
            click.echo(f"… {len(made)} of {count} problems", err=True)
    write_lab_problems(output, made, tests=cast("Tests", tests))
    if bugs:
        write_bugs(bugs, made)
    every_bug = [bug for problem in made for bug in problem.bugs]
    figures = {
        "problems": len(made),
        "families": len({problem.family for problem in made}),
        "tests": sum(len(problem.inputs if tests == "hidden" else problem.typical_tests) for problem in made),
        "bugs": len(every_bug),
        "subtle_bugs": sum(bug.subtle for bug in every_bug),
    }
    click.echo(
        f"{output}: {figures['problems']} problems of {figures['families']} families, {figures['tests']} tests; "
        f"{figures['bugs']} bugs, {figures['subtle_bugs']} of which pass the typical tests"
    )
    if as_json:
        click.echo(json.dumps(figures))


def train_base(output: str, recipe: Recipe, *, save_every: int, measured: int, as_json: bool) -> None:
    """Train a base model, measure it, write its card."""
    from code_a1.lab.card import write_card  # noqa: PLC0415 - what needs torch is loaded for this command alone
    from code_a1.lab.pretrain import pretrain, save_base  # noqa: PLC0415

    folder = Path(output)
    started = time.monotonic()
    parameters = 0
    loss = float("nan")

    def on_step(step: int, metrics: Metrics, policy: LocalEngine) -> None:
        nonlocal parameters, loss
        parameters, loss = sum(p.numel() for p in policy.backbone.model.parameters()), metrics["loss"]
        if step % 20 == 0 or step == recipe.steps:
            click.echo(f"step {step}/{recipe.steps} · loss {loss:.3f} · {time.monotonic() - started:.0f} s", err=True)
        if save_every and step % save_every == 0 and step < recipe.steps:
            save_base(policy, folder.with_name(f"{folder.name}-step{step}"))

    click.echo(f"generating {recipe.problems} problems", err=True)
    pretrain(folder, recipe, on_step)
    found = _measure(output, count=measured, samples=MEASURED_SAMPLES, seed=recipe.seed) if measured else {}
    write_card(folder, recipe, found, parameters=parameters, samples=MEASURED_SAMPLES)
    _print_rates(found)
    click.echo(f"{folder}: {parameters:,} parameters, loss {loss:.3f}")
    if as_json:
        click.echo(json.dumps({"parameters": parameters, "loss": loss, "rates": _plain(found)}))


MEASURED_SAMPLES = 4
"""Programs a problem that a model card is measured with."""


def show_rates(model: str, *, count: int, samples: int, seed: int, as_json: bool) -> None:
    """Measure a model and print a table."""
    found = _measure(model, count=count, samples=samples, seed=seed)
    _print_rates(found)
    if as_json:
        click.echo(json.dumps(_plain(found)))


def _measure(model: str, *, count: int, samples: int, seed: int) -> dict[str, Rates]:
    from code_a1.lab.rates import measure_model  # noqa: PLC0415 - needs torch

    kinds: tuple[Split, ...] = ("heldout-problems", "heldout-families")
    found: dict[str, Rates] = {}
    for split in kinds:
        click.echo(f"measuring on {count} problems of the split {split}", err=True)
        found[split] = measure_model(model, list(generate(count, seed=seed, split=split)), samples=samples, seed=seed)
    return found


def _print_rates(found: dict[str, Rates]) -> None:
    for split, rates in found.items():
        shown = " · ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in asdict(rates).items())
        click.echo(f"{split}: {shown}")


def _plain(found: dict[str, Rates]) -> dict[str, dict[str, float | None]]:
    """Rates as JSON has them: NaN is null."""
    return {split: {k: v if v == v else None for k, v in asdict(r).items()} for split, r in found.items()}  # noqa: PLR0124
