"""The base model: tokenizer, lessons, training, rates. The real training takes an hour; these take a few steps."""

from __future__ import annotations

import ast
import json
import sys
from dataclasses import replace
from importlib.util import find_spec
from random import Random

import pytest

from code_a1.cli import main
from code_a1.config import PolicyConfig
from code_a1.engines import SamplingParams, ScriptedEngine
from code_a1.errors import CheckpointError, ConfigError
from code_a1.judge import Judge
from code_a1.lab.execution import LabProgram
from code_a1.lab.pretrain import Recipe, lessons_of, pretrain
from code_a1.lab.problems import generate
from code_a1.lab.rates import SIZES, measure
from code_a1.lab.samples import WORDS, Mix, Teacher, near_miss, random_name
from code_a1.lab.tokenizer import fixed_pieces, train_tokenizer
from code_a1.prompts import code_prompt, fenced, first_block, test_prompt
from code_a1.sandbox import Sandbox

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("transformers") is None, reason="needs the extra 'local'"
)
TINY = Recipe.of_width(32, problems=24, steps=4, layers=1, problems_per_step=4)


@pytest.fixture(autouse=True)
def one_thread():
    """Tiny matrices gain nothing from more threads, and lose a lot where other processes use the cores."""
    if "torch" not in sys.modules:
        yield
        return
    torch = sys.modules["torch"]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def problems():
    return list(generate(24, seed=0, split="train"))


def lines_of(answer):
    block = first_block(answer)
    assert block is not None
    return block.splitlines()


def read_test(p, line):
    """Arguments and answer of one assert."""
    call, answer = line.removeprefix(f"assert {p.family}(").rsplit(") == ", 1)
    return ast.literal_eval(f"({call},)"), ast.literal_eval(answer)


def test_lessons_of_references_and_right_answers_hold_what_they_promise(problems):
    mix = Mix(wrong_programs=0, shown_wrong=0, wrong_answers=0, killing_inputs=0)
    rng = Random(1)
    for p in problems[:8]:
        teacher = Teacher(p, mix, tests_per_suite=4)
        lesson = teacher.code_lesson(rng, 2)
        assert lesson.prompt == code_prompt(p.problem)
        assert lesson.answers == (f"```python\n{p.problem.reference_solution.strip()}\n```",) * 2
        suites = teacher.test_lesson(rng, 2)
        assert suites.prompt == test_prompt(p.problem, p.problem.reference_solution, 4)
        for answer in suites.answers:
            lines = lines_of(answer)
            assert len(lines) == len(set(lines)) == 4
            namespace: dict[str, object] = {}
            exec(p.problem.reference_solution, namespace)
            for line in lines:
                exec(line, namespace)


def test_lessons_of_bugs_show_them_and_find_them(problems):
    mix = Mix(wrong_programs=1, shown_wrong=1, wrong_answers=0, killing_inputs=1)
    rng = Random(1)
    for p in problems[:8]:
        teacher = Teacher(p, mix, tests_per_suite=2)
        sources = {bug.source for bug in p.bugs}
        assert {first_block(answer) for answer in teacher.code_lesson(rng, 6).answers} <= sources
        lesson = teacher.test_lesson(rng, 1)
        [shown] = [s for s in sources if fenced(s) in lesson.prompt[1].content]
        for line in lines_of(lesson.answers[0]):
            arguments, answer = read_test(p, line)
            assert LabProgram(shown, p.family)(arguments) != answer
            assert LabProgram(p.problem.reference_solution, p.family)(arguments) == answer


def test_a_wrong_answer_is_what_the_program_shown_returns_or_near_to_the_right_one(problems):
    rng = Random(2)
    copied = wrong = 0
    for p in problems:
        teacher = Teacher(p, Mix(wrong_answers=1, shown_wrong=1, killing_inputs=1), tests_per_suite=3)
        lesson = teacher.test_lesson(rng, 1)
        [shown] = [b.source for b in p.bugs if fenced(b.source) in lesson.prompt[1].content]
        for line in lines_of(lesson.answers[0]):
            arguments, answer = read_test(p, line)
            assert LabProgram(p.problem.reference_solution, p.family)(arguments) != answer
            wrong += 1
            copied += LabProgram(shown, p.family)(arguments) == answer
    assert 0.25 < copied / wrong < 0.85


@pytest.mark.parametrize("value", [True, 0, 7, None, "", "ab", [], [1], [3, 2, 1], {}, {"a": 1}], ids=repr)
def test_a_near_miss_misses(value):
    assert all(near_miss(value, Random(seed)) != value for seed in range(30))


def test_lessons_come_in_seeded_order_and_every_problem_once_in_an_epoch(problems):
    first, again = (next(lessons_of(problems, TINY)) for _ in range(2))
    assert first == again
    assert len(first) == 2 * TINY.problems_per_step
    epoch = next(lessons_of(problems, Recipe.of_width(32, problems_per_step=24)))
    told = [lesson.prompt[1].content for lesson in epoch[::2]]
    assert sorted(p.problem.statement for p in problems) == sorted(
        next(p.problem.statement for p in problems if p.problem.statement in text) for text in told
    )


def test_a_lesson_may_be_about_a_function_of_another_name(problems):
    for p in problems:
        teacher = Teacher(p, Mix(wrong_programs=0, shown_wrong=0, wrong_answers=0), tests_per_suite=4)
        reference = p.problem.reference_solution
        other = replace(
            p.problem, entry_point="xyz_abc", reference_solution=reference.replace(f"{p.family}(", "xyz_abc(")
        )
        code = teacher.code_lesson(Random(0), 1, "xyz_abc")
        assert code.prompt == code_prompt(other)  # the statement is as it was
        assert code.answers == (fenced(other.reference_solution.strip()),)
        suite = teacher.test_lesson(Random(1), 1, "xyz_abc")
        assert suite.prompt == test_prompt(other, other.reference_solution.strip(), 4)
        own = teacher.test_lesson(Random(1), 1)
        assert suite.answers[0] == own.answers[0].replace(f"assert {p.family}(", "assert xyz_abc(")
    first = [lesson.prompt[1].content for lesson in next(lessons_of(problems, TINY))]
    assert not any(f"`{p.family}`" in text for p in problems for text in first)
    assert len({random_name(Random(seed)) for seed in range(200)}) > 150


def test_no_name_hides_a_builtin_or_is_a_keyword():
    assert not set(WORDS) & {
        "sum",
        "any",
        "all",
        "map",
        "filter",
        "range",
        "sorted",
        "if",
        "in",
        "is",
        "or",
        "from",
        "class",
    }
    assert {"count", "longest", "of"} <= set(WORDS)


def test_a_width_that_is_no_multiple_of_32_is_refused():
    with pytest.raises(ConfigError, match="hidden size 40 is no multiple of 32"):
        Recipe.of_width(40)
    assert Recipe.of_width(192) == Recipe()


@needs_torch
def test_prompts_go_through_unchanged_and_cost_few_tokens(problems):
    teacher = Teacher(problems[0], Mix(), tests_per_suite=4)
    rng = Random(0)
    texts = [p.problem.statement for p in problems]
    texts += [a for _ in range(20) for a in teacher.code_lesson(rng, 1).answers + teacher.test_lesson(rng, 1).answers]
    tokenizer = train_tokenizer(texts * 3)
    assert len(fixed_pieces()) > 10
    for p in problems:
        prompt = test_prompt(p.problem, p.problem.reference_solution, 4)
        text = prompt[1].content
        tokens = tokenizer.encode(text, add_special_tokens=False)
        assert tokenizer.decode(tokens) == text
        own = [p.problem.statement, p.problem.reference_solution.strip(), p.family, p.family, p.family]
        told = sum(len(tokenizer.encode(part, add_special_tokens=False)) for part in own)
        # the rules and the example, over 1,200 characters, and a signature: 30 tokens here, 400 as plain text
        assert len(tokens) - told < 60
        rendered = tokenizer.apply_chat_template(
            [{"role": m.role, "content": m.content} for m in prompt], add_generation_prompt=True, tokenize=False
        )
        assert rendered.startswith("<|system|>You are an expert software tester.")
        assert rendered.endswith("`.<|assistant|>")
    strings = "assert f('xeb a') == ['cd', 'exz']"
    assert [t.strip("'") for t in tokenizer.tokenize(strings) if t.strip("'") in set("xebacdz")] == list("xebacdexz")


@needs_torch
def test_two_trainings_of_one_seed_give_one_model_that_the_engine_runs(tmp_path):
    from code_a1.engines.local.engine import LocalEngine  # noqa: PLC0415 - needs torch

    losses: list[float] = []
    for name in ("one", "two"):
        pretrain(tmp_path / name, TINY, lambda _step, metrics, _policy: losses.append(metrics["loss"]))
    assert losses[: TINY.steps] == losses[TINY.steps :]
    assert losses[TINY.steps - 1] < losses[0]
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two")]
    assert weights[0] == weights[1]
    with pytest.raises(CheckpointError, match="exists already"):
        pretrain(tmp_path / "one", TINY)
    policy = LocalEngine(PolicyConfig(model=str(tmp_path / "one"), dtype="float32"), seed=0, trainable=False)
    problem = next(generate(1, seed=0)).problem
    assert policy.prompt_length(code_prompt(problem)) < 200
    [group] = policy.sample([code_prompt(problem)], 2, SamplingParams(max_tokens=5, seed=1))
    assert [len(c.tokens) for c in group.completions] == [5, 5]
    policy.close()


@needs_torch
def test_the_command_trains_measures_and_writes_a_card(tmp_path, capsys):
    folder = tmp_path / "base"
    options = ["--steps", "2", "--problems", "12", "--hidden-size", "32", "--layers", "1", "--save-every", "1"]
    main(["lab", "pretrain", "-o", str(folder), "--measure", "1", "--json", *options])
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(figures["rates"]) == {"heldout-problems", "heldout-families"}
    assert figures["rates"]["heldout-problems"]["programs"] == 4
    card = (folder / "README.md").read_text()
    assert f"A Llama of {figures['parameters']:,} parameters" in card
    assert '"hidden_size": 32' in card
    assert "| pass@1 on hidden tests | 0.000 [0.000, 0.000] | 0.000 [0.000, 0.000] |" in card
    assert figures["rates"]["heldout-families"]["intervals"]["pass_at_1"] == [0, 0]
    assert figures["steps"] == 2
    assert figures["answer_tokens"] > 2 * 8 * 2 * 10
    assert figures["seconds"] > 0
    assert figures["cpu_seconds"] > 0
    assert (tmp_path / "base-step1/model.safetensors").is_file()
    main(["lab", "rates", str(folder), "--problems", "1", "--samples", "2", "--json"])
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["heldout-families"]["programs"] == 2


def test_rates_are_these_shares(problems):
    p = next(p for p in problems if any(not bug.subtle for bug in p.bugs))
    bug = next(bug for bug in p.bugs if not bug.subtle)
    right = f"```python\n{p.problem.reference_solution}```"
    wrong = f"```python\n{bug.source}\n```"
    at = next(i for i in range(len(p.inputs)) if LabProgram(bug.source, p.family)(p.inputs[i]) != p.answers[i])
    killing = p.problem.reference_tests[at]
    other = p.problem.reference_tests[at - 1].rsplit(" == ", 1)[0] + " == 'no answer of the lab'"
    # against every program: a killing test, a wrong answer to another call, what is no test; a fourth is missing
    suite = f"```python\n{killing}\n{other}\nassert 1 == 1\n```"

    def answer(prompt, index, _seed):
        if "tester" in prompt[0].content:
            return suite
        return (right, wrong, wrong, "```python\nx = (\n```")[index]

    with Sandbox(workers=1) as sandbox:
        sizes = SIZES.model_copy(update={"max_code_tokens": 9999, "max_test_tokens": 9999})
        sizes = sizes.model_copy(update={"max_code_prompt_tokens": 9999, "max_test_prompt_tokens": 9999})
        rates = measure(ScriptedEngine(answer), Judge(sandbox), [p], sizes, seed=0)
    assert rates.programs == 4
    assert rates.suites == 3  # nothing is written against what is no Python
    assert rates.pass_at_1 == 0.25
    assert rates.loaded == 0.75
    assert rates.validity == pytest.approx(3 / 12)
    assert rates.usable == pytest.approx(6 / 12)
    assert rates.kill == 1.0
    assert rates.signal == pytest.approx(2 / 3)
    assert rates.text("validity") == "0.250 [0.250, 0.250]"  # of one problem there is but one resample
    assert rates.text("suites") == "3"


@needs_torch
def test_training_goes_on_from_a_model_with_other_lessons_than_it_began_with(tmp_path, problems, capsys):
    pretrain(tmp_path / "base", TINY)
    more = replace(TINY, base=str(tmp_path / "base"), steps=3, learning_rate=3e-4)
    assert next(lessons_of(problems, more)) != next(lessons_of(problems, TINY))
    rates: list[float] = []
    losses: list[float] = []
    for name in ("one", "two"):
        pretrain(tmp_path / name, more, lambda _n, m, _p: (rates.append(m["learning_rate"]), losses.append(m["loss"])))
    assert losses[:3] == losses[3:]
    # no warm-up in so few steps, then a cosine over three
    assert rates[:3] == pytest.approx([3e-4, 3e-4 * 0.75, 3e-4 * 0.25])
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("base", "one", "two")]
    assert weights[0] != weights[1] == weights[2]
    options = ["--from", str(tmp_path / "base"), "--steps", "1", "--problems", "12", "--measure", "0"]
    main(["lab", "pretrain", "-o", str(tmp_path / "more"), *options])
    assert "1 steps" in capsys.readouterr().out
    card = (tmp_path / "more/README.md").read_text()
    assert f"trained from the model `{tmp_path / 'base'}`" in card
    assert '"learning_rate": 0.0003' in card
    for wrong, message in (("--hidden-size=64", "the model's own shape"), ("--from=nowhere/at/all", "no such folder")):
        with pytest.raises(SystemExit, match="2"):
            main(["lab", "pretrain", "-o", str(tmp_path / "no"), *options, wrong])
        assert message in capsys.readouterr().err
