"""The work of `code-a1 eval code`."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console

from code_a1.config import PolicyConfig
from code_a1.engines import PolicyEngine, open_policies
from code_a1.engines.server import ServerEngine
from code_a1.errors import ConfigError
from code_a1.evaluation.code.livecodebench import parse_day
from code_a1.evaluation.code.measure import Protocol
from code_a1.evaluation.code.reading import Window, open_benchmarks
from code_a1.evaluation.code.run import evaluate_code
from code_a1.evaluation.code.summary import summary_table
from code_a1.report.live import LiveView
from code_a1.sandbox import Sandbox


@dataclass(frozen=True)
class Asked:
    """The options of the command."""

    model: str
    benches: tuple[str, ...]
    n: int
    temperature: float
    top_p: float
    max_tokens: int
    greedy: bool
    limit: int
    since: str | None
    until: str | None
    seed: int
    server: str | None
    key_from: str
    concurrency: int
    engine: str
    data: Path
    output: Path | None
    workers: int
    allow_tier: str
    as_json: bool

    def protocol(self) -> Protocol:
        """How completions are drawn. Greedy answers are all the same: n of them are one."""
        if self.temperature == 0:
            return Protocol(0, 0.0, 1.0, self.max_tokens, True, self.seed)
        if not self.n and not self.greedy:
            raise ConfigError("--n 0 draws nothing; add --greedy, or give a number")
        return Protocol(self.n, self.temperature, self.top_p, self.max_tokens, self.greedy, self.seed)


def evaluate(asked: Asked) -> None:
    """Evaluate, show progress on stderr, print the closing table."""
    protocol = asked.protocol()
    benches = open_benchmarks(
        [item.strip() for item in asked.benches if item.strip()],
        folder=asked.data,
        limit=asked.limit,
        seed=asked.seed,
        window=Window(parse_day("--since", asked.since), parse_day("--until", asked.until)),
    )
    output = asked.output or Path("evals") / f"{Path(asked.model).name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    view = LiveView()
    try:
        with (
            Sandbox(workers=asked.workers, allow_tier=asked.allow_tier) as sandbox,
            closing(_policy(asked)) as policy,
        ):
            model = asked.model if asked.server is None else f"{asked.model} at {asked.server}"
            summary = evaluate_code(policy, sandbox, benches, protocol, output, model, view)
    finally:
        view.close()
    Console().print(summary_table(asked.model, summary))
    for name, bench in summary["benchmarks"].items():
        for task_id, reason in bench["left_out"].items():
            click.echo(f"left out of {name}: {task_id}: {reason}", err=True)
    click.echo(f"results: {output}")
    if asked.as_json:
        click.echo(json.dumps({"output": str(output), "model": asked.model, **summary}))


def _policy(asked: Asked) -> PolicyEngine:
    if asked.server is not None:
        key = os.environ.get(asked.key_from, "")
        return ServerEngine(asked.server, asked.model, key=key, concurrency=asked.concurrency)
    policy = PolicyConfig(model=asked.model)
    return open_policies({"code": policy}, seed=asked.seed, engine=asked.engine, frozen=("code",))["code"]
