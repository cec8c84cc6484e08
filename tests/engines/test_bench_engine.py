"""The engine benchmark: the same work both ways, and a report with every number it promises."""

import pytest
import torch

from code_a1.bench.engine import run
from code_a1.bench.engine_work import PaddedEngine, prepare_hf_generate, prepare_sample
from code_a1.bench.engine_workload import Workload, row_lengths, training_rows
from code_a1.engines.local.engine import LocalEngine
from code_a1.errors import ModelError


def small(model, **keys):
    sizes = {"prompts": 3, "rows": 2, "prompt_tokens": 9, "max_tokens": 10, "slots": 4, "train_rows": 3}
    return Workload(str(model), **sizes, train_prompt_tokens=12, train_completion_tokens=(1, 7), **keys)


def test_both_ways_of_sampling_write_the_forced_lengths(tiny):
    workload = small(tiny("llama"))
    expected = sum(map(sum, row_lengths(workload)))
    assert prepare_sample(workload)() == expected
    assert prepare_hf_generate(workload)() == expected


def test_forced_lengths_are_mostly_short():
    lengths = [length for rows in row_lengths(Workload("m")) for length in rows]
    assert len(lengths) == 128
    assert 1 <= min(lengths) <= max(lengths) <= 128
    assert 0.3 * 128 < sum(lengths) / 128 <= 0.45 * 128


def test_padded_rows_give_the_same_gradients(tiny, policy):
    rows = training_rows(small(tiny("qwen2")), 259)
    assert [len(row.sample.completion.tokens) for row in rows] == [1, 4, 7]
    engines = [cls(policy("qwen2"), seed=0) for cls in (LocalEngine, PaddedEngine)]
    for engine in engines:
        engine.forward_backward(rows)
    for shared, padded in zip(*(engine._optimizer._sums for engine in engines), strict=True):
        assert torch.allclose(shared, padded, atol=1e-5)


@pytest.mark.slow
def test_the_report_has_speeds_spreads_ratios_and_memory(tiny):
    report = run(small(tiny("llama"), threads=1), repeats=2)
    for mode in ("sample", "hf_generate", "train", "padded_train"):
        low, high = report[f"{mode}_spread"]
        assert 0 < low <= report[f"{mode}_tok_s"] <= high
        assert 0.1 < report[f"{mode}_peak_rss_gb"] < 8
    assert report["sample_over_hf_generate"] > 0
    assert report["train_over_padded_train"] > 0
    assert report["peak_rss_gb"] == max(report["sample_peak_rss_gb"], report["train_peak_rss_gb"])


def test_a_model_that_cannot_be_loaded_is_the_callers_error():
    with pytest.raises(ModelError, match="no such folder"):
        run(Workload("./nowhere"), repeats=1, modes=("sample",))
