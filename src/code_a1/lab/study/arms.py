"""The arms of the study: one base, one pool of problems, one number of steps, and what each changes.

`co-evolve` is the study's configuration as it stands; every other arm is named for its difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

TYPICAL = "{study}/typical.jsonl"
"""The training problems with the few typical tests that miss most bugs; written when the study begins."""
EXPORTED = "{needed}/suites.jsonl"
"""Suites for the training problems by the trained tester of the arm that is needed, under the same seed."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to train, repeated over seeds."""

    name: str
    about: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the configuration, dotted, upon the study's own."""
    kind: Literal["run", "supervised"] = "run"
    """`supervised` goes on with the base's own training instead of playing."""
    seeds: int = 3
    measures: tuple[Literal["pairs", "old failures"], ...] = ()
    """What is measured beside held-out problems."""
    needs: str = ""
    """An arm whose run of the same seed comes first, because this one starts from what it left."""
    measured_with: Mapping[str, Any] = field(default_factory=dict)
    """Keys upon the study's configuration when the arm is measured: testers are measured with the prompt of the study,
    unless a claim is about the prompt."""


MAIN = 5
"""Seeds of the arms that most claims rest on."""

_SMALL_POOL = {"problems.limit": 48}

ARMS: tuple[Arm, ...] = (
    Arm("co-evolve", "both sides learn from each other", seeds=MAIN, measures=("pairs",)),
    Arm("golden-weak", "fixed tests on typical inputs", {"mode": "golden", "problems.path": TYPICAL}, seeds=MAIN),
    Arm("golden-strong", "fixed tests, edge inputs included: the upper line", {"mode": "golden"}, seeds=MAIN),
    Arm("self-play-white-box", "one model plays both sides and sees its program", {"mode": "self-play"}, seeds=MAIN),
    Arm(
        "self-play-black-box",
        "one model plays both sides and does not see its program",
        {"mode": "self-play", "rollout.white_box": False},
        seeds=MAIN,
        measured_with={"rollout.white_box": False},
    ),
    Arm("supervised", "more of the base's own training, as much compute", kind="supervised", seeds=MAIN),
    Arm("frozen-tester", "the attacker stays the base", {"mode": "frozen-tester"}),
    Arm("frozen-coder", "the programs stay the base's", {"mode": "frozen-coder"}),
    Arm("alpha-0", "only difficulty is rewarded", {"rewards.alpha": 0.0}),
    Arm("alpha-0.25", "mostly difficulty is rewarded", {"rewards.alpha": 0.25}),
    Arm("alpha-0.75", "mostly validity is rewarded", {"rewards.alpha": 0.75}),
    Arm("alpha-1", "only validity is rewarded", {"rewards.alpha": 1.0}),
    Arm(
        "small-pool",
        "a pool so small that the book is replayed in most steps",
        _SMALL_POOL,
        measures=("old failures",),
    ),
    Arm(
        "small-pool-no-book",
        "the same pool, nothing remembered",
        {**_SMALL_POOL, "mistake_book.enabled": False},
        measures=("old failures",),
    ),
    Arm(
        "black-box",
        "the attacker does not see the program",
        {"rollout.white_box": False},
        measured_with={"rollout.white_box": False},
    ),
    Arm(
        "no-answers", "the attacker writes calls, the reference fills the answers in", {"rollout.predict_answer": False}
    ),
    Arm("all-candidates", "suites against every candidate train", {"selection.candidates_per_problem": 0}),
    Arm("paper-reward", "the reward as the paper has it", {"rewards.variant": "paper"}),
    Arm(
        "earlier-opponents",
        "a quarter of the programs attacked are earlier ones",
        {"opponents.earlier": 0.25, "save_every": 10},
    ),
    Arm("known-bugs", "a quarter of the programs attacked are known to be wrong", {"opponents.mutants": 0.25}),
    Arm(
        "exported-suites",
        "fixed tests that a trained attacker left",
        {"mode": "static-suite", "problems.suites": EXPORTED},
        needs="co-evolve",
    ),
)

BY_NAME: Mapping[str, Arm] = {arm.name: arm for arm in ARMS}

MAIN_ARMS = tuple(arm.name for arm in ARMS if arm.seeds == MAIN)
"""What `--only main` runs."""
