"""It learns: a random model earns more of a toy reward, less with the sign turned, and stays put without advantages."""

from __future__ import annotations

import statistics

import pytest
import torch

from code_a1.config import PolicyConfig
from code_a1.engines.local.engine import LocalEngine
from code_a1.engines.update import update
from code_a1.records import Completion, Sample
from engines.rows import draw_groups

PROMPTS = ["one", "two", "three", "four"]
ROWS = 8
LEARNING = {"lr": 1e-2, "warmup_steps": 0, "schedule": "constant", "minibatches": 2, "weight_decay": 0.0}


def reward(completion: Completion) -> float:
    """Share of tokens with an even id: a random model earns about a half."""
    return sum(token % 2 == 0 for token in completion.tokens) / len(completion.tokens)


def rollout(engine: LocalEngine, seed: int, sign: float) -> tuple[float, list[Sample]]:
    """Mean reward, and samples with group-normalised advantages times `sign`."""
    samples, rewards = [], []
    for group in draw_groups(engine, PROMPTS, ROWS, seed=seed, max_tokens=8):
        own = [reward(completion) for completion in group.completions]
        mean, spread = statistics.mean(own), statistics.stdev(own)
        rewards += own
        samples += [
            Sample(f"p{group.index}", completion, sign * (value - mean) / (spread + 1e-6))
            for completion, value in zip(group.completions, own, strict=True)
        ]
    return statistics.mean(rewards), samples


def train(
    policy: PolicyConfig, seed: int, sign: float, steps: int
) -> tuple[LocalEngine, list[float], list[dict[str, float]]]:
    """Mean rewards and metrics of every step."""
    engine = LocalEngine(policy, seed=seed)
    rewards, metrics = [], []
    for step in range(steps):
        mean, samples = rollout(engine, seed * 1000 + step, sign)
        rewards.append(mean)
        metrics.append(update(engine, samples, policy.optimizer, policy.loss, step=step, steps=steps, seed=seed))
    return engine, rewards, metrics


def change(rewards: list[float]) -> float:
    """How much the mean of the last three steps is above that of the first three."""
    return statistics.mean(rewards[-3:]) - statistics.mean(rewards[:3])


def slow(*values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("lora", "seed"), [(False, 0), slow(False, 1), slow(False, 2), slow(True, 0), slow(True, 1), slow(True, 2)]
)
def test_reward_rises_and_falls_with_the_sign_of_the_advantage(lora, seed, policy):
    # Adapters of rank 4 start at zero and leave the output layer alone: they need longer.
    config = policy(lora=lora, optimizer=LEARNING | {"lr": 3e-2 if lora else 1e-2})
    steps = 24 if lora else 12
    _, up, metrics = train(config, seed, 1.0, steps)
    _, down, _ = train(config, seed, -1.0, steps)
    # The mean over three steps (768 tokens) has a standard error of 0.02.
    assert change(up) > 0.1
    assert change(down) < -0.1
    assert metrics[0]["kl"] < metrics[-1]["kl"]
    assert all(step["grad_norm"] > 0 for step in metrics)


@pytest.mark.parametrize("lora", [False, True])
def test_without_advantages_and_kl_nothing_moves(lora, policy):
    config = policy(lora=lora, optimizer=LEARNING, loss={"kl_coef": 0.0})
    engine, _, metrics = train(config, 0, 0.0, steps=4)
    untrained = LocalEngine(config, seed=0)
    for got, expected in zip(engine._optimizer.parameters, untrained._optimizer.parameters, strict=True):
        assert torch.equal(got, expected)
    assert {step["loss"] for step in metrics} == {0.0}


def test_without_advantages_the_loss_is_the_kl_term_alone_and_shrinks_it(policy):
    config = policy(optimizer=LEARNING | {"lr": 1e-3}, loss={"kl_coef": 0.1})
    engine = LocalEngine(config, seed=0)
    engine.logprobs([], reference=True)
    with torch.no_grad():
        for parameter in engine._optimizer.parameters:
            parameter.mul_(1.1)
    kls = []
    for step in range(6):
        _, samples = rollout(engine, step, sign=0.0)
        metrics = update(engine, samples, config.optimizer, config.loss, step=step, steps=6, seed=0)
        assert metrics["loss"] == pytest.approx(0.1 * metrics["kl"], rel=1e-5)
        assert metrics["clip_fraction"] == 0.0
        kls.append(metrics["kl"])
    assert kls[-1] < kls[0]
