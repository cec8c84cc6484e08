"""HumanEval+ and MBPP+ (Liu et al. 2023) as tasks, from any of the shapes that their rows come in.

| shape | told by | inputs | what is right |
| --- | --- | --- | --- |
| EvalPlus-shaped Parquet | `GT_code` | in the check program | the check program |
| EvalPlus's own JSONL | `base_input` | `base_input` and `plus_input` | what the reference returns |
| the hub's `evalplus/humanevalplus` | `canonical_solution`, `test` | in the check program | the check program |
| the hub's `evalplus/mbppplus` | `code`, `test` | in the script | the script |
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from code_a1.evaluation.code.tasks import InputTests, ProblemTests, Task, Tests
from code_a1.problems.entry_points import defined_names, entry_point_of, parse_source
from code_a1.problems.evalplus import read_evalplus
from code_a1.problems.fields import Fields, RowError, text_field, texts_field, unix_lines
from code_a1.prompts import CODE_SYSTEM, fenced
from code_a1.records import Message, Problem, Prompt

NAMES = {"humanevalplus": "humaneval+", "mbppplus": "mbpp+"}
"""Benchmark by the `data_source` of a row of Parquet."""

_LOOP = re.compile(
    r"^(?P<margin> *)inputs = (?P<inputs>.*)\n(?:(?P=margin)results = (?P<results>.*)\n)?"
    r"(?P<loop>(?P=margin)for i, \(?(?:inp, exp|inp)\)? in enumerate\((?:zip\(inputs, results\)|inputs)\):\n"
    r"(?P=margin)    .*?\b(?P<called>\w+)\(\*inp\).*)\n?\s*\Z",
    re.MULTILINE,
)
"""The end of a check program that calls the solution once for every input, in order."""
_WRONG_POLY = "_poly(*candidate(*inp), inp) <= "
"""HumanEval/32 in the Parquet: the arguments are mixed up, so that no program passes, and the sign is not dropped."""


def is_plus_row(row: Fields) -> bool:
    """Whether a row has one of the four shapes."""
    return "GT_code" in row or "base_input" in row or {"test", "entry_point"} <= row.keys() or _is_hub_mbpp(row)


def _is_hub_mbpp(row: Fields) -> bool:
    return {"code", "test", "test_list", "prompt"} <= row.keys()


def bench_of(row: Fields) -> str:
    """`humaneval+` or `mbpp+`. Raises RowError if the row does not say."""
    if "GT_code" in row:
        source = text_field(row, "data_source")
        if source not in NAMES:
            raise RowError(f"field 'data_source' must be one of {', '.join(NAMES)}, not {source!r}")
        return NAMES[source]
    if _is_hub_mbpp(row):
        return "mbpp+"
    return "mbpp+" if text_field(row, "task_id").lower().startswith("mbpp") else "humaneval+"


def plus_task(row: Fields) -> Task:
    """One row as a task. Raises RowError naming the field at fault."""
    if "GT_code" in row:
        problem = read_evalplus(row)
        return Task(problem.problem_id, _own_prompt(row), problem.entry_point, check_tests(problem))
    if "base_input" in row:
        problem = read_evalplus(row)
        return Task(problem.problem_id, plus_prompt(problem), problem.entry_point, _input_tests(row, problem))
    problem = _hub_mbpp(row) if _is_hub_mbpp(row) else read_evalplus(row)
    if not problem.reference_tests:
        raise RowError("field 'test' is missing: nothing says which programs are right")
    return Task(problem.problem_id, plus_prompt(problem), problem.entry_point, check_tests(problem))


def _own_prompt(row: Fields) -> Prompt:
    """The messages of the row: what the authors of Code-A1 validate with."""
    messages = row.get("prompt")
    if not isinstance(messages, (list, tuple)) or not messages:
        raise RowError("field 'prompt' must be a list of chat messages")
    prompt = []
    for message in messages:
        if not isinstance(message, Mapping) or message.get("role") not in ("system", "user", "assistant"):
            raise RowError("field 'prompt' must hold messages with a role (system, user, assistant) and a content")
        prompt.append(Message(message["role"], text_field(message, "content")))
    return tuple(prompt)


def plus_prompt(problem: Problem) -> Prompt:
    """A prompt in our words, for rows that have none."""
    rules = (
        f"Solve this task in Python. Answer with one ```python code block that holds the whole program: the imports, "
        f"the helper functions that it needs, and `{problem.entry_point}`. Write nothing after the block."
    )
    return (Message("system", CODE_SYSTEM), Message("user", f"{rules}\n\n{fenced(problem.statement)}"))


def check_tests(problem: Problem) -> Tests:
    """The one check program of a problem, taken apart if it is a loop over inputs; else as it is."""
    [test] = problem.reference_tests
    if _WRONG_POLY in test:
        head, _, tail = test.rpartition(_WRONG_POLY)
        test = f"{head}abs(_poly(*inp, candidate(*inp))) <= {tail}"
    found = _LOOP.search(test)
    if found is None:
        return ProblemTests(problem)
    head, parameter, whole = test[: found.start()], found["called"], test
    if found["margin"]:
        head, defined, opening = head.rpartition("def check(")
        if not defined:
            return ProblemTests(problem)
        parameter = opening.partition(")")[0]
    else:  # a script: its loop is what has to hold
        whole = ""
    loop = textwrap.indent(textwrap.dedent(found["loop"]), "    ")
    check = f"{head}\ndef check({parameter}):\n{loop}\n"
    return InputTests(problem, check, head, found["inputs"], found["results"] or "", whole_check=whole)


# ---- EvalPlus's own files --------------------------------------------------------------------------------------------


def _input_tests(row: Fields, problem: Problem) -> InputTests:
    inputs = []
    for name in ("base_input", "plus_input"):
        given = row.get(name)
        if given is None and name == "plus_input":
            continue
        if not isinstance(given, list) or not all(isinstance(arguments, list) for arguments in given):
            raise RowError(f"field '{name}' must be a list of lists of arguments")
        inputs += given
    if not inputs:
        raise RowError("fields 'base_input' and 'plus_input' hold no input: nothing says which programs are right")
    if bench_of(row) == "mbpp+":
        inputs = _as_written(inputs, text_field(row, "assertion", default=problem.statement), problem.entry_point)
    return InputTests(problem, _oracle(problem.entry_point, problem.tolerance), inputs=inputs)


_SET_EQUAL = frozenset({
    "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum",
    "intersection_array", "find_dissimilar", "Diff",
})  # fmt: skip
"""MBPP+ tasks whose answer is a collection in any order."""
_NOT_NONE = frozenset(("check_str", "text_match_three", "text_starta_endb"))
"""MBPP+ tasks whose answer is a match, which need only be there."""
_EXTRA = {
    "are_equivalent": "True",
    "sum_div": "out == 0",
    "surface_Area": "abs(out - surface(*inp)) <= atol",
    "digit_distance_nums": "out == digits(*inp)",
}
"""MBPP+ tasks whose statement allows another answer than the reference's."""

_ORACLE = """
import math
import numpy as np

def floats(x):
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)) and x:
        return all(isinstance(i, float) for i in x)
    return isinstance(x, np.ndarray) and x.dtype in (np.float64, np.float32)

def surface(base, height):
    return round(base ** 2 + 2 * base * math.sqrt((base / 2) ** 2 + height ** 2))

def digits(a, b):
    width = max(len(str(a)), len(str(b)))
    return sum(abs(int(x) - int(y)) for x, y in zip(str(a).zfill(width), str(b).zfill(width)))

def polynomial(xs, x):
    return sum(c * math.pow(x, i) for i, c in enumerate(xs))

def same(out, exp, inp, atol):
    equal = EQUAL
    if atol == 0 and floats(exp):
        atol = 1e-6
    if equal or atol == 0:
        return equal
    if type(out) != type(exp) or (isinstance(exp, (list, tuple)) and len(out) != len(exp)):
        return False
    return np.allclose(out, exp, rtol=1e-07, atol=atol)

def check(candidate):
    for inp, exp in zip(inputs, results):
        assert HOLDS
"""


def _oracle(entry_point: str, tolerance: float) -> str:
    """A check program with EvalPlus's rules for one task: what counts as the same answer as the reference's."""
    equal = "out == exp"
    if entry_point in _SET_EQUAL:
        equal = "set(out) == set(exp)"
    elif entry_point in _NOT_NONE:
        equal = "(out == exp) if isinstance(out, bool) else exp == (out is not None)"
    elif entry_point in _EXTRA:
        equal = f"out == exp or {_EXTRA[entry_point]}"
    atol = 0.0 if tolerance == 1e-6 else tolerance  # the reader's stand-in for a row without `atol`
    holds = "same(candidate(*inp), exp, inp, ATOL)"
    if entry_point == "find_zero":
        holds = "abs(polynomial(*inp, candidate(*inp))) <= ATOL"
    return _ORACLE.replace("HOLDS", holds).replace("EQUAL", equal).replace("ATOL", repr(atol))


def _as_written(inputs: Sequence[Sequence[object]], asserts: str, entry_point: str) -> list[list[object]]:
    """Inputs with the types that JSON does not carry (tuples, sets, complex numbers), as the task's asserts have them.

    JSON made lists of tuples and sets and strings of complex numbers; the calls in the asserts say where.
    """
    calls = list(_calls(asserts, entry_point))
    shaped = []
    for arguments in inputs:
        examples = ([call[i] for call in calls if len(call) > i] for i in range(len(arguments)))
        shaped.append([_shaped(value, like) for value, like in zip(arguments, examples, strict=True)])
    return shaped


def _calls(asserts: str, entry_point: str) -> Iterator[list[object]]:
    """Arguments of the calls of the entry point that are literals."""
    for line in asserts.splitlines():
        if not line.strip().startswith("assert "):
            continue
        try:
            tree = ast.parse(line.strip())
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry_point:
                try:
                    yield [ast.literal_eval(argument) for argument in node.args]
                except ValueError:
                    continue


def _shaped(value: object, like: Sequence[object]) -> object:
    if isinstance(value, str) and any(isinstance(e, complex) for e in like):
        return complex(value)
    if isinstance(value, dict):
        inner = [v for e in like if isinstance(e, dict) for v in e.values()]
        return {key: _shaped(item, inner) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    examples = [e for e in like if isinstance(e, (list, tuple, set, frozenset))]
    items = [_shaped(item, _at(examples, i)) for i, item in enumerate(value)]
    kind = next((type(e) for e in examples), list)
    return kind(items)


def _at(examples: Sequence[object], index: int) -> list[object]:
    """What stands in the examples at a place, where they are tuples that have it; else everything in them."""
    tuples = [e for e in examples if isinstance(e, tuple)]
    same_place = [e[index] for e in tuples if len(e) > index]
    pooled = [x for e in examples if isinstance(e, (list, tuple, set, frozenset)) for x in e]
    return same_place or pooled


# ---- the hub's MBPP+ -------------------------------------------------------------------------------------------------


def _hub_mbpp(row: Fields) -> Problem:
    code = unix_lines(text_field(row, "code"))
    tests = texts_field(row, "test_list")
    try:
        entry_point = entry_point_of(tests, defined_names(parse_source(code)))
    except ValueError as error:
        raise RowError(f"field 'code' or 'test_list' is not Python: {error}") from error
    if entry_point is None:
        raise RowError("no test of 'test_list' calls a function that 'code' defines")
    statement = "\n".join([f'"""\n{text_field(row, "prompt").strip()}', *tests[:1], '"""'])
    test = unix_lines(text_field(row, "test"))
    return Problem(f"MBPP/{row.get('task_id')}", statement, entry_point, code, (test,))
