import json
from pathlib import Path

import pytest

from code_a1.config import PolicyConfig
from code_a1.engines.base import PolicyEngine, SamplingParams
from code_a1.engines.open import open_policies
from code_a1.engines.scripted import ScriptedEngine
from code_a1.errors import CheckpointError, ConfigError, ModelError
from code_a1.records import Message, Prompt
from engines.rows import ask, rows_of, samples_of


def texts(engine: PolicyEngine, n: int, *prompts: str, **params: object) -> list[list[str]]:
    settings = SamplingParams(**{"max_tokens": 100, **params})  # type: ignore[arg-type]
    groups = engine.sample([ask(prompt) for prompt in prompts], n, settings)
    return [[completion.text for completion in group.completions] for group in groups]


def test_a_list_is_handed_out_in_order_over_all_calls_and_starts_again() -> None:
    engine = ScriptedEngine(["a", "b", "c"])
    assert texts(engine, 2, "p", "q") == [["a", "b"], ["c", "a"]]
    assert texts(engine, 1, "p") == [["b"]]


def test_a_function_gets_prompt_index_and_seed() -> None:
    def answer(prompt: Prompt, index: int, seed: int) -> str:
        return f"{prompt[-1].content}-{index}-{seed}"

    assert texts(ScriptedEngine(answer), 2, "p", "q", seed=7) == [["p-0-7", "p-1-7"], ["q-0-7", "q-1-7"]]


def test_tokens_are_utf8_bytes_with_log_probs_zero() -> None:
    engine = ScriptedEngine(["é\ud800"])
    (group,) = engine.sample([ask("hi")], 1, SamplingParams(max_tokens=10))
    (completion,) = group.completions
    assert completion.tokens == (0xC3, 0xA9, 0xED, 0xA0, 0x80)
    assert completion.sampling_logprobs == (0.0,) * 5
    assert bytes(completion.prompt_tokens) == b"### User:\nhi\n\n### Assistant:\n"
    assert completion.finish_reason == "stop"
    assert engine.prompt_length(ask("hi")) == len(completion.prompt_tokens)


def test_an_answer_beyond_the_limit_is_cut_and_one_with_a_stop_string_ends_there() -> None:
    engine = ScriptedEngine(["abcdef"])
    (group,) = engine.sample([ask("p")], 1, SamplingParams(max_tokens=4))
    assert (group.completions[0].text, group.completions[0].finish_reason) == ("abcd", "length")
    assert texts(engine, 1, "p", stop=("zz", "e", "cd")) == [["abcd"]]


def test_a_prompt_that_leaves_no_room_is_an_error() -> None:
    engine = ScriptedEngine(["a"], context_window=30)
    with pytest.raises(ModelError, match="prompt 0 has 37 tokens"):
        engine.sample([ask("a long one")], 1, SamplingParams(max_tokens=4))


def test_requests_and_updates_are_recorded() -> None:
    engine = ScriptedEngine(["ab", "c"])
    params = SamplingParams(max_tokens=5)
    groups = list(engine.sample([ask("p")], 2, params))
    rows = rows_of(engine, samples_of(groups, [1.0, -2.0]))
    assert engine.requests[0].prompts == (ask("p"),)
    assert (engine.requests[0].n, engine.requests[0].params) == (2, params)
    metrics = engine.forward_backward(rows)
    assert metrics["loss"] == pytest.approx(-(2 * 1.0 - 2.0) / 3)
    assert metrics["tokens"] == 3
    assert engine.updates == []
    engine.optim_step(0.1)
    assert engine.updates == [rows]
    assert engine.learning_rates == [0.1]
    assert engine.metrics() == {"sampled_tokens": 3}
    assert engine.metrics() == {"sampled_tokens": 0}


def test_a_saved_script_goes_on_where_it_was(tmp_path: Path) -> None:
    engine = ScriptedEngine(["a", "b", "c"])
    texts(engine, 2, "p")
    engine.optim_step(0.1)
    engine.save(tmp_path / "saved")
    fresh = ScriptedEngine(["a", "b", "c"])
    fresh.load(tmp_path / "saved")
    assert texts(fresh, 1, "p") == [["c"]]
    assert len(fresh.updates) == 1


@pytest.mark.parametrize("content", [None, "{", "[]", '{"answered": "x"}'])
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "scripted.json").write_text(content)
    with pytest.raises(CheckpointError, match=r"scripted\.json"):
        ScriptedEngine(["a"]).load(tmp_path)


def test_a_script_needs_an_answer() -> None:
    with pytest.raises(ModelError, match="at least one answer"):
        ScriptedEngine([])


def test_open_reads_scripts_from_files(tmp_path: Path) -> None:
    files = []
    for side in ("code", "test"):
        file = tmp_path / f"{side}.jsonl"
        file.write_text(f"{json.dumps(side)}\n\n{json.dumps('x')}\n")
        files.append(PolicyConfig(model=str(file)))
    code, test = open_policies(dict(zip(("code", "test"), files, strict=True)), seed=0, engine="scripted").values()
    assert texts(code, 2, "p") == [["code", "x"]]
    assert texts(test, 2, "p") == [["test", "x"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{oops\n", "line 1: not JSON"),
        ('"a"\n3\n', "line 2: an answer must be a JSON string, not int"),
        ("\n", "no answers"),
    ],
)
def test_a_bad_script_is_named_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(content)
    policy = PolicyConfig(model=str(file))
    with pytest.raises(ConfigError, match=message):
        open_policies({"code": policy, "test": policy}, seed=0, engine="scripted")


@pytest.mark.parametrize(("engine", "message"), [("ray", "distributed engine"), ("vllm", "accepted: 'local'")])
def test_engines_that_are_not_there(engine: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_policies({"code": PolicyConfig(), "test": PolicyConfig()}, seed=0, engine=engine)


def test_a_script_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"code_policy\.model = 'smollm2'"):
        open_policies({"code": PolicyConfig(), "test": PolicyConfig()}, seed=0, engine="scripted")


def test_roles_are_headers_in_plain_prompts() -> None:
    engine = ScriptedEngine(["a"])
    prompt = (Message("system", "s"), Message("user", "u"), Message("assistant", "a"), Message("user", "v"))
    (group,) = engine.sample([prompt], 1, SamplingParams(max_tokens=1))
    expected = "### System:\ns\n\n### User:\nu\n\n### Assistant:\na\n\n### User:\nv\n\n### Assistant:\n"
    assert bytes(group.completions[0].prompt_tokens).decode() == expected
