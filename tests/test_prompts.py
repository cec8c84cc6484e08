from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from code_a1.prompts import STOP, code_prompt, parse_code, parse_suite, signature, test_prompt
from code_a1.records import Problem, RejectedTest, TestCase, Validity

SECRET = "return total * 41  # nobody may see this"
PROBLEM = Problem(
    problem_id="p/1",
    statement="Return 41 times the sum of xs.\n",
    entry_point="scale",
    reference_solution=f"import math\n\ndef helper(x):\n    return x\n\ndef scale(xs: list[int], *, k=2) -> int:\n"
    f'    """Never shown."""\n    total = sum(xs)\n    {SECRET}\n',
)
CLASS = Problem(
    "p/2",
    "A stack.",
    "Stack",
    "class Stack:\n    limit = 7\n    def __init__(self, items=()):\n        self.items = list(items)\n"
    "    def push(self, x):\n        self.items.append(x)\n        return self\n"
    "    def _grow(self): ...\n    async def pop(self) -> int:\n        return self.items.pop()\n",
)


def text_of(prompt) -> str:
    return "\n".join(message.content for message in prompt)


def test_code_prompt():
    system, user = code_prompt(PROBLEM)
    assert (system.role, user.role) == ("system", "user")
    assert user.content == (
        "Task:\nReturn 41 times the sum of xs.\n\n"
        "Function:\n```python\ndef scale(xs: list[int], *, k=2) -> int:\n```\n\n"
        "Rules:\n"
        "- Answer with one ```python code block and nothing after it.\n"
        "- Write a function with exactly the name `scale`.\n"
        "- Return the result, as the task says. Do not read input. Do not print.\n"
        "- Put the imports and helper functions that you need into the same block.\n"
        "- Write no tests."
    )


def test_test_prompt():
    system, user = test_prompt(PROBLEM, "def scale(xs):\n    return sum(xs)\n", 5)
    assert (system.role, user.role) == ("system", "user")
    assert "It may be wrong:\n```python\ndef scale(xs):\n    return sum(xs)\n```\n" in user.content
    assert "exactly 5 lines" in user.content
    assert "- Every line is: assert scale(arguments) == answer\n" in user.content
    assert user.content.endswith("Now write the 5 tests for `scale`.")


@pytest.mark.parametrize("predict_answer", [True, False])
def test_the_example_is_what_it_asks_for(predict_answer):
    """A model that copies the example's form writes tests that parse."""
    content = text_of(test_prompt(PROBLEM, None, 3, predict_answer))
    example = content[content.index("Example of an answer") :]
    tests = parse_suite(example, "sum_even")
    assert len(tests) == 3
    assert all(isinstance(t, TestCase) for t in tests)
    assert [t.expected for t in tests] == (["6", "0", "-2"] if predict_answer else [None] * 3)
    assert ("== answer" in content) is predict_answer
    assert sum(x for x in [1, 2, 3, 4] if x % 2 == 0) == 6
    assert sum(x for x in [-2, -3, 0] if x % 2 == 0) == -2


def test_black_box_hides_the_program_and_nothing_shows_the_reference():
    code = "def scale(xs):\n    return 12345"
    assert "12345" in text_of(test_prompt(PROBLEM, code, 4))
    for prompt in (code_prompt(PROBLEM), test_prompt(PROBLEM, None, 4), test_prompt(PROBLEM, code, 4)):
        assert "nobody may see" not in text_of(prompt)
        assert "Never shown" not in text_of(prompt)
        assert "helper(x)" not in text_of(prompt)
    assert "12345" not in text_of(test_prompt(PROBLEM, None, 4))


def test_prompts_of_classes():
    shown = "class Stack:\n    def __init__(self, items=()):\n    def push(self, x):\n    async def pop(self) -> int:"
    assert signature(CLASS) == shown
    assert "Write a class with exactly the name `Stack`." in text_of(code_prompt(CLASS))
    assert "assert Stack(arguments).method(arguments) == answer" in text_of(test_prompt(CLASS, None, 2))


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        ("def scale(): return 1\ndef scale(x, /, y=[1]): return 2", "def scale(x, /, y=[1]):"),
        ("scale = lambda x: x", "def scale(...):"),
        ("async def scale(x): ...", "async def scale(x):"),
        ("def broken(", "def scale(...):"),
    ],
)
def test_signature(reference, shown):
    assert signature(Problem("p", "s", "scale", reference)) == shown


@pytest.mark.parametrize("code", ['x = "```"', 'x = """\n````\n"""', "no fence", "`", ""])
def test_fences_inside_the_program_do_not_break_the_prompt(code):
    content = text_of(test_prompt(PROBLEM, code, 2))
    shown = content[content.index("It may be wrong:") :]
    assert (parse_code(shown) or "") == code


def test_prompts_are_the_same_every_time():
    assert code_prompt(PROBLEM) == code_prompt(PROBLEM)
    assert test_prompt(PROBLEM, "x", 4) == test_prompt(PROBLEM, "x", 4)


CODE = [
    ("```python\nx = 1\n```", "x = 1"),
    ("Sure!\n```python\nx = 1\n```\nbye\n```python\ny = 2\n```", "x = 1"),
    ("```py\nx = 1\n```", "x = 1"),
    ("```Python3\nx = 1\n```", "x = 1"),
    ("``` python \nx = 1\n```", "x = 1"),
    ('```python title="a.py"\nx = 1\n```', "x = 1"),
    ("```{.python}\nx = 1\n```", "x = 1"),
    ("```\nx = 1\n```", "x = 1"),
    ("~~~\nx = 1\n~~~", "x = 1"),
    ("~~~python\nx = '```'\n```\n~~~", "x = '```'\n```"),
    ("````python\n```\nx = 1\n```\n````", "```\nx = 1\n```"),
    ("```python\nx = 1\n`````", "x = 1"),
    ("```python\nx = 1\n", "x = 1\n"),
    ("```python\nx = '''\n```\n'''\n```", "x = '''"),
    ("```python\nx = 1```", "x = 1```"),
    ("1. Code:\n   ```python\n   def f():\n       return 1\n   ```", "def f():\n    return 1"),
    ("> ```python\n> x = 1\n> ```", "x = 1"),
    ("text ```python\nx = 1\n```", None),
    ("```json\n{}\n```\n```python\nx = 1\n```", "x = 1"),
    ("```bash\npip install x\n```\n```\nx = 1\n```", "x = 1"),
    ("```json\n{}\n```", None),
    ("```python\n```", None),
    ("```python\n \n\n```", None),
    ("```python", None),
    ("```", None),
    ("", None),
    ("I cannot do that.", None),
    ("def f():\n    return 1", None),
    ("Use `f` and ``g``.", None),
    ("<think>\n```python\nx = 0\n```\n</think>\n```python\nx = 1\n```", "x = 1"),
    ("<think>\n```python\nx = 0\n```", None),
    ("reasoning\n```python\nx = 0\n```\n</think>\n```python\nx = 1\n```", "x = 1"),
    ("<think>a</think>\n```python\nx = 1\n```\n<think>b", "x = 1"),
    ("```python\r\nx = 1\r\ny = 2\r\n```\r\n", "x = 1\ny = 2"),
    ("\ufeff```python\nx = 1\n```", "x = 1"),
    ("```python\nx = '\0'\n```", "x = '\0'"),
    ("```python\nx = '\ud800'\n```", "x = '\ud800'"),
    ("```python\ndef f():\n\treturn 'ü日本'\n```", "def f():\n\treturn 'ü日本'"),
    ("```python\n<think>\n```", None),
]


@pytest.mark.parametrize(("text", "code"), CODE, ids=[repr(text) for text, _ in CODE])
def test_parse_code(text, code):
    assert parse_code(text) == code


def test_parse_suite_reads_the_first_block():
    text = "Tests:\n```python\nassert f(1) == 1\nassert f(2) ==\n```\n```python\nassert f(3) == 3\n```"
    first, second = parse_suite(text, "f")
    assert isinstance(first, TestCase)
    assert (first.calls, first.expected) == (("f(1)",), "1")
    assert isinstance(second, RejectedTest)
    assert second.validity is Validity.MALFORMED


def test_parse_suite_takes_lines_that_begin_with_assert_where_there_is_no_fence():
    text = "Here they are:\nassert f(1) == 1\n- no test\n  assert f(\n    2,\n  ) == 2\nassert that is prose\nassert f(3) == 3"
    tests = parse_suite(text, "f")
    calls = [t.calls if isinstance(t, TestCase) else t.validity for t in tests]
    assert calls == [("f(1)",), ("f(2)",), Validity.OFF_TARGET, ("f(3)",)]
    assert parse_suite("<think>assert f(1) == 1</think>", "f") == ()
    assert parse_suite("```json\n{}\n```\nassert f(1) == 1", "f") != ()
    assert parse_suite("", "f") == ()


def test_parse_suite_of_a_class_and_with_a_bound():
    text = "```python\ns = Stack()\nassert s.push(1).size() == 1\nassert s.size() == 1\n```"
    (first, second) = parse_suite(text, "Stack", entry_is_class=True)
    assert isinstance(first, TestCase)
    assert first.calls == ("s.push(1).size()",)
    assert isinstance(second, TestCase)
    assert second.prelude == "s = Stack()\ns.push(1).size()"
    assert parse_suite(text, "Stack", entry_is_class=True, max_tests=1) == (first,)


def test_what_is_cut_off_at_a_stop_string_reads_the_same():
    text = "Sure:\n```\nx = 1\n```\n\nThis works because ...\n```python\ny = 2\n```\n"
    end = min(text.index(mark) + len(mark) for mark in STOP)
    assert text[:end] == "Sure:\n```\nx = 1\n```\n\n"
    assert parse_code(text[:end]) == parse_code(text) == "x = 1"


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(["```", "```python\n", "~~~", "\n", "<think>", "</think>", " ", "x", "assert f(1)", "\r"]))
)
def test_any_arrangement_of_fences(parts):
    text = "".join(parts)
    code = parse_code(text)
    assert code is None or code.strip()
    parse_suite(text, "f")


@settings(max_examples=150, deadline=None)
@given(st.text())
def test_arbitrary_text(text):
    parse_code(text)
    parse_suite(text, "f")
    assert parse_code(f"~~~~\nx = 1\n{text}") is None or parse_code(f"~~~~\nx = 1\n{text}").startswith("x = 1")


NOISE = {
    "backticks": "`" * 1_000_000,
    "fences": "```\n" * 250_000,
    "open fences": "```python\n" * 100_000,
    "spaces": " " * 1_000_000,
    "spaces before a fence": " " * 1_000_000 + "```python\nx = 1\n```",
    "tags": "```" + "python" * 160_000,
    "thoughts": "<think>" * 140_000,
    "closed thoughts": "<think></think>" * 66_000,
    "unopened thoughts": "</think>" * 125_000,
    "brackets": "assert (\n" * 110_000,
    "letters": "x" * 1_000_000,
    "quotes": "> " * 500_000,
}


@pytest.mark.parametrize("text", NOISE.values(), ids=NOISE)
def test_a_megabyte_of_noise_takes_linear_time(text):
    start = time.process_time()
    parse_code(text)
    parse_suite(text, "f")
    assert time.process_time() - start < 5
