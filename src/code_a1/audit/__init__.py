"""Signs of reward hacking in a run's rollouts: `code-a1 runs audit`."""

from code_a1.audit.run import audit_run
from code_a1.audit.signs import Sign

__all__ = ["Sign", "audit_run"]
