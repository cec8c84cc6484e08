"""The nouns of the pipeline: frozen, torch-free, and the only thing that the modules hand to each other.

Data flows one way. A `Problem` becomes a `Prompt`, the code policy's `Completion`s of it become `Candidate`s (a
`CodeGroup`), the test policy's completions for one candidate become `TestSuite`s (a `SuiteGroup`), the judge turns both
into a `Judgement`, and what a policy learns from is a list of `Sample`s.

Letters used for sizes throughout the package: P problems of a step, M candidates of a problem, N suites of a candidate,
K test cases asked for in a suite.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


@dataclass(frozen=True, slots=True)
class Problem:
    """One programming problem whose reference solution makes generated tests checkable.

    `reference_tests` are test programs in source form: assert statements, or one program that defines
    `check(candidate)`. `setup` is code that runs after a solution and before its tests (MBPP's `test_setup_code`).
    `tolerance` is the absolute and relative tolerance for floats when values are compared; 0 means exact.
    """

    problem_id: str
    statement: str
    entry_point: str
    reference_solution: str
    reference_tests: tuple[str, ...] = ()
    setup: str = ""
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


Prompt = tuple[Message, ...]
"""A conversation to be answered. A last message of the assistant is the beginning of the answer: completions go on from
there and do not repeat it."""

FinishReason = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class Completion:
    """What a policy answered to one prompt.

    `tokens` are the sampled token ids (T), the end-of-sequence token included when it was sampled;
    `sampling_logprobs` (T) are natural-log probabilities under the distribution that they were drawn from.
    """

    text: str
    tokens: tuple[int, ...]
    sampling_logprobs: tuple[float, ...]
    prompt_tokens: tuple[int, ...]
    finish_reason: FinishReason


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program by the code policy: the first fenced Python block of its completion, or None without one.

    One whose `origin` is not "policy" is only there to be attacked: a mutant of the reference, or a program of an
    earlier checkpoint. Nobody learns to write it and the Mistake Book does not see it.
    """

    problem_id: str
    index: int
    code: str | None
    completion: Completion
    origin: Literal["policy", "mutant", "earlier"] = "policy"

    @property
    def own(self) -> bool:
        """Whether the code policy wrote it in this step and learns from it."""
        return self.origin == "policy"


class Validity(StrEnum):
    """What a test is worth when it is run on the reference solution (algorithm, step 4)."""

    VALID = "VALID"
    WRONG_EXPECTATION = "WRONG_EXPECTATION"
    CALL_FAILED = "CALL_FAILED"
    DUPLICATE = "DUPLICATE"
    NONDETERMINISTIC = "NONDETERMINISTIC"
    OFF_TARGET = "OFF_TARGET"
    UNREPRESENTABLE = "UNREPRESENTABLE"
    MALFORMED = "MALFORMED"
    SANDBOX_ERROR = "SANDBOX_ERROR"
    """Our fault: the test could not be run on the reference. It masks its suite and is never scored."""

    @property
    def usable(self) -> bool:
        """Whether a candidate is run on the test (with the reference's answer if the predicted one was wrong)."""
        return self in (Validity.VALID, Validity.WRONG_EXPECTATION)


class Verdict(StrEnum):
    """How a candidate did on one usable or replayed test (algorithm, step 5)."""

    PASS = "PASS"
    FAIL = "FAIL"
    ERROR = "ERROR"
    TIMEOUT = "TIMEOUT"
    CRASH = "CRASH"
    MEMORY = "MEMORY"
    OUTPUT_LIMIT = "OUTPUT_LIMIT"
    NOT_RUN = "NOT_RUN"
    """Not reached after the cap of re-forks: counts against the candidate, earns the tester nothing."""
    SANDBOX_ERROR = "SANDBOX_ERROR"
    """Our fault, never the candidate's: masked, never scored."""


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test about calls of the entry point, as structured data rather than as a string to be re-escaped.

    The `calls` are expressions that are evaluated in the candidate's process, after the statements of `prelude`; only
    their results leave it. `form` is a Python expression over those results, named `_0`, `_1`, …, and over `expected`;
    the test passes where it is true. For `assert f(2) == 4`: calls `("f(2)",)`, form `"_0 == expected"`, expected
    source `"4"`. `expected_value` is the encoded value (see `code_a1.sandbox.codec`) once the judge has filled it in;
    a test with a value replays exactly as it ran. `form_prelude` holds the statements that `form` and `expected` need
    (imports, helper variables); it never calls the entry point, since it runs where no candidate is.

    An empty `form` says that no answer was predicted: the results must equal the reference's, whatever they are.

    `kind` is "check" for a whole program that defines `check(candidate)`; its text is then in `source` alone.
    """

    source: str
    calls: tuple[str, ...] = ()
    form: str = ""
    expected: str | None = None
    prelude: str = ""
    form_prelude: str = ""
    expected_value: bytes | None = None
    kind: Literal["assert", "check"] = "assert"

    # pytest collects classes named Test*; this one is a record.
    __test__ = False


@dataclass(frozen=True, slots=True)
class RejectedTest:
    """A piece of a suite that is not a test of the entry point; `validity` is MALFORMED or OFF_TARGET."""

    source: str
    validity: Validity
    reason: str


@dataclass(frozen=True, slots=True)
class TestSuite:
    """What one completion of the test policy attacks its candidate with, in the order written."""

    tests: tuple[TestCase | RejectedTest, ...]
    completion: Completion

    __test__ = False


@dataclass(frozen=True, slots=True)
class CodeGroup:
    """The M candidates of one problem: a group of the code policy; none where the prompt was over the limit."""

    problem: Problem
    candidates: tuple[Candidate, ...]
    prompt_too_long: bool = False


@dataclass(frozen=True, slots=True)
class SuiteGroup:
    """The N suites against one candidate: a group of the test policy; none where the prompt was over the limit."""

    problem_id: str
    candidate_index: int
    suites: tuple[TestSuite, ...]
    prompt_too_long: bool = False


@dataclass(frozen=True, slots=True)
class JudgedTest:
    """A test of a suite with what it was worth and, where usable, how the candidate did on it.

    `test` is None where the suite held a piece that is no test; `source` is what was written.
    """

    source: str
    validity: Validity
    test: TestCase | None = None
    verdict: Verdict | None = None
    reason: str = ""
    """Why the test is not valid, in one line for people; for a wrong expectation the reference's answer."""


@dataclass(frozen=True, slots=True)
class JudgedSuite:
    """One suite after judging, tests in the order written."""

    suite: TestSuite
    tests: tuple[JudgedTest, ...]

    @property
    def usable(self) -> tuple[JudgedTest, ...]:
        """The tests that a candidate was run on."""
        return tuple(t for t in self.tests if t.validity.usable)

    @property
    def n_invalid(self) -> int:
        """How many tests are not `VALID` (a wrong expectation is usable but invalid)."""
        return sum(t.validity is not Validity.VALID for t in self.tests)

    @property
    def masked(self) -> bool:
        """Whether an infrastructure failure touched this suite, so that it may not be scored."""
        return any(t.validity is Validity.SANDBOX_ERROR or t.verdict is Verdict.SANDBOX_ERROR for t in self.tests)


@dataclass(frozen=True, slots=True)
class JudgedCandidate:
    """One candidate after judging: whether it loaded, its replayed tests in the problem's order, its suites.

    A candidate did not load if it has no code, does not compile, raises on import or lacks the entry point;
    `load_error` then says why, in one line.
    """

    candidate: Candidate
    loaded: bool
    replayed: tuple[Verdict, ...] = ()
    suites: tuple[JudgedSuite, ...] = ()
    load_error: str = ""
    sandbox_error: bool = False
    """The candidate could not be run at all, through no fault of its own."""

    @property
    def masked(self) -> bool:
        """Whether an infrastructure failure touched this candidate, so that it may not be scored."""
        return self.sandbox_error or Verdict.SANDBOX_ERROR in self.replayed or any(s.masked for s in self.suites)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything that was found out about one problem in one step; candidates in the order of their group."""

    problem: Problem
    replayed: tuple[TestCase, ...]
    candidates: tuple[JudgedCandidate, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion with its advantage: what a policy learns from. Rows of one `group` share their prompt."""

    group: str
    completion: Completion
    advantage: float
