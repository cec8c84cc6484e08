"""Tables about what a run keeps, and what it warns of; docs/recovery.md."""

from __future__ import annotations

from typing import Literal

from code_a1.config_base import NonNegativeFloat, NonNegativeInt, PositiveInt, Section, Share

Watchdog = Literal["code-reward", "test-reward", "validity", "no-spread", "entropy", "kl", "dominant-class"]


class CheckpointsConfig(Section):
    """Which checkpoints stay; `save_every` says how often there is one."""

    keep_last: NonNegativeInt = 0
    """Keep so many of the latest; older ones are deleted once a newer one is whole. 0 keeps all."""
    keep_best: str = ""
    """Key of `metrics.jsonl`, such as `eval/heldout/code/pass@1`: the checkpoint with its highest value stays too."""


class WatchdogsConfig(Section):
    """Warnings in the live view and `events.jsonl` about what training tends to break down with."""

    enabled: bool = True
    """False: no warnings."""
    stop: tuple[Watchdog, ...] = ()
    """Watchdogs that end the run, with a checkpoint, instead of only warning."""
    patience: PositiveInt = 5
    """A watchdog speaks up once its condition has held for so many steps in a row."""
    min_reward: Share = 0.02
    """`code-reward`, `test-reward`: the mean reward of a side is at most this."""
    min_validity: Share = 0.1
    """`validity`: the share of VALID tests is below this."""
    min_entropy: Share = 0.1
    """`entropy`: the entropy of a policy is below this share of what it was in the run's first step."""
    max_kl: NonNegativeFloat = 0.5
    """`kl`: the KL divergence of a policy to its reference, in nats per token, is above this; 0 switches it off."""
    dominant_class: Share = 0.9
    """`dominant-class`: one validity class holds at least this share of the tests …"""
    dominant_rise: Share = 0.3
    """… and at least this much more than in as many steps before: a sudden habit is often a way to be paid for less."""
