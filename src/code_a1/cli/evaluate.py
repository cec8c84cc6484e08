"""`code-a1 eval …`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from code_a1.cli import options

F = TypeVar("F", bound=Callable[..., Any])


@click.group("eval", short_help="Measure policies on benchmarks.")
def evaluation() -> None:
    """Measure policies on benchmarks, with intervals."""


def _together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Options that several commands share, in the order of `--help`."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


_MODEL = click.option(
    "--model", required=True, help="`smollm2`, a folder, a .gguf file, a hub id, or a server's name for it."
)
_SERVER = click.option("--server", metavar="URL", help="An OpenAI-compatible server, such as http://localhost:8000/v1.")
_DRAWS = _together(
    click.option("--limit", default=0, type=click.IntRange(0), help="Draw so many problems of each; 0 takes all."),
    click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the draws and of sampling."),
)
_BENCH = click.option("--bench", required=True, metavar="NAME[=FILE],…", help="Benchmarks, or files of problems.")
_TOP_P = click.option(
    "--top-p", default=1.0, show_default=True, type=click.FloatRange(0, 1, min_open=True), help="Nucleus."
)
_WORK = _together(
    click.option(
        "--key-from", default="OPENAI_API_KEY", show_default=True, metavar="VARIABLE", help="Its key, if any."
    ),
    click.option("--concurrency", default=8, show_default=True, type=click.IntRange(1), help="Requests at a time."),
    click.option("--engine", default="local", type=click.Choice(["local", "scripted"]), help="Without a server."),
    click.option(
        "--data", type=click.Path(path_type=Path), default=Path("benchmarks"), show_default=True, help="Files."
    ),
    click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Default: evals/MODEL-TIME."),
    options.workers,
    options.allow_tier,
    options.as_json,
)


@evaluation.command(short_help="pass@k of programs on HumanEval+, MBPP+ and others.")
@_MODEL
@_BENCH
@click.option("--n", default=32, show_default=True, type=click.IntRange(0), help="Completions per problem.")
@click.option("--temperature", default=0.7, show_default=True, type=click.FloatRange(0), help="0 is greedy: n = 1.")
@_TOP_P
@click.option("--max-tokens", default=1024, show_default=True, type=click.IntRange(1), help="Longest completion.")
@click.option("--greedy", is_flag=True, help="One greedy completion per problem beside the n.")
@click.option("--since", metavar="DAY", help="LiveCodeBench: only contests from this day on, as 2024-08-31.")
@click.option("--until", metavar="DAY", help="LiveCodeBench: only contests up to this day.")
@_DRAWS
@_SERVER
@_WORK
def code(bench: str, **asked: object) -> None:
    r"""Sample programs for every problem of the benchmarks, judge them, and estimate pass@k.

    A NAME is humaneval+, mbpp+, livecodebench, bigcodebench or bigcodebench-instruct, looked for in the folder --data
    and then on the Hugging Face hub; FILE is a file of one of these, or problems in any format that training reads.
    Results per problem stay in the output folder; the same command with the same folder goes on where it was broken
    off. docs/evaluation.md says what is measured, and how.

    \b
    Examples:
      code-a1 eval code --model smollm2 --bench humaneval+,mbpp+ --n 8
      code-a1 eval code --model smollm2 --bench mbpp+=evalplus.parquet --temperature 0 -o evals/smollm2
      code-a1 eval code --model Qwen2.5-Coder-7B --server http://localhost:8000/v1 --bench problems.jsonl
    """
    from code_a1.cli.evaluating import Asked, evaluate  # noqa: PLC0415 - `--help` stays fast

    evaluate(Asked(benches=tuple(bench.split(",")), **asked))  # type: ignore[arg-type]


@evaluation.command(short_help="pass@K, mutation scores and coverage of a tester's suites.")
@_MODEL
@_BENCH
@click.option(
    "--protocol",
    default="sequential",
    show_default=True,
    type=click.Choice(["sequential", "one-completion"]),
    help="A query per test with the earlier ones in the chat, or one completion with all tests.",
)
@click.option("--k", default=5, show_default=True, type=click.IntRange(1), help="Tests asked for in a suite.")
@click.option("--n", default=1, show_default=True, type=click.IntRange(1), help="Suites per task.")
@click.option("--temperature", default=0.0, show_default=True, type=click.FloatRange(0), help="0 is greedy: n = 1.")
@_TOP_P
@click.option("--max-tokens", default=512, show_default=True, type=click.IntRange(1), help="Longest completion.")
@click.option("--black-box", is_flag=True, help="Hide the code: the tester sees the description and the signature.")
@click.option(
    "--candidate",
    default="given",
    show_default=True,
    type=click.Choice(["given", "mutant"]),
    help="What a white-box tester sees: the given code, or a buggy variant of it.",
)
@click.option("--begin-answers", is_flag=True, help="Begin every answer, for models too small to keep to the format.")
@click.option("--mutants", default=50, show_default=True, type=click.IntRange(1), help="Most mutants per task.")
@_DRAWS
@_SERVER
@_WORK
def tests(bench: str, black_box: bool, **asked: object) -> None:
    r"""Let a model write tests for given functions, and measure what the tests are worth.

    A NAME is ult, humaneval+ or mbpp+, looked for in the folder --data (the last two also on the Hugging Face hub);
    FILE is a file of one of these, or problems in any format that training reads. Measured are pass@K, mut@K in both
    forms, Mul, line and branch coverage, what became of every test, and how varied the calls are. The same command with
    the same folder goes on where it was broken off. docs/eval-tests.md says what is measured, and how.

    \b
    Examples:
      code-a1 eval tests --model smollm2 --bench ult=ult.json
      code-a1 eval tests --model smollm2 --bench mbpp+,humaneval+ --protocol one-completion --candidate mutant
      code-a1 eval tests --model Qwen2.5-Coder-7B --server http://localhost:8000/v1 --bench ult -o evals/qwen-ult
    """
    from code_a1.cli.evaluating import AskedTests, evaluate_tester  # noqa: PLC0415 - `--help` stays fast

    evaluate_tester(
        AskedTests(benches=tuple(bench.split(",")), white_box=not black_box, **asked)  # type: ignore[arg-type]
    )


@evaluation.command(short_help="Best of N programs, chosen by generated tests.")
@click.option("--code", "code_model", required=True, help="The coder: what --model is elsewhere.")
@click.option("--test", "test_model", required=True, help="The tester; the same model may do both.")
@_BENCH
@click.option("--n", default=8, show_default=True, type=click.IntRange(1), help="Programs per problem.")
@click.option("--k", default=5, show_default=True, type=click.IntRange(1), help="Tests asked for in a suite.")
@click.option("--temperature", default=0.8, show_default=True, type=click.FloatRange(0, min_open=True), help="Of both.")
@_TOP_P
@click.option("--max-tokens", default=1024, show_default=True, type=click.IntRange(1), help="Longest program.")
@click.option("--max-test-tokens", default=512, show_default=True, type=click.IntRange(1), help="Longest suite.")
@click.option("--black-box", is_flag=True, help="N suites from the description, instead of one against each program.")
@click.option("--begin-answers", is_flag=True, help="Begin every suite, for models too small to keep to the format.")
@_DRAWS
@click.option("--code-server", metavar="URL", help="An OpenAI-compatible server that has the coder.")
@click.option("--test-server", metavar="URL", help="One that has the tester.")
@_WORK
def pair(bench: str, black_box: bool, **asked: object) -> None:
    r"""Let a tester choose among a coder's N programs, without any reference, and see how often the choice is right.

    Programs that pass the same generated tests stand together; the group with most programs times tests wins. Beside
    it: random choice, majority by output, the first sample, and the oracle, and how N and the number of tests matter.
    The benchmark's own tests only say afterwards which programs were right. docs/eval-pair.md has the rule.

    \b
    Examples:
      code-a1 eval pair --code smollm2 --test smollm2 --bench mbpp+ --limit 60
      code-a1 eval pair --code runs/RUN/code --test runs/RUN/test --bench mbpp+=evalplus.parquet -o evals/pair
      code-a1 eval pair --code coder-7b --code-server http://localhost:8000/v1 --test smollm2 --bench problems.jsonl
    """
    from code_a1.cli.evaluating import AskedPair, evaluate_both  # noqa: PLC0415 - `--help` stays fast

    evaluate_both(AskedPair(benches=tuple(bench.split(",")), white_box=not black_box, **asked))  # type: ignore[arg-type]
