"""Where TRL is installed beside this package: the same loss and the same gradients from the same rows."""

import pytest
import torch

from code_a1.bench.engine_trl import batch_of, loss_of, open_trainer
from code_a1.bench.engine_workload import Workload, training_rows
from code_a1.engines.local.engine import LocalEngine
from code_a1.engines.local.models import load_model, load_tokenizer, resolve

pytest.importorskip("trl", reason="TRL is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # another package's deprecations are not ours


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("kl_coef", [0.0, 0.5])
def test_loss_and_gradients_equal_trls(kind, kl_coef, policy):
    config = policy(kind, loss={"kl_coef": kl_coef})
    engine = LocalEngine(config, seed=0)
    workload = Workload("m", train_rows=4, train_prompt_tokens=20, train_completion_tokens=(3, 11))
    rows = training_rows(workload, 259)
    source = resolve(config.model)
    trainer = open_trainer(load_model(source, torch.float32), load_tokenizer(source), rows=4, loss=config.loss)
    loss = loss_of(trainer, batch_of(rows, torch.device("cpu")))
    trainer.accelerator.backward(loss)
    assert engine.forward_backward(rows)["loss"] == pytest.approx(loss.item(), rel=1e-5)
    for ours, theirs in zip(engine._optimizer._sums, trainer.model.parameters(), strict=True):
        assert float((ours - theirs.grad).norm() / theirs.grad.norm()) < 1e-4
