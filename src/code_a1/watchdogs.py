"""What training tends to break down with, read off the last steps' metrics. Pure: no state to save or to resume."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from code_a1.config_recovery import Watchdog, WatchdogsConfig
from code_a1.records import Validity

Row = Mapping[str, float | None]
"""The metrics of one step."""
Condition = Callable[[Row], bool]

SIDES = ("code", "test")


@dataclass(frozen=True, slots=True)
class Alarm:
    """A watchdog that speaks up, and what it saw."""

    name: Watchdog
    text: str


def rows_needed(config: WatchdogsConfig) -> int:
    """How many of the last steps `alarms` looks at."""
    return 2 * config.patience + 1


def alarms(rows: Sequence[Row], first: Row, config: WatchdogsConfig) -> list[Alarm]:
    """What there is to warn of after the last of `rows`; `first` is the run's first step.

    A condition counts once it has held for `patience` steps in a row, and is reported when that begins.
    """
    if not config.enabled:
        return []
    now, before = _conditions(rows, first, config), _conditions(rows[:-1], first, config)
    return [Alarm(name, text) for (name, key), text in now.items() if (name, key) not in before]


def _conditions(rows: Sequence[Row], first: Row, config: WatchdogsConfig) -> dict[tuple[Watchdog, str], str]:
    """Everything that holds after the last of `rows`: by watchdog and metric, with a text for people."""
    steps = config.patience
    recent = rows[-steps:]
    found: dict[tuple[Watchdog, str], str] = {}
    if len(recent) < steps:
        return found

    def check(name: Watchdog, key: str, holds: Callable[[float], bool], text: str) -> None:
        values = [row.get(key) for row in recent]
        if all(value is not None and holds(value) for value in values):
            found[name, key] = f"{key} = {values[-1]:.4g}: {text} for {steps} steps"

    names: dict[str, Watchdog] = {"code": "code-reward", "test": "test-reward"}
    for side in SIDES:
        check(names[side], f"{side}/reward_mean", lambda v: v <= config.min_reward, f"at most {config.min_reward}")
        if config.max_kl:
            check("kl", f"{side}/kl", lambda v: v > config.max_kl, f"above {config.max_kl}")
        if (start := first.get(f"{side}/entropy")) is not None:
            low = config.min_entropy * start
            check("entropy", f"{side}/entropy", lambda v, low=low: v < low, f"below {low:.4g}")  # type: ignore[misc]
        groups = [(row.get(f"{side}/groups"), row.get(f"{side}/groups_without_spread")) for row in recent]
        if all(total and total == flat for total, flat in groups):
            found["no-spread", side] = f"no {side} group had any spread for {steps} steps: nothing is learned from"
    check("validity", "validity/VALID", lambda v: v < config.min_validity, f"below {config.min_validity}")
    found |= _dominant(rows, config)
    return found


def _dominant(rows: Sequence[Row], config: WatchdogsConfig) -> dict[tuple[Watchdog, str], str]:
    steps = config.patience
    found: dict[tuple[Watchdog, str], str] = {}
    for kind in Validity:
        key = f"validity/{kind}"
        values = [row.get(key) for row in rows[-2 * steps :]]
        known = [value for value in values if value is not None]
        if len(known) < 2 * steps:
            continue
        before, now = sum(known[:steps]) / steps, known[steps:]
        if min(now) >= config.dominant_class and sum(now) / steps - before >= config.dominant_rise:
            found["dominant-class", key] = (
                f"{key} = {now[-1]:.2f}, up from {before:.2f}: one kind of test has taken over, which may be a way to "
                "be paid for less; `code-a1 runs audit` shows what is written"
            )
    return found
