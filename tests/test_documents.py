"""What the documents say is run, not believed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from code_a1.cli import cli
from code_a1.config_file import load_config
from code_a1.metrics import completion_metrics, judgement_metrics

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


RESULTS = ROOT / "docs" / "results"
"""What models wrote is shown there; it is nothing to run."""
EXAMPLES = [path for path in DOCUMENTS if RESULTS not in path.parents]
PYTHON = [(path, block) for path in EXAMPLES for block in blocks(path, "python") if "import" in block]


@pytest.mark.parametrize(("path", "block"), PYTHON, ids=[f"{p.name}-{i}" for i, (p, _) in enumerate(PYTHON)])
def test_every_python_example_runs(path, block):
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    if path.name == "README.md":
        assert f"It prints `{done.stdout.strip()}`" in path.read_text(encoding="utf-8")


def test_every_command_in_the_documents_exists_with_its_options():
    lines = [
        line.split("#")[0]
        for path in DOCUMENTS
        for block in blocks(path, "")
        for line in block.replace("\\\n", " ").splitlines()
        if line.strip().startswith("code-a1 ")
    ]
    assert len(lines) > 8
    for line in lines:
        words = line.split()[1:]
        command = cli
        while hasattr(command, "commands"):
            assert words[0] in command.commands, line
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {w.split("=")[0] for w in words if w.startswith("-")} <= known, line
        for config in (w for w in words if w.startswith("configs/")):
            load_config(ROOT / config)


def test_every_link_and_picture_leads_somewhere():
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_every_metric_of_a_judgement_is_explained():
    text = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    families = ("validity", "verdict", "verdict_replayed")  # one row each, for all their members
    for key in [*judgement_metrics([], [], []), *completion_metrics([], [])]:
        role, _, name = key.partition("/")
        if role in families:
            assert f"`{role}/" in text
        else:
            other = {"code": "test", "test": "code"}.get(role, role)
            assert f"`{key}`" in text or f"`{other}/{name}`" in text, key


def test_readme_opens_with_a_picture_and_the_two_commands():
    head = (ROOT / "README.md").read_text(encoding="utf-8")[:1600]
    assert "![" in head
    assert head.index("make demo") < head.index("make test")
