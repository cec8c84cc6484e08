"""Where policies live: implementations of `PolicyEngine`, none of which is loaded before it is opened."""

from code_a1.engines.base import PolicyEngine, SampledGroup, SamplingParams, TrainingRow
from code_a1.engines.open import open_policies
from code_a1.engines.scripted import ScriptedEngine
from code_a1.engines.update import learning_rate, update

__all__ = [
    "PolicyEngine",
    "SampledGroup",
    "SamplingParams",
    "ScriptedEngine",
    "TrainingRow",
    "learning_rate",
    "open_policies",
    "update",
]
