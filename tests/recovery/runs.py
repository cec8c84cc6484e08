"""What tests of recovery share."""

from __future__ import annotations

from contextlib import closing

from code_a1.mistake_book import MistakeBook
from code_a1.report.view import View
from code_a1.run_dir import RunDir

QUICK = {"workers": 1, "cpu_s_per_test": 0.5, "wall_s_per_test": 5.0, "memory_mb": 256}
WALL_CLOCK = ("time/", "judge/candidates_per_s")


def timeless(run_dir: RunDir) -> list[dict]:
    return [{k: v for k, v in row.items() if not k.startswith(WALL_CLOCK)} for row in run_dir.metrics()]


def book_of(run_dir: RunDir) -> list:
    with closing(MistakeBook(path=run_dir.book_path)) as book:
        return [*book.rows(), book.state_dict()]


def events(run_dir: RunDir) -> list[str]:
    return [row["event"] for row in run_dir.events()]


class Heard(View):
    def __init__(self) -> None:
        self.said: list[str] = []

    def message(self, text: str) -> None:
        self.said.append(text)
