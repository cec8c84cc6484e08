"""Saved policies: Hugging Face folders that transformers and peft open, and that training goes on from."""

import json
import shutil

import peft
import pytest
import torch
import transformers

from code_a1.engines.local.engine import LocalEngine
from code_a1.engines.local.pair import open_local
from code_a1.engines.update import update
from code_a1.errors import CheckpointError
from engines.rows import draw_groups, samples_of

PROMPTS = ["a", "def f(x):"]


@pytest.fixture
def trained(policy):
    """A policy after a step, and the samples that it learned from."""

    def make(*, lora, seed=0, **keys):
        engine = LocalEngine(policy(lora=lora, **keys), seed=seed)
        samples = samples_of(draw_groups(engine, PROMPTS, 3), [1.0, -1.0, 0.5])
        step(engine, samples)
        return engine, samples

    return make


def step(engine, samples):
    return update(engine, samples, engine.policy.optimizer, engine.policy.loss, step=0, steps=9, seed=0)


def plain_scores(model, samples):
    scores = []
    for sample in samples:
        c = sample.completion
        with torch.no_grad():
            logprobs = model(torch.tensor([c.prompt_tokens + c.tokens])).logits[0].log_softmax(-1)
        first = len(c.prompt_tokens) - 1
        scores.append([logprobs[first + i, token].item() for i, token in enumerate(c.tokens)])
    return scores


@pytest.mark.parametrize("lora", [True, False])
def test_a_loaded_policy_goes_on_exactly(lora, trained, tmp_path):
    engine, samples = trained(lora=lora)
    engine.save(tmp_path / "saved")
    other, _ = trained(lora=lora, seed=1)
    other.load(tmp_path / "saved")
    assert other.logprobs(samples) == engine.logprobs(samples)
    assert step(other, samples) == step(engine, samples)
    assert other.logprobs(samples) == engine.logprobs(samples)


@pytest.mark.parametrize("lora", [True, False])
def test_what_was_saved_opens_with_transformers(lora, trained, tmp_path):
    engine, samples = trained(lora=lora)
    engine.save(tmp_path / "saved")
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "saved", dtype=torch.float32)
    for got, expected in zip(plain_scores(model, samples), engine.logprobs(samples), strict=True):
        assert got == pytest.approx(expected, abs=1e-4)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert tokenizer.encode("ab") == engine.backbone.tokenizer.encode("ab")


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing")  # peft against the newest transformers
def test_an_adapter_opens_with_peft(trained, tmp_path):
    engine, samples = trained(lora=True)
    engine.save(tmp_path / "saved")
    base = transformers.AutoModelForCausalLM.from_pretrained(engine.policy.model, dtype=torch.float32)
    model = peft.PeftModel.from_pretrained(base, tmp_path / "saved").eval()
    for got, expected in zip(plain_scores(model, samples), engine.logprobs(samples), strict=True):
        assert got == pytest.approx(expected, abs=1e-4)


def test_merged_weights_need_no_peft(trained, tmp_path):
    engine, samples = trained(lora=True)
    engine.save_merged(tmp_path / "merged")
    assert not list((tmp_path / "merged").glob("adapter*"))
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "merged", dtype=torch.float32)
    for got, expected in zip(plain_scores(model, samples), engine.logprobs(samples), strict=True):
        assert got == pytest.approx(expected, abs=1e-4)
    before = engine.logprobs(samples, reference=True)
    assert before != engine.logprobs(samples)  # merging left the base as it was


@pytest.mark.parametrize("lora", [True, False])
def test_a_saved_policy_is_the_model_of_a_later_run(lora, trained, policy, tmp_path):
    engine, samples = trained(lora=lora)
    engine.save(tmp_path / "saved")
    for later_lora in (True, False):
        later = LocalEngine(policy(lora=later_lora, model=tmp_path / "saved"), seed=0)
        for got, expected in zip(later.logprobs(samples), engine.logprobs(samples), strict=True):
            assert got == pytest.approx(expected, abs=1e-4)
    if lora:  # and an adapter upon an adapter
        again = LocalEngine(policy(lora=True, model=tmp_path / "saved"), seed=0)
        step(again, samples)
        again.save(tmp_path / "again")
        last = LocalEngine(policy(model=tmp_path / "again"), seed=0)
        for got, expected in zip(last.logprobs(samples), again.logprobs(samples), strict=True):
            assert got == pytest.approx(expected, abs=1e-4)


def test_each_policy_of_a_pair_saves_its_own_adapter(policy, tmp_path):
    config = policy(lora=True)
    code, test = open_local({"code": config, "test": config}, seed=0).values()
    samples = samples_of(draw_groups(code, PROMPTS, 3), [1.0, -1.0, 0.5])
    step(code, samples)
    code.save(tmp_path / "code")
    test.save(tmp_path / "test")
    before = test.logprobs(samples)
    test.load(tmp_path / "code")
    assert test.logprobs(samples) == code.logprobs(samples)
    test.load(tmp_path / "test")
    assert test.logprobs(samples) == before


def test_saving_never_overwrites_and_leaves_nothing_half_written(trained, tmp_path, monkeypatch):
    engine, _ = trained(lora=False)
    engine.save(tmp_path / "saved")
    with pytest.raises(CheckpointError, match="exists already"):
        engine.save(tmp_path / "saved")

    def full(*args, **kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr("code_a1.engines.local.weights.save_file", full)
    with pytest.raises(OSError, match="no space left"):
        engine.save(tmp_path / "other")
    assert [p.name for p in tmp_path.iterdir()] == ["saved"]


@pytest.mark.parametrize("lora", [True, False])
@pytest.mark.parametrize("damage", ["no folder", "no weights", "torn weights", "no optimizer", "torn optimizer"])
def test_a_damaged_checkpoint_is_refused_and_changes_nothing(lora, damage, trained, tmp_path):
    engine, samples = trained(lora=lora)
    folder = tmp_path / "saved"
    engine.save(folder)
    weights = folder / ("adapter_model.safetensors" if lora else "model.safetensors")
    if damage == "no folder":
        shutil.rmtree(folder)
    elif damage.startswith("no "):
        (weights if damage == "no weights" else folder / "optimizer.safetensors").unlink()
    else:
        torn = weights if damage == "torn weights" else folder / "optimizer.safetensors"
        torn.write_bytes(torn.read_bytes()[:-100])
    step(engine, samples)
    before = engine.logprobs(samples)
    with pytest.raises(CheckpointError, match="saved"):
        engine.load(folder)
    assert engine.logprobs(samples) == before


def test_a_checkpoint_of_another_shape_is_refused(trained, policy, tiny, tmp_path):
    engine, _ = trained(lora=True)
    engine.save(tmp_path / "saved")
    for other in (
        LocalEngine(policy(lora={"rank": 2}), seed=0),
        LocalEngine(policy(lora={"rank": 4, "target_modules": ["q_proj"]}), seed=0),
        LocalEngine(policy(lora=True, model=tiny("llama", num_hidden_layers=1)), seed=0),
        LocalEngine(policy(), seed=0),
    ):
        with pytest.raises(CheckpointError):
            other.load(tmp_path / "saved")


def test_an_adapter_names_its_model_in_our_own_terms(trained, tmp_path):
    engine, _ = trained(lora=True)
    engine.save(tmp_path / "saved")
    assert json.loads((tmp_path / "saved" / "code_a1.json").read_text()) == {"model": engine.policy.model}


def test_close_may_be_called_twice(trained):
    engine, _ = trained(lora=True)
    engine.close()
    engine.close()
