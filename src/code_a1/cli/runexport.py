"""`code-a1 runs export`."""

from __future__ import annotations

from pathlib import Path

import click

from code_a1.errors import RunDirError


@click.command(name="export", short_help="A trained policy as a Hugging Face model of its own.")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--policy", required=True, type=click.Choice(["code", "test"]), help="Which of the two.")
@click.option("--merged", required=True, type=click.Path(path_type=Path), help="The new folder to write.")
@click.option("--step", type=int, default=None, help="The checkpoint after this step. Default: the last one.")
@click.option("--dtype", type=click.Choice(["bfloat16", "float32"]), default="bfloat16", show_default=True)
@click.option("--push-to-hub", "repo_id", default=None, help="Also upload to this repository, private if it is new.")
def export(run: Path, policy: str, merged: Path, step: int | None, dtype: str, repo_id: str | None) -> None:
    r"""Write the weights of a policy of RUN, its adapter merged in, so that transformers and vLLM open them.

    \b
    Example:
      code-a1 runs export runs/co-evolve-20260101-120000 --policy code --merged models/coder
    """
    folder = saved_policy(run, policy, step)
    from code_a1.engines.local.export import export_merged, push_to_hub  # noqa: PLC0415 - `--help` stays fast

    click.echo(f"… {folder}", err=True)
    export_merged(folder, merged, dtype=dtype)
    click.echo(merged)
    if repo_id:
        click.echo(push_to_hub(merged, repo_id))


def saved_policy(run: Path, policy: str, step: int | None) -> Path:
    """The folder of a policy in a run's last checkpoint, or in that after `step`.

    Raises RunDirError where the run, the checkpoint or the policy in it is not there, and says what is.
    """
    from code_a1.run_dir import RunDir  # noqa: PLC0415

    folder = RunDir.open(run)
    found = sorted(path for path in (run / "checkpoints").glob("step-*") if (path / "state.json").is_file())
    if not found:
        raise RunDirError(f"{run} has no checkpoint; runs write one at their end and every `save_every` steps")
    chosen = found[-1] if step is None else folder.checkpoint_path(step)
    if chosen not in found:
        raise RunDirError(f"{run} has no checkpoint after step {step}; it has {', '.join(p.name for p in found)}")
    if not (chosen / policy).is_dir():
        roles = sorted(path.name for path in chosen.iterdir() if path.is_dir())
        raise RunDirError(f"{chosen} holds no {policy} policy; it has {', '.join(roles) or 'none'}")
    return chosen / policy
