"""`suites export` with a scripted policy: what is kept, what is written, and what a broken export costs."""

import json

import pytest
from click.testing import CliRunner

from code_a1.cli import cli
from code_a1.config import RolloutConfig
from code_a1.config_file import make_config
from code_a1.engines.scripted import ScriptedEngine
from code_a1.errors import ConfigError, RunDirError
from code_a1.judge import Judge
from code_a1.mutation import make_mutants
from code_a1.records import Problem, Validity
from code_a1.sandbox import Limits, Sandbox
from code_a1.sft import warm_start
from code_a1.suite_file import ProblemSuite, read_suite_rows, read_suites
from code_a1.suites import export as export_module
from code_a1.suites import sample_pools
from code_a1.suites.export import ExportSettings, export_suites

SIGN = "def sign(n):\n    return n > 3\n"
# on the reference: right, wrong, right again by another layout, fails, about something else
SUITE = """```python
assert sign(3) == False
assert sign(4) == False
assert sign( 3 ) == False
assert sign('x') == True
assert len('x') == 1
assert sign(9) == True
```"""


def problem(name: str = "sign") -> Problem:
    return Problem(f"p-{name}", f"Whether n is above 3 ({name}).", name, SIGN.replace("sign", name))


def suite_for(prompt, _index, _seed):
    name = next(n for n in ("sign", "other", "third") if f"`{n}`" in prompt[-1].content)
    return SUITE.replace("sign", name)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(Limits(cpu_s_per_call=0.5), workers=1, allow_tier="rlimits-only") as shared:
        yield shared


SIZES = RolloutConfig(candidates_per_problem=2, suites_per_candidate=1)


def settings_of(*, extra: int = 0, seed: int = 0) -> ExportSettings:
    return ExportSettings(SIZES, mutants=50, extra=extra, seed=seed)


def test_a_pool_holds_every_distinct_usable_test_once_with_the_references_answer(sandbox):
    [pool] = sample_pools(ScriptedEngine(suite_for), Judge(sandbox), sandbox, [problem()], SIZES, mutants=50, seed=0)
    assert pool.shown == (SIGN, make_mutants(SIGN, "sign", limit=50, seed=0)[0].source)
    assert pool.suites == 2
    one_suite = [V.VALID, V.WRONG_EXPECTATION, V.DUPLICATE, V.CALL_FAILED, V.OFF_TARGET, V.VALID]
    assert [t.validity for t in pool.sampled] == one_suite * 2
    assert pool.sources == ("assert sign(3) == False", "assert sign(4) == True", "assert sign(9) == True")
    assert pool.predicted == (True, False, True)
    # n > 3 has seven mutants: ==, !=, <, <=, >=, 2 and 4
    by_source = {m.source.split("return ")[1].strip(): i for i, m in enumerate(pool.matrix.subject.mutants)}
    killed = [{name for name, i in by_source.items() if i in pool.matrix.killed_by(t)} for t in range(3)]
    assert killed == [
        {"n == 3", "n <= 3", "n >= 3", "n > 2"},
        {"n == 3", "n < 3", "n <= 3", "n > 4"},
        {"n == 3", "n < 3", "n <= 3"},
    ]


V = Validity


def test_what_the_mutants_need_is_written_and_extra_tests_if_asked_for(sandbox, tmp_path):
    policy = ScriptedEngine(suite_for)
    counts = export_suites(policy, sandbox, [problem()], tmp_path / "s.jsonl", settings_of(), source={})
    # `n != 3` survives: three inputs do not tell it from `n > 3`
    assert list(read_suite_rows(tmp_path / "s.jsonl")) == [
        ProblemSuite("p-sign", ("assert sign(3) == False", "assert sign(4) == True"), killed=6, mutants=7)
    ]
    assert (counts.problems, counts.without_tests, counts.tests) == (1, 0, 2)
    assert (counts.killed, counts.mutants, counts.sampled, counts.usable) == (6, 7, 12, 3)
    export_suites(policy, sandbox, [problem()], tmp_path / "more.jsonl", settings_of(extra=1), source={})
    assert len(read_suites(tmp_path / "more.jsonl")["p-sign"]) == 3
    assert not list(tmp_path.glob("*.partial*"))
    written = json.loads((tmp_path / "more.settings.json").read_text())
    assert (written["extra"], written["mutants"], written["sizes"]["candidates_per_problem"]) == (1, 50, 2)


def test_answers_that_need_an_import_bring_it_and_what_has_no_source_is_left_out(sandbox, tmp_path):
    reference = (
        "import collections\n\nclass Odd:\n    pass\n\n"
        "def count(t, odd=False):\n    return Odd() if odd else collections.Counter(t)\n"
    )
    counting = Problem("c", "Count.", "count", reference)
    policy = ScriptedEngine(["```python\nassert count('aab') == {}\nassert count('', True) == 0\n```"])
    sizes = RolloutConfig(candidates_per_problem=1, suites_per_candidate=1)
    settings = ExportSettings(sizes, mutants=5, extra=5, seed=0)
    export_suites(policy, sandbox, [counting], tmp_path / "s.jsonl", settings, source={})
    [suite] = read_suites(tmp_path / "s.jsonl").values()
    assert suite == ("import collections\nassert count('aab') == collections.Counter({'a': 2, 'b': 1})",)


@pytest.fixture
def two_batches(monkeypatch):
    monkeypatch.setattr(export_module, "PROBLEMS_AT_A_TIME", 1)
    return [problem("sign"), problem("other"), problem("third")]


def test_a_broken_export_goes_on_where_it_stopped_and_comes_to_the_same(sandbox, tmp_path, two_batches):
    whole = tmp_path / "whole.jsonl"
    export_suites(ScriptedEngine(suite_for), sandbox, two_batches, whole, settings_of(), source={})

    def breaking(prompt, index, seed):
        if "`third`" in prompt[-1].content:
            raise KeyboardInterrupt
        return suite_for(prompt, index, seed)

    broken = tmp_path / "broken.jsonl"
    with pytest.raises(KeyboardInterrupt):
        export_suites(ScriptedEngine(breaking), sandbox, two_batches, broken, settings_of(), source={})
    assert not broken.exists()
    partial = tmp_path / "broken.partial.jsonl"
    assert list(read_suites(partial)) == ["p-sign", "p-other"]
    with partial.open("a") as file:
        file.write('{"problem_id": "p-thi')  # a row that was being written when the power went
    policy = ScriptedEngine(suite_for)
    counts = export_suites(policy, sandbox, two_batches, broken, settings_of(), source={})
    assert broken.read_text() == whole.read_text()
    assert {p[-1].content.count("`third`") > 0 for r in policy.requests for p in r.prompts} == {True}
    assert (counts.problems, counts.tests, counts.sampled) == (3, 6, 12)


def test_an_export_under_other_settings_is_not_gone_on_with(sandbox, tmp_path, two_batches):
    output = tmp_path / "s.jsonl"
    begun = settings_of(seed=1)
    with pytest.raises(KeyboardInterrupt):
        export_suites(ScriptedEngine(_interrupted), sandbox, two_batches, output, begun, source={"test": "a"})
    with pytest.raises(ConfigError, match=r"begun with another seed, test \("):
        export_suites(ScriptedEngine(suite_for), sandbox, two_batches, output, settings_of(), source={"test": "b"})


def _interrupted(_prompt, _index, _seed):
    raise KeyboardInterrupt


def test_a_file_that_exists_or_has_another_name_is_refused_before_anything_is_sampled(sandbox, tmp_path):
    (tmp_path / "s.jsonl").write_text("")
    policy = ScriptedEngine(suite_for)
    with pytest.raises(RunDirError, match="never overwritten"):
        export_suites(policy, sandbox, [problem()], tmp_path / "s.jsonl", settings_of(), source={})
    with pytest.raises(ConfigError, match="named .jsonl"):
        export_suites(policy, sandbox, [problem()], tmp_path / "s.txt", settings_of(), source={})
    with pytest.raises(RunDirError, match="cannot write"):
        export_suites(policy, sandbox, [problem()], tmp_path / "absent" / "s.jsonl", settings_of(), source={})
    assert policy.requests == []


def test_prose_repetition_and_endless_tests_cost_their_problem_its_suite_and_nothing_else(sandbox, tmp_path):
    answers = {
        "sign": "I would test the boundaries of `sign`.",
        "other": "```python\n" + "assert other(3) == False\n" * 40 + "```",
        "third": "```python\nassert third((lambda: [None for x in iter(int, 1)])()) == 1\n```",
    }
    policy = ScriptedEngine(lambda p, _i, _s: answers[next(n for n in answers if f"`{n}`" in p[-1].content)])
    problems = [problem(name) for name in answers]
    counts = export_suites(policy, sandbox, problems, tmp_path / "s.jsonl", settings_of(), source={})
    assert read_suites(tmp_path / "s.jsonl") == {"p-sign": (), "p-other": ("assert other(3) == False",), "p-third": ()}
    assert (counts.problems, counts.without_tests, counts.tests) == (3, 2, 1)


def run(*arguments):
    return CliRunner().invoke(cli, ["suites", "export", *map(str, arguments)], catch_exceptions=False)


def rows(path, *problems):
    path.write_text(
        "".join(
            json.dumps({k: getattr(p, k) for k in ("problem_id", "statement", "entry_point", "reference_solution")})
            + "\n"
            for p in problems
        )
    )
    return path


def scripted(tmp_path, *answers):
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(a) + "\n" for a in answers))
    return tmp_path / "answers.jsonl"


def test_the_command_exports_from_a_model_and_says_what_came_of_it(tmp_path):
    problems = rows(
        tmp_path / "problems.jsonl", problem(), Problem("bad", "Fails.", "f", "def f():\n    pass\n1 / 0\n")
    )
    common = ["--problems", problems, "--set", "sandbox.allow_tier=rlimits-only", "--set", "engine=scripted", "--json"]
    done = run("--test", scripted(tmp_path, SUITE), *common, "-o", tmp_path / "s.jsonl", "--suites", 1)
    assert done.exit_code == 0
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "problems": 1,
        "without_tests": 0,
        "tests": 3,
        "killed": 6,
        "mutants": 7,
        "sampled": 12,
        "usable": 3,
        "output": str(tmp_path / "s.jsonl"),
    }
    assert "mutants killed" in done.stdout
    assert "6 of 7 (85.7%)" in done.stdout
    assert "bad left out" in done.stderr
    # nothing but prose: nothing to judge by, which is a finding
    none = run("--test", scripted(tmp_path, "No."), *common, "-o", tmp_path / "none.jsonl")
    assert none.exit_code == 1
    assert json.loads(none.stdout.splitlines()[-1])["without_tests"] == 1


def test_the_command_exports_from_a_runs_latest_checkpoint(tmp_path):
    problems = rows(tmp_path / "problems.jsonl", problem())
    config = make_config(
        {
            "mode": "sft",
            "engine": "scripted",
            "steps": 1,
            "run_dir": str(tmp_path / "run"),
            "problems": {"path": str(problems)},
            "rollout": {"candidates_per_problem": 1, "suites_per_candidate": 1, "white_box": False},
            "test_policy": {"model": str(scripted(tmp_path, SUITE, SUITE.replace("sign(9)", "sign(90)")))},
            "sandbox": {"workers": 1, "allow_tier": "rlimits-only"},
        }
    )
    warm_start(config)
    done = run(
        *("--test", tmp_path / "run", "--problems", problems, "-o", tmp_path / "s.jsonl"),
        *("--programs", 1, "--suites", 1, "--extra", 9),
    )
    assert done.exit_code == 0
    # the run answered once, so its checkpoint goes on with the second answer
    assert "assert sign(90) == True" in read_suites(tmp_path / "s.jsonl")["p-sign"]

    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "config.toml").write_text((tmp_path / "run" / "config.toml").read_text())
    with pytest.raises(RunDirError, match="no checkpoint"):
        run("--test", tmp_path / "empty", "--problems", problems, "-o", tmp_path / "t.jsonl")
