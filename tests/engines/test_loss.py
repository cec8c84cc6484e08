"""The loss against a naive loop, and against numbers worked out by hand."""

import json
import math
from itertools import chain
from pathlib import Path

import pytest
import torch

from code_a1.config import LossConfig
from code_a1.engines.local.loss import policy_loss


def naive_loss(new, old, ref, adv, config):
    total, kl, clipped = 0.0, 0.0, 0
    for n, o, r, a in zip(new, old, ref, adv, strict=True):
        ratio = math.exp(n - o)
        inside = min(max(ratio, 1 - config.clip_low), 1 + config.clip_high)
        term = min(ratio * a, inside * a)
        clipped += ratio * a > inside * a
        if a < 0 and term < config.dual_clip * a:
            term = config.dual_clip * a
            clipped += not ratio * a > inside * a
        k3 = math.exp(r - n) - (r - n) - 1
        kl += k3
        total += -term + config.kl_coef * k3
    return total / len(new), kl / len(new), clipped / len(new)


def double(*values):
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("seed", range(20))
def test_equals_the_naive_loop(seed):
    generator = torch.Generator().manual_seed(seed)
    new, old, ref = (-3 * torch.rand(50, generator=generator, dtype=torch.float64) for _ in range(3))
    adv = torch.randn(50, generator=generator, dtype=torch.float64)
    config = LossConfig(kl_coef=0.1, dual_clip=3.0)
    loss, metrics = policy_loss(new, old, ref, adv, config)
    expected = naive_loss(new.tolist(), old.tolist(), ref.tolist(), adv.tolist(), config)
    assert (loss.item(), metrics["kl"].item(), metrics["clip_fraction"].item()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected", "slope", "clipped"),
    [
        (1.0, 2.0, -2.0, -2.0, 0.0),
        (1.2, 2.0, -2.4, -2.4, 0.0),
        (1.5, 2.0, -2.56, 0.0, 1.0),  # above 1 + 0.28
        (0.5, 2.0, -1.0, -1.0, 0.0),  # a good token that became rare is pulled back, never clipped
        (0.5, -2.0, 1.6, 0.0, 1.0),  # below 1 - 0.2
        (1.5, -2.0, 3.0, 3.0, 0.0),  # a bad token that became likely is pushed down
        (12.0, -2.0, 20.0, 0.0, 1.0),  # dual clip: at most 10 times the advantage
    ],
)
def test_by_hand(ratio, advantage, expected, slope, clipped):
    new = double(math.log(ratio)).requires_grad_()
    loss, metrics = policy_loss(new, double(0.0), None, double(advantage), LossConfig())
    loss.backward()
    assert loss.item() == pytest.approx(expected)
    assert new.grad.item() == pytest.approx(slope)
    assert metrics["clip_fraction"].item() == clipped
    assert metrics["ratio_mean"].item() == pytest.approx(ratio)
    assert metrics["kl"].item() == 0.0


def test_kl_is_k3_and_pulls_towards_the_reference():
    new = double(math.log(0.5)).requires_grad_()
    loss, metrics = policy_loss(new, new.detach(), double(math.log(0.25)), double(0.0), LossConfig(kl_coef=2.0))
    loss.backward()
    k3 = 0.5 - math.log(0.5) - 1
    assert metrics["kl"].item() == pytest.approx(k3)
    assert loss.item() == pytest.approx(2 * k3)
    assert new.grad.item() == pytest.approx(2.0 * (1 - 0.5))  # d k3 / d new = 1 - ref/new


def test_chunks_divided_by_the_tokens_of_the_whole_add_up():
    new, old, ref = double(-1, -2, -3), double(-1.1, -1.9, -2.0), double(-1, -1, -1)
    adv = double(1, -1, 0.5)
    whole, metrics = policy_loss(new, old, ref, adv, LossConfig())
    parts = [policy_loss(new[s], old[s], ref[s], adv[s], LossConfig(), tokens=3) for s in (slice(0, 1), slice(1, 3))]
    assert sum(loss.item() for loss, _ in parts) == pytest.approx(whole.item())
    for name, value in metrics.items():
        assert sum(part[name].item() for _, part in parts) == pytest.approx(value.item())


def test_the_mean_is_over_tokens_not_sequences():
    adv = double(1, 1, 1, -3)  # a sequence of three tokens and one of a single token
    loss, _ = policy_loss(double(0, 0, 0, 0), double(0, 0, 0, 0), None, adv, LossConfig())
    assert loss.item() == pytest.approx(0.0)


@pytest.mark.parametrize("gap", [-1000.0, 1000.0])
def test_far_off_log_probs_stay_finite(gap):
    new = torch.tensor([gap], requires_grad=True)
    loss, _ = policy_loss(new, torch.zeros(1), torch.zeros(1), torch.tensor([1.0]), LossConfig())
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(new.grad).all()


TRL = json.loads((Path(__file__).parents[1] / "golden" / "trl_loss.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", TRL["cases"], ids=lambda case: str(case["config"]))
def test_equals_trls_figures_for_the_same_tensors(case):
    lengths = [len(row) for row in case["new"]]
    new, old, ref, expected = (double(*chain.from_iterable(case[key])) for key in ("new", "old", "ref", "gradient"))
    new.requires_grad_()
    advantages = double(*case["advantages"]).repeat_interleave(torch.tensor(lengths))
    config = LossConfig(**case["config"])
    loss, _ = policy_loss(new, old, ref if config.kl_coef else None, advantages, config)
    loss.backward()
    assert loss.item() == pytest.approx(case["loss"], abs=1e-6)
    assert new.grad.tolist() == pytest.approx(expected.tolist(), abs=1e-6)
