"""The lab's base model: a small Llama, its tokenizer, and a supervised warm start of both roles in one set of weights.

The same training goes on from a model that there is: the control for whatever a run is said to have taught that model.

Through the same engine and the same update as any run; the only things of its own are the random weights that it
begins with and the lessons. torch is loaded when a function here is called, not before.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from code_a1.config import OptimizerConfig, PolicyConfig
from code_a1.engines.base import Metrics
from code_a1.engines.update import update
from code_a1.errors import CheckpointError, ConfigError
from code_a1.lab.problems import LabProblem, generate
from code_a1.lab.samples import Lesson, Mix, Teacher, random_name
from code_a1.lab.tokenizer import CONTEXT_WINDOW, train_tokenizer
from code_a1.records import Sample
from code_a1.seeds import derive_seed

if TYPE_CHECKING:
    from code_a1.engines.local.engine import LocalEngine

OnStep = Callable[[int, Metrics, "LocalEngine"], None]
"""Called after every step with its number, counted from 1, its metrics, and the policy.

Beside those of the update: `step_s`, seconds, and `step_cpu_s`, CPU seconds of all threads of this process.
"""

TOKENS_PER_PASS = 1024
"""Tokens of one forward pass. Cutting a long row into its prompts and answers costs more than the row's products."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that the base model depends on, beside the code."""

    problems: int = 12000
    """Problems of the split `train`, drawn with the seed."""
    steps: int = 3500
    """Optimizer steps."""
    problems_per_step: int = 12
    """Problems of a step; each gives a lesson to both roles."""
    answers_per_lesson: int = 1
    """Answers to one prompt; more of them share its computation, but most programs would be equal."""
    tests_per_suite: int = 4
    """K, as prompts of the lab ask for."""
    hidden_size: int = 192
    layers: int = 4
    heads: int = 6
    key_value_heads: int = 2
    """Fewer than heads: decoding a hundred rows of a tiny model is mostly reading their keys and values."""
    intermediate_size: int = 512
    learning_rate: float = 2e-3
    """Peak; linear warm-up over 100 steps (a tenth of them, if there are fewer than 1,000), then a cosine to 0."""
    seed: int = 0
    base: str = ""
    """The model to go on from, a folder or a name as in `policy.model`; its own shape counts then. Empty: none."""
    mix: Mix = field(default_factory=Mix)

    @classmethod
    def of_width(cls, hidden_size: int, **fields: int) -> Recipe:
        """A recipe whose model has heads of 32 and the usual 8/3 in its feed-forward layers; a multiple of 32."""
        if hidden_size < 32 or hidden_size % 32:
            raise ConfigError(f"hidden size {hidden_size} is no multiple of 32: heads have 32 dimensions each")
        wide = -(-hidden_size * 8 // 3) // 64 * 64 or 64
        heads = hidden_size // 32
        shared = next(n for n in range(max(1, heads // 3), 0, -1) if heads % n == 0)
        shape = {"hidden_size": hidden_size, "heads": heads, "key_value_heads": shared, "intermediate_size": wide}
        return cls(**shape, **fields)  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, object]:
        """The recipe as a model card holds it."""
        return asdict(self)


def pretrain(folder: Path, recipe: Recipe, on_step: OnStep | None = None) -> None:
    """Train the base model, or go on from one, and write it into the new folder `folder`, weights in bfloat16.

    Raises:
        CheckpointError: the folder exists.
        ConfigError: the split has fewer problems than the recipe asks for.
        ModelError: the model to go on from is not there, or is none.
    """
    if folder.exists():
        raise CheckpointError(f"{folder} exists already; a base model is written into a new folder")
    from code_a1.engines.local.engine import LocalEngine  # noqa: PLC0415 - torch is loaded only where it is used

    if recipe.base:
        from code_a1.engines.local.models import resolve  # noqa: PLC0415

        resolve(recipe.base)  # better now than after minutes of making problems
    problems = list(generate(recipe.problems, seed=recipe.seed, split="train"))
    with tempfile.TemporaryDirectory() as scratch:
        model = recipe.base or str(Path(scratch) / "begin")
        if not recipe.base:
            write_random_model(Path(model), problems, recipe)
        policy = PolicyConfig(
            model=model, dtype="float32", optimizer=_optimizer(recipe), tokens_per_microbatch=TOKENS_PER_PASS
        )
        engine = LocalEngine(policy, seed=recipe.seed)
        for step, lessons in zip(range(recipe.steps), lessons_of(problems, recipe), strict=False):
            begun = time.monotonic(), time.process_time()
            metrics = update(
                engine,
                _samples(engine, lessons),
                policy.optimizer,
                None,
                step=step,
                steps=recipe.steps,
                seed=recipe.seed,
            )
            metrics |= {"step_s": time.monotonic() - begun[0], "step_cpu_s": time.process_time() - begun[1]}
            if on_step is not None:
                on_step(step + 1, metrics, engine)
        save_base(engine, folder)
        engine.close()


def lessons_of(problems: Sequence[LabProblem], recipe: Recipe) -> Iterator[list[Lesson]]:
    """The lessons of one step after another, without end: problems in seeded order, anew in each epoch."""
    # going on, the first lessons must not be those that the base began with
    use = ("lab lessons", "going on") if recipe.base else ("lab lessons",)
    rng = Random(derive_seed(recipe.seed, *use))  # noqa: S311 - a seeded draw, not cryptography
    teachers = [Teacher(problem, recipe.mix, tests_per_suite=recipe.tests_per_suite) for problem in problems]
    waiting: list[Teacher] = []
    while True:
        while len(waiting) < recipe.problems_per_step:
            waiting += rng.sample(teachers, len(teachers))
        now, waiting = waiting[: recipe.problems_per_step], waiting[recipe.problems_per_step :]
        n = recipe.answers_per_lesson
        yield [lesson(rng, n, random_name(rng)) for t in now for lesson in (t.code_lesson, t.test_lesson)]


def write_random_model(folder: Path, problems: Sequence[LabProblem], recipe: Recipe) -> None:
    """A Llama with random weights and a tokenizer learned from what problems and answers look like."""
    import torch  # noqa: PLC0415 - only where it is used
    import transformers  # noqa: PLC0415

    from code_a1.engines.local.models import quiet_transformers  # noqa: PLC0415

    tokenizer = train_tokenizer(_texts(problems, recipe))
    config = transformers.LlamaConfig(
        vocab_size=-(-len(tokenizer) // 64) * 64,
        hidden_size=recipe.hidden_size,
        intermediate_size=recipe.intermediate_size,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.key_value_heads,
        max_position_embeddings=CONTEXT_WINDOW,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model: Any = transformers.LlamaForCausalLM(config)
    with quiet_transformers():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def save_base(engine: LocalEngine, folder: Path) -> None:
    """Write weights in bfloat16, and the tokenizer; nothing that only training needs. The policy stays as it is."""
    import torch  # noqa: PLC0415 - only where it is used

    from code_a1.engines.local.models import quiet_transformers  # noqa: PLC0415

    model = engine.backbone.model
    # input and output embeddings are one matrix: it is written once
    weights = {k: v.to(torch.bfloat16) for k, v in model.state_dict().items() if k != "lm_head.weight"}
    with quiet_transformers():
        model.save_pretrained(folder, state_dict=weights)
        engine.backbone.tokenizer.save_pretrained(folder)


def _texts(problems: Sequence[LabProblem], recipe: Recipe) -> Iterator[str]:
    rng = Random(derive_seed(recipe.seed, "lab tokenizer"))  # noqa: S311 - not cryptography
    for problem in problems[:2000]:
        teacher = Teacher(problem, recipe.mix, tests_per_suite=recipe.tests_per_suite)
        yield problem.problem.statement
        for lesson in (teacher.code_lesson, teacher.test_lesson):
            yield from lesson(rng, 1, random_name(rng)).answers


def _samples(engine: LocalEngine, lessons: Sequence[Lesson]) -> list[Sample]:
    return [
        Sample(f"lesson/{i}", engine.completion_of(lesson.prompt, answer), 1.0)
        for i, lesson in enumerate(lessons)
        for answer in lesson.answers
    ]


def _optimizer(recipe: Recipe) -> OptimizerConfig:
    return OptimizerConfig(
        lr=recipe.learning_rate,
        warmup_steps=min(100, recipe.steps // 10),
        weight_decay=0.05,
        betas=(0.9, 0.95),
        minibatches=1,
    )
