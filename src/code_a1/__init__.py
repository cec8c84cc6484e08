"""Train a Code LLM and a Test LLM against each other (Code-A1, arXiv 2603.15611).

The names below are the public API; each is loaded when it is first used, so that importing the package stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from code_a1.config import Config
    from code_a1.config_file import load_config, make_config
    from code_a1.engines import PolicyEngine, ScriptedEngine
    from code_a1.errors import CodeA1Error
    from code_a1.judge import Judge
    from code_a1.mistake_book import MistakeBook
    from code_a1.problems import load_problems, read_rows, write_problems
    from code_a1.records import (
        Candidate,
        CodeGroup,
        Completion,
        Judgement,
        Problem,
        SuiteGroup,
        TestCase,
        TestSuite,
        Validity,
        Verdict,
    )
    from code_a1.rewards import score
    from code_a1.run_dir import RunDir
    from code_a1.sandbox import Sandbox
    from code_a1.trainer import train

__version__ = "0.1.0"

_HOMES = {
    "Candidate": "records",
    "CodeA1Error": "errors",
    "CodeGroup": "records",
    "Completion": "records",
    "Config": "config",
    "Judge": "judge",
    "Judgement": "records",
    "MistakeBook": "mistake_book",
    "PolicyEngine": "engines",
    "Problem": "records",
    "RunDir": "run_dir",
    "Sandbox": "sandbox",
    "ScriptedEngine": "engines",
    "SuiteGroup": "records",
    "TestCase": "records",
    "TestSuite": "records",
    "Validity": "records",
    "Verdict": "records",
    "load_config": "config_file",
    "load_problems": "problems",
    "make_config": "config_file",
    "read_rows": "problems",
    "score": "rewards",
    "train": "trainer",
    "write_problems": "problems",
}

__all__ = [
    "Candidate",
    "CodeA1Error",
    "CodeGroup",
    "Completion",
    "Config",
    "Judge",
    "Judgement",
    "MistakeBook",
    "PolicyEngine",
    "Problem",
    "RunDir",
    "Sandbox",
    "ScriptedEngine",
    "SuiteGroup",
    "TestCase",
    "TestSuite",
    "Validity",
    "Verdict",
    "load_config",
    "load_problems",
    "make_config",
    "read_rows",
    "score",
    "train",
    "write_problems",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
