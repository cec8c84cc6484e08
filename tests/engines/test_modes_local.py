"""Every mode with tiny local models: after two steps the weights of who learns have moved, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
import torch

from code_a1.config import Config, PolicyConfig
from code_a1.config_file import make_config
from code_a1.engines.base import SampledGroup, SamplingParams
from code_a1.engines.local.engine import LocalEngine
from code_a1.errors import CheckpointError
from code_a1.modes import MODES
from code_a1.problems import write_problems
from code_a1.records import Completion, Prompt
from code_a1.suite_file import ProblemSuite, write_suites
from code_a1.trainer import train
from engines.rows import draw_groups
from test_modes import PROBLEM, play


class Dictated(LocalEngine):
    """A real model that learns, but says what a script says: random weights never write a program."""

    opened: ClassVar[list[Dictated]] = []

    def __init__(self, policy: PolicyConfig, **settings) -> None:
        super().__init__(policy, **settings)
        self.before = self.state()
        self.network = self.backbone
        self.opened.append(self)

    def state(self) -> dict[str, torch.Tensor]:
        """The adapter's weights, or all of them."""
        named = self.backbone.model.state_dict().items()
        own = f".{self._adapter}." if self._adapter else ""
        named = ((k.replace(".base_layer", ""), v) for k, v in named)  # the name once another policy has an adapter
        return {k: v.clone() for k, v in named if own in k and (own or "lora_" not in k)}

    def close(self) -> None:
        if hasattr(self, "_backbone"):
            self.moved = any(not torch.equal(v, self.before[k]) for k, v in self.state().items())
        super().close()

    def sample(self, prompts: Sequence[Prompt], n: int, params: SamplingParams) -> Iterator[SampledGroup]:
        for index, prompt in enumerate(prompts):
            yield SampledGroup(index, tuple(self._says(prompt, i) for i in range(n)))

    def _says(self, prompt: Prompt, index: int) -> Completion:
        text = play(prompt, index, 0)
        tokens = tuple(self.backbone.tokenizer.encode(text, add_special_tokens=False))
        return Completion(text, tokens, (0.0,) * len(tokens), tuple(self.backbone.chat.encode(prompt)), "stop")


@pytest.fixture
def dictated(monkeypatch: pytest.MonkeyPatch) -> type[Dictated]:
    monkeypatch.setattr(Dictated, "opened", [])
    monkeypatch.setattr("code_a1.engines.local.pair.LocalEngine", Dictated)
    return Dictated


def config_of(tmp_path: Path, model: Path, mode: str, *, lora: bool, **changes) -> Config:
    problems, suites = tmp_path / "problems.jsonl", tmp_path / "suites.jsonl"
    write_problems(problems, [PROBLEM])
    write_suites(suites, [ProblemSuite("double", ("assert double(2) == 4", "assert double(3) == 6"))])
    raw = {
        "mode": mode,
        "steps": 2,
        "run_dir": str(tmp_path / "run"),
        "problems": {"path": str(problems)} | ({"suites": str(suites)} if mode == "static-suite" else {}),
        "sandbox": {"workers": 1},
        "rollout": {
            "problems_per_step": 1,
            "candidates_per_problem": 2,
            "suites_per_candidate": 2,
            "tests_per_suite": 2,
        },
        "policy": {
            "model": str(model),
            "dtype": "float32",
            "device": "cpu",
            "lora": {"rank": 2, "alpha": 4} if lora else None,
            "optimizer": {"lr": 1e-2, "warmup_steps": 0, "minibatches": 1},
            "loss": {"kl_coef": 0.0},
        },
    }
    return make_config(raw | changes)


TRAINED = {
    "co-evolve": {"code": True, "test": True},
    "self-play": {"code": True},
    "frozen-tester": {"code": True, "test": False},
    "frozen-coder": {"code": False, "test": True},
    "golden": {"code": True},
    "static-suite": {"code": True},
}


def test_no_mode_that_learns_from_rewards_is_forgotten():
    assert {name for name, mode in MODES.items() if not mode.supervised} == set(TRAINED)


CASES = [*((mode, False) for mode in TRAINED), ("co-evolve", True), ("self-play", True), ("frozen-coder", True)]


@pytest.mark.parametrize(("mode", "lora"), CASES, ids=[f"{mode}-{'lora' if lora else 'full'}" for mode, lora in CASES])
def test_the_weights_of_who_learns_move_and_nobody_elses(mode, lora, tmp_path, tiny, dictated):
    # a window for the white-box prompt of one token per byte
    model = tiny("llama", max_position_embeddings=4096)
    run_dir = train(config_of(tmp_path, model, mode, lora=lora))
    assert {role: e.moved for role, e in zip(("code", "test"), dictated.opened, strict=False)} == TRAINED[mode]
    assert {role for role, e in zip(("code", "test"), dictated.opened, strict=False) if e.trainable} == {
        role for role, moved in TRAINED[mode].items() if moved
    }
    row = list(run_dir.metrics())[-1]
    assert {role for role in ("code", "test") if f"{role}/grad_norm" in row} == {
        r for r, m in TRAINED[mode].items() if m
    }
    saved = {p.name for p in run_dir.checkpoint_path(2).iterdir()} - {"state.json", "checksums.json"}
    assert saved == {role for role, moved in TRAINED[mode].items() if moved}


def test_a_frozen_policy_takes_no_memory_of_its_own(tmp_path, tiny, dictated):
    train(config_of(tmp_path, tiny("llama", max_position_embeddings=4096), "frozen-tester", lora=True))
    code, test = dictated.opened
    assert test.network is code.network
    assert (code.trainable, test.trainable) == (True, False)


@pytest.mark.parametrize("lora", [False, True], ids=["full", "lora"])
def test_sampling_as_an_earlier_policy_gives_its_words_and_leaves_the_present_one_alone(lora, tmp_path, policy):
    config = policy(lora=lora)
    engine = LocalEngine(config, seed=0)
    if lora:  # an untrained adapter changes nothing: give it something to say
        with torch.no_grad():
            for parameter in engine._optimizer.parameters:
                parameter.add_(0.3)
    early = [g.completions for g in draw_groups(engine, ["one", "two"], 3, seed=1, max_tokens=8)]
    engine.save(tmp_path / "early")
    with torch.no_grad():
        for parameter in engine._optimizer.parameters:
            parameter.mul_(1.5)
    late = [g.completions for g in draw_groups(engine, ["one", "two"], 3, seed=1, max_tokens=8)]
    before = {k: v.clone() for k, v in engine.backbone.model.state_dict().items()}
    with engine.sampling_as(tmp_path / "early"):
        again = [g.completions for g in draw_groups(engine, ["one", "two"], 3, seed=1, max_tokens=8)]
    assert [[c.tokens for c in group] for group in again] == [[c.tokens for c in group] for group in early]
    assert [[c.tokens for c in group] for group in late] != [[c.tokens for c in group] for group in early]
    after = engine.backbone.model.state_dict()
    assert all(torch.equal(after[k], before[k]) for k in before)
    with pytest.raises(CheckpointError, match="nowhere cannot be loaded"), engine.sampling_as(tmp_path / "nowhere"):
        pass


def test_an_error_while_sampling_as_another_policy_restores_the_present_one(tmp_path, policy):
    engine = LocalEngine(policy(lora=True), seed=0)
    engine.save(tmp_path / "early")
    with torch.no_grad():
        for parameter in engine._optimizer.parameters:
            parameter.add_(1.0)
    before = {k: v.clone() for k, v in engine.backbone.model.state_dict().items()}
    with pytest.raises(RuntimeError, match="out of luck"), engine.sampling_as(tmp_path / "early"):
        raise RuntimeError("out of luck")
    after = engine.backbone.model.state_dict()
    assert all(torch.equal(after[k], before[k]) for k in before)
