"""The model card of a base model: recipe and measured rates, as its README.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from code_a1.lab.pretrain import Recipe
from code_a1.lab.rates import Rates

HEAD = """\
# The lab's base model

A Llama of {parameters:,} parameters, trained from {start} by `code-a1 lab pretrain` on problems that
`code_a1.lab` generates, to play both roles of Code-A1 on such problems: it writes programs, and suites of asserts
against programs. It is of no other use. No text by people is in its training data.

Some of what it was taught is wrong by design (see `mix`): bugs as answers of the code role, wrong answers in suites.

## Measured

At temperature 1, {samples} programs a problem and one suite against each, by the engine and the judge of any run; 95 %
intervals from a bootstrap over problems.

| | {names} |
| --- | {rules} |
"""

ROWS = (
    ("pass@1 on hidden tests", "pass_at_1"),
    ("programs that load", "loaded"),
    ("validity: tests that are right, of those asked for", "validity"),
    ("usable tests", "usable"),
    ("wrong programs found out by the valid tests of one suite", "kill"),
    ("suites with a failing usable test", "signal"),
    ("programs", "programs"),
    ("suites", "suites"),
)


def write_card(folder: Path, recipe: Recipe, rates: Mapping[str, Rates], *, parameters: int, samples: int) -> None:
    """Write README.md into a model's folder; `rates` by the name of the problems that they were measured on."""
    lines = [
        HEAD.format(
            parameters=parameters,
            start=f"the model `{recipe.base}`" if recipe.base else "random weights",
            samples=samples,
            names=" | ".join(rates),
            rules=" | ".join("---" for _ in rates),
        )
    ]
    for words, name in ROWS:
        lines.append(f"| {words} | {' | '.join(r.text(name) for r in rates.values())} |\n")
    lines.append(f"\n## Recipe\n\n```json\n{json.dumps(recipe.as_dict(), indent=2)}\n```\n")
    (folder / "README.md").write_text("".join(lines), encoding="utf-8")
