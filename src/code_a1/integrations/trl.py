"""Our judge as the reward function of TRL's GRPOTrainer.

    rewards = RewardFunction("problems.jsonl")
    trainer = GRPOTrainer(model, reward_funcs=rewards, train_dataset=rewards.dataset(), args=GRPOConfig(…))

Nothing of TRL is imported here; a reward function is a callable that gets the completions and the data set's columns
as lists (https://huggingface.co/docs/trl/grpo_trainer). Written against TRL 1.16.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from code_a1.config import SandboxConfig
from code_a1.errors import MissingExtra, ProblemError
from code_a1.integrations.pass_rate import PassRate, without_gaps
from code_a1.prompts import code_prompt
from code_a1.records import Problem

if TYPE_CHECKING:
    from datasets import Dataset

ChatMessage = Mapping[str, Any]


class RewardFunction:
    """The share of its problem's tests that a completion's program passes; see `PassRate` for the arguments.

    The data set needs a column `problem_id`; `dataset()` makes one. Completions may be texts or conversations. An
    answer that the sandbox could not judge gets the mean of its group's others, so that it moves nothing.
    """

    def __init__(
        self,
        problems: Iterable[Problem] | str,
        *,
        all_or_nothing: bool = False,
        config: SandboxConfig | None = None,
    ) -> None:
        self.__name__ = "all_tests_pass" if all_or_nothing else "pass_rate"
        self.pass_rate = PassRate(problems, all_or_nothing=all_or_nothing, config=config)

    def __call__(
        self,
        completions: Sequence[str | Sequence[ChatMessage]],
        problem_id: Sequence[str] | None = None,
        **columns: object,
    ) -> list[float | None]:
        """One reward per completion, 0 to 1. Raises ProblemError or SandboxError as `PassRate.score` does."""
        if problem_id is None:
            raise ProblemError(
                "the training data have no column 'problem_id'; RewardFunction.dataset() makes a data set that has one"
            )
        return without_gaps(problem_id, self.pass_rate.score(problem_id, [_text(c) for c in completions]))

    def dataset(self) -> Dataset:
        """A `datasets.Dataset` of the problems: our prompt for the code policy as a conversation, and the problem's id.

        Raises MissingExtra without the package `datasets`.
        """
        try:
            from datasets import Dataset  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra("datasets", extra="datasets", purpose="a data set for TRL") from error
        return Dataset.from_list(
            [
                {
                    "prompt": [{"role": m.role, "content": m.content} for m in code_prompt(problem)],
                    "problem_id": problem.problem_id,
                }
                for problem in self.pass_rate.problems
            ]
        )

    def close(self) -> None:
        """End the sandbox's processes."""
        self.pass_rate.close()


def _text(completion: str | Sequence[ChatMessage]) -> str:
    """What the policy answered: a text, or the last message of a conversation."""
    if isinstance(completion, str):
        return completion
    content = completion[-1]["content"] if completion else ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)  # parts, as multimodal templates have them
