"""`code-a1 train`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from code_a1.config import Config
    from code_a1.report.view import View
    from code_a1.run_dir import RunDir


def _print_keys(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        from code_a1.dry_run import describe_keys  # noqa: PLC0415 - `--help` stays fast

        click.echo(describe_keys())
        context.exit()


def _loop(mode: str, resume: bool) -> Callable[[Config, View], RunDir]:
    """What runs a configuration. Raises ConfigError where it cannot be resumed."""
    if mode == "sft":
        from code_a1.errors import ConfigError  # noqa: PLC0415 - `--help` stays fast
        from code_a1.sft import warm_start  # noqa: PLC0415

        if resume:
            raise ConfigError("--resume: a warm start (mode 'sft') is saved at its end alone; run it anew")
        return warm_start
    from code_a1.trainer import train as co_train  # noqa: PLC0415

    return partial(co_train, resume=resume)


@click.command(short_help="Train both policies as a configuration file says.")
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a key; may be repeated.")
@click.option(
    "--resume", is_flag=True, help="Go on with the run in run_dir, or in the folder given as CONFIG, if there is one."
)
@click.option(
    "--dry-run", is_flag=True, help="Print the resolved configuration, the sizes of a step and what is missing."
)
@click.option(
    "--keys",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_keys,
    help="List every configuration key with its default and meaning, and exit.",
)
def train(config: Path, overrides: tuple[str, ...], resume: bool, dry_run: bool) -> None:
    r"""Train as CONFIG (a TOML file, or the folder of a run) says.

    \b
    Examples:
      code-a1 train configs/demo-smollm2.toml
      code-a1 train configs/mbpp-smollm2-cpu.toml --set problems.path=mbpp.jsonl --set steps=4
      code-a1 train configs/paper-7b.toml --dry-run
      code-a1 train configs/sft-smollm2-cpu.toml
      code-a1 train runs/co-evolve-20260101-120000 --resume --set steps=200

    The run ends with tables of what changed, rollouts worth reading, and report.html in its folder. Ctrl-C and SIGTERM
    end it soon and save what was done; --resume goes on there, also after a crash (docs/recovery.md).
    """
    from code_a1.config_file import load_config  # noqa: PLC0415 - `--help` stays fast

    if config.is_dir():
        overrides = (f"run_dir={json.dumps(str(config))}", *overrides)
        config = config / "config.toml"
    resolved = load_config(config, overrides)
    if dry_run:
        from code_a1.dry_run import describe  # noqa: PLC0415

        click.echo(describe(resolved))
        return
    from code_a1.cli.reporting import close_run  # noqa: PLC0415
    from code_a1.report.live import LiveView  # noqa: PLC0415

    run_training = _loop(resolved.mode, resume)
    view = LiveView()
    try:
        run_dir = run_training(resolved, view)
    finally:
        view.close()
    close_run(run_dir)
