"""LiveCodeBench (Jain et al. 2024) as tasks: functions of a class, and programs on standard input; windows of dates."""

from __future__ import annotations

import base64
import binascii
import io
import json
import pickle
import zlib
from collections.abc import Mapping, Sequence
from datetime import date

from code_a1.errors import ConfigError
from code_a1.evaluation.code.tasks import CallTests, StreamTests, Task, Tests
from code_a1.problems.fields import Fields, RowError, text_field, unix_lines
from code_a1.prompts import CODE_SYSTEM, fenced
from code_a1.records import Message, Prompt

MAX_BYTES = 1 << 30
"""The tests of one problem, unpacked."""


def is_livecodebench_row(row: Fields) -> bool:
    """Whether the row has the fields that no other benchmark has."""
    return {"question_content", "public_test_cases"} <= row.keys()


def in_window(row: Fields, since: date | None, until: date | None) -> bool:
    """Whether the problem's contest was held from `since` to `until`, both days included."""
    text = text_field(row, "contest_date")
    try:
        held = date.fromisoformat(text[:10])
    except ValueError:
        raise RowError(f"field 'contest_date' must begin with a date like 2024-08-31, not {text[:40]!r}") from None
    return (since is None or since <= held) and (until is None or held <= until)


def parse_day(option: str, text: str | None) -> date | None:
    """The day that an option names. Raises ConfigError."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{option} {text}: must be a day like 2024-08-31") from None


def livecodebench_task(row: Fields) -> Task:
    """One row as a task. Raises RowError naming the field at fault."""
    starter = unix_lines(text_field(row, "starter_code", default=""))
    cases = [*_cases(row, "public_test_cases"), *_cases(row, "private_test_cases")]
    if not cases:
        raise RowError("fields 'public_test_cases' and 'private_test_cases' hold no test")
    kinds = {text_field(case, "testtype") for case in cases}
    if kinds == {"functional"}:
        name = _function(row)
        in_class = "class Solution" in starter
        tests: Tests = CallTests(
            f"Solution().{name}" if in_class else name,
            tuple(_arguments(case) for case in cases),
            tuple(_json(text_field(case, "output"), "output") for case in cases),
        )
        entry = "Solution" if in_class else name
    elif kinds == {"stdin"}:
        tests = StreamTests(
            tuple(text_field(case, "input") for case in cases), tuple(text_field(case, "output") for case in cases)
        )
        entry = ""
    else:
        raise RowError(f"field 'testtype' of the tests must be functional or stdin throughout, not {sorted(kinds)}")
    return Task(text_field(row, "question_id"), _prompt(text_field(row, "question_content"), starter), entry, tests)


def _prompt(question: str, starter: str) -> Prompt:
    if starter.strip():
        how = f"Complete this code; keep its names and its signature:\n\n{fenced(starter)}"
    else:
        how = "Write a program that reads from standard input and prints to standard output, as the task says."
    rules = "Solve this task in Python. Answer with one ```python code block that holds the whole program."
    return (Message("system", CODE_SYSTEM), Message("user", f"{rules}\n\n{question.strip()}\n\n{how}"))


def _function(row: Fields) -> str:
    metadata = row.get("metadata")
    found = _json(metadata, "metadata") if isinstance(metadata, str) else metadata
    if not isinstance(found, Mapping):
        raise RowError("field 'metadata' must be an object with func_name")
    return text_field(found, "func_name")


def _arguments(case: Mapping[str, object]) -> tuple[object, ...]:
    """One JSON value per line of the input."""
    return tuple(_json(line, "input") for line in text_field(case, "input").split("\n") if line.strip())


def _cases(row: Fields, name: str) -> Sequence[Mapping[str, object]]:
    """The list of tests: JSON, or for private ones JSON in a pickled string, compressed, in base 64."""
    given = row.get(name)
    if given is None and name == "private_test_cases":
        return ()
    if isinstance(given, str):
        text = given.lstrip()
        given = _json(text if text.startswith("[") else _unpacked(text, name), name)
    if not isinstance(given, list) or not all(isinstance(case, Mapping) for case in given):
        raise RowError(f"field '{name}' must be a list of objects with input, output and testtype, or that as JSON")
    return given


def _unpacked(text: str, name: str) -> str:
    if not text:
        return "[]"
    try:
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(base64.b64decode(text, validate=True), MAX_BYTES)
        found = _TextOnly(io.BytesIO(content)).load()
    except (binascii.Error, zlib.error, pickle.UnpicklingError, EOFError, ValueError, IndexError, KeyError) as error:
        raise RowError(f"field '{name}' is neither JSON nor packed as LiveCodeBench packs it: {error}") from error
    if not isinstance(found, str):
        raise RowError(f"field '{name}' holds {type(found).__name__} where JSON was packed")
    return found


class _TextOnly(pickle.Unpickler):
    """Reads a pickled string; anything that would call something is refused."""

    def find_class(self, module: str, name: str) -> object:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, and only text is read")


def _json(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RowError(f"field '{name}' is not JSON: {error}") from error
