"""The work of `code-a1 eval …`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import click
from rich.console import Console
from rich.table import Table

from code_a1.config import PolicyConfig
from code_a1.engines import PolicyEngine, open_policies
from code_a1.engines.server import ServerEngine
from code_a1.errors import ConfigError
from code_a1.evaluation.code.livecodebench import parse_day
from code_a1.evaluation.code.measure import Protocol
from code_a1.evaluation.code.reading import Window, open_benchmarks
from code_a1.evaluation.code.run import evaluate_code
from code_a1.evaluation.code.summary import summary_table
from code_a1.evaluation.code.tasks import Benchmark
from code_a1.evaluation.pair.measure import PairProtocol
from code_a1.evaluation.pair.run import evaluate_pair
from code_a1.evaluation.pair.summary import size_table
from code_a1.evaluation.pair.summary import summary_table as pair_table
from code_a1.evaluation.tests.asking import TestProtocol
from code_a1.evaluation.tests.run import evaluate_tests
from code_a1.evaluation.tests.summary import summary_table as tests_table
from code_a1.report.live import LiveView
from code_a1.sandbox import Sandbox


@dataclass(frozen=True, kw_only=True)
class Common:
    """The options that every command has."""

    benches: tuple[str, ...]
    top_p: float
    max_tokens: int
    limit: int
    seed: int
    key_from: str
    concurrency: int
    engine: str
    data: Path
    output: Path | None
    workers: int
    allow_tier: str
    as_json: bool

    def open_benchmarks(self, window: Window = Window(), *, untested: bool = False) -> list[Benchmark]:  # noqa: B008
        """The benchmarks that are asked for."""
        asked = [item.strip() for item in self.benches if item.strip()]
        return open_benchmarks(
            asked, folder=self.data, limit=self.limit, seed=self.seed, window=window, untested=untested
        )

    def folder(self, model: str) -> Path:
        """Where results go."""
        return self.output or Path("evals") / f"{Path(model).name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"

    def sandbox(self) -> Sandbox:
        """Where programs run."""
        return Sandbox(workers=self.workers, allow_tier=self.allow_tier)

    def policies(self, models: Mapping[str, str], servers: Mapping[str, str | None]) -> dict[str, PolicyEngine]:
        """The policy of every role: behind its server, or in this process, where roles share the weights of a model."""
        here = {role: PolicyConfig(model=model) for role, model in models.items() if servers[role] is None}
        found = open_policies(here, seed=self.seed, engine=self.engine, frozen=tuple(here)) if here else {}
        for role, model in models.items():
            if (url := servers[role]) is not None:
                key = os.environ.get(self.key_from, "")
                found[role] = ServerEngine(url, model, key=key, concurrency=self.concurrency)
        return found

    def report(self, output: Path, model: str, tables: Sequence[Table], summary: Mapping[str, Any]) -> None:
        """Print the closing tables, what was left out and why, and where the results are."""
        for table in tables:
            Console().print(table)
        for name, bench in summary["benchmarks"].items():
            for task_id, reason in bench["left_out"].items():
                click.echo(f"left out of {name}: {task_id}: {reason}", err=True)
            for task_id, imports in bench.get("added_imports", {}).items():
                click.echo(f"supplied to {name}: {task_id}: {'; '.join(imports)}", err=True)
        click.echo(f"results: {output}")
        if self.as_json:
            click.echo(json.dumps({"output": str(output), "model": model, **summary}))


@dataclass(frozen=True, kw_only=True)
class Asked(Common):
    """The options of `code-a1 eval code`."""

    model: str
    server: str | None
    n: int
    temperature: float
    greedy: bool
    since: str | None
    until: str | None

    def protocol(self) -> Protocol:
        """How completions are drawn. Greedy answers are all the same: n of them are one."""
        if self.temperature == 0:
            return Protocol(0, 0.0, 1.0, self.max_tokens, True, self.seed)
        if not self.n and not self.greedy:
            raise ConfigError("--n 0 draws nothing; add --greedy, or give a number")
        return Protocol(self.n, self.temperature, self.top_p, self.max_tokens, self.greedy, self.seed)


@dataclass(frozen=True, kw_only=True)
class AskedTests(Common):
    """The options of `code-a1 eval tests`."""

    model: str
    server: str | None
    protocol: Literal["sequential", "one-completion"]
    k: int
    n: int
    temperature: float
    white_box: bool
    candidate: Literal["given", "mutant"]
    begin_answers: bool
    mutants: int

    def how(self) -> TestProtocol:
        """How tests are asked for. Greedy suites of one task are all the same: n of them are one."""
        if not self.white_box and self.candidate == "mutant":
            raise ConfigError("--black-box hides the code, so that --candidate mutant shows nothing; drop one of them")
        return TestProtocol(
            self.protocol,
            self.k,
            self.n if self.temperature else 1,
            self.temperature,
            self.top_p if self.temperature else 1.0,
            self.max_tokens,
            self.white_box,
            self.candidate,
            self.begin_answers,
            self.mutants,
            self.seed,
        )


@dataclass(frozen=True, kw_only=True)
class AskedPair(Common):
    """The options of `code-a1 eval pair`."""

    code_model: str
    test_model: str
    code_server: str | None
    test_server: str | None
    n: int
    k: int
    temperature: float
    max_test_tokens: int
    white_box: bool
    begin_answers: bool

    def how(self) -> PairProtocol:
        """How programs and tests are drawn."""
        return PairProtocol(
            self.n,
            self.k,
            self.temperature,
            self.top_p,
            self.max_tokens,
            self.max_test_tokens,
            self.white_box,
            self.begin_answers,
            self.seed,
        )


def evaluate(asked: Asked) -> None:
    """Evaluate a coder, show progress on stderr, print the closing table."""
    protocol = asked.protocol()
    window = Window(parse_day("--since", asked.since), parse_day("--until", asked.until))
    benches = asked.open_benchmarks(window)
    output, model = asked.folder(asked.model), _named(asked.model, asked.server)
    view = LiveView()
    try:
        with asked.sandbox() as sandbox, closing(_one(asked, asked.model, asked.server)) as policy:
            summary = evaluate_code(policy, sandbox, benches, protocol, output, model, view)
    finally:
        view.close()
    asked.report(output, model, [summary_table(asked.model, summary)], summary)


def evaluate_tester(asked: AskedTests) -> None:
    """Evaluate a tester, show progress on stderr, print the closing table."""
    protocol = asked.how()
    benches = asked.open_benchmarks(untested=True)
    output, model = asked.folder(asked.model), _named(asked.model, asked.server)
    view = LiveView()
    try:
        with asked.sandbox() as sandbox, closing(_one(asked, asked.model, asked.server)) as policy:
            summary = evaluate_tests(policy, sandbox, benches, protocol, output, model, view)
    finally:
        view.close()
    seen = "black-box" if not asked.white_box else f"white-box, {asked.candidate} code"
    title = f"{asked.model}, {asked.protocol}, {seen}"
    table = tests_table(title, summary, asked.k, buggy=asked.candidate == "mutant")
    asked.report(output, model, [table], summary)


def evaluate_both(asked: AskedPair) -> None:
    """Evaluate a coder with a tester, show progress on stderr, print the closing tables."""
    protocol = asked.how()
    benches = asked.open_benchmarks()
    models = {"code": asked.code_model, "test": asked.test_model}
    servers = {"code": asked.code_server, "test": asked.test_server}
    named = {role: _named(model, servers[role]) for role, model in models.items()}
    output = asked.folder(f"{Path(asked.code_model).name}-{Path(asked.test_model).name}")
    view = LiveView()
    try:
        with asked.sandbox() as sandbox, ExitStack() as stack:
            policies = asked.policies(models, servers)
            for policy in policies.values():
                stack.callback(policy.close)
            coder, tester = policies["code"], policies["test"]
            summary = evaluate_pair(coder, tester, sandbox, benches, protocol, output, named, view)
    finally:
        view.close()
    seen = "sees the program" if asked.white_box else "sees the description"
    title = f"best of {asked.n} by {asked.code_model}; {asked.test_model} {seen}, {asked.k} tests a suite"
    tables = [pair_table(title, summary), *(size_table(*item) for item in summary["benchmarks"].items())]
    asked.report(output, f"{named['code']} + {named['test']}", tables, summary)


def _named(model: str, server: str | None) -> str:
    return model if server is None else f"{model} at {server}"


def _one(asked: Common, model: str, server: str | None) -> PolicyEngine:
    return asked.policies({"code": model}, {"code": server})["code"]
