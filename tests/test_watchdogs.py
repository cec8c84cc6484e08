"""Watchdogs on made-up metrics, and one that ends a run."""

from __future__ import annotations

import pytest

from code_a1.config_recovery import WatchdogsConfig
from code_a1.errors import WatchdogStop
from code_a1.run_dir import RunDir
from code_a1.trainer import train
from code_a1.watchdogs import alarms, rows_needed
from test_trainer import config_of, scripted

QUIET = {
    "code/reward_mean": 0.5,
    "test/reward_mean": 0.4,
    "validity/VALID": 0.5,
    "validity/CALL_FAILED": 0.3,
    "code/groups": 4,
    "code/groups_without_spread": 2,
    "code/entropy": 0.6,
    "code/kl": 0.01,
}
CONFIG = WatchdogsConfig(patience=3)


def heard(rows, config: WatchdogsConfig = CONFIG) -> list[list[str]]:
    """The alarms after each step, one list per step."""
    kept = rows_needed(config)
    return [[a.name for a in alarms(rows[: i + 1][-kept:], rows[0], config)] for i in range(len(rows))]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("code-reward", {"code/reward_mean": 0.02}),
        ("test-reward", {"test/reward_mean": -0.1}),
        ("validity", {"validity/VALID": 0.09}),
        ("no-spread", {"code/groups_without_spread": 4}),
        ("entropy", {"code/entropy": 0.05}),
        ("kl", {"code/kl": 0.6}),
    ],
)
def test_each_speaks_up_once_when_its_condition_has_held_for_long_enough(name, change):
    bad = QUIET | change
    assert heard([QUIET, bad, bad, bad, bad, bad]) == [[], [], [], [name], [], []]
    assert heard([QUIET, bad, bad, QUIET, bad, bad]) == [[]] * 6
    assert heard([QUIET, bad, bad, bad, QUIET, bad, bad, bad])[-1] == [name]  # again, after it was well
    assert heard([QUIET, bad, bad, bad], WatchdogsConfig(patience=3, enabled=False)) == [[]] * 4


def test_what_is_not_measured_or_has_no_groups_warns_of_nothing():
    unknown = dict.fromkeys(QUIET) | {"code/groups": 0, "code/groups_without_spread": 0}
    assert heard([unknown] * 5) == [[]] * 5
    assert heard([QUIET] + [QUIET | {"code/kl": 9.0}] * 4, WatchdogsConfig(patience=3, max_kl=0)) == [[]] * 5


def test_one_class_that_takes_over_suddenly_is_told_from_one_that_always_had_most():
    much = QUIET | {"validity/VALID": 0.95, "validity/CALL_FAILED": 0.0}
    assert heard([QUIET] * 3 + [much] * 4) == [[]] * 5 + [["dominant-class"], []]
    assert heard([much] * 8) == [[]] * 8
    assert heard([QUIET | {"validity/VALID": 0.7}] * 3 + [much] * 4) == [[]] * 7  # a rise of a quarter


def test_a_run_warns_in_its_events_and_stops_where_it_is_told_to(tmp_path):
    keys = {"patience": 2, "min_reward": 1.0}  # every reward is at most 1
    run_dir = train(config_of(tmp_path, steps=3, watchdogs=keys), policies=scripted())
    warnings = [e for e in run_dir.events() if e["event"] == "warning"]
    assert [(e["step"], e["watchdog"]) for e in warnings] == [(2, "code-reward"), (2, "test-reward")]
    assert warnings[0]["text"] == "code/reward_mean = 0.5625: at most 1.0 for 2 steps"

    config = config_of(tmp_path, steps=3, run_dir=str(tmp_path / "stopped"), watchdogs=keys | {"stop": ["test-reward"]})
    with pytest.raises(WatchdogStop, match="stopped after step 2 by watchdogs.stop: test-reward: ") as stopped:
        train(config, policies=scripted())
    assert stopped.value.exit_code == 1
    run_dir = RunDir.open(config.run_dir)
    assert list(run_dir.checkpoints()) == [2]
    assert [e["event"] for e in run_dir.events()][-1] == "stopped"
