"""Learning from completions that are given: the supervised loss, and completions made from text."""

import math

import pytest
import torch
import transformers

from code_a1.engines.base import TrainingRow
from code_a1.engines.local.engine import LocalEngine
from code_a1.engines.local.loss import supervised_loss
from code_a1.engines.update import update
from code_a1.records import Sample
from engines.rows import ask, draw_groups


def test_the_loss_is_the_weighted_mean_of_minus_logprobs():
    logprobs = torch.tensor([-1.0, -2.0, -0.5], requires_grad=True)
    loss, metrics = supervised_loss(logprobs, torch.tensor([1.0, 1.0, 2.0]))
    assert loss.item() == pytest.approx((1 + 2 + 1) / 3)
    loss.backward()
    assert logprobs.grad.tolist() == pytest.approx([-1 / 3, -1 / 3, -2 / 3])
    assert {name: value.item() for name, value in metrics.items()} == pytest.approx(
        {"loss": 4 / 3, "kl": 0.0, "clip_fraction": 0.0, "ratio_mean": 1.0}
    )
    # chunks, each divided by the tokens of the whole, add up to the whole
    parts = [supervised_loss(logprobs[part], torch.ones(3)[part], tokens=3) for part in (slice(0, 2), slice(2, 3))]
    assert sum(loss.item() for loss, _ in parts) == pytest.approx(3.5 / 3)
    assert sum(metrics["ratio_mean"].item() for _, metrics in parts) == pytest.approx(1.0)


def test_a_completion_made_from_text_is_the_one_that_the_sampler_would_return(policy):
    engine = LocalEngine(policy(), seed=0)
    made = engine.completion_of(ask("add"), "f(1) == 2")
    assert made.text == "f(1) == 2"
    assert engine.backbone.chat.decode(made.tokens) == "f(1) == 2"
    assert made.tokens[-1] in engine.backbone.chat.eos_ids
    assert made.tokens[-1] not in made.tokens[:-1]
    assert made.sampling_logprobs == (0.0,) * len(made.tokens)
    [group] = draw_groups(engine, ["add"], 1)
    assert made.prompt_tokens == group.completions[0].prompt_tokens
    # what spells out the end of a turn is text, and does not end the completion
    mark = engine.backbone.chat.decode([]) + engine.backbone.tokenizer.eos_token
    assert engine.completion_of(ask("add"), mark).tokens.count(engine.backbone.tokenizer.eos_token_id) == 1


def test_loss_and_gradient_are_those_of_the_textbook_with_the_prompt_masked(policy):
    config = policy(loss={"kl_coef": 0.5})  # the reference policy has no part in it
    engine = LocalEngine(config, seed=0)
    completions = [engine.completion_of(ask("add"), text) for text in ("f(1) == 2", "f(-1) == 0, 'x'")]
    completions.append(engine.completion_of(ask("another prompt"), "f()"))
    metrics = engine.forward_backward([TrainingRow(Sample("g", c, 1.0), None, None) for c in completions])
    got = engine._optimizer._sums

    model = transformers.AutoModelForCausalLM.from_pretrained(config.model, dtype=torch.float32)
    tokens = sum(len(c.tokens) for c in completions)
    total = 0.0
    for c in completions:
        ids = torch.tensor([c.prompt_tokens + c.tokens])
        labels = torch.tensor([(-100,) * len(c.prompt_tokens) + c.tokens])
        loss = model(ids, labels=labels).loss * len(c.tokens) / tokens  # transformers' own mean over unmasked tokens
        loss.backward()
        total += loss.item()
    assert metrics["loss"] == pytest.approx(total, rel=1e-5)
    assert metrics["tokens"] == tokens
    expected = [p.grad for p in model.parameters()]
    difference = math.sqrt(sum(float((a - b).pow(2).sum()) for a, b in zip(got, expected, strict=True)))
    assert difference / math.sqrt(sum(float(b.pow(2).sum()) for b in expected)) < 1e-4


@pytest.mark.parametrize("lora", [False, True])
def test_supervised_updates_make_the_completion_likely(policy, lora):
    config = policy(lora=lora)
    engine = LocalEngine(config, seed=0)
    sample = Sample("g", engine.completion_of(ask("add"), "f(1) == 2"), 1.0)
    losses = [
        update(engine, [sample], config.optimizer, None, step=step, steps=20, seed=0)["loss"] for step in range(20)
    ]
    assert losses[0] > 3.0
    assert losses[-1] < 0.5 * losses[0]
    assert -sum(engine.logprobs([sample])[0]) / len(sample.completion.tokens) < losses[-1]
