"""A run as one self-contained HTML page: tables, rollouts worth reading, curves, configuration. No script, no network.

Charts are SVG in the page itself; their colours are CSS variables, so that the page follows the reader's light or dark
setting.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from rich.table import Table

from code_a1.errors import RunDirError
from code_a1.report.curves import draw_panels
from code_a1.report.highlights import Highlight, highlights
from code_a1.report.panels import CODE, GREY, GRID, INK, SHARES, TEST
from code_a1.run_dir import RunDir

PAGE = "report.html"
"""The page's name in the run folder."""

LIGHT = {"code": CODE, "test": TEST, "ink": INK, "grey": GREY, "grid": GRID} | {
    f"share{i}": color for i, color in enumerate(SHARES)
}
"""Every colour that charts are drawn in, by the CSS variable that replaces it."""

DARK = LIGHT | {
    "code": "#6cb0ff",
    "test": "#ff9d5c",
    "ink": "#e6edf3",
    "grey": "#9198a1",
    "grid": "#30363d",
    "share0": "#3b9fe0",
}


def write_page(run: RunDir, tables: Sequence[Table], path: Path | None = None) -> Path:
    """Write the page of a run, by default as `report.html` in its folder, and return where it is.

    `tables` say what changed. A run that has no finished step yet, or lacks some metrics, gets a page of what is there.

    Raises:
        MissingExtra: matplotlib is not installed.
        RunDirError: a file of the run cannot be read, or the page cannot be written.
    """
    path = path or run.path / PAGE
    rows = list(run.metrics())
    events = list(run.events())
    body = "\n".join(_sections(run, rows, events, tables))
    template = Template(files("code_a1.report").joinpath("page.html").read_text(encoding="utf-8"))
    page = template.substitute(
        title=escape(run.path.resolve().name),
        subtitle=escape(_state(rows, events)),
        light=_variables(LIGHT),
        dark=_variables(DARK),
        body=body,
        version=metadata.version("code-a1"),
    )
    partial = path.with_name(f"{path.name}.partial{os.getpid()}")
    try:
        partial.write_text(page, encoding="utf-8", errors="replace")
        partial.replace(path)
    except OSError as error:
        raise RunDirError(f"cannot write the page {path}: {error}") from error
    return path


def _sections(
    run: RunDir, rows: Sequence[dict[str, Any]], events: Sequence[dict[str, Any]], tables: Sequence[Table]
) -> Iterator[str]:
    if not rows:
        yield "<p>No step has been finished yet. Run <code>code-a1 report</code> again once there is one.</p>"
    if any(table.row_count for table in tables):
        yield f"<h2>Before and after</h2>\n<div class='grid wide'>{''.join(map(_table, tables))}</div>"
    if worth := highlights(run, [row["step"] for row in rows]):
        yield f"<h2>Rollouts worth reading</h2>\n<div class='grid wide'>{''.join(map(_article, worth))}</div>"
    if charts := [_chart(title, svg) for title, svg in draw_panels(rows)]:
        yield "<h2>Curves</h2>"
        yield "<p class='sub'>The <b class='code'>code policy ●</b> writes programs, the <b class='test'>test policy "
        yield "■</b> attacks them. In runs of 20 steps and more, thick lines are running means.</p>"
        yield f"<div class='grid'>{''.join(charts)}</div>"
    yield "<h2>Configuration and events</h2>"
    yield _details("config.toml: everything that the run depends on", run.config_path.read_text(encoding="utf-8"))
    if events:
        yield _details("events", "\n".join(_event_lines(events)))


def _state(rows: Sequence[dict[str, Any]], events: Sequence[dict[str, Any]]) -> str:
    """Mode, steps and whether the run has ended, in one line."""
    started = next((event for event in events if event["event"] == "started"), {})
    ends = [event["event"] for event in events if event["event"] in ("finished", "interrupted", "sandbox-outage")]
    steps = [row for row in rows if row["step"] > 0]
    seconds = sum(row.get("time/step_s") or 0.0 for row in steps)
    parts = [
        f"mode {started['mode']}" if "mode" in started else "",
        f"{len(steps)} steps in {seconds / 60:.1f} minutes" if steps else "no step yet",
        ends[-1] if ends else "not ended when this page was written",
        f"{started['problems']} problems" if "problems" in started else "",
        f"begun {started['time']}" if "time" in started else "",
    ]
    return " · ".join(part for part in parts if part)


def _table(table: Table) -> str:
    head = "".join(f"<th scope='col'>{escape(str(column.header))}</th>" for column in table.columns)
    lines = zip(*(column.cells for column in table.columns), strict=True)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in line)}</tr>" for line in lines)
    caption = f"<caption>{escape(str(table.title or ''))}</caption>"
    return f"<article><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></article>\n"


def _article(highlight: Highlight) -> str:
    parts = (
        f"<p>{escape(text)}</p>" if kind == "text" else f"<pre>{escape(text)}</pre>" for kind, text in highlight.parts
    )
    return f"<article><h3>{escape(highlight.title)}</h3>{''.join(parts)}</article>\n"


def _chart(title: str, svg: str) -> str:
    for name, color in LIGHT.items():
        svg = svg.replace(color, f"var(--{name})")
    return f"<figure><figcaption>{escape(title)}</figcaption>{svg}</figure>\n"


def _details(summary: str, text: str) -> str:
    return f"<details><summary>{escape(summary)}</summary><pre>{escape(text)}</pre></details>"


def _event_lines(events: Iterable[dict[str, Any]]) -> Iterator[str]:
    """One line an event; problems that were left out are counted, by reason, not listed."""
    left_out = Counter(event["reason"] for event in events if event["event"] == "problem-left-out")
    yield from (f"{count} problems left out: {reason}" for reason, count in left_out.most_common(20))
    for event in events:
        if event["event"] != "problem-left-out":
            rest = ", ".join(f"{k} {v}" for k, v in event.items() if k not in ("time", "event"))
            yield f"{event['time']}  {event['event']}" + (f": {rest}" if rest else "")


def _variables(colors: dict[str, str]) -> str:
    return " ".join(f"--{name}: {color};" for name, color in colors.items())
