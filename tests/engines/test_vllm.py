"""vLLM as the sampler, against a stand-in that has the calls which `code_a1.engines.local.vllm` makes, and no others.

With vLLM itself installed (an environment of its own), `code_a1` runs the same code; docs/engine.md says what was tried.
"""

import math
import sys
import types
from typing import ClassVar

import pytest
import torch
import transformers

from code_a1.config import LossConfig
from code_a1.engines.local.engine import LocalEngine
from code_a1.engines.local.loss import policy_loss
from code_a1.engines.update import update
from code_a1.errors import MissingExtra, ModelError, TrainingError
from engines.rows import draw_groups, samples_of

PROMPTS = ["a", "def f(x):"]


class Request:
    def __init__(self, **keys):
        self.__dict__.update(keys)


class Stub:
    """A transformers model behind the calls of `vllm.LLM`: samples token by token with torch's generator."""

    opened: ClassVar[list["Stub"]] = []

    def __init__(self, *, model, dtype, max_model_len, max_num_seqs, seed, enforce_eager, logprobs_mode):
        assert (dtype, enforce_eager, logprobs_mode) == ("float32", True, "processed_logprobs")
        self.model = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
        self.calls = []
        self.deaf = False
        Stub.opened.append(self)

    def collective_rpc(self, method, kwargs):
        assert (method, kwargs["is_checkpoint_format"]) == ("reload_weights", True)
        weights = dict(kwargs["weights_iterator"])
        self.calls.append("reload_weights")
        if not self.deaf:
            missing, unexpected = self.model.load_state_dict(weights, strict=False)
            assert not unexpected
            assert set(missing) <= {"lm_head.weight"}  # tied

    def reset_prefix_cache(self):
        self.calls.append("reset_prefix_cache")

    def generate(self, prompts, params, use_tqdm):
        assert use_tqdm is False
        self.calls.append("generate")
        return [self._answer(p["prompt_token_ids"], request) for p, request in zip(prompts, params, strict=True)]

    def _answer(self, prompt, request):
        outputs = []
        for index in reversed(range(request.n)):  # in whatever order they finish
            generator = torch.Generator().manual_seed((request.seed + index) % 2**62)
            outputs.append(self._sequence(index, list(prompt), request, generator))
        return types.SimpleNamespace(outputs=outputs)

    def _sequence(self, index, ids, request, generator):
        taken, rows = [], []
        while len(taken) < request.max_tokens:
            with torch.no_grad():
                logprobs = self.model(torch.tensor([ids + taken])).logits[0, -1].log_softmax(-1)
            token = int(torch.multinomial(logprobs.exp(), 1, generator=generator))
            taken.append(token)
            rows.append({token: types.SimpleNamespace(logprob=float(logprobs[token]))})
            if token in request.stop_token_ids:
                break
        reason = "stop" if taken[-1] in request.stop_token_ids else "length"
        return types.SimpleNamespace(index=index, token_ids=taken, logprobs=rows, finish_reason=reason)


@pytest.fixture
def vllm(monkeypatch):
    module = types.ModuleType("vllm")
    module.LLM, module.SamplingParams = Stub, Request
    module.__spec__ = types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setattr("code_a1.engines.local.vllm.ENVIRONMENT", {})
    Stub.opened.clear()
    return Stub


@pytest.mark.parametrize("lora", [True, False])
def test_samples_and_log_probs_are_the_policys_after_every_update(lora, vllm, policy):
    config = policy(lora=lora, sampler="vllm", loss={"importance_cap": 2.0})
    engine = LocalEngine(config, seed=0)
    for step in range(3):
        groups = draw_groups(engine, PROMPTS, 4, seed=step)
        samples = samples_of(groups, [1.0, -1.0, 0.5, -0.5])
        for sample, expected in zip(samples, engine.logprobs(samples), strict=True):
            assert sample.completion.sampling_logprobs == pytest.approx(expected, abs=1e-4)
        metrics = update(engine, samples, config.optimizer, config.loss, step=step, steps=3, seed=0)
        assert metrics["sampler_logprob_gap"] < 1e-4
        assert metrics["importance_weight"] == pytest.approx(1.0, abs=1e-3)
        assert metrics["importance_truncated"] == 0.0
    (stub,) = vllm.opened
    assert stub.calls.count("reload_weights") == stub.calls.count("reset_prefix_cache") == 4  # at the start, and thrice


def test_the_order_within_a_group_and_the_draws_are_those_of_the_seed(vllm, policy):
    engine = LocalEngine(policy(sampler="vllm"), seed=0)
    first = draw_groups(engine, PROMPTS, 3, seed=5)
    assert draw_groups(engine, PROMPTS, 3, seed=5) == first
    assert draw_groups(engine, PROMPTS, 3, seed=6) != first
    assert len({c.tokens for c in first[0].completions}) == 3


def test_a_sampler_that_did_not_take_the_weights_stops_the_run(vllm, policy):
    config = policy(sampler="vllm")
    engine = LocalEngine(config, seed=0)
    samples = samples_of(draw_groups(engine, PROMPTS, 4), [1.0, -1.0, 0.5, -0.5])
    vllm.opened[0].deaf = True
    with torch.no_grad():
        for parameter in engine._optimizer.parameters:
            parameter.mul_(1.5)
    with pytest.raises(TrainingError, match=r"differ from the trainer's by \d\.\d+ nats per token"):
        update(engine, samples, config.optimizer, config.loss, step=0, steps=3, seed=0)


def test_a_model_that_vllm_refuses_is_named(vllm, policy, monkeypatch):
    def refuse(self, **keys):
        raise ValueError("head size 8 is not supported\nmore")

    monkeypatch.setattr(vllm, "__init__", refuse)
    with pytest.raises(ModelError, match=r"vLLM cannot open .*: head size 8 is not supported; sampler = 'own' may"):
        draw_groups(LocalEngine(policy(sampler="vllm"), seed=0), PROMPTS, 1)


def test_without_vllm_the_extra_is_named(policy, monkeypatch):
    monkeypatch.setattr("code_a1.engines.local.vllm.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"code-a1\[vllm\]"):
        draw_groups(LocalEngine(policy(sampler="vllm"), seed=0), PROMPTS, 1)


def test_importance_weights_are_truncated_and_leave_the_kl_alone():
    def double(*values):
        return torch.tensor(values, dtype=torch.float64)

    # Ratios to the sampler of 1/2, 1 and 8; the last is cut to 2. All advantages 1, all ratios to the old policy 1.
    old = double(-1.0, -1.0, -1.0)
    sampled = old - double(math.log(0.5), 0.0, math.log(8.0))
    config = LossConfig(importance_cap=2.0, kl_coef=0.5)
    ref = double(-1.5, -1.5, -1.5)
    loss, metrics = policy_loss(old, old, ref, double(1, 1, 1), config, sampling_logprobs=sampled)
    k3 = math.exp(-0.5) + 0.5 - 1
    assert metrics["importance_weight"].item() == pytest.approx((0.5 + 1 + 2) / 3)
    assert metrics["importance_truncated"].item() == pytest.approx(1 / 3)
    assert loss.item() == pytest.approx(-(0.5 + 1 + 2) / 3 + 0.5 * k3)
    plain, metrics = policy_loss(old, old, ref, double(1, 1, 1), LossConfig(kl_coef=0.5), sampling_logprobs=sampled)
    assert plain.item() == pytest.approx(-1 + 0.5 * k3)
    assert "importance_weight" not in metrics
