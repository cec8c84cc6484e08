"""`code-a1 eval code` as a user runs it: estimates, folders, resuming, servers."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from code_a1.cli import main
from code_a1.engines import ScriptedEngine
from code_a1.engines.base import SamplingParams
from code_a1.engines.server import ServerEngine
from code_a1.errors import ModelError, RunDirError
from code_a1.evaluation.code.measure import Protocol
from code_a1.evaluation.code.reading import open_benchmarks
from code_a1.evaluation.code.run import evaluate_code
from code_a1.problems import write_problems
from code_a1.records import Message, Problem
from code_a1.sandbox import Sandbox

PROBLEMS = [
    Problem(f"p{i}", f"Return x plus {i}.", f"add{i}", f"def add{i}(x):\n    return x + {i}\n", (f"assert add{i}(1) == {i + 1}",))
    for i in range(3)
]  # fmt: skip


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(workers=1) as shared:
        yield shared


@pytest.fixture
def benches(tmp_path):
    write_problems(tmp_path / "own.jsonl", PROBLEMS)
    return open_benchmarks([str(tmp_path / "own.jsonl")])


def answers(prompt, index, seed):
    """Problem 0 is always solved, problem 1 by the first of each group, problem 2 never answered."""
    text = prompt[-1].content
    i = next(i for i in range(3) if f"add{i}" in text)
    good = f"```python\ndef add{i}(x):\n    return x + {i}\n```"
    return (
        good if i == 0 or (i == 1 and index == 0) else "" if i == 2 else f"```python\ndef add{i}(x):\n    return x\n```"
    )


def test_estimates_are_those_of_the_counts(tmp_path, sandbox, benches):
    protocol = Protocol(n=4, greedy=True)
    summary = evaluate_code(ScriptedEngine(answers), sandbox, benches, protocol, tmp_path / "o", "script")
    bench = summary["benchmarks"]["own"]
    metrics = {name: values[0] for name, values in bench["metrics"].items()}
    assert metrics == pytest.approx(
        {
            "pass@1": (1 + 1 / 4) / 3,
            "pass@2": (1 + 1 / 2) / 3,
            "pass@4": 2 / 3,
            "avg@4": (1 + 1 / 4) / 3,
            "greedy": 2 / 3,
        }
    )
    assert (bench["problems"], bench["samples"], bench["no_program"]) == (3, 15, 5)
    assert bench["verdicts"] == {"PASS": 7, "ERROR": 5, "FAIL": 3}
    rows = [json.loads(line) for line in (tmp_path / "o/results.jsonl").read_text().splitlines()]
    assert [(r["task_id"], r["judged"], r["right"]) for r in rows] == [("p0", 4, 4), ("p1", 4, 1), ("p2", 4, 0)]
    assert rows[2]["samples"][0]["detail"] == "the model answered nothing"
    assert rows[0]["samples"][0]["program"] == "def add0(x):\n    return x + 0"


def test_a_broken_off_evaluation_goes_on_and_ends_as_if_it_had_not_been(tmp_path, sandbox, benches):
    protocol = Protocol(n=256, seed=3)  # one task a block

    class Breaks(ScriptedEngine):
        def sample(self, prompts, n, params):
            if len(self.requests) == 2:
                raise KeyboardInterrupt
            return super().sample(prompts, n, params)

    whole = evaluate_code(ScriptedEngine(answers), sandbox, benches, protocol, tmp_path / "whole", "script")
    with pytest.raises(KeyboardInterrupt):
        evaluate_code(Breaks(answers), sandbox, benches, protocol, tmp_path / "o", "script")
    results = tmp_path / "o/results.jsonl"
    assert len(results.read_text().splitlines()) == 2
    results.write_text(results.read_text() + '{"bench": "own", "ta')  # killed while writing
    rest = ScriptedEngine(answers)
    assert evaluate_code(rest, sandbox, benches, protocol, tmp_path / "o", "script") == whole
    assert len(rest.requests) == 1
    assert results.read_bytes() == (tmp_path / "whole/results.jsonl").read_bytes()


def test_other_settings_are_refused_with_the_difference_named(tmp_path, sandbox, benches):
    evaluate_code(ScriptedEngine(answers), sandbox, benches, Protocol(n=1), tmp_path / "o", "script")
    with pytest.raises(
        RunDirError, match=r"other settings \(n: 1 there, 2 asked for; temperature: 0.7 there, 1.0 asked"
    ):
        evaluate_code(
            ScriptedEngine(answers), sandbox, benches, Protocol(n=2, temperature=1.0), tmp_path / "o", "script"
        )
    write_problems(tmp_path / "own.jsonl", PROBLEMS[:2])
    fewer = open_benchmarks([str(tmp_path / "own.jsonl")])
    with pytest.raises(RunDirError, match=r"benchmarks.own.tasks: 3 there, 2 asked for; benchmarks.own.fingerprint"):
        evaluate_code(ScriptedEngine(answers), sandbox, fewer, Protocol(n=1), tmp_path / "o", "script")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").write_text("mine")
    with pytest.raises(RunDirError, match="not empty"):
        evaluate_code(ScriptedEngine(answers), sandbox, benches, Protocol(n=1), tmp_path / "full", "script")


def test_a_prompt_over_the_window_counts_as_unsolved(tmp_path, sandbox, benches):
    summary = evaluate_code(
        ScriptedEngine(answers, context_window=10), sandbox, benches, Protocol(n=2), tmp_path / "o", "script"
    )
    assert summary["benchmarks"]["own"]["metrics"]["pass@1"][0] == 0
    first = json.loads((tmp_path / "o/results.jsonl").read_text().splitlines()[0])
    assert "and the model's window 10" in first["samples"][1]["detail"]


class Server(BaseHTTPRequestHandler):
    """Answers one choice at a time whatever `n` says, after failing the first request."""

    requests: ClassVar[list[dict]] = []
    failures: ClassVar[list[int]] = [503]

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append(body | {"path": self.path, "key": self.headers.get("Authorization")})
        if self.failures:
            self.send_response(self.failures.pop())
            self.send_header("Retry-After", "0")
            self.end_headers()
        elif body["model"] == "unknown":
            self.send_response(404)
            self.end_headers()
            self.wfile.write(b'{"error": "no such model"}')
        else:
            text = answers([Message("user", body["messages"][-1]["content"])], 0, body["seed"])
            choice = {"message": {"role": "assistant", "content": text or None}, "finish_reason": "stop"}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"choices": [choice], "usage": {"completion_tokens": 5}}).encode())

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def url():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_server_is_evaluated_from_the_command_line(tmp_path, url, capsys, monkeypatch):
    write_problems(tmp_path / "own.jsonl", PROBLEMS)
    monkeypatch.setenv("MY_KEY", "secret")
    asked = f"--model m --server {url} --key-from MY_KEY --n 2 --workers 1 --json"
    main(["eval", "code", *asked.split(), "--bench", str(tmp_path / "own.jsonl"), "-o", str(tmp_path / "o")])
    out = capsys.readouterr().out
    found = json.loads(out.splitlines()[-1])
    assert found["benchmarks"]["own"]["metrics"]["avg@2"][0] == pytest.approx(2 / 3)
    assert found["benchmarks"]["own"]["no_program"] == 2  # a null content is an empty answer
    assert "66.67 [" in out
    sent = Server.requests
    assert {r["path"] for r in sent} == {"/v1/chat/completions"}
    assert {r["key"] for r in sent} == {"Bearer secret"}
    assert len(sent) == 3 * 2 + 1  # one choice each, and the one that failed
    assert len({r["seed"] for r in sent}) == 6
    assert "secret" not in (tmp_path / "o/eval.json").read_text()


def test_a_server_that_refuses_or_is_not_there_is_named(url):
    prompt = (Message("user", "add0"),)
    with pytest.raises(ModelError, match="refuses the model 'unknown': 404 .*no such model"):
        list(ServerEngine(url, "unknown").sample([prompt], 1, SamplingParams(5)))
    with pytest.raises(ModelError, match="does not answer"):
        list(
            ServerEngine("http://127.0.0.1:9/v1", "m", attempts=2, pause_s=0.01).sample([prompt], 1, SamplingParams(5))
        )
    with pytest.raises(ModelError, match="not the address of a server"):
        ServerEngine("localhost:8000", "m")
    with pytest.raises(ModelError, match="only sampled from"):
        ServerEngine(url, "m").sync()
