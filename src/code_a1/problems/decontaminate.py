"""Leave out training problems that a benchmark holds: by task id, by normalised statement, by shared runs of words.

Ids agree where they name the same task of MBPP or HumanEval in any spelling (`mbpp/12`, `Mbpp/12`, `MBPP-012`); any
other ids agree where they are equal but for case. Statements agree where the same words remain once examples, code
around the prose, phrases like "Write a Python function to" and punctuation are gone. These two are exact; n-grams (a
run of n words that both have, as Qwen2.5-Coder and DeepSeek-Coder filter) also find a task with a sentence added
or changed, and now and then one that only sounds alike. A task retold in other words is not found by any of them.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from code_a1.problems.entry_points import parse_source
from code_a1.records import Problem


@dataclass(frozen=True, slots=True)
class Dropped:
    """A problem that was left out, and why; `benchmark` names the file that holds it, "" for other reasons."""

    problem_id: str
    reason: str
    benchmark: str = ""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What training must not see: the benchmark's ids, statements and n-grams, each with the id that it stands for."""

    name: str
    ids: Mapping[str, str]
    statements: Mapping[str, str]
    ngrams: Mapping[str, str] = field(default_factory=dict)
    """Runs of `ngram` words of the statements; none where `ngram` is 0."""
    ngram: int = 0

    @classmethod
    def of(cls, name: str, problems: Iterable[Problem], ngram: int = 0) -> Benchmark:
        """Collect the keys of a benchmark's problems."""
        ids: dict[str, str] = {}
        statements: dict[str, str] = {}
        ngrams: dict[str, str] = {}
        for problem in problems:
            ids.setdefault(id_key(problem.problem_id), problem.problem_id)
            key = statement_key(problem)
            statements.setdefault(key, problem.problem_id)
            for run in _runs(key, ngram):
                ngrams.setdefault(run, problem.problem_id)
        statements.pop("", None)
        return cls(name, ids, statements, ngrams, ngram)


def _runs(key: str, n: int) -> Iterator[str]:
    """Every run of n words of a normalised statement."""
    words = key.split()
    return (" ".join(words[i : i + n]) for i in range(len(words) - n + 1 if n else 0))


def decontaminate(
    problems: Iterable[Problem], benchmarks: Sequence[Benchmark]
) -> tuple[tuple[Problem, ...], tuple[Dropped, ...]]:
    """Split problems into those that no benchmark holds and those that one does, both in order."""
    kept: list[Problem] = []
    dropped: list[Dropped] = []
    for problem in problems:
        hit = contamination(problem, benchmarks)
        if hit is None:
            kept.append(problem)
        else:
            dropped.append(hit)
    return tuple(kept), tuple(dropped)


def contamination(problem: Problem, benchmarks: Sequence[Benchmark]) -> Dropped | None:
    """Why a benchmark holds the problem; None if none does."""
    by_id = id_key(problem.problem_id)
    by_statement = statement_key(problem) if benchmarks else ""
    for benchmark in benchmarks:
        run = next((run for run in _runs(by_statement, benchmark.ngram) if run in benchmark.ngrams), "")
        if by_id in benchmark.ids:
            reason = f"is the task {benchmark.ids[by_id]} of {benchmark.name}"
        elif by_statement in benchmark.statements:
            reason = f"has the statement of {benchmark.statements[by_statement]} of {benchmark.name}"
        elif run:
            reason = f'shares {benchmark.ngram} words with {benchmark.ngrams[run]} of {benchmark.name}: "{run}"'
        else:
            continue
        return Dropped(problem.problem_id, reason, benchmark.name)
    return None


def id_key(problem_id: str) -> str:
    """A problem's id with the spellings of MBPP's and HumanEval's task numbers made one."""
    text = problem_id.strip().casefold()
    match = re.fullmatch(r"(?:\w+/)?(mbpp|human[-_]?eval)(?:[-_]?plus|\+)?(?:[-_ /:]*)0*(\d+)", text)
    return f"{re.sub('[-_]', '', match[1])}/{match[2]}" if match else text


_BOILERPLATE = re.compile(
    r"\A(?:please\s+)?(?:write|create|implement|define|develop|complete)\s+(?:an?\s+|the\s+)?(?:following\s+)?"
    r"(?:python\s+)?(?:function|method|program|class|code)\b"
    r"(?:\s+(?:named|called)\b)?(?:\s*`[^`]*`|\s*\w+\s*\([^()]*\))?(?:\s*,)?(?:\s+(?:to|that|which|for)\b)?",
    re.IGNORECASE,
)
_CODE_LINE = re.compile(
    r"\s*(?:(?:async\s+)?def\s+\w+\s*\(|class\s+\w+.*:\s*$|import\s+\w|from\s+[\w.]+\s+import\b|@\w)"
)
_EXAMPLE_HEADER = re.compile(r"\s*(?:for\s+)?(?:examples?|e\.g\.)\s*(?:\d+\s*)?:?\s*\Z", re.IGNORECASE)


def statement_key(problem: Problem) -> str:
    r"""The words of a statement, in order, for comparison; operators count as words, other punctuation does not.

    >>> statement_key(Problem("a", "Write a function to ADD\n two  numbers!\nassert add(1, 2) == 3", "add", ""))
    'add two numbers'
    """
    prose = _docstring(problem) or problem.statement
    lines = _without_examples(prose, problem.entry_point)
    text = unicodedata.normalize("NFKC", "\n".join(lines)).strip() or prose
    text = _BOILERPLATE.sub("", text, count=1)
    return " ".join(re.findall(r"\w+|[+*/%<>=^&|]", text.casefold()))


def _docstring(problem: Problem) -> str:
    """The docstring of the entry point where the statement is code, as HumanEval's are; "" otherwise."""
    try:
        tree = parse_source(problem.statement)
    except ValueError:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == problem.entry_point:
            return ast.get_docstring(node) or ""
    return ""


def _without_examples(text: str, entry_point: str) -> list[str]:
    """Lines of prose: no code around it, no asserts, no doctests, no lines that begin with a call."""
    call = re.compile(rf"[\s`*>-]*(?:assert\b.*|{re.escape(entry_point)}\s*\()")
    kept: list[str] = []
    in_doctest = False
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith(">>>"):
            in_doctest = True
        elif not bare:
            in_doctest = False
        if in_doctest or _CODE_LINE.match(line) or _EXAMPLE_HEADER.match(line) or call.match(line):
            continue
        kept.append(line.replace('"""', " ").replace("'''", " "))
    return kept
