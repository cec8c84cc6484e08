"""Judging by inputs: a candidate returns its outputs for all of them as data, and the task's check looks at those.

A check program that calls the candidate a thousand times need not do so across two processes. The candidate's process
gets the inputs, which are no secret, and returns what its program made of each; a process without any candidate then
runs the check on what was recorded, as far as it is not byte for byte what the reference returned and the check has
accepted. Where the outputs are too large to be carried twice, every call crosses by itself (`run_checks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from code_a1.evaluation.code.tasks import InputTests, Judged
from code_a1.judge.forms import VERDICTS
from code_a1.records import Verdict
from code_a1.sandbox import Call, CheckProgram, Limits, Outcome, OutcomeKind, Program, Sandbox, codec

MAX_CPU_S = 64.0
"""No task may take longer: that leaves out MBPP/599, whose reference takes most of a minute."""
LEAST_CPU_S = 4.0
FIRST_INPUTS = 8
"""A program that is wrong on these is not run on the others."""
MEMORY_MB = 4096
"""What EvalPlus grants, too."""
REFERENCE_FACTOR = 4.0
"""A candidate has so many times the CPU seconds of the reference, and at least `LEAST_CPU_S`."""
OUTPUT_BYTES = 16 << 20
LARGE_BYTES = 3 << 20
"""Outputs of a reference beyond this many bytes are not recorded; bindings of a call have room for 4 MiB."""

_ALL_OUTPUTS = """
def __outputs(call, inputs):
    from copy import deepcopy
    done = []
    for arguments in inputs:
        value = call(*arguments)
        try:
            done.append(deepcopy(value))  # as it is now: the next call may change it
        except Exception:
            done.append(value)  # what cannot be copied goes as it is, and the codec says whether it is data
    return done
"""
_REPLAY = """
def __replay(outputs):
    left = iter(outputs)
    return lambda *arguments, **named: next(left)
"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The inputs of a task, the answers, and what the reference returns, item by item; or why it cannot be used."""

    inputs: Sequence[object] = ()
    answers: Sequence[object] | None = None
    """None where they are the reference's outputs."""
    outputs: Sequence[object] = ()
    encoded: tuple[bytes, ...] = ()
    payload: bytes = b""
    cpu_s: float = LEAST_CPU_S
    left_out: str = ""
    relayed: bool = False
    """Whether every call crosses between the check's process and the candidate's."""


class InputJudge:
    """Judges programs by `InputTests`."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def prepare(self, tests_T: Sequence[InputTests]) -> list[Prepared]:
        """Run every reference on the inputs of its task, and the check on what comes of it."""
        prepared = self._with_inputs(tests_T)
        open_ = [i for i, p in enumerate(prepared) if not p.left_out]
        programs = [_candidate(tests_T[i], prepared[i], tests_T[i].problem.reference_solution) for i in open_]
        for i, outcome in zip(open_, self._outcomes(programs, MAX_CPU_S), strict=True):
            prepared[i] = _with_results(tests_T[i], prepared[i], outcome)
        open_ = [i for i in open_ if not prepared[i].left_out]
        items = [(tests_T[i], prepared[i], tests_T[i].problem.reference_solution) for i in open_]
        for i, judged in zip(open_, self._checked(items, [None] * len(items)), strict=True):
            if not judged.passed:
                prepared[i] = Prepared(
                    left_out=f"its check refuses its own reference: {judged.verdict} {judged.detail}"
                )
        return prepared

    def __call__(self, items: Sequence[tuple[InputTests, Prepared, str]]) -> list[Judged]:
        """The verdict of every (tests, their preparation, program), in order.

        Programs run on the first few inputs before they run on all: most wrong ones need not go on.
        """
        long = [i for i, (_, p, _) in enumerate(items) if not p.relayed and len(p.inputs) > 2 * FIRST_INPUTS]
        first = [(items[i][0], _first_inputs(items[i][1]), items[i][2]) for i in long]
        found = {i: judged for i, judged in zip(long, self._judged(first), strict=True) if not judged.passed}
        rest = [i for i in range(len(items)) if i not in found]
        found |= zip(rest, self._judged([items[i] for i in rest]), strict=True)
        return [found[i] for i in range(len(items))]

    def _judged(self, items: Sequence[tuple[InputTests, Prepared, str]]) -> list[Judged]:
        verdicts: dict[int, Judged] = {}
        recorded: dict[int, Sequence[object] | None] = {i: None for i, (_, p, _) in enumerate(items) if p.relayed}
        for limit, places in _by_limit({i: p.cpu_s for i, (_, p, _) in enumerate(items) if not p.relayed}):
            programs = [_candidate(*items[i]) for i in places]
            for i, outcome in zip(places, self._outcomes(programs, limit), strict=True):
                if outcome.kind is not OutcomeKind.VALUE:
                    verdicts[i] = Judged(VERDICTS[outcome.kind], outcome.detail)
                elif outcome.payload == items[i][1].payload:
                    verdicts[i] = Judged(Verdict.PASS)
                else:
                    outputs = outcome.values()[0]
                    if isinstance(outputs, list) and len(outputs) == len(items[i][1].inputs):
                        if _differing(items[i][1], outputs):
                            recorded[i] = outputs
                        else:
                            verdicts[i] = Judged(Verdict.PASS)
                    else:
                        verdicts[i] = Judged(Verdict.FAIL, "what came back is not one output per input")
        checked = self._checked([items[i] for i in recorded], list(recorded.values()))
        verdicts |= dict(zip(recorded, checked, strict=True))
        return [verdicts[i] for i in range(len(items))]

    def _checked(
        self, items: Sequence[tuple[InputTests, Prepared, str]], recorded: Sequence[Sequence[object] | None]
    ) -> list[Judged]:
        """What the checks say about recorded outputs (None: the reference's), or if too large, about the run."""
        relayed = [i for i, (_, prepared, _) in enumerate(items) if prepared.relayed]
        others = [i for i, (_, prepared, _) in enumerate(items) if not prepared.relayed]
        programs = [_check(items[i][0], items[i][1], recorded[i]) for i in others]
        found = dict(zip(others, self._outcomes(programs, MAX_CPU_S), strict=True))
        checks = []
        for i in relayed:
            tests, _, program = items[i]
            checks.append(CheckProgram(program, tests.whole_check, tests.problem.entry_point, tests.problem.setup))
        for place, outcome in self._sandbox.run_checks(checks, self._limits(LEAST_CPU_S)) if checks else ():
            found[relayed[place]] = outcome
        return [_of_check(found[i]) for i in range(len(items))]

    def _with_inputs(self, tests_T: Sequence[InputTests]) -> list[Prepared]:
        """Inputs and answers as data, evaluated in the sandbox where they are source: a file may hold anything."""
        asked = [i for i, tests in enumerate(tests_T) if tests.inputs_source]
        prepared = [Prepared(tests.inputs) for tests in tests_T]
        programs = [
            Program(tests.head, (Call((tests.inputs_source, tests.results_source or "None")),))
            for tests in (tests_T[i] for i in asked)
        ]
        for i, outcome in zip(asked, self._outcomes(programs, MAX_CPU_S), strict=True):
            prepared[i] = _evaluated(outcome)
        return prepared

    def _outcomes(self, programs: Sequence[Program], cpu_s: float) -> list[Outcome]:
        """How the one call of each program ended."""
        found = dict(self._sandbox.run(programs, self._limits(cpu_s))) if programs else {}
        return [found[i].outcomes[0] if found[i].loaded else found[i].load for i in range(len(programs))]

    def _limits(self, cpu_s: float) -> Limits:
        own = self._sandbox.limits
        return Limits(cpu_s, max(own.wall_s_per_call, 5 * cpu_s), max(own.memory_mb, MEMORY_MB), OUTPUT_BYTES, 1)


def _evaluated(outcome: Outcome) -> Prepared:
    """Inputs and answers, if they are what they should be."""
    if outcome.kind is not OutcomeKind.VALUE:
        return Prepared(left_out=f"its inputs cannot be evaluated: {outcome.kind}: {outcome.detail}")
    match outcome.values():
        case (list() as inputs, None):
            return Prepared(inputs)
        case (list() as inputs, list() as answers) if len(inputs) == len(answers):
            return Prepared(inputs, answers)
    return Prepared(left_out="its inputs and answers are not two lists of the same length")


def _with_results(tests: InputTests, prepared: Prepared, outcome: Outcome) -> Prepared:
    """What the reference returned; or that every call has to cross by itself; or why there is nothing to go by."""
    if outcome.kind is OutcomeKind.VALUE and len(outcome.payload) <= LARGE_BYTES:
        cpu_s = min(max(REFERENCE_FACTOR * outcome.cpu_s, LEAST_CPU_S), MAX_CPU_S)
        outputs = outcome.values()[0]
        if isinstance(outputs, list) and len(outputs) == len(prepared.inputs):
            encoded = tuple(codec.encode(output) for output in outputs)
            return replace(prepared, payload=outcome.payload, cpu_s=cpu_s, outputs=outputs, encoded=encoded)
    large = (OutcomeKind.VALUE, OutcomeKind.OUTPUT_LIMIT, OutcomeKind.UNREPRESENTABLE)
    if outcome.kind in large and tests.whole_check:
        return replace(prepared, relayed=True)
    return Prepared(left_out=f"its own reference fails: {outcome.kind}: {outcome.detail}")


def _by_limit(wanted: Mapping[int, float]) -> list[tuple[float, list[int]]]:
    """Places by the next power of two of their limit: one run of the sandbox has one limit."""
    groups: dict[float, list[int]] = {}
    for place, seconds in wanted.items():
        limit = LEAST_CPU_S
        while limit < seconds:
            limit *= 2
        groups.setdefault(limit, []).append(place)
    return sorted(groups.items())


def _candidate(tests: InputTests, prepared: Prepared, program: str) -> Program:
    """A program with the one call that runs it on all inputs."""
    expression = f"__outputs({tests.problem.entry_point}, __inputs)"
    call = Call((expression,), prelude=_ALL_OUTPUTS, bindings={"__inputs": prepared.inputs})
    return Program(program, (call,), setup=tests.problem.setup)


def _first_inputs(prepared: Prepared) -> Prepared:
    """The same with the first few inputs alone."""
    few = slice(FIRST_INPUTS)
    answers = None if prepared.answers is None else prepared.answers[few]
    return replace(
        prepared, inputs=prepared.inputs[few], answers=answers, outputs=prepared.outputs[few],
        encoded=prepared.encoded[few], payload=b"",
    )  # fmt: skip


def _differing(prepared: Prepared, recorded: Sequence[object]) -> list[int]:
    """Where outputs are not byte for byte the reference's."""
    same = zip(recorded, prepared.encoded, strict=True)
    return [i for i, (x, own) in enumerate(same) if codec.encode(x, max_bytes=OUTPUT_BYTES) != own]


def _check(tests: InputTests, prepared: Prepared, recorded: Sequence[object] | None) -> Program:
    """The check, where no candidate is, on recorded outputs that differ from the reference's; on those, if None."""
    places = list(range(len(prepared.inputs)))
    outputs = prepared.outputs
    if recorded is not None:
        outputs = recorded
        places = _differing(prepared, recorded)
    answers = prepared.outputs if prepared.answers is None else prepared.answers
    bindings = {
        "__recorded": [outputs[i] for i in places],
        "inputs": [prepared.inputs[i] for i in places],
        "results": [answers[i] for i in places],
    }
    call = Call(("check(__replay(__recorded))",), prelude=tests.check_source + _REPLAY, bindings=bindings)
    return Program("", (call,))


def _of_check(outcome: Outcome) -> Judged:
    if outcome.kind is OutcomeKind.VALUE:
        return Judged(Verdict.PASS)
    if outcome.kind is OutcomeKind.RAISED:  # the check's own assert, or an output that it cannot work with
        return Judged(Verdict.FAIL, outcome.detail)
    return Judged(VERDICTS[outcome.kind], outcome.detail)
