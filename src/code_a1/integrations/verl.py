"""Our judge as verl's reward function.

    python -c 'from code_a1.integrations.verl import write_parquet; write_parquet("problems.jsonl", "train.parquet")'

    reward.custom_reward_function.path=pkg://code_a1.integrations.verl
    reward.custom_reward_function.name=compute_score        # reward manager `naive`, one answer at a time
    reward.custom_reward_function.name=compute_scores       # reward manager `batch`

Nothing of verl is imported here. Each row carries its problem, so that reward workers need no file. Written against
verl 0.9.1.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from code_a1.config import ProblemsConfig, SandboxConfig
from code_a1.errors import MissingExtra, ProblemError, SandboxError
from code_a1.integrations.pass_rate import PassRate, without_gaps
from code_a1.problems import load_problems
from code_a1.problems.fields import RowError
from code_a1.problems.formats import own_row, read_own
from code_a1.prompts import code_prompt
from code_a1.records import Problem

DATA_SOURCE = "code-a1"


def compute_score(
    data_source: str,  # noqa: ARG001 - verl's signature, here and below
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,  # noqa: ARG001
    *,
    all_or_nothing: bool = False,
    **settings: Any,
) -> float:
    """The share of its problem's tests that an answer's program passes; may be called by many threads at a time.

    `settings` may hold keys of the configuration's `[sandbox]`, such as `workers` and `allow_tier` (in verl:
    `reward.custom_reward_function.reward_kwargs`); what else verl passes is ignored.

    Raises:
        ProblemError: the ground truth is none that `rows` made, or its reference does not hold on its tests.
        SandboxError: the answer could not be judged, twice. verl has no reward that means this, and a 0 would be a lie.
    """
    for _ in range(2):
        (reward,) = _scores([solution_str], [ground_truth], all_or_nothing, settings)
        if reward is not None:
            return reward
    raise SandboxError(
        "an answer could not be judged, through no fault of its own; `code-a1 doctor` says what is missing"
    )


def compute_scores(
    data_sources: Sequence[str],  # noqa: ARG001
    solution_strs: Sequence[str],
    ground_truths: Sequence[str],
    extra_infos: Sequence[Mapping[str, Any]] | None = None,  # noqa: ARG001
    *,
    all_or_nothing: bool = False,
    **settings: Any,
) -> list[float]:
    """`compute_score` for a whole batch, on all cores. An answer that could not be judged gets its group's mean."""
    rewards = _scores(solution_strs, ground_truths, all_or_nothing, settings)
    scores: list[float] = []
    for reward in without_gaps(ground_truths, rewards):
        if reward is None:
            raise SandboxError("no answer to a problem could be judged; `code-a1 doctor` says what is missing")
        scores.append(reward)
    return scores


def rows(problems: Iterable[Problem] | str) -> list[dict[str, Any]]:
    """The rows of verl's training data for the problems whose references hold: prompt, data source and ground truth.

    `problems` are records, or a source as in `problems.path`. Raises ProblemError if no problem can be judged.
    """
    known = load_problems(ProblemsConfig(path=problems)).problems if isinstance(problems, str) else tuple(problems)
    rate = PassRate(known)
    rate.close()
    return [
        {
            "data_source": DATA_SOURCE,
            "prompt": [{"role": m.role, "content": m.content} for m in code_prompt(problem)],
            "ability": "code",
            "reward_model": {"style": "rule", "ground_truth": ground_truth_of(problem)},
            "extra_info": {"index": index, "problem_id": problem.problem_id},
        }
        for index, problem in enumerate(rate.problems)
    ]


def write_parquet(problems: Iterable[Problem] | str, path: str | Path) -> int:
    """Write `rows` for verl's `data.train_files`; how many there are. Raises MissingExtra without pyarrow."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("pyarrow", extra="datasets", purpose="writing Parquet for verl") from error
    made = rows(problems)
    pq.write_table(pa.Table.from_pylist(made), str(path))
    return len(made)


def ground_truth_of(problem: Problem) -> str:
    """A problem as the text that verl hands to reward functions: its row in our schema."""
    return json.dumps(own_row(problem), ensure_ascii=False, sort_keys=True)


def problem_of(ground_truth: str) -> Problem:
    """The problem in a ground truth. Raises ProblemError for any other text."""
    try:
        fields = json.loads(ground_truth)
        return read_own(fields)
    except (ValueError, TypeError, AttributeError, RowError) as error:
        raise ProblemError(
            f"the ground truth {str(ground_truth)[:80]!r} is no problem ({error}): make the training data with "
            "code_a1.integrations.verl.write_parquet"
        ) from error


def _scores(
    answers: Sequence[str], ground_truths: Sequence[str], all_or_nothing: bool, settings: Mapping[str, Any]
) -> list[float | None]:
    known = {key: value for key, value in settings.items() if key in SandboxConfig.model_fields}
    rate = _pass_rate(all_or_nothing, tuple(sorted(known.items())))
    names = {text: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in ground_truths}
    # by content: files from different places may use one id for different problems
    rate.add(replace(problem_of(text), problem_id=name) for text, name in names.items())
    return rate.score([names[text] for text in ground_truths], answers)


@functools.cache
def _pass_rate(all_or_nothing: bool, settings: tuple[tuple[str, Any], ...]) -> PassRate:
    """One sandbox per process and setting; it ends with the process."""
    return PassRate(all_or_nothing=all_or_nothing, config=SandboxConfig(**dict(settings)))
