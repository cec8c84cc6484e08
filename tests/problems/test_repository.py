"""Functions of a project that its tests call become problems."""

from __future__ import annotations

from pathlib import Path

import pytest

from code_a1.errors import ConfigError, ProblemError
from code_a1.problems.fields import RowError
from code_a1.problems.formats import read_own
from code_a1.problems.loading import open_reading
from code_a1.problems.repository import repository_rows
from code_a1.records import Problem

TEXT = '''
"""Text."""
from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

LIMIT = 20  # characters
_JUNK = re.compile(r"[^a-z0-9]+")
UNUSED = object()


@dataclass
class Word:
    text: str


def _plain(text):
    # the helper's own comment
    return unicodedata.normalize("NFKD", text).lower()


def slugify(text: str, sep: str = "-") -> str:
    """Make a slug of a text.

    Words are joined by `sep`; nothing stands at the ends.
    """
    return _JUNK.sub(sep, _plain(text)).strip(sep)[:LIMIT]


def longest(words):
    """The longest word, the first of equals."""
    return max(words, key=lambda word: len(word.text))


def undocumented(x):
    return x


def untested(x):
    """Nobody calls it."""
    return x


def raising(x):
    """Always raises."""
    raise ValueError(x)


class Stack:
    """No function."""
'''.lstrip("\n")

TEST_TEXT = """
import pytest
from proj.text import LIMIT, Word, longest, raising
from proj.text import slugify as make
import proj.text
from proj import text, undocumented

@pytest.mark.parametrize("given, wanted", [("Ab c", "ab-c"), ("", "")])
def test_slug(given, wanted):
    assert make(given) == wanted

def test_by_module():
    assert proj.text.slugify("A b", sep="_") == "a_b"
    assert text.slugify("x" * 99) == "x" * LIMIT

def test_longest(words):
    assert longest(words).text == "bcd"
    assert longest(words) == Word("bcd")

def test_other():
    assert undocumented(1) == 1

def test_raises():
    with pytest.raises(ValueError):
        raising(1)
""".lstrip("\n")

CONFTEST = """
import pytest
from proj.text import Word

@pytest.fixture
def words():
    return [Word("a"), Word("bcd")]
""".lstrip("\n")

NUMBERS = '''
from .text import slugify


def label(number):
    """A number as a slug."""
    return slugify(f"No {number}")


async def double(number):
    """Twice the number."""
    return 2 * number
'''.lstrip("\n")

NUMBERS_TEST = """
import asyncio
from ..numbers import double, label

def test_label():
    assert label(3) == "no-3"

def test_double():
    assert asyncio.run(double(2)) == 4
""".lstrip("\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "src/proj/__init__.py": "from .text import *\n",
        "src/proj/text.py": TEXT,
        "src/proj/numbers.py": NUMBERS,
        "src/proj/tests/numbers_test.py": NUMBERS_TEST,
        "tests/conftest.py": CONFTEST,
        "tests/test_text.py": TEST_TEXT,
        "venv/lib/skipped.py": "def f(:",
        ".hidden/skipped.py": "def f(:",
    }
    for name, content in files.items():
        path = tmp_path / "demo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "demo"


def found(project: Path) -> dict[str, Problem | str]:
    """Per function the problem, or the reason why it is none."""
    result: dict[str, Problem | str] = {}
    for row in repository_rows(project).rows:
        if isinstance(row.fields, RowError):
            result[f"{Path(row.file).name}:{row.line}"] = str(row.fields)
        else:
            problem = read_own(row.fields)
            result[problem.entry_point] = problem
    return result


SLUGIFY = '''
from __future__ import annotations

import re
import unicodedata


LIMIT = 20  # characters
_JUNK = re.compile(r"[^a-z0-9]+")


def _plain(text):
    # the helper's own comment
    return unicodedata.normalize("NFKD", text).lower()


def slugify(text: str, sep: str = "-") -> str:
    """Make a slug of a text.

    Words are joined by `sep`; nothing stands at the ends.
    """
    return _JUNK.sub(sep, _plain(text)).strip(sep)[:LIMIT]
'''.lstrip("\n")


def test_a_function_comes_with_what_it_needs_and_its_tests(project: Path) -> None:
    problem = found(project)["slugify"]
    assert isinstance(problem, Problem)
    assert problem.problem_id == "demo/src/proj/text.py:slugify"
    assert problem.reference_solution == SLUGIFY
    assert problem.reference_tests == (
        "assert slugify('Ab c') == 'ab-c'",
        "assert slugify('') == ''",
        "assert slugify('A b', sep='_') == 'a_b'",
        "assert slugify('x' * 99) == 'x' * LIMIT",
    )


def test_the_docstring_is_the_statement_after_what_the_tests_need(project: Path) -> None:
    problem = found(project)["slugify"]
    assert isinstance(problem, Problem)
    assert problem.setup == "from __future__ import annotations\n\n\nLIMIT = 20  # characters\n"
    assert problem.statement == (
        problem.setup + '\n\ndef slugify(text: str, sep: str = "-") -> str:\n    """Make a slug of a text.\n\n'
        '    Words are joined by `sep`; nothing stands at the ends.\n    """\n'
    )


def test_fixtures_of_conftest_and_classes_of_the_module(project: Path) -> None:
    problem = found(project)["longest"]
    assert isinstance(problem, Problem)
    assert problem.setup.startswith("from __future__ import annotations\n\n\nfrom dataclasses import dataclass\n")
    assert "@dataclass\nclass Word:" in problem.statement
    assert problem.reference_tests == (
        "def fixture_words():\n    return [Word('a'), Word('bcd')]\nwords = fixture_words()\n"
        "assert longest(words).text == 'bcd'",
        "def fixture_words():\n    return [Word('a'), Word('bcd')]\nwords = fixture_words()\n"
        "longest(words).text\nassert longest(words) == Word('bcd')",
    )


def test_what_is_no_problem_says_why(project: Path) -> None:
    rows = found(project)
    lines = {name: i for i, line in enumerate(TEXT.splitlines(), 1) for name in [line[4:].partition("(")[0]]}
    assert rows[f"text.py:{lines['undocumented']}"] == "undocumented has no docstring to make a statement of"
    assert rows[f"text.py:{lines['raising']}"].startswith("no test of raising can be judged by calls and values")
    assert rows["numbers.py:4"] == "label needs another module of the project: from .text import slugify"
    assert isinstance(rows["double"], Problem)
    assert rows["double"].reference_tests == ("import asyncio\nassert asyncio.run(double(2)) == 4",)
    assert set(rows) == {
        "slugify",
        "longest",
        "double",
        "numbers.py:4",
        f"text.py:{lines['undocumented']}",
        f"text.py:{lines['raising']}",
    }


def test_a_file_that_is_not_python_is_named_and_the_rest_is_read(project: Path) -> None:
    (project / "src" / "broken.py").write_text("def f(:\n")
    (project / "src" / "latin.py").write_bytes(b"# caf\xe9\n")
    rows = found(project)
    assert rows["broken.py:1"].startswith("is not Python that can be read: ")
    assert "utf-8" in rows["latin.py:1"]
    assert isinstance(rows["slugify"], Problem)


def test_a_folder_without_python_or_tests(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="gone: no such folder"):
        repository_rows(tmp_path / "gone")
    with pytest.raises(ProblemError, match="has no Python file but no tests"):
        repository_rows(tmp_path)
    (tmp_path / "m.py").write_text("def f(): pass\n")
    with pytest.raises(ProblemError, match="has 1 Python files but no tests"):
        repository_rows(tmp_path)
    with pytest.raises(ProblemError, match="it has Python modules: `code-a1 problems convert repo`"):
        open_reading(str(tmp_path), "auto")
    with pytest.raises(ConfigError, match="has no splits"):
        open_reading(str(tmp_path), "repo", "train")
