"""`code-a1 lab …`."""

from __future__ import annotations

from pathlib import Path

import click

from code_a1.cli import options


@click.group(short_help="Small generated problems, and the tiny model that plays on them.")
def lab() -> None:
    """Everything that makes co-evolution fit a laptop."""


@lab.command(name="problems", short_help="Generate problems.")
@click.option("-n", "count", default=1000, show_default=True, help="How many problems.")
@click.option("-o", "output", required=True, metavar="FILE", help="Problems as JSON Lines in our own format.")
@click.option("--seed", default=0, show_default=True, help="Which problems are drawn, in which order.")
@click.option(
    "--split",
    type=click.Choice(["all", "train", "heldout-problems", "heldout-families"]),
    default="train",
    show_default=True,
    help="Splits share no problem; heldout-families shares no family with the others.",
)
@click.option(
    "--tests",
    type=click.Choice(["hidden", "typical"]),
    default="hidden",
    show_default=True,
    help="Reference tests: 20 strong ones, or only the 4 on typical inputs, which miss bugs.",
)
@click.option("--bugs", metavar="FILE", help="Also write wrong programs for every problem, with their kind.")
@options.as_json
def lab_problems(count: int, output: str, seed: int, split: str, tests: str, bugs: str | None, as_json: bool) -> None:
    r"""Generate small problems of over 200 families, with references, tests and bugs. See docs/lab.md.

    \b
    Example:
      code-a1 lab problems -n 5000 -o problems.jsonl --bugs bugs.jsonl
    """
    from code_a1.cli.labwork import write_generated  # noqa: PLC0415 - `--help` stays fast

    write_generated(count, output, seed=seed, split=split, tests=tests, bugs=bugs, as_json=as_json)


@lab.command(short_help="Train the tiny base model, or go on training it.")
@click.option("-o", "output", required=True, metavar="FOLDER", help="New folder for the model and its card.")
@click.option(
    "--from", "base", metavar="MODEL", help="Go on from this model instead of random weights: `lab`, a folder."
)
@click.option("--steps", default=3500, show_default=True, help="Optimizer steps.")
@click.option("--lr", type=float, help="Peak learning rate. Default: 2e-3; with --from 3e-4.")
@click.option("--problems", "count", default=12000, show_default=True, help="Problems of the split train.")
@click.option("--hidden-size", type=int, help="Width of a new model, a multiple of 32. Default: 192.")
@click.option("--layers", type=int, help="Layers of a new model. Default: 4.")
@click.option("--seed", default=0, show_default=True, help="Seed of weights, problems and lessons.")
@click.option("--save-every", default=0, help="Also write FOLDER-stepN every so many steps; 0 writes the last only.")
@click.option("--measure", default=100, show_default=True, help="Held-out problems of each kind to measure on; 0 none.")
@options.as_json
def pretrain(
    output: str,
    base: str | None,
    steps: int,
    lr: float | None,
    count: int,
    hidden_size: int | None,
    layers: int | None,
    seed: int,
    save_every: int,
    measure: int,
    as_json: bool,
) -> None:
    r"""Train a small Llama from random weights on lab problems, to play both roles. See docs/lab.md.

    It is written as a Hugging Face folder, with a card that holds recipe and measured rates; its name goes into
    policy.model of a configuration. The learning rate rises to its peak over 100 steps (a tenth of the steps, if there
    are fewer than 1,000) and falls to 0 as a cosine.

    With --from the same training goes on from a model: more of it, for the compute that a run had, is what the run has
    to be compared with. Seconds, CPU seconds and tokens are reported.

    \b
    Examples:
      code-a1 lab pretrain -o lab-base --save-every 500
      code-a1 lab pretrain --from lab --steps 150 --seed 1 -o lab-more
    """
    from code_a1.cli.labwork import make_recipe, train_base  # noqa: PLC0415 - `--help` stays fast

    recipe = make_recipe(
        base=base, steps=steps, lr=lr, problems=count, hidden_size=hidden_size, layers=layers, seed=seed
    )
    train_base(output, recipe, save_every=save_every, measured=measure, as_json=as_json)


@lab.command(short_help="What a model can do on held-out lab problems.")
@click.argument("model")
@click.option("--problems", "count", default=100, show_default=True, help="Held-out problems of each kind.")
@click.option("--samples", default=4, show_default=True, help="Programs a problem; each is attacked by one suite.")
@click.option("--seed", default=0, show_default=True, help="Seed of the problems and of sampling.")
@options.as_json
def rates(model: str, count: int, samples: int, seed: int, as_json: bool) -> None:
    r"""Let MODEL play both roles on held-out problems, and on problems of held-out families.

    \b
    Example:
      code-a1 lab rates lab-base --problems 200 --json
    """
    from code_a1.cli.labwork import show_rates  # noqa: PLC0415 - `--help` stays fast

    show_rates(model, count=count, samples=samples, seed=seed, as_json=as_json)


@lab.command(short_help="A configuration over seeds, beside more supervised training.")
@click.argument("config", type=click.Path(path_type=Path, dir_okay=False))
@click.option("-o", "output", required=True, metavar="FOLDER", help="Runs and outcomes; what is there already is kept.")
@click.option("--seeds", default="0-4", show_default=True, help="Seeds: a range or a list, such as 0-9 or 0,3,7.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key; may be repeated.")
@click.option("--control-steps", default=150, show_default=True, help="Steps of more supervised training.")
@click.option("--control-lr", default=3e-4, show_default=True, help="Its peak learning rate.")
@click.option("--jobs", default=1, show_default=True, help="Runs at a time; they share the cores evenly.")
@options.as_json
def seeds(
    config: Path,
    output: str,
    seeds: str,
    overrides: tuple[str, ...],
    control_steps: int,
    control_lr: float,
    jobs: int,
    as_json: bool,
) -> None:
    r"""Run CONFIG once per seed, and beside it the control: more supervised training of the same base.

    Both are measured on the held-out problems of CONFIG. Prints means, differences in pairs with 95 % intervals over
    seeds, and every seed, as Markdown. Stopped and called again, it goes on with what is missing.

    \b
    Example:
      code-a1 lab seeds configs/demo.toml --seeds 0-9 --jobs 2 -o runs/demo-seeds
    """
    from code_a1.cli.labwork import repeat_seeds  # noqa: PLC0415 - `--help` stays fast
    from code_a1.config_file import load_config  # noqa: PLC0415

    repeat_seeds(
        load_config(config, overrides), output, seeds, steps=control_steps, lr=control_lr, jobs=jobs, as_json=as_json
    )


@lab.command(short_help="The paper's claims as an experiment, with verdicts.")
@click.option("-o", "output", required=True, type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Runs, report and figures; what is there already is kept.")  # fmt: skip
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="Instead of the study's own.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key; may be repeated.")
@click.option(
    "--only", default="", metavar="NAMES", help="Arms or claims, with commas; `main` for those of most claims."
)
@click.option("--seeds", default=0, metavar="N", help="The first N seeds of every arm; by default 5 or 3.")
@click.option("--jobs", default=1, show_default=True, help="Runs at a time; they share the cores evenly.")
@click.option("--control-steps", default=150, show_default=True, help="Steps of the supervised arm.")
@click.option("--control-lr", default=3e-4, show_default=True, help="Its peak learning rate.")
@click.option("--plan", is_flag=True, help="Say what would be run and what it would cost, and end.")
@click.option("--quick", is_flag=True, help="Few arms, four steps: the whole path in minutes, without verdicts.")
@options.as_json
def study(
    output: Path,
    config: Path | None,
    overrides: tuple[str, ...],
    only: str,
    seeds: int,
    jobs: int,
    control_steps: int,
    control_lr: float,
    plan: bool,
    quick: bool,
    as_json: bool,
) -> None:
    r"""Run every arm of the study over seeds, and say of each claim whether the numbers bear it out.

    Arms, claims and the rule for each verdict stand in code_a1.lab.study; see docs/study.md. Stopped and called again,
    it goes on with what is missing.

    \b
    Examples:
      code-a1 lab study -o runs/study --plan
      code-a1 lab study -o runs/study --only main --jobs 2
      code-a1 lab study -o runs/quick --quick
    """
    from code_a1.cli import studying  # noqa: PLC0415 - `--help` stays fast
    from code_a1.lab.repeats import Control  # noqa: PLC0415

    studying.study(
        output,
        config=config,
        overrides=overrides,
        only=only,
        seeds=seeds,
        jobs=jobs,
        control=Control(control_steps, control_lr),
        plan=plan,
        quick=quick,
        as_json=as_json,
    )
