"""`code-a1 doctor`."""

from __future__ import annotations

import click


@click.command(short_help="What this machine offers, and how to get more.")
def doctor() -> None:
    r"""Probe the sandbox by doing, look for optional packages and accelerators, and say how to get what is missing.

    \b
    Example:
      code-a1 doctor
    """
    import os  # noqa: PLC0415 - `--help` stays fast
    import platform  # noqa: PLC0415

    from code_a1.dry_run import EXTRAS, has_package  # noqa: PLC0415
    from code_a1.sandbox import probe  # noqa: PLC0415

    report = probe()
    python = f"Python {platform.python_version()}"
    click.echo(f"system      {platform.system()} {platform.machine()}, {python}, {os.cpu_count()} cores")
    click.echo(f"sandbox     tier {report.name}\n{report.describe()}")
    for extra, packages in EXTRAS.items():
        missing = [p for p in packages if not has_package(p)]
        click.echo(
            f"{extra:<11} "
            + (f"missing {', '.join(missing)}: pip install 'code-a1[{extra}]'" if missing else "installed")
        )
