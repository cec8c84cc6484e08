from __future__ import annotations

import pytest

from code_a1.evaluation.code.completions import program_of

RIGHT = "def f(x):\n    return x + 1"


@pytest.mark.parametrize(
    ("text", "program", "removed"),
    [
        (f"```python\n{RIGHT}\n```", RIGHT, ()),
        (f"```python\n{RIGHT}", RIGHT, ()),
        (f"```python\n\n{RIGHT}\n```", f"\n{RIGHT}", ()),
        (f"Sure:\n```\n  \n\n{RIGHT}\n```\nDone.", f"  \n\n{RIGHT}", ("text before the program", "text after the program")),
        (f"Sure:\n```python\n{RIGHT}\n```\nIt adds one.", RIGHT, ("text before the program", "text after the program")),
        (f"<think>```python\nwrong\n```</think>```python\n{RIGHT}\n```", RIGHT, ("reasoning",)),
        (f"```python\ng = 1\n```\n```python\n{RIGHT}\n```", RIGHT, ("1 other blocks", "text before the program")),
        (RIGHT, RIGHT, ()),
        (f"Here is it.\n{RIGHT}\nThis function adds one to it.", RIGHT, ("text before the program", "text after the program")),
        (f"{RIGHT}\n```", RIGHT, ("a fence that was not opened",)),
        (f"{RIGHT}\n```\nThis adds one to it.", RIGHT, ("text after the program",)),
        (f"Sure:\n{RIGHT}\n```", RIGHT, ("text before the program", "a fence that was not opened")),
        (f"Use it so:\nimport g\n```\n{RIGHT}\n```", RIGHT, ("text before the program",)),
        (f"{RIGHT}\n```\n```python\ng = 1\n```", RIGHT, ("text after the program",)),
        ("Here it is:\n```\nint f;", "int f;", ("text before the program",)),
        ("```", None, ()),
        ("", None, ()),
        ("I cannot do that, sorry.", None, ()),
        ("```json\n{}\n```", None, ()),
    ],
)  # fmt: skip
def test_what_surrounds_a_program_goes_and_is_named(text, program, removed):
    assert program_of(text, "f") == (program, removed)


@pytest.mark.parametrize(
    "wrong",
    [
        RIGHT + "\nassert f(1) == 3",  # fails when it is loaded
        RIGHT + "\nx = (",  # does not compile
        RIGHT + "\nprint(f(1)",
        RIGHT + "\nretrun 3",
        "def f(x)\n    return x + 1",
        RIGHT + "\nexit(1)",
        "import nothing_of_the_kind\n" + RIGHT,
        "  " + RIGHT.replace("\n", "\n  ") + "\n y",
    ],
)
@pytest.mark.parametrize("shape", ["```python\n{}\n```", "{}", "{}\n```"])
def test_nothing_of_a_program_is_mended(wrong, shape):
    program, _ = program_of(shape.format(wrong), "f")
    assert program is None or program.strip() == wrong.strip()


def test_whole_programs_are_in_the_last_block():
    assert program_of("```python\nfirst = 1\n```\nBetter:\n```python\nlast = 1\n```")[0] == "last = 1"
