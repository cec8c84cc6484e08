"""The training forward: shared prompts, packing and chunks change nothing about gradients."""

import math

import pytest
import torch
import transformers

from code_a1.config import LossConfig
from code_a1.engines.base import TrainingRow
from code_a1.engines.local import head as head_module
from code_a1.engines.local.backbone import Backbone
from code_a1.engines.local.engine import LocalEngine
from code_a1.engines.local.loss import policy_loss
from code_a1.engines.local.models import resolve
from code_a1.engines.local.packing import pack
from code_a1.engines.local.pair import open_local
from code_a1.engines.update import update
from code_a1.errors import TrainingError
from code_a1.records import Sample
from engines.rows import completion, draw_groups, rows_of, samples_of

PROMPTS = ["def f(x):", "a somewhat longer prompt, so that lengths differ"]
ADVANTAGES = [1.0, -0.5, -2.0, 0.25]


def off_policy_rows(engine):
    """Rows of two groups, with old and reference log-probs that are not the policy's own, so that every term acts."""
    samples = samples_of(draw_groups(engine, PROMPTS, 4), ADVANTAGES)
    shifts = [0.3, -0.4, 0.1, -0.2]
    return [
        TrainingRow(r.sample, tuple(v + s for v in r.old_logprobs), tuple(v - s for v in r.old_logprobs))
        for r, s in zip(rows_of(engine, samples), shifts * 2, strict=True)
    ]


def plain_gradients(folder, rows, config, dtype=torch.float32):
    """Loss and gradients the textbook way: every row by itself, full logits, autograd through everything."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager")
    tokens = sum(len(row.sample.completion.tokens) for row in rows)
    total = 0.0
    for row in rows:
        c = row.sample.completion
        logprobs = model(torch.tensor([c.prompt_tokens + c.tokens])).logits[0].log_softmax(-1)
        first = len(c.prompt_tokens) - 1
        taken = logprobs[first : first + len(c.tokens)].gather(-1, torch.tensor(c.tokens)[:, None])[:, 0]
        old, ref = (torch.tensor(x, dtype=dtype) for x in (row.old_logprobs, row.ref_logprobs))
        adv = torch.full_like(old, row.sample.advantage)
        loss, _ = policy_loss(taken, old, ref, adv, config, tokens=tokens)
        loss.backward()
        total += loss.item()
    return total, [p.grad for p in model.parameters()]


def engine_gradients(engine, rows, *, calls=1):
    for _ in range(calls):
        metrics = engine.forward_backward(rows)
    return metrics, [g / calls for g in engine._optimizer._sums]


def relative(got, expected):
    difference = math.sqrt(sum(float((a - b).pow(2).sum()) for a, b in zip(got, expected, strict=True)))
    return difference / math.sqrt(sum(float(b.pow(2).sum()) for b in expected))


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3", "mistral"])
@pytest.mark.parametrize("budget", [8192, 40])
def test_gradients_with_shared_prompts_equal_the_plain_computation(kind, budget, policy, monkeypatch):
    monkeypatch.setattr(head_module, "LOGITS_PER_CHUNK", 1)  # chunks of 16 tokens
    config = policy(kind, tokens_per_microbatch=budget, loss={"kl_coef": 0.5})
    engine = LocalEngine(config, seed=0)
    rows = off_policy_rows(engine)
    loss, expected = plain_gradients(config.model, rows, config.loss)
    metrics, got = engine_gradients(engine, rows)
    assert metrics["loss"] == pytest.approx(loss, rel=1e-4)
    assert metrics["tokens"] == sum(len(row.sample.completion.tokens) for row in rows)
    assert relative(got, expected) < 1e-4
    assert max(relative([a], [b]) for a, b in zip(got, expected, strict=True)) < 1e-3


@pytest.mark.parametrize("tied", [True, False])
def test_embeddings_tied_or_not(tied, tiny, policy):
    config = policy(model=tiny("qwen2", tie_word_embeddings=tied))
    engine = LocalEngine(config, seed=0)
    rows = off_policy_rows(engine)
    _, expected = plain_gradients(config.model, rows, config.loss)
    _, got = engine_gradients(engine, rows)
    assert len(got) == len(expected)
    assert relative(got, expected) < 1e-4


def test_checkpointing_changes_memory_and_not_gradients(policy):
    plain, checkpointed = (LocalEngine(policy(gradient_checkpointing=on), seed=0) for on in (False, True))
    rows = off_policy_rows(plain)
    assert relative(engine_gradients(checkpointed, rows)[1], engine_gradients(plain, rows)[1]) < 1e-6


def test_entropy_is_the_mean_over_completion_tokens(policy):
    engine = LocalEngine(policy(), seed=0)
    rows = off_policy_rows(engine)
    model = transformers.AutoModelForCausalLM.from_pretrained(engine.policy.model, dtype=torch.float32)
    entropies = []
    for row in rows:
        c = row.sample.completion
        with torch.no_grad():
            logprobs = model(torch.tensor([c.prompt_tokens + c.tokens])).logits[0].log_softmax(-1)
        first = len(c.prompt_tokens) - 1
        entropies += (-(logprobs.exp() * logprobs).sum(-1))[first : first + len(c.tokens)].tolist()
    assert engine.forward_backward(rows)["entropy"] == pytest.approx(sum(entropies) / len(entropies), rel=1e-4)


def test_calls_accumulate(policy):
    engine = LocalEngine(policy(), seed=0)
    rows = off_policy_rows(engine)
    _, once = engine_gradients(engine, rows)
    engine._optimizer.step(0.0)
    _, mean_of_two = engine_gradients(engine, rows, calls=2)
    assert relative(mean_of_two, once) < 1e-6


def test_packs_share_prompts_keep_to_the_budget_and_split_groups_above_it():
    long, short = tuple(range(10)), (7, 8, 9)
    completions = [
        *(completion([1] * 5, prompt=long) for _ in range(3)),
        completion([2], prompt=short),
        completion([3] * 30, prompt=short),
    ]
    whole = pack(completions, 1000, torch.device("cpu"))
    assert [p.input_ids.shape[1] for p in whole] == [10 + 3 * 4 + 3 + 0 + 29]
    assert whole[0].members == (0, 1, 2, 3, 4)
    split = pack(completions, 20, torch.device("cpu"))
    assert [p.members for p in split] == [(0, 1), (2, 3), (4,)]
    assert [p.input_ids.shape[1] for p in split] == [18, 17, 32]  # the last is above the budget on its own
    assert [p.targets.tolist() for p in split] == [[1] * 10, [1] * 5 + [2], [3] * 30]
    assert split[1].positions.tolist() == [[*range(14), *range(3)]]
    assert split[1].sources.tolist() == [9, 10, 11, 12, 13, 16]


def test_completions_without_tokens_score_nothing_and_are_left_out(policy):
    engine = LocalEngine(policy(), seed=0)
    samples = samples_of(draw_groups(engine, PROMPTS[:1], 2), [1.0, -1.0])
    empty = Sample("e", completion([]), 1.0)
    assert engine.logprobs([empty, *samples])[0] == ()
    assert engine.logprobs([empty, *samples])[1:] == engine.logprobs(samples)
    rows = rows_of(engine, samples)
    assert engine.forward_backward([TrainingRow(empty, (), ()), *rows])["tokens"] == sum(
        len(s.completion.tokens) for s in samples
    )


def weights(engine):
    return [p.detach().clone() for p in engine._optimizer.parameters]


@pytest.mark.parametrize("lora", [True, False])
@pytest.mark.parametrize("poison", ["advantage", "weights"])
def test_a_loss_or_gradient_that_is_not_finite_changes_nothing(lora, poison, policy):
    engine = LocalEngine(policy(lora=lora), seed=0)
    samples = samples_of(draw_groups(engine, PROMPTS, 4), ADVANTAGES)
    rows = rows_of(engine, samples)
    before = weights(engine)
    if poison == "advantage":
        rows = [TrainingRow(Sample("g", r.sample.completion, math.nan), r.old_logprobs, r.ref_logprobs) for r in rows]
    else:
        with torch.no_grad():
            engine.backbone.decoder.norm.weight[0] = math.inf
    with pytest.raises(TrainingError, match="nan|inf|not finite"):
        engine.forward_backward(rows)
    assert all(held is None for held in engine._optimizer._sums)
    assert engine.optim_step(1.0) == {"grad_norm": 0.0}
    if poison == "advantage":
        assert all(torch.equal(a, b) for a, b in zip(before, weights(engine), strict=True))


@pytest.mark.parametrize(
    ("error", "place"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), "the GPU"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), "this machine"),
    ],
)
def test_out_of_memory_comes_with_the_settings_that_help(error, place, policy, monkeypatch):
    engine = LocalEngine(policy(), seed=0)
    rows = off_policy_rows(engine)

    def exhausted(*args, **kwargs):
        raise error

    monkeypatch.setattr(engine.backbone, "hidden", exhausted)
    for call in (lambda: engine.forward_backward(rows), lambda: draw_groups(engine, PROMPTS, 1)):
        with pytest.raises(
            TrainingError, match=rf"{place} is out of memory.*tokens_per_microbatch.*slots.*gradient_checkpointing"
        ):
            call()


def test_other_errors_of_torch_are_not_called_a_lack_of_memory(policy, monkeypatch):
    engine = LocalEngine(policy(), seed=0)
    rows = off_policy_rows(engine)

    def broken(*args, **kwargs):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(engine.backbone, "hidden", broken)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        engine.forward_backward(rows)


def test_the_gradient_is_clipped_to_its_norm_and_adamw_moves_by_the_learning_rate(policy):
    config = policy(optimizer={"grad_norm": 1e-3, "weight_decay": 0.0})
    engine = LocalEngine(config, seed=0)
    rows = off_policy_rows(engine)
    _, gradients = engine_gradients(engine, rows)
    norm = math.sqrt(sum(float(g.pow(2).sum()) for g in gradients))
    before = weights(engine)
    assert engine.optim_step(0.01)["grad_norm"] == pytest.approx(norm, rel=1e-5)
    # The first step of Adam moves every weight by the learning rate against the sign of its (clipped) gradient.
    index = max(range(len(gradients)), key=lambda i: float(gradients[i].abs().max()))
    spot = gradients[index].abs().argmax()
    moved = (weights(engine)[index] - before[index]).flatten()[spot]
    assert moved.item() == pytest.approx(-0.01 * math.copysign(1, gradients[index].flatten()[spot].item()), rel=1e-2)


def test_small_steps_are_not_lost_in_bfloat16(policy):
    config = policy(dtype="bfloat16", optimizer={"weight_decay": 0.0})
    engine = LocalEngine(config, seed=0)
    if engine.backbone.dtype is not torch.bfloat16:  # a CPU that computes in float32 instead
        engine.close()
        backbone = Backbone(resolve(config.model), dtype=torch.bfloat16, device=torch.device("cpu"))
        engine = LocalEngine(config, seed=0, backbone=backbone)
    rows = off_policy_rows(engine)
    weight = engine.backbone.decoder.norm.weight  # all ones: bfloat16 cannot hold 1.001
    for _ in range(8):
        engine.forward_backward(rows)
        engine.optim_step(1e-3)
    assert weight.dtype is torch.bfloat16
    assert 0.002 < float((weight.detach().float() - 1).abs().max()) < 0.02


def test_the_reference_stays_what_the_policy_was(policy):
    for lora in (True, False):
        engine = LocalEngine(policy(lora=lora), seed=0)
        samples = samples_of(draw_groups(engine, PROMPTS, 4), ADVANTAGES)
        start = engine.logprobs(samples)
        config = engine.policy
        update(engine, samples, config.optimizer, config.loss, step=0, steps=3, seed=0)
        for got, expected in zip(engine.logprobs(samples, reference=True), start, strict=True):
            assert got == pytest.approx(expected, abs=1e-6)
        assert engine.logprobs(samples) != start


def test_adapters_share_one_copy_of_the_weights_and_do_not_touch_each_other(policy):
    config = policy(lora=True)
    code, test = open_local({"code": config, "test": config}, seed=0).values()
    assert code.backbone is test.backbone
    samples = samples_of(draw_groups(code, PROMPTS, 4), ADVANTAGES)
    before_base = {n: p.clone() for n, p in code.backbone.model.named_parameters() if "lora" not in n}
    before, scores = weights(test), test.logprobs(samples)
    update(code, samples, config.optimizer, config.loss, step=0, steps=3, seed=0)
    assert all(torch.equal(a, b) for a, b in zip(before, weights(test), strict=True))
    assert test.logprobs(samples) == scores
    assert code.logprobs(samples) != scores
    after_base = dict(code.backbone.model.named_parameters())
    assert all(torch.equal(value, after_base[name]) for name, value in before_base.items())
    assert [p.dtype for p in code._optimizer.parameters] == [torch.float32] * len(before)


def test_adapters_start_differently_and_as_the_same_function(policy):
    config = policy(lora=True)
    code, test = open_local({"code": config, "test": config}, seed=0).values()
    assert any(not torch.equal(a, b) for a, b in zip(weights(code), weights(test), strict=True))
    samples = samples_of(draw_groups(code, PROMPTS, 2), [1.0, -1.0])
    assert code.logprobs(samples) == code.logprobs(samples, reference=True) == test.logprobs(samples)


def test_policies_that_train_all_weights_share_only_the_reference(policy):
    config = policy()
    code, test = open_local({"code": config, "test": config}, seed=0).values()
    assert code.backbone is not test.backbone
    samples = samples_of(draw_groups(code, PROMPTS, 2), [1.0, -1.0])
    code.logprobs(samples, reference=True)
    test.logprobs(samples, reference=True)
    assert code._reference is test._reference
    assert code._reference is not code.backbone


@pytest.mark.parametrize("lora", [True, False])
def test_the_same_seed_trains_to_the_same_weights(lora, policy):
    def trained():
        config = policy(lora=lora)
        engine = LocalEngine(config, seed=3)
        for step in range(2):
            samples = samples_of(draw_groups(engine, PROMPTS, 4, seed=step), ADVANTAGES)
            metrics = update(engine, samples, config.optimizer, config.loss, step=step, steps=3, seed=0)
        return metrics, weights(engine)

    (first_metrics, first), (second_metrics, second) = trained(), trained()
    assert first_metrics == second_metrics
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_dropout_of_an_adapter_is_seeded(policy):
    config = policy(lora={"rank": 4, "alpha": 8, "dropout": 0.5})
    gradients = []
    for _ in range(2):
        engine = LocalEngine(config, seed=3)
        rows = off_policy_rows(engine)
        torch.rand(1)  # the global generator must not matter
        gradients.append(engine_gradients(engine, rows)[1])
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


def test_without_kl_no_reference_is_needed(policy):
    config = policy(loss={"kl_coef": 0.0})
    engine = LocalEngine(config, seed=0, reference=lambda: pytest.fail("asked for the reference"))
    samples = samples_of(draw_groups(engine, PROMPTS, 4), ADVANTAGES)
    metrics = update(engine, samples, config.optimizer, config.loss, step=0, steps=3, seed=0)
    assert metrics["kl"] == 0.0
    assert metrics["sampler_logprob_gap"] < 1e-5
    assert metrics["grad_norm"] > 0


def test_kl_pulls_back_to_the_reference(policy):
    config = policy(loss={"kl_coef": 10.0})
    engine = LocalEngine(config, seed=0)
    samples = samples_of(draw_groups(engine, PROMPTS, 4), ADVANTAGES)
    push = LossConfig(kl_coef=0.0)
    engine.policy = config.model_copy(update={"loss": push})
    update(engine, samples, config.optimizer, push, step=0, steps=3, seed=0)
    engine.policy = config
    flat = [Sample(s.group, s.completion, 0.0) for s in samples]
    kls = [update(engine, flat, config.optimizer, config.loss, step=1, steps=9, seed=0)["kl"] for _ in range(4)]
    assert kls[0] > 1e-4
    assert kls[-1] < kls[0]
