"""UnLeakedTestBench (Huang et al. 2025): real functions that a tester writes tests for.

The code is the reference. Rows come with tests by a model, most of which do not hold on it: they are probes, of which
the calls are taken and the answers are not.
"""

from __future__ import annotations

from code_a1.errors import ProblemError
from code_a1.evaluation.code.tasks import ProblemTests, Task
from code_a1.problems.fields import Fields, RowError, text_field, texts_field, unix_lines
from code_a1.problems.rows import Source
from code_a1.prompts import code_prompt
from code_a1.records import Problem

ULT = "ult"


def is_ult_row(row: Fields) -> bool:
    """Whether a row is one of UnLeakedTestBench."""
    return {"func_name", "code"} <= row.keys()


def ult_tasks(source: Source) -> tuple[Task, ...]:
    """Every row as a task. Raises ProblemError naming file and row of the first that cannot be read."""
    tasks: list[Task] = []
    seen: set[str] = set()
    for row in source.rows:
        try:
            if isinstance(row.fields, RowError):
                raise row.fields
            task = ult_task(row.fields)
            if task.task_id in seen:
                raise RowError(f"id '{task.task_id}' stands twice: remove or rename one")
        except RowError as error:
            raise ProblemError(f"{row.file or source.name}:{row.line}: {error}") from error
        seen.add(task.task_id)
        tasks.append(task)
    return tuple(tasks)


def ult_task(row: Fields) -> Task:
    """One row. What its code needs and lacks is nothing that a reader of rows finds out."""
    name = text_field(row, "func_name")
    statement = text_field(row, "prompt", default=f"`{name}`, which does what its code says.")
    task_id = name if row.get("task_id") is None else row["task_id"]
    problem = Problem(f"ULT/{task_id}", statement, name, unix_lines(text_field(row, "code")))
    probes = texts_field(row, "test_list", default=())
    return Task(problem.problem_id, code_prompt(problem), name, ProblemTests(problem, probes))
