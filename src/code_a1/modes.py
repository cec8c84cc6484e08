"""Who samples, who judges, who learns: one small object per mode, and nothing else in the package names a mode.

Adding a mode is one more entry of `MODES`. What a mode leaves open are the ablations, keys of the configuration; one
that would change nothing in the mode that is asked for is refused here, since a run that silently ignored it would be
taken for a result.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from code_a1.config import Config
from code_a1.errors import ConfigError

Role = str
"""`code` or `test`: names a policy, and the kind of samples that it was made for, candidates or suites."""


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to train."""

    name: str
    summary: str
    """In one line, for people."""
    attacker: Role | None
    """The policy that writes suites against the candidates; None: nobody does."""
    known_tests: Literal["book", "own", "suites"]
    """Which tests every candidate is run on beside the suites against it: those that the Mistake Book replays, the
    problem's own, or those of a file of suites. Only the first change from step to step."""
    learns: Mapping[Role, tuple[Role, ...]]
    """The policies that learn, each with the kinds of samples that it learns from in one update."""

    @property
    def supervised(self) -> bool:
        """Whether nothing is learned from rewards: such a mode has a loop of its own."""
        return not self.learns

    @property
    def policies(self) -> tuple[Role, ...]:
        """The policies that are opened."""
        if self.supervised:
            return ("test",)
        return ("code",) if self.attacker in (None, "code") else ("code", "test")

    @property
    def trains_tester(self) -> bool:
        """Whether anybody learns from suites."""
        return any("test" in kinds for kinds in self.learns.values())


MODES: dict[str, Mode] = {
    mode.name: mode
    for mode in (
        Mode(
            "co-evolve",
            "the test policy attacks every candidate, the Mistake Book replays, both policies learn",
            attacker="test",
            known_tests="book",
            learns={"code": ("code",), "test": ("test",)},
        ),
        Mode(
            "self-play",
            "one model plays both roles and learns from both in one update",
            attacker="code",
            known_tests="book",
            learns={"code": ("code", "test")},
        ),
        Mode(
            "frozen-tester",
            "an untrained test policy attacks, the code policy alone learns",
            attacker="test",
            known_tests="book",
            learns={"code": ("code",)},
        ),
        Mode(
            "frozen-coder",
            "an untrained code policy is attacked, the test policy alone learns",
            attacker="test",
            known_tests="book",
            learns={"test": ("test",)},
        ),
        Mode(
            "golden",
            "the problems' own tests judge, the code policy alone learns",
            attacker=None,
            known_tests="own",
            learns={"code": ("code",)},
        ),
        Mode(
            "static-suite",
            "suites exported earlier judge, the code policy alone learns",
            attacker=None,
            known_tests="suites",
            learns={"code": ("code",)},
        ),
        Mode(
            "sft",
            "supervised warm start: the test policy learns to write validated suites of its own (`code_a1.sft`)",
            attacker="test",
            known_tests="own",
            learns={},
        ),
    )
}
"""By the name that the configuration uses."""


# -- what a configuration may ask of a mode ----------------------------------------------------------------------------

Applies = Callable[[Mode], bool]

ATTACKED: tuple[Applies, str] = (lambda mode: mode.attacker is not None, "no policy writes tests in it")
TESTER_LEARNS: tuple[Applies, str] = (lambda mode: mode.trains_tester, "no policy learns to write tests in it")
BOTH_LEARN: tuple[Applies, str] = (
    lambda mode: mode.trains_tester and "code" in mode.learns,
    "it takes a learning tester, and a learning code policy for there to be earlier ones",
)
REMEMBERS: tuple[Applies, str] = (
    lambda mode: mode.known_tests == "book",
    "it has no Mistake Book, the tests are the same in every step",
)
READS_SUITES: tuple[Applies, str] = (lambda mode: mode.known_tests == "suites", "it does not judge by a file of suites")

ABLATIONS: dict[str, tuple[Applies, str]] = {
    "rollout.white_box": ATTACKED,
    "rollout.predict_answer": ATTACKED,
    "mistake_book.enabled": REMEMBERS,
    "rewards.alpha": TESTER_LEARNS,
    "rewards.variant": TESTER_LEARNS,
    "selection.candidates_per_problem": TESTER_LEARNS,
    "selection.spread_of": TESTER_LEARNS,
    "opponents.mutants": TESTER_LEARNS,
    "opponents.earlier": BOTH_LEARN,
    "problems.suites": READS_SUITES,
}
"""Key → the modes in which it changes anything, and why it changes nothing in the others."""


def mode_of(config: Config) -> Mode:
    """The mode of a configuration.

    Raises ConfigError for a mode that does not exist, for an ablation that would change nothing in the mode, and for
    settings that contradict each other.
    """
    mode = MODES.get(config.mode)
    if mode is None:
        near = difflib.get_close_matches(config.mode, MODES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"mode: {config.mode!r} is unknown, accepted are {', '.join(MODES)}{hint}")
    defaults = Config()
    refusals = [
        f"{key} = {value!r} does not apply to mode {mode.name!r}: {why}"
        for key, (applies, why) in ABLATIONS.items()
        if (value := _value(config, key)) != _value(defaults, key) and not applies(mode)
    ]
    refusals += _contradictions(config, mode)
    if refusals:
        raise ConfigError("; ".join(refusals))
    return mode


def _contradictions(config: Config, mode: Mode) -> list[str]:
    found = []
    own = config.rollout.candidates_per_problem
    shown = own + sum(config.opponents.counts(own))
    if config.selection.candidates_per_problem > shown:
        found.append(
            f"selection.candidates_per_problem = {config.selection.candidates_per_problem}: only {shown} candidates of "
            "a problem are attacked; take fewer, or 0 for all"
        )
    if mode.attacker == "code" and config.test_policy != config.code_policy:
        found.append(
            f"mode {mode.name!r} trains one model, but [test_policy] differs from [code_policy]: write one [policy]"
        )
    if mode.supervised and not config.rollout.predict_answer:
        found.append(f"rollout.predict_answer = false: what mode {mode.name!r} teaches is to predict answers")
    if mode.known_tests == "suites" and config.problems.suites is None:
        found.append(f"mode {mode.name!r} judges by a file of suites: give its place with problems.suites")
    if config.opponents.earlier and not config.save_every:
        found.append(f"opponents.earlier = {config.opponents.earlier} samples earlier checkpoints: set save_every")
    if (
        config.evaluation.temperature == 0
        and max(config.evaluation.samples_per_problem, config.evaluation.suites_per_problem) > 1
    ):
        found.append(
            "evaluation.temperature = 0 draws the same answer every time: set it above 0, or ask for one answer"
        )
    if config.eval_every and config.evaluation.problems is None and not config.evaluation.benches:
        found.append(
            f"eval_every = {config.eval_every} needs something to measure: set evaluation.problems.path to held-out "
            "problems, or evaluation.benches"
        )
    return found


def _value(config: Config, key: str) -> Any:
    section, _, name = key.partition(".")
    return getattr(getattr(config, section), name)
