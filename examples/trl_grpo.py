"""TRL's GRPOTrainer with our rewards, on CPU: `python examples/trl_grpo.py MODEL [--problems FILE] [--steps 20]`.

MODEL is a folder in Hugging Face format or a hub id. Needs `pip install trl 'code-a1[datasets]'`. Prints the mean
reward of every step; without any argument but MODEL it trains on the bundled problems.
"""

from __future__ import annotations

import argparse
import tempfile

from trl import GRPOConfig, GRPOTrainer

from code_a1.integrations.trl import RewardFunction


def main() -> None:
    """Train, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--problems", default="bundled", help="source as in problems.path")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--prompts", type=int, default=8, help="prompts of a step, 8 answers each")
    parser.add_argument("--tokens", type=int, default=128, help="most tokens of an answer")
    arguments = parser.parse_args()

    rewards = RewardFunction(arguments.problems)
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            arguments.model,
            reward_funcs=rewards,
            train_dataset=rewards.dataset(),
            args=GRPOConfig(
                output_dir=folder,
                max_steps=arguments.steps,
                learning_rate=arguments.lr,
                per_device_train_batch_size=8 * arguments.prompts,
                num_generations=8,
                max_completion_length=arguments.tokens,
                logging_steps=1,
                report_to=[],
                save_strategy="no",
                use_cpu=True,
                bf16=False,
                seed=0,
            ),
        )
        trainer.train()
    rewards.close()
    steps = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    half = len(steps) // 2
    print("reward of each step:", " ".join(f"{reward:.3f}" for reward in steps))
    print(f"first half {sum(steps[:half]) / half:.3f}, second half {sum(steps[half:]) / (len(steps) - half):.3f}")


if __name__ == "__main__":
    main()
