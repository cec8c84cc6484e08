"""Sampling: exact log-probs, rows that do not depend on their neighbours, every way to stop."""

import math

import pytest
import torch
import transformers

from code_a1.engines.base import SamplingParams
from code_a1.engines.local import sampler as sampler_module
from code_a1.engines.local.backbone import Backbone
from code_a1.engines.local.engine import LocalEngine
from code_a1.engines.local.models import resolve
from code_a1.engines.local.pair import open_local
from code_a1.engines.local.sampler import Sampler, draw
from code_a1.errors import ModelError
from engines.rows import ask, draw_groups, samples_of

PROMPTS = ["a", "def f(x):", "a somewhat longer prompt than the others, to make lengths differ", "x" * 40]


def plain_logprobs(folder, completion):
    """Log-probs of a completion by transformers' own eager forward pass over the whole sequence."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    ids = torch.tensor([completion.prompt_tokens + completion.tokens])
    with torch.no_grad():
        logprobs = model(ids).logits[0].log_softmax(-1)
    first = len(completion.prompt_tokens) - 1
    return [logprobs[first + i, token].item() for i, token in enumerate(completion.tokens)]


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3", "mistral"])
def test_log_probs_equal_a_plain_forward_pass(kind, policy):
    engine = LocalEngine(policy(kind, sampling_slots=5), seed=0)
    for group in draw_groups(engine, PROMPTS, 3):
        for completion in group.completions:
            expected = plain_logprobs(engine.policy.model, completion)
            assert completion.sampling_logprobs == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
def test_scoring_equals_a_plain_forward_pass(kind, policy):
    engine = LocalEngine(policy(kind), seed=0)
    samples = samples_of(draw_groups(engine, PROMPTS, 3), [0.0] * 3)
    for sample, logprobs in zip(samples, engine.logprobs(samples), strict=True):
        assert logprobs == pytest.approx(plain_logprobs(engine.policy.model, sample.completion), abs=1e-4)


def sampled(backbone, prompts, n, slots, *, offset=0, **params):
    encoded = [backbone.chat.encode(ask(text)) for text in prompts]
    settings = SamplingParams(**{"max_tokens": 40, "seed": 3, **params})
    groups = Sampler(backbone, None, encoded, n, settings, slots=slots).run()
    return {(g.index, i): c for g in groups for i, c in enumerate(g.completions)}


def test_a_row_does_not_depend_on_the_batch_around_it(tiny):
    backbone = Backbone(resolve(str(tiny("llama"))), dtype=torch.float64, device=torch.device("cpu"))
    together = sampled(backbone, PROMPTS, 4, slots=16)
    for slots in (1, 3, 7):
        again = sampled(backbone, PROMPTS, 4, slots=slots)
        assert again.keys() == together.keys()
        for key, completion in again.items():
            assert completion.tokens == together[key].tokens
            assert completion.sampling_logprobs == pytest.approx(together[key].sampling_logprobs, abs=1e-9)
    first = sampled(backbone, PROMPTS[:1], 2, slots=16)
    assert [first[0, i].tokens for i in range(2)] == [together[0, i].tokens for i in range(2)]


def test_prompts_that_begin_alike_are_computed_from_where_they_differ(tiny, monkeypatch):
    backbone = Backbone(resolve(str(tiny("qwen2"))), dtype=torch.float64, device=torch.device("cpu"))
    start = "the same forty-four characters at the start: "
    prompts = [start + "one", start + "another", "x", start, start + "one"]
    fed = []
    hidden = backbone.hidden

    def counted(input_ids, positions, plan=None):
        if input_ids.shape[1] > 1:
            fed.append((input_ids.shape[1], positions[0, 0].item()))
        return hidden(input_ids, positions, plan)

    monkeypatch.setattr(backbone, "hidden", counted)
    sharing = sampled(backbone, prompts, 2, slots=3)
    lengths = [len(backbone.chat.encode(ask(text))) for text in prompts]
    shared = len("?user\n" + start)
    assert [first for _, first in fed] == [0, shared, 0, 0, shared]
    assert [size + first for size, first in fed] == lengths
    monkeypatch.setattr(sampler_module, "MIN_SHARED", 10**9)
    plain = sampled(backbone, prompts, 2, slots=3)
    assert [first for _, first in fed[5:]] == [0] * 5
    assert plain.keys() == sharing.keys()
    for key, completion in plain.items():
        assert completion.tokens == sharing[key].tokens
        assert completion.sampling_logprobs == pytest.approx(sharing[key].sampling_logprobs, abs=1e-9)


def test_in_float32_log_probs_agree_whatever_the_slots(policy):
    one, many = (LocalEngine(policy(sampling_slots=slots), seed=0) for slots in (1, 9))
    for a, b in zip(draw_groups(one, PROMPTS, 3), draw_groups(many, PROMPTS, 3), strict=True):
        for x, y in zip(a.completions, b.completions, strict=True):
            assert x.tokens == y.tokens
            assert x.sampling_logprobs == pytest.approx(y.sampling_logprobs, abs=1e-4)


def test_the_same_seed_gives_the_same_tokens_and_another_seed_others(policy):
    engine = LocalEngine(policy(), seed=0)
    first = draw_groups(engine, PROMPTS, 2, seed=5)
    assert draw_groups(engine, PROMPTS, 2, seed=5) == first
    other = draw_groups(engine, PROMPTS, 2, seed=6)
    assert [c.tokens for g in other for c in g.completions] != [c.tokens for g in first for c in g.completions]
    assert first[0].completions[0].tokens != first[0].completions[1].tokens


def test_groups_come_as_they_finish_and_weights_may_be_used_between(policy):
    engine = LocalEngine(policy(sampling_slots=2), seed=0)
    indices = []
    for group in engine.sample([ask(text) for text in PROMPTS], 2, SamplingParams(max_tokens=6, seed=1)):
        indices.append(group.index)
        engine.logprobs(samples_of([group], [0.0, 0.0]))
    assert indices == [0, 1, 2, 3]  # two slots for groups of two: one group after another


@pytest.mark.parametrize(("params", "allowed"), [({"top_k": 1}, 1), ({"top_p": 1e-6}, 1), ({"temperature": 0}, 1)])
def test_the_narrowest_filters_are_greedy(policy, params, allowed):
    engine = LocalEngine(policy(), seed=0)
    (group,) = draw_groups(engine, ["a"], 3, **params)
    assert len({c.tokens for c in group.completions}) == allowed
    assert set(group.completions[0].sampling_logprobs) == {0.0}


def test_draw_inverts_the_cumulative_distribution():
    probs = torch.tensor([[0.1, 0.0, 0.6, 0.3]]).repeat(5, 1)
    uniform = torch.tensor([0.0, 0.09, 0.11, 0.69, 0.999999999], dtype=torch.float64)
    tokens, logprobs = draw(probs.log(), uniform, SamplingParams(max_tokens=1))
    assert tokens.tolist() == [0, 0, 2, 2, 3]
    assert logprobs.tolist() == pytest.approx([math.log(p) for p in (0.1, 0.1, 0.6, 0.6, 0.3)])


def test_draw_never_takes_an_impossible_last_token():
    logits = torch.tensor([[0.0, 0.0, -torch.inf]])
    tokens, _ = draw(logits, torch.tensor([1 - 2**-53], dtype=torch.float64), SamplingParams(max_tokens=1))
    assert tokens.tolist() == [1]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"temperature": 0.5}, [0.16, 0.09, 0.04, 0.01]),  # squares
        ({"top_k": 2}, [0.4, 0.3, 0, 0]),
        ({"top_p": 0.7}, [0.4, 0.3, 0, 0]),
        ({"top_p": 0.71}, [0.4, 0.3, 0.2, 0]),
        ({"top_k": 3, "top_p": 0.75}, [0.4, 0.3, 0, 0]),  # of the three kept, 0.7 / 0.9 reaches 0.75
    ],
)
def test_temperature_and_filters_change_the_distribution_that_log_probs_are_of(params, expected):
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).double().log()
    uniform = torch.linspace(0, 1, 1001, dtype=torch.float64)[:-1]
    tokens, logprobs = draw(logits.repeat(1000, 1), uniform, SamplingParams(max_tokens=1, **params))
    for token in range(4):
        share = expected[token] / sum(expected)
        assert (tokens == token).double().mean().item() == pytest.approx(share, abs=2e-3)
        if share:
            assert logprobs[tokens == token].tolist() == pytest.approx([math.log(share)] * int((tokens == token).sum()))


def test_frequencies_follow_the_model(policy):
    engine = LocalEngine(policy(sampling_slots=200), seed=0)
    (group,) = draw_groups(engine, ["a"], 2000, max_tokens=1)
    counts = torch.zeros(259)
    probs = torch.zeros(259)
    for completion in group.completions:
        counts[completion.tokens[0]] += 1
        probs[completion.tokens[0]] = math.exp(completion.sampling_logprobs[0])
    top = probs.topk(5).indices
    deviation = (counts[top] / 2000 - probs[top]) / (probs[top] * (1 - probs[top]) / 2000).sqrt()
    assert deviation.abs().max() < 4


def fixed_answer(monkeypatch, engine, text, ending=()):
    """Make the engine's model certain of `text`, whatever it has seen: logits depend on the position alone."""
    chat = engine.backbone.chat
    tokens = [*chat.tokenizer.encode(text, add_special_tokens=False), *ending]
    step = {"prompt": None}

    def hidden(input_ids, positions, plan=None):
        if input_ids.shape[1] > 1:
            step["prompt"] = input_ids.shape[1]
            plan.prefix = [(torch.zeros(1, 1, input_ids.shape[1], 1),) * 2]
        return positions[..., None].double()

    def logits(states):
        index = states[..., 0].long() - step["prompt"] + 1
        row = torch.full((*index.shape, 400), -torch.inf)
        wanted = torch.tensor(tokens)[index]
        return row.scatter(-1, wanted[..., None], 0.0)

    monkeypatch.setattr(engine.backbone, "hidden", hidden)
    monkeypatch.setattr(engine.backbone.head, "logits", logits)
    return tokens


def test_the_end_of_sequence_token_is_kept_in_tokens_and_left_out_of_the_text(monkeypatch, policy):
    engine = LocalEngine(policy(), seed=0)
    eos = engine.backbone.chat.tokenizer.eos_token_id
    tokens = fixed_answer(monkeypatch, engine, "ok", [eos])
    (group,) = draw_groups(engine, ["a"], 2, max_tokens=10)
    for completion in group.completions:
        assert (completion.text, completion.tokens, completion.finish_reason) == ("ok", tuple(tokens), "stop")


def test_every_end_of_sequence_id_of_the_generation_config_stops(tmp_path, monkeypatch, tiny, policy):
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny("llama"))
    model.generation_config.eos_token_id = [256, 70]
    model.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(tiny("llama")).save_pretrained(tmp_path)
    engine = LocalEngine(policy(model=tmp_path), seed=0)
    assert {256, 70} <= engine.backbone.chat.eos_ids
    tokens = fixed_answer(monkeypatch, engine, "ok", [70])
    (group,) = draw_groups(engine, ["a"], 1, max_tokens=10)
    assert group.completions[0].tokens == tuple(tokens)
    assert group.completions[0].finish_reason == "stop"


@pytest.mark.parametrize(
    ("stop", "text"),
    [
        (("\n```\n",), "x\n```\ny\n```\n"),
        (("```",), "x\n```"),
        (("zz", "y"), "x\n```\ny"),
        (("",), "x\n```\ny\n```\nrest"),
    ],
)
def test_stop_strings_end_the_text_and_stay_in_it(monkeypatch, policy, stop, text):
    engine = LocalEngine(policy(), seed=0)
    fixed_answer(monkeypatch, engine, "x\n```\ny\n```\nrest")
    if stop == ("\n```\n",):
        text = "x\n```\n"
    (group,) = draw_groups(engine, ["a"], 1, stop=stop, max_tokens=len("x\n```\ny\n```\nrest"))
    completion = group.completions[0]
    assert completion.text == text
    assert len(completion.tokens) == len(text)
    assert completion.finish_reason == ("length" if stop == ("",) else "stop")


def test_bytes_that_are_not_utf8_become_replacement_characters(monkeypatch, policy):
    engine = LocalEngine(policy(), seed=0)
    fixed_answer(monkeypatch, engine, "é"[:1])
    (group,) = draw_groups(engine, ["a"], 1, max_tokens=1)
    assert group.completions[0].text == "�"
    assert group.completions[0].finish_reason == "length"


def test_ids_beyond_the_tokenizer_decode_to_nothing(monkeypatch, policy):
    engine = LocalEngine(policy(), seed=0)
    fixed_answer(monkeypatch, engine, "ab", [300, 301])
    (group,) = draw_groups(engine, ["a"], 1, max_tokens=4)
    assert group.completions[0].text == "ab"
    assert group.completions[0].tokens[2:] == (300, 301)


def test_a_completion_ends_with_the_context_window(policy, tiny):
    engine = LocalEngine(policy(model=tiny("llama", max_position_embeddings=40, eos_token_id=None)), seed=0)
    length = engine.prompt_length(ask("a"))
    (group,) = draw_groups(engine, ["a"], 2, max_tokens=1000)
    assert max(len(c.tokens) for c in group.completions) == 40 - length
    with pytest.raises(ModelError, match=r"prompt 1 has \d+ tokens.*between 1 and 39.*prompt_length"):
        engine.sample([ask("a"), ask("a" * 40)], 2, SamplingParams(max_tokens=5))


def test_no_prompts_no_groups_and_no_rows_is_an_error(policy):
    engine = LocalEngine(policy(), seed=0)
    assert draw_groups(engine, [], 2) == []
    with pytest.raises(ModelError, match="n = 0"):
        draw_groups(engine, ["a"], 0)


def test_metrics_count_since_the_last_call(policy):
    engine = LocalEngine(policy(), seed=0)
    groups = draw_groups(engine, ["a"], 3)
    metrics = engine.metrics()
    assert metrics["sampled_tokens"] == sum(len(c.tokens) for g in groups for c in g.completions)
    assert metrics["sample_tok_s"] > 0
    assert 0.05 < metrics["peak_rss_gb"] < 64
    assert engine.metrics()["sampled_tokens"] == 0


def test_adapters_of_two_policies_sample_side_by_side(policy):
    config = policy(lora=True)
    code, test = open_local({"code": config, "test": config}, seed=0).values()
    with torch.no_grad():
        for parameter in test._optimizer.parameters:
            parameter.add_(0.5)
    alone = [draw_groups(engine, PROMPTS[:2], 2) for engine in (code, test)]
    settings = SamplingParams(max_tokens=12, seed=1)
    streams = [engine.sample([ask(p) for p in PROMPTS[:2]], 2, settings) for engine in (code, test)]
    mixed = [[], []]
    for _ in range(2):
        for groups, stream in zip(mixed, streams, strict=True):
            groups.append(next(stream))
    assert [sorted(groups, key=lambda g: g.index) for groups in mixed] == alone
    assert alone[0] != alone[1]
