"""The configurations of the modes: comparable with each other, and complete down to the step that makes their data."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from code_a1.cli import cli
from code_a1.config_file import load_config
from code_a1.modes import MODES

CONFIGS = Path(__file__).parents[1] / "configs"
BUNDLED = sorted(CONFIGS.glob("bundled-*.toml"))


def test_every_mode_has_a_configuration_on_bundled_problems():
    configs = [load_config(path) for path in BUNDLED]
    modes = {name for name, mode in MODES.items() if not mode.supervised}
    assert {config.mode for config in configs} == modes
    assert {config.rollout.white_box for config in configs if config.mode == "self-play"} == {True, False}


def test_they_differ_in_nothing_but_the_mode():
    def rest(path: Path) -> dict:
        raw = load_config(path).to_toml_dict()
        raw["problems"].pop("suites", None)
        raw["rollout"].pop("white_box")
        return {key: value for key, value in raw.items() if key != "mode"}

    first, *others = map(rest, BUNDLED)
    assert all(other == first for other in others)


def commands(path: Path) -> list[list[str]]:
    """The commands in the comment at the top of a configuration."""
    head = path.read_text(encoding="utf-8").split("\n\n")[0].replace("\\\n#", " ")
    return [shlex.split(line)[1:] for line in re.findall(r"^#\s+(code-a1 .*)$", head, re.MULTILINE)]


@pytest.mark.parametrize("path", [*BUNDLED, *sorted(CONFIGS.glob("paper-*.toml"))], ids=lambda p: p.name)
def test_the_commands_at_the_top_exist_with_their_options(path):
    found = commands(path)
    assert any(words[:2] == ["train", f"configs/{path.name}"] for words in found)
    for words in found:
        command = cli
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {w.split("=")[0] for w in words if w.startswith("-")} <= known


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("paper-*.toml")), ids=lambda p: p.name)
def test_the_data_step_of_the_paper_writes_what_the_run_reads(path):
    [step] = [words for words in commands(path) if words[:2] == ["problems", "convert"]]
    assert step[2:4] == ["kodcode", "KodCode/KodCode-V1"]
    assert step[step.index("-o") + 1] == load_config(path).problems.path
    assert step[step.index("--difficulty") + 1] == "hard"
