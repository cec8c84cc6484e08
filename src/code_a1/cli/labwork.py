"""The work of `code-a1 lab …`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from code_a1.lab.files import Tests, write_bugs, write_lab_problems
from code_a1.lab.problems import LabProblem, Split, generate

if TYPE_CHECKING:
    from code_a1.config import Config
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


GOING_ON_LR = 3e-4
"""Peak learning rate of training that goes on from a model."""


def make_recipe(
    *,
    base: str | None,
    steps: int,
    lr: float | None,
    problems: int,
    hidden_size: int | None,
    layers: int | None,
    seed: int,
) -> Recipe:
    """The recipe that options ask for. Raises ConfigError for a shape that is asked of a model that has one."""
    from code_a1.errors import ConfigError  # noqa: PLC0415 - beside the only use
    from code_a1.lab.pretrain import Recipe  # noqa: PLC0415

    if base is None:
        recipe = Recipe.of_width(hidden_size or 192, problems=problems, steps=steps, layers=layers or 4, seed=seed)
        return replace(recipe, learning_rate=lr) if lr else recipe
    if hidden_size or layers:
        raise ConfigError("--hidden-size and --layers are for new models; with --from the model's own shape counts")
    return Recipe(problems=problems, steps=steps, seed=seed, base=base, learning_rate=lr or GOING_ON_LR)


@dataclass(slots=True)
class Spent:
    """What a training took so far: compute is compared by these."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of all threads of this process. Neither holds loading, or the making of problems and lessons."""
    answer_tokens: int = 0
    """Tokens learned from; prompts come on top."""


def train_base(output: str, recipe: Recipe, *, save_every: int, measured: int, as_json: bool) -> None:
    """Train a base model, or go on from one; measure it, write its card."""
    from code_a1.lab.card import write_card  # noqa: PLC0415 - what needs torch is loaded for this command alone
    from code_a1.lab.pretrain import pretrain, save_base  # noqa: PLC0415

    folder = Path(output)
    spent = Spent()
    parameters = 0
    loss = float("nan")

    def on_step(step: int, metrics: Metrics, policy: LocalEngine) -> None:
        nonlocal parameters, loss
        spent.seconds += metrics["step_s"]
        spent.cpu_seconds += metrics["step_cpu_s"]
        spent.answer_tokens += int(metrics["tokens"])
        parameters, loss = sum(p.numel() for p in policy.backbone.model.parameters()), metrics["loss"]
        if step % 20 == 0 or step == recipe.steps:
            click.echo(f"step {step}/{recipe.steps} · loss {loss:.3f} · {spent.seconds:.0f} s", err=True)
        if save_every and step % save_every == 0 and step < recipe.steps:
            save_base(policy, folder.with_name(f"{folder.name}-step{step}"))

    click.echo(f"generating {recipe.problems} problems", err=True)
    pretrain(folder, recipe, on_step)
    found = _measure(output, count=measured, samples=MEASURED_SAMPLES, seed=recipe.seed) if measured else {}
    write_card(folder, recipe, found, parameters=parameters, samples=MEASURED_SAMPLES)
    _print_rates(found)
    click.echo(
        f"{folder}: {parameters:,} parameters, loss {loss:.3f}; {recipe.steps} steps, {spent.answer_tokens:,} tokens "
        f"of answers, {spent.seconds:.0f} s, {spent.cpu_seconds:.0f} s of CPU"
    )
    if as_json:
        figures = {"parameters": parameters, "loss": loss, "steps": recipe.steps, **asdict(spent)}
        click.echo(json.dumps(figures | {"rates": _plain(found)}))


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
        names = (field.name for field in fields(rates) if field.name != "intervals")
        click.echo(f"{split}: " + " · ".join(f"{name} {rates.text(name)}" for name in names))


def _plain(found: dict[str, Rates]) -> dict[str, dict[str, object]]:
    """Rates as JSON has them: NaN is null, an interval two numbers."""

    def value(v: object) -> object:
        if isinstance(v, Mapping):
            return {name: value(inner) for name, inner in v.items()}
        if isinstance(v, tuple):
            return [value(inner) for inner in v]
        return None if v != v else v  # noqa: PLR0124 - NaN

    return {split: {name: value(v) for name, v in asdict(rates).items()} for split, rates in found.items()}


def repeat_seeds(config: Config, output: str, seeds: str, *, steps: int, lr: float, jobs: int, as_json: bool) -> None:
    """Run a configuration and its control over seeds, and print the tables."""
    from code_a1.lab.repeats import Control, repeat  # noqa: PLC0415 - what needs torch is loaded for this command alone
    from code_a1.lab.repeats_table import repeats_table  # noqa: PLC0415

    def say(text: str) -> None:
        click.echo(text, err=True)

    outcomes = repeat(config, Control(steps, lr), Path(output), parse_seeds(seeds), jobs=jobs, on_done=say)
    click.echo(repeats_table(outcomes), nl=False)
    if as_json:
        click.echo(json.dumps({"outcomes": [asdict(outcome) for outcome in outcomes]}))


def parse_seeds(text: str) -> list[int]:
    """Seeds in the order given. Raises ConfigError for what is neither a range nor a list.

    >>> parse_seeds("0-2,7")
    [0, 1, 2, 7]
    """
    from code_a1.errors import ConfigError  # noqa: PLC0415 - beside the only use

    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise ConfigError(f"--seeds {text!r}: expected a range such as 0-9, or a list such as 0,3,7")
        found += range(int(first), int(last if dash else first) + 1)
    return list(dict.fromkeys(found))
