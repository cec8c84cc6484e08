"""`code-a1 runs export`: merged weights that transformers opens, and what is said where there is nothing to export."""

import json

import huggingface_hub
import pytest
import torch
import transformers
from click.testing import CliRunner

from code_a1.checkpoint import save_checkpoint
from code_a1.cli import cli
from code_a1.config import Config
from code_a1.engines.local.pair import open_local
from code_a1.errors import CheckpointError, ModelError, RunDirError
from code_a1.mistake_book import MistakeBook
from code_a1.run_dir import RunDir
from engines.rows import draw_groups, samples_of


@pytest.fixture
def trained_run(policy, tmp_path):
    """A run folder with a checkpoint after step 2 whose adapters have moved, its engines, and samples."""
    config = policy(lora=True)
    run = RunDir.create(Config(code_policy=config, test_policy=config, run_dir=tmp_path / "run"))
    engines = open_local({"code": config, "test": config}, seed=0)
    for shift, engine in zip((0.1, -0.2), engines.values(), strict=True):
        with torch.no_grad():
            for parameter in engine._optimizer.parameters:
                parameter.add_(shift)
    save_checkpoint(run.checkpoint_path(2), step=2, policies=engines, book=MistakeBook(0), sampler={})
    return run.path, engines, samples_of(draw_groups(engines["code"], ["a", "def f(x):"], 2), [1.0, -1.0])


def export(*arguments):
    return CliRunner().invoke(cli, ["runs", "export", *map(str, arguments)])


@pytest.mark.parametrize("role", ["code", "test"])
def test_the_exported_model_computes_what_the_policy_computes(role, trained_run, tmp_path):
    run, engines, samples = trained_run
    out = tmp_path / "models" / role
    result = export(run, "--policy", role, "--merged", out, "--dtype", "float32")
    assert (result.exit_code, result.stdout.strip()) == (0, str(out))
    model = transformers.AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32)
    transformers.AutoTokenizer.from_pretrained(out)
    for sample, expected in zip(samples, engines[role].logprobs(samples), strict=True):
        c = sample.completion
        with torch.no_grad():
            logprobs = model(torch.tensor([c.prompt_tokens + c.tokens])).logits[0].log_softmax(-1)
        first = len(c.prompt_tokens) - 1
        got = [logprobs[first + i, token].item() for i, token in enumerate(c.tokens)]
        assert got == pytest.approx(expected, abs=1e-4)
    assert not list(out.glob("*adapter*"))
    assert not list(out.glob("optimizer*"))


def test_weights_are_rounded_to_bfloat16_unless_told_otherwise(trained_run, tmp_path):
    assert export(trained_run[0], "--policy", "code", "--merged", tmp_path / "out").exit_code == 0
    assert json.loads((tmp_path / "out" / "config.json").read_text())["dtype"] == "bfloat16"


def test_what_is_not_there_is_named(trained_run, tmp_path):
    run, _, _ = trained_run
    out = tmp_path / "out"
    missing = export(run, "--policy", "code", "--merged", out, "--step", "3").exception
    assert isinstance(missing, RunDirError)
    assert "no checkpoint after step 3; it has step-000002" in str(missing)
    assert "not a run folder" in str(export(tmp_path, "--policy", "code", "--merged", out).exception)
    out.mkdir()
    existing = export(run, "--policy", "code", "--merged", out).exception
    assert isinstance(existing, CheckpointError)
    (run / "checkpoints" / "step-000002" / "test").rename(run / "elsewhere")
    assert "holds no test policy; it has code" in str(
        export(run, "--policy", "test", "--merged", tmp_path / "x").exception
    )
    (run / "checkpoints" / "step-000002" / "state.json").unlink()
    assert "has no checkpoint" in str(export(run, "--policy", "code", "--merged", tmp_path / "x").exception)


def test_an_upload_names_the_repository_and_a_refusal_says_what_to_do(trained_run, tmp_path, monkeypatch):
    run, _, _ = trained_run
    calls = []

    class Hub:
        def create_repo(self, repo_id, **options):
            calls.append(("create", repo_id, options))
            return f"https://hub/{repo_id}"

        def upload_folder(self, *, folder_path, repo_id):
            calls.append(("upload", folder_path, repo_id))
            if repo_id == "not/mine":
                raise OSError("403 Forbidden\nmore")

    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    out = tmp_path / "out"
    result = export(run, "--policy", "code", "--merged", out, "--push-to-hub", "me/coder")
    assert result.stdout.splitlines() == [str(out), "https://hub/me/coder"]
    assert calls == [("create", "me/coder", {"private": True, "exist_ok": True}), ("upload", out, "me/coder")]
    refused = export(run, "--policy", "code", "--merged", tmp_path / "b", "--push-to-hub", "not/mine").exception
    assert isinstance(refused, ModelError)
    assert "was written but not uploaded to 'not/mine': 403 Forbidden; log in" in str(refused)
