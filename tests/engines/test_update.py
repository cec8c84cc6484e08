import math
from collections.abc import Sequence

import pytest

from code_a1.config import LossConfig, OptimizerConfig
from code_a1.engines.base import Metrics, TrainingRow
from code_a1.engines.scripted import ScriptedEngine
from code_a1.engines.update import learning_rate, split_minibatches, update
from code_a1.errors import TrainingError
from code_a1.records import Sample
from engines.rows import sample

ONE_BATCH = OptimizerConfig(lr=0.5, warmup_steps=0, schedule="constant", minibatches=1)


class Counting(ScriptedEngine):
    """A scripted engine whose numbers can be set, and which keeps the order of the calls."""

    def __init__(self, old: float = -1.0, ref: float = -2.0, loss: float = 0.25) -> None:
        super().__init__(["x"])
        self.old, self.ref, self.loss = old, ref, loss
        self.calls: list[str] = []
        self.sizes: list[int] = []

    def logprobs(self, samples: Sequence[Sample], *, reference: bool = False) -> list[tuple[float, ...]]:
        self.calls.append("reference" if reference else "old")
        return [((self.ref if reference else self.old),) * len(s.completion.tokens) for s in samples]

    def forward_backward(self, rows: Sequence[TrainingRow]) -> Metrics:
        self.calls.append("forward_backward")
        self.sizes.append(len(rows))
        metrics = super().forward_backward(rows)
        return {**metrics, "loss": self.loss, "kl": float(len(self.sizes))}

    def optim_step(self, learning_rate: float) -> Metrics:
        self.calls.append("optim_step")
        return {**super().optim_step(learning_rate), "grad_norm": float(len(self.sizes))}

    def sync(self) -> None:
        self.calls.append("sync")


@pytest.mark.parametrize(
    ("step", "expected"),
    [(0, 0.25), (1, 0.5), (3, 1.0), (4, 1.0), (7, 0.5), (8, 0.25), (9, 0.5 * (1 + math.cos(math.pi * 5 / 6)))],
)
def test_learning_rate_warms_up_from_the_first_step_then_falls_as_a_cosine(step: int, expected: float) -> None:
    optimizer = OptimizerConfig(lr=1.0, warmup_steps=4)
    assert learning_rate(optimizer, step, 10) == pytest.approx(expected)


def test_learning_rate_reaches_zero_as_the_run_ends_and_never_before() -> None:
    optimizer = OptimizerConfig(lr=1.0, warmup_steps=0)
    assert learning_rate(optimizer, 0, 1) == 1.0
    assert learning_rate(optimizer, 9, 10) > 0
    assert learning_rate(optimizer, 10, 10) == pytest.approx(0)
    assert learning_rate(optimizer, 11, 10) == pytest.approx(0)
    assert learning_rate(OptimizerConfig(lr=1.0, warmup_steps=20), 9, 10) == pytest.approx(0.5)


def test_constant_schedule_stays_at_the_peak_after_the_warm_up() -> None:
    optimizer = OptimizerConfig(lr=2.0, warmup_steps=2, schedule="constant")
    assert [learning_rate(optimizer, step, 5) for step in range(5)] == [1.0, 2.0, 2.0, 2.0, 2.0]


def test_minibatches_keep_groups_whole_and_balance_tokens() -> None:
    samples = [sample("a", 10), sample("b", 4), sample("a", 10), sample("c", 7), sample("b", 4), sample("d", 1)]
    batches = split_minibatches(samples, 2, seed="7")
    loads = sorted(sum(len(s.completion.tokens) for s in batch) for batch in batches)
    assert loads == [16, 20]  # a alone; b, c and d together
    assert sorted({s.group for s in batch} for batch in batches if len(batch) == 2)[0] == {"a"}
    assert sorted(s.group for batch in batches for s in batch) == ["a", "a", "b", "b", "c", "d"]


def test_minibatches_are_seeded_and_no_more_than_there_are_groups() -> None:
    samples = [sample(str(i), 3) for i in range(12)]
    assert split_minibatches(samples, 4, seed="1") == split_minibatches(samples, 4, seed="1")
    assert split_minibatches(samples, 4, seed="1") != split_minibatches(samples, 4, seed="2")
    assert [len(batch) for batch in split_minibatches(samples[:3], 5, seed="1")] == [1, 1, 1]


def test_log_probs_are_taken_before_the_first_step_and_the_sampler_synced_after_the_last() -> None:
    engine = Counting()
    optimizer = OptimizerConfig(lr=0.5, warmup_steps=0, schedule="constant", minibatches=2)
    update(engine, [sample("a", 2), sample("b", 2)], optimizer, LossConfig(), step=0, steps=4, seed=0)
    assert engine.calls == ["old", "reference"] + ["forward_backward", "optim_step"] * 2 + ["sync"]
    assert engine.learning_rates == [0.5, 0.5]
    row = engine.updates[0][0]
    assert (row.old_logprobs, row.ref_logprobs) == ((-1.0, -1.0), (-2.0, -2.0))


def test_without_kl_the_reference_is_not_asked_and_the_sampler_can_give_the_old_log_probs() -> None:
    engine = Counting()
    loss = LossConfig(kl_coef=0, old_logprobs="sampler")
    metrics = update(engine, [sample("a", 2, logprob=-3.0)], ONE_BATCH, loss, step=0, steps=4, seed=0)
    assert engine.calls == ["forward_backward", "optim_step", "sync"]
    assert (engine.updates[0][0].old_logprobs, engine.updates[0][0].ref_logprobs) == ((-3.0, -3.0), None)
    assert "sampler_logprob_gap" not in metrics


def test_metrics_are_weighted_by_tokens() -> None:
    engine = Counting(old=-1.5)
    optimizer = OptimizerConfig(lr=0.5, warmup_steps=0, minibatches=2, schedule="constant")
    samples = [sample("long", 6, logprob=-1.0), sample("short", 2, logprob=-3.5)]
    metrics = update(engine, samples, optimizer, LossConfig(), step=0, steps=4, seed=0)
    first_is_long = len(engine.updates[0][0].sample.completion.tokens) == 6
    # kl is 1 in the first minibatch and 2 in the second; grad_norm likewise, but not weighted
    assert metrics["kl"] == pytest.approx((6 * 1 + 2 * 2) / 8 if first_is_long else (2 * 1 + 6 * 2) / 8)
    assert metrics["grad_norm"] == pytest.approx(1.5)
    assert metrics["sampler_logprob_gap"] == pytest.approx((6 * 0.5 + 2 * 2.0) / 8)
    expected = {"samples": 2, "empty_completions": 0, "tokens": 8, "minibatches": 2, "learning_rate": 0.5, "loss": 0.25}
    assert {name: metrics[name] for name in expected} == expected


def test_empty_completions_are_skipped_and_counted() -> None:
    engine = Counting()
    samples = [sample("a", 0), sample("a", 3), sample("b", 0)]
    metrics = update(engine, samples, ONE_BATCH, LossConfig(), step=0, steps=4, seed=0)
    assert (metrics["samples"], metrics["empty_completions"], metrics["tokens"]) == (1, 2, 3)
    assert engine.sizes == [1]


@pytest.mark.parametrize("samples", [[], [sample("a", 0)]])
def test_no_samples_no_optimizer_step(samples: list[Sample]) -> None:
    engine = Counting()
    metrics = update(engine, samples, ONE_BATCH, LossConfig(), step=0, steps=4, seed=0)
    assert engine.calls == []
    assert metrics["samples"] == metrics["tokens"] == metrics["minibatches"] == 0
    assert all(math.isfinite(value) for value in metrics.values())


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_stops_before_the_optimizer_and_names_step_and_minibatch(loss: float) -> None:
    engine = Counting(loss=loss)
    with pytest.raises(TrainingError, match=r"step 3, minibatch 1 of 1: not finite: loss = (nan|inf)"):
        update(engine, [sample("a", 2)], ONE_BATCH, LossConfig(), step=3, steps=4, seed=0)
    assert "optim_step" not in engine.calls


@pytest.mark.parametrize(("broken", "named"), [({"old": math.nan}, "old"), ({"ref": -math.inf}, "reference")])
def test_log_probs_that_are_not_finite_stop_before_the_optimizer(broken: dict[str, float], named: str) -> None:
    engine = Counting(**broken)
    with pytest.raises(TrainingError, match=f"step 2: a log-prob of the {named} policy is not finite"):
        update(engine, [sample("a", 2)], ONE_BATCH, LossConfig(), step=2, steps=4, seed=0)
    assert engine.updates == []
