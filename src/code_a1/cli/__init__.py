"""The command `code-a1`: one module per group, each command's work imported when it runs."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from code_a1 import __version__
from code_a1.cli.bench import bench
from code_a1.cli.compare import compare
from code_a1.cli.doctor import doctor
from code_a1.cli.evaluate import evaluation
from code_a1.cli.judge import judge
from code_a1.cli.lab import lab
from code_a1.cli.problems import problems
from code_a1.cli.report import report
from code_a1.cli.runs import runs
from code_a1.cli.suites import suites
from code_a1.cli.train import train
from code_a1.errors import CodeA1Error

EPILOG = "Exit codes: 0 done, 1 a finding, 2 wrong use, 3 the environment lacks something."


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="code-a1")
def cli() -> None:
    r"""Train a Code LLM and a Test LLM against each other.

    \b
    Start here:
      code-a1 train configs/demo-smollm2.toml     a few steps on a laptop
      code-a1 doctor                              what this machine offers
    """


def _keep_lines_of_examples(command: click.Command) -> None:
    r"""Give help texts the control character before what click is not to wrap: raw docstrings spell it `\b`."""
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    for inner in getattr(command, "commands", {}).values():
        _keep_lines_of_examples(inner)


for command in (train, evaluation, compare, report, runs, judge, problems, suites, lab, bench, doctor):
    cli.add_command(command)
_keep_lines_of_examples(cli)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: errors of ours become one line on stderr and an exit code."""
    try:
        cli.main(arguments, prog_name="code-a1", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("aborted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except CodeA1Error as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)


def print_json(value: dict[str, Any]) -> None:
    """One object on the last line of stdout, as `--json` promises."""
    click.echo(json.dumps(value))
