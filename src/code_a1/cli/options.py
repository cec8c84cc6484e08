"""Options that several commands have, so that they mean the same everywhere."""

from __future__ import annotations

import click

as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object on the last line of stdout.")
workers = click.option("--workers", default=0, type=click.IntRange(0), help="Worker processes; 0 means one per core.")
allow_tier = click.option(
    "--allow-tier",
    default="no-namespaces",
    show_default=True,
    type=click.Choice(["full", "no-namespaces", "rlimits-only"]),
    help="The weakest isolation to accept.",
)
problems = click.option("--problems", required=True, help="Problem file, `datasets` folder, hub id, or `bundled`.")
