"""The study in Markdown: a verdict per claim, what every arm came to, what it cost and where the numbers lie."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from code_a1.lab.repeats import Outcome
from code_a1.lab.repeats_table import interval
from code_a1.lab.study.arms import BY_NAME
from code_a1.lab.study.claims import BASE, CLAIMS, Answer, Claim
from code_a1.lab.study.running import Study, Task, digest

METRICS = {
    "code/pass@1": "pass@1",
    "test/validity": "validity",
    "test/kills_shown": "finds the bug shown",
    "test/mutation_score": "mutation score",
}

Outcomes = Mapping[Task, Outcome]


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim with the values of its contrast, one per seed that has all of its arms."""

    claim: Claim
    seeds: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def answer(self) -> Answer | None:
        """The verdict; None for a question about which nothing was claimed."""
        return None if self.claim.open_question else self.claim.answer(self.values)


def findings(outcomes: Outcomes, claims: Sequence[Claim] = CLAIMS) -> list[Finding]:
    """Every claim of which at least one seed can be looked at."""
    found = []
    for claim in claims:
        by_seed = {seed: _contrast(claim, seed, outcomes) for seed in sorted({task.seed for task in outcomes})}
        values = {seed: value for seed, value in by_seed.items() if value is not None and not math.isnan(value)}
        if values:
            found.append(Finding(claim, tuple(values), tuple(values.values())))
    return found


def _contrast(claim: Claim, seed: int, outcomes: Outcomes) -> float | None:
    """The weighted sum over the claim's arms under one seed, None where one of them is missing."""
    total = 0.0
    for arm, weight in claim.contrast.items():
        outcome = outcomes.get(Task(arm, seed))
        value = None if outcome is None else outcome.after.get(claim.metric)
        if value is None:
            return None
        total += weight * value
    return total


def study_report(study: Study, outcomes: Outcomes, figures: Mapping[str, str]) -> str:
    """The whole report; `figures` are paths of pictures by claim, relative to it."""
    found = findings(outcomes)
    lines = [
        "# The study",
        "",
        f"{len(outcomes)} runs of {len({t.arm for t in outcomes} - {BASE})} arms, {_cost(outcomes)}. Configuration: "
        "`study.toml` beside this file. Rules and their date: `code_a1.lab.study.claims`.",
        "",
        "## Verdicts",
        "",
        "Contrasts are taken within seeds; mean with its 95 % interval over seeds (Student's t).",
        "",
        "| claim | contrast | metric | seeds | mean | verdict |",
        "| --- | --- | --- | --- | --- | --- |",
        *map(_verdict_row, found),
        "",
        "## Arms",
        "",
        "Means over seeds, with the standard deviation over seeds.",
        "",
        f"| arm | | seeds | {' | '.join(METRICS.values())} | CPU s a run |",
        f"| --- | --- | --- |{' --- |' * (len(METRICS) + 1)}",
        *(_arm_row(name, outcomes) for name in dict.fromkeys(task.arm for task in outcomes)),
        "",
    ]
    for finding in found:
        lines += _section(finding, outcomes, figures.get(finding.claim.name))
    lines += ["## Where the numbers come from", "", "| run | digest |", "| --- | --- |"]
    lines += [f"| {task} | `{digest(study, task)}` |" for task in outcomes]
    return "\n".join(lines) + "\n"


def _verdict_row(finding: Finding) -> str:
    claim = finding.claim
    verdict = f"**{finding.answer}**" if finding.answer else "(no claim)"
    numbers = f"{len(finding.seeds)} | {estimate(finding.values)}"
    return f"| {claim.says} | {contrast_text(claim)} | `{claim.metric}` | {numbers} | {verdict} |"


def contrast_text(claim: Claim) -> str:
    """The contrast for people: `co-evolve − golden-weak`, or with its weights."""
    plain = all(abs(weight) == 1 for weight in claim.contrast.values())
    parts = [
        f"{'−' if weight < 0 else '+'} {'' if plain else f'{abs(weight):.2g} · '}{arm}"
        for arm, weight in claim.contrast.items()
        if weight
    ]
    text = " ".join(parts).removeprefix("+ ")
    return text if not claim.threshold else f"{text} > {claim.threshold:g}"


def estimate(values: Sequence[float]) -> str:
    """`+0.031 [+0.004, +0.058]`; without the interval where there is one value."""
    mean, low, high = interval(values)
    return f"{mean:+.3f}" + ("" if math.isnan(low) else f" [{low:+.3f}, {high:+.3f}]")


def _arm_row(name: str, outcomes: Outcomes) -> str:
    own = [outcome for task, outcome in outcomes.items() if task.arm == name]
    cells = []
    for key in METRICS:
        values = [outcome.after[key] for outcome in own if key in outcome.after]
        spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
        cells.append(f"{statistics.fmean(values):.3f}{spread}" if values else "–")
    about = BY_NAME[name].about if name in BY_NAME else "what all arms begin with"
    cpu = statistics.fmean(outcome.cpu_s for outcome in own)
    return f"| {name} | {about} | {len(own)} | {' | '.join(cells)} | {cpu:.0f} |"


def _section(finding: Finding, outcomes: Outcomes, figure: str | None) -> list[str]:
    claim = finding.claim
    verdict = finding.answer or "no claim"
    result = f"{verdict}: {contrast_text(claim)}, `{claim.metric}`: {estimate(finding.values)}."
    lines = [f"## {claim.says}", "", result, ""]
    if figure:
        lines += [f"![{claim.name}]({figure})", ""]
    arms = [arm for arm in claim.contrast if claim.contrast[arm]]
    lines += [f"| seed | {' | '.join(arms)} | contrast |", f"| --- |{' --- |' * (len(arms) + 1)}"]
    for seed, value in zip(finding.seeds, finding.values, strict=True):
        cells = " | ".join(f"{outcomes[Task(arm, seed)].after[claim.metric]:.3f}" for arm in arms)
        lines.append(f"| {seed} | {cells} | {value:+.3f} |")
    return [*lines, ""]


def _cost(outcomes: Outcomes) -> str:
    return f"{sum(outcome.cpu_s for outcome in outcomes.values()) / 3600:.2f} core-hours of training"
