"""What the paper (arXiv 2603.15611) claims, and the rule that turns the study's numbers into a verdict.

The rules were written before any run of the study; the commit that added this file is their date. Each is a contrast: a
weighted sum of one metric over arms, taken within every seed, so that seeds pair the arms. With the 95 % interval of
its mean over seeds (Student's t), the claim "contrast > threshold" is

    confirmed   if the interval lies above the threshold,
    refuted     if it lies below threshold + margin: if there is an effect, it is too small to matter,
    undecided   otherwise, and with fewer than two seeds.

The study is about models of two million parameters on small generated problems. It can show that a claim fails where it
should be easy, or that a mechanism works as described; it cannot show what a 7B model does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from code_a1.lab.repeats_table import interval

BASE = "base"
"""In a contrast: the model that all arms begin with, measured under the same seed."""
MARGIN = 0.02
"""Two points of a share: what would be called the same in a table of the paper."""


class Answer(StrEnum):
    """What the numbers say about a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim; with `open_question` a comparison about which the paper claims nothing, and which gets no verdict."""

    name: str
    says: str
    metric: str
    contrast: Mapping[str, float]
    threshold: float = 0.0
    margin: float = MARGIN
    open_question: bool = False

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms that have to be run for it, the base left out."""
        return tuple(name for name in self.contrast if name != BASE)

    def answer(self, values: Sequence[float]) -> Answer:
        """The verdict on the contrast's values, one per seed."""
        _, low, high = interval(values)
        if math.isnan(low):  # a single seed has no interval
            return Answer.UNDECIDED
        if low > self.threshold:
            return Answer.CONFIRMED
        return Answer.REFUTED if high < self.threshold + self.margin else Answer.UNDECIDED


def over(winner: str, loser: str) -> dict[str, float]:
    """The contrast of two arms."""
    return {winner: 1.0, loser: -1.0}


def slope(arms: Mapping[str, float]) -> dict[str, float]:
    """The contrast that is the least-squares slope over arms at the given places.

    >>> slope({"a": 0.0, "b": 0.5, "c": 1.0})
    {'a': -1.0, 'b': 0.0, 'c': 1.0}
    """
    mean = sum(arms.values()) / len(arms)
    spread = sum((x - mean) ** 2 for x in arms.values())
    return {arm: (x - mean) / spread for arm, x in arms.items()}


PASS, VALID, KILLS, MUTANTS = "code/pass@1", "test/validity", "test/kills_shown", "test/mutation_score"
OLD, TESTER_GAIN = "code/old_failures_passed", "pair/tester_gain"
ALPHAS = {"alpha-0": 0.0, "alpha-0.25": 0.25, "co-evolve": 0.5, "alpha-0.75": 0.75, "alpha-1": 1.0}

CLAIMS: tuple[Claim, ...] = (
    Claim("coder-learns", "Co-evolution makes better programs.", PASS, over("co-evolve", BASE)),
    Claim("tester-learns-validity", "Co-evolution makes more tests valid.", VALID, over("co-evolve", BASE)),
    Claim("tester-learns-kills", "Co-evolution makes suites that find more bugs.", MUTANTS, over("co-evolve", BASE)),
    Claim("beats-golden", "Generated tests teach more than fixed ones.", PASS, over("co-evolve", "golden-weak")),
    Claim(
        "no-worse-than-strong-golden",
        "Generated tests teach no less than strong fixed ones.",
        PASS,
        over("co-evolve", "golden-strong"),
        threshold=-MARGIN,
        margin=0.0,
        open_question=True,
    ),
    Claim(
        "beats-white-box-self-play",
        "Two models make better programs than one that sees its own.",
        PASS,
        over("co-evolve", "self-play-white-box"),
    ),
    Claim(
        "white-box-self-play-colludes",
        "One model that sees its own programs writes suites that find fewer bugs.",
        MUTANTS,
        over("co-evolve", "self-play-white-box"),
    ),
    Claim(
        "beats-black-box-self-play",
        "Two models make better programs than one that does not see its own.",
        PASS,
        over("co-evolve", "self-play-black-box"),
    ),
    Claim(
        "black-box-self-play-misses-bugs",
        "A tester that does not see the program misses its bugs.",
        KILLS,
        over("co-evolve", "self-play-black-box"),
    ),
    Claim(
        "beats-supervised-coder",
        "The programs' gain is no mere effect of more training.",
        PASS,
        over("co-evolve", "supervised"),
    ),
    Claim(
        "beats-supervised-tester",
        "The suites' gain is no mere effect of more training.",
        MUTANTS,
        over("co-evolve", "supervised"),
    ),
    Claim(
        "learning-tester",
        "A tester that learns teaches more than one that does not.",
        PASS,
        over("co-evolve", "frozen-tester"),
    ),
    Claim(
        "learning-coder",
        "A coder that learns makes a better tester.",
        MUTANTS,
        over("co-evolve", "frozen-coder"),
        open_question=True,
    ),
    Claim(
        "alpha-buys-validity",
        "The more validity is weighted, the more tests are valid.",
        VALID,
        slope(ALPHAS),
        margin=0.05,
    ),
    Claim(
        "alpha-costs-difficulty",
        "The more difficulty is weighted, the more programs a suite finds out.",
        KILLS,
        {a: -w for a, w in slope(ALPHAS).items()},
        margin=0.05,
    ),
    Claim(
        "balance",
        "Both together teach more than either alone.",
        PASS,
        {"co-evolve": 1.0, "alpha-0": -0.5, "alpha-1": -0.5},
    ),
    Claim("book-keeps-fixes", "With the book, old failures stay fixed.", OLD, over("small-pool", "small-pool-no-book")),
    Claim("book-teaches", "The book makes better programs.", PASS, over("small-pool", "small-pool-no-book")),
    Claim(
        "white-box-attacks",
        "A tester that sees the program finds out more programs.",
        KILLS,
        over("co-evolve", "black-box"),
    ),
    Claim("white-box-teaches", "A tester that sees the program teaches more.", PASS, over("co-evolve", "black-box")),
    Claim(
        "answers-matter",
        "A tester that must predict answers writes better suites.",
        MUTANTS,
        over("co-evolve", "no-answers"),
    ),
    Claim(
        "topvar-is-enough",
        "Training on the suites against one candidate is as good as on all.",
        MUTANTS,
        over("co-evolve", "all-candidates"),
        threshold=-MARGIN,
        margin=0.0,
    ),
    Claim(
        "exported-suites-teach",
        "Suites that a trained tester left teach more than weak fixed tests.",
        PASS,
        over("exported-suites", "golden-weak"),
    ),
    Claim(
        "trained-tester-chooses",
        "Of eight programs, the trained tester's suites choose a right one more often than the base's.",
        TESTER_GAIN,
        {"co-evolve": 1.0},
    ),
    Claim(
        "reward-variant",
        "The released reward against the paper's.",
        MUTANTS,
        over("co-evolve", "paper-reward"),
        open_question=True,
    ),
    Claim(
        "earlier-opponents",
        "Earlier programs beside the present ones.",
        KILLS,
        over("earlier-opponents", "co-evolve"),
        open_question=True,
    ),
    Claim(
        "known-bugs",
        "Programs with known bugs beside the present ones.",
        KILLS,
        over("known-bugs", "co-evolve"),
        open_question=True,
    ),
)
