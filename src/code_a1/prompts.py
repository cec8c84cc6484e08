"""What both roles are asked, and how their answers are read: one format, one file.

Both answer with one fenced Python block. The code policy's block is the candidate; the test policy's block is the
suite, one assert per line. Parsing never raises, whatever the text, and takes time linear in its length.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from code_a1.assertions import parse_assertions
from code_a1.problems import entry_is_class, parse_source
from code_a1.records import Message, Problem, Prompt, RejectedTest, TestCase

CODE_SYSTEM = "You are an expert Python programmer. You write correct and complete Python code."

TEST_SYSTEM = "You are an expert software tester. You write Python tests that find bugs in code."

CODE_RULES = """\
Rules:
- Answer with one ```python code block and nothing after it.
- Write {what} with exactly the name `{entry_point}`.
- {how}, as the task says. Do not read input. Do not print.
- Put the imports and helper functions that you need into the same block.
- Write no tests."""

EXAMPLE = """\
Example of an answer with {tests}, for another task (`sum_even`: return the sum of the even numbers in a list):
"""
TEST_EXAMPLE = """\
```python
assert sum_even([1, 2, 3, 4]) == 6
assert sum_even([]) == 0
assert sum_even([-2, -3, 0]) == -2
```"""

TEST_EXAMPLE_CALLS = """\
```python
assert sum_even([1, 2, 3, 4])
assert sum_even([])
assert sum_even([-2, -3, 0])
```"""

ANOTHER_TEST = (
    "Write one more test in the same format. It must differ from all tests before, and reach lines and branches that "
    "they do not reach."
)

STOP = ("\n```\n\n",)
"""Generation may end here: nothing after the closing fence is read. (A fence that opens a block has no empty line after
it, so that an answer that starts with a bare fence is not cut off.)"""


# -- prompts -----------------------------------------------------------------------------------------------------------


def code_prompt(problem: Problem) -> Prompt:
    """The prompt of the code policy: statement, signature, format."""
    is_class = entry_is_class(problem)
    rules = CODE_RULES.format(
        what="a class" if is_class else "a function",
        entry_point=problem.entry_point,
        how="Its methods return their results" if is_class else "Return the result",
    )
    return (
        Message("system", CODE_SYSTEM),
        Message("user", f"Task:\n{problem.statement.strip()}\n\n{_signature_block(problem)}\n\n{rules}"),
    )


def test_prompt(  # pytest's rules are not meant: this is no test
    problem: Problem,
    code: str | None,
    k: int,
    predict_answer: bool = True,
) -> Prompt:
    """The prompt of the test policy. `code` None hides the program (black box); `k` is the number of asserts.

    With `predict_answer` False the tester writes calls alone and the reference fills the answers in (an ablation).
    """
    name, tests = problem.entry_point, _counted(k, "test")
    parts = [f"Task:\n{problem.statement.strip()}", _signature_block(problem)]
    if code is None:
        parts.append(f"Write {tests} for this task. Choose inputs on which a wrong program returns a wrong answer.")
    else:
        parts.append(f"A programmer wrote this program for the task. It may be wrong:\n{fenced(code)}")
        wanted = f"Write {tests} that {'finds' if k == 1 else 'find'} its bugs."
        parts.append(f"{wanted} Choose inputs on which this program returns a wrong answer.")
    line = f"assert {name}(arguments) == answer" if predict_answer else f"assert {name}(arguments)"
    if entry_is_class(problem):
        line = line.replace("(arguments)", "(arguments).method(arguments)", 1)
    answer = "- `answer` is what the task asks for. It is not what the program returns if the program is wrong.\n"
    parts.append(
        "Rules:\n"
        f"- Answer with one ```python code block of exactly {_counted(k, 'line')} and nothing after it.\n"
        f"- Every line is: {line}\n"
        f"{answer if predict_answer else ''}"
        "- Use plain values only: numbers, strings, lists, tuples, dicts, sets, True, False, None.\n"
        "- All tests differ. No random numbers, no time, no files, no comments."
    )
    example = TEST_EXAMPLE if predict_answer else TEST_EXAMPLE_CALLS
    if k == 1:
        opening, first, *_, closing = example.split("\n")
        example = "\n".join([opening, first, closing])
    parts.append(EXAMPLE.format(tests="1 test" if k == 1 else "3 tests") + example)
    parts.append(f"Now write the {tests if k > 1 else 'test'} for `{name}`.")
    return (Message("system", TEST_SYSTEM), Message("user", "\n\n".join(parts)))


def next_test_prompt(first: Prompt, answers: Sequence[str]) -> Prompt:
    """One test a turn: the prompt for a single test, the answers so far, and the wish for another one."""
    turns = [m for text in answers for m in (Message("assistant", text), Message("user", ANOTHER_TEST))]
    return (*first, *turns)


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


test_prompt.__test__ = False  # type: ignore[attr-defined]  # pytest collects functions named test_*; this one is no test


def begun_code(problem: Problem) -> str:
    """The beginning of the code policy's answer, for `rollout.begin_answers`."""
    return "```python\n" + ("class " if entry_is_class(problem) else "def ") + problem.entry_point


def begun_suite(problem: Problem) -> str:
    """The beginning of the test policy's answer, for `rollout.begin_answers`."""
    return f"```python\nassert {problem.entry_point}("


def fenced(code: str) -> str:
    """The code in a Markdown block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code.strip(chr(10))}\n{fence}"


def _signature_block(problem: Problem) -> str:
    kind = "Class" if entry_is_class(problem) else "Function"
    return f"{kind}:\n{fenced(signature(problem))}"


def signature(problem: Problem) -> str:
    """How the entry point is called, as the reference declares it; never a line of the reference's body."""
    node = _definition(problem)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return _header(node)
    if isinstance(node, ast.ClassDef):
        methods = [m for m in node.body if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef)]
        public = [m for m in methods if m.name == "__init__" or not m.name.startswith("_")]
        return "\n".join([f"class {node.name}:", *(f"    {_header(m)}" for m in public)])
    return f"def {problem.entry_point}(...):"


def _definition(problem: Problem) -> ast.stmt | None:
    """The last statement of the reference that defines the entry point."""
    try:
        body = parse_source(problem.reference_solution).body
    except ValueError:
        return None
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return next((n for n in reversed(body) if isinstance(n, kinds) and n.name == problem.entry_point), None)


def _header(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}:"


# -- completions -------------------------------------------------------------------------------------------------------

PYTHON_TAGS = frozenset({"", "python", "py", "python3", "py3", "python2", "py2", "ipython", "text", "code"})

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*([^\s`{]*)([^`\n]*)\Z")


def parse_code(text: str) -> str | None:
    """The first fenced Python block of a completion, or None if there is none or it is empty.

    Reasoning between `<think>` tags does not count, blocks of other languages are skipped, and a fence that is never
    closed ends with the text.
    """
    code = first_block(text)
    return code if code is not None and code.strip() else None


def parse_suite(
    text: str, entry_point: str, *, entry_is_class: bool = False, max_tests: int = 64, predict_answer: bool = True
) -> tuple[TestCase | RejectedTest, ...]:
    """The tests of a completion: those of its first fenced Python block.

    Without any fence, which small models forget, the lines count that begin with `assert`, with what they leave open.
    With `predict_answer` False only the calls count, whatever is asserted of them: the reference says the answers.
    """
    block = first_block(text)
    source = _plain_asserts(without_reasoning(text)) if block is None else block
    tests = parse_assertions(source, entry_point, entry_is_class=entry_is_class, max_tests=max_tests)
    return tests if predict_answer else tuple(_without_answer(test) for test in tests)


def _without_answer(test: TestCase | RejectedTest) -> TestCase | RejectedTest:
    if isinstance(test, RejectedTest):
        return test
    return replace(test, form="", form_prelude="", expected=None)


def without_reasoning(text: str) -> str:
    """The text after reasoning: without `<think>…</think>`, and empty where the reasoning never ends."""
    parts: list[str] = []
    at = 0
    while (start := text.find("<think>", at)) >= 0:
        parts.append(text[at:start])
        end = text.find("</think>", start)
        if end < 0:
            return "".join(parts)
        at = end + len("</think>")
    rest = text[at:]
    if not parts and "</think>" in rest:  # chat templates may open the tag themselves
        rest = rest.partition("</think>")[2]
    return "".join([*parts, rest])


def first_block(text: str) -> str | None:
    """The first fenced block that is Python or says nothing else, without its fences and indentation."""
    for tag, lines in fenced_blocks(without_reasoning(text)):
        if tag.lower() in PYTHON_TAGS:
            return "\n".join(lines)
    return None


def fenced_blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Fenced blocks as (language, lines); the last one may be unclosed."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").split("\n")
    at = 0
    while at < len(lines):
        opening = _opening(lines[at])
        at += 1
        if opening is None:
            continue
        fence, tag, indent = opening
        body: list[str] = []
        while at < len(lines) and not _closes(lines[at], fence):
            body.append(_without_indent(lines[at], indent))
            at += 1
        at += 1
        yield tag, body


def _opening(line: str) -> tuple[str, str, str] | None:
    """Fence, language and indentation, if the line opens a block."""
    if "```" not in line and "~~~" not in line:
        return None
    head = line if len(line) < 400 else line[:400]
    found = _FENCE.match(head.rstrip())
    if found is None:
        return None
    return found[1], found[2].strip("{}.:").partition(",")[0], head[: found.start(1)]


def _closes(line: str, fence: str) -> bool:
    bare = line.strip(" \t>")
    return len(bare) >= len(fence) and bare == fence[0] * len(bare)


def _without_indent(line: str, indent: str) -> str:
    return line.removeprefix(indent) if indent else line


def _plain_asserts(text: str) -> str:
    """Lines that begin with `assert`, each with the lines that its open brackets take in."""
    taken: list[str] = []
    opened = 0
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        bare = line.strip()
        if opened > 0 or bare.startswith("assert "):
            taken.append(bare)
            opened = max(opened + sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}")), 0)
            if len(taken) % 50 == 0:
                opened = 0
    return "\n".join(taken)
