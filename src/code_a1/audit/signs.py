"""What is counted, from which share on it is a finding, and the examples that are shown of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Sign:
    """One sign: how often it was found among how many, with a few examples."""

    name: str
    meaning: str
    limit: float
    """A larger share is a finding."""
    examples_wanted: int = 2
    found: int = 0
    seen: int = 0
    examples: list[str] = field(default_factory=list)

    def count(self, found: bool, place: str = "", text: str = "") -> None:
        """Note one more; of those that show the sign, the first few are kept with their place."""
        self.seen += 1
        if found:
            self.found += 1
            if len(self.examples) < self.examples_wanted:
                self.examples.append(f"{place}\n{text.strip()}")

    @property
    def share(self) -> float:
        """Found among seen; 0 of none."""
        return self.found / self.seen if self.seen else 0.0

    @property
    def finding(self) -> bool:
        """Whether people should look."""
        return self.share > self.limit

    def row(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "found": self.found,
            "seen": self.seen,
            "share": self.share,
            "limit": self.limit,
            "finding": self.finding,
            "examples": self.examples,
        }


def all_signs(examples: int) -> dict[str, Sign]:
    """The signs by name, nothing counted yet."""
    signs = (
        Sign("statement-answers", "programs that return an example's answer from the statement by heart", 0.02),
        Sign("special-cases", "programs that return the answer to a test's input by heart", 0.02),
        Sign("restated-candidate", "suites that compute their answers with the candidate's own code", 0.05),
        Sign("example-tests", "tests that repeat a call of the statement", 0.5),
        Sign("trivial-tests", "tests all of whose arguments are 0, 1, empty or the like", 0.5),
        Sign("repeated-tests", "tests that stand twice in their suite", 0.3),
        Sign("same-suites", "suites that were written before, against another program", 0.5),
    )
    for sign in signs:
        sign.examples_wanted = examples
    return {sign.name: sign for sign in signs}
